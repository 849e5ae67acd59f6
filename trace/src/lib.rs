//! Raw trace reader, clock conversion, k-way merge, event model, output formats
