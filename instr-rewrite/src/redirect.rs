//! Undefined references renamed inside a relocatable object, for linkers without `--wrap`.
