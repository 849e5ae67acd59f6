//! What is true of this machine and its compiler: the effective targets that libgomp's tests ask for.
//!
//! Source of the meanings: GCC Internals, "Keywords describing target attributes"; `libgomp.exp` for the `offload_*` ones.

use std::collections::BTreeSet;

use crate::catalog::Language;
use crate::selector::Target;

/// Facts for programs of one language.
#[derive(Debug, Clone)]
pub struct Facts {
    language: Language,
    cpu: BTreeSet<String>,
}

impl Facts {
    /// For programs of `language` on this machine.
    #[must_use]
    pub fn of_this_machine(language: Language) -> Self {
        let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self::with_cpu(language, &cpu_flags(&text))
    }

    /// For programs of `language` on a processor with these features (`/proc/cpuinfo`'s names).
    #[must_use]
    pub fn with_cpu(language: Language, cpu: &[&str]) -> Self {
        let cpu = cpu.iter().map(|&flag| flag.to_owned()).collect();
        Self { language, cpu }
    }
}

/// The features of the first processor in the text of `/proc/cpuinfo`.
fn cpu_flags(text: &str) -> Vec<&str> {
    let line = text.lines().find(|line| line.starts_with("flags"));
    let list = line.and_then(|line| line.split_once(':'));
    list.map_or_else(Vec::new, |(_, list)| list.split_whitespace().collect())
}

impl Target for Facts {
    fn triplet(&self) -> &str {
        "x86_64-pc-linux-gnu"
    }

    fn holds(&self, keyword: &str) -> Option<bool> {
        let holds = match keyword {
            // x86-64 Linux with glibc, and GCC as Debian configures it.
            "alias" | "double64" | "fd_truncate" | "fpic" | "large_long_double" | "lp64"
            | "lto" | "pthread" | "shared" | "size32plus" | "sync_char_short" | "sync_int_long"
            | "tls" | "tls_runtime" | "vect_simd_clones" | "__float128" => true,
            "aarch64_tiny" | "ia32" | "ilp32" => false,
            "sse2" | "sse2_runtime" => self.cpu.contains("sse2"),
            "avx" => true, // the compiler's and assembler's part
            "avx_runtime" => self.cpu.contains("avx"),
            "c" => self.language == Language::C,
            "c++" => self.language == Language::Cxx,
            // No device: target regions run on the host, where `libgomp.exp`'s test program for shared memory passes.
            "offload_device_shared_as" => true,
            _ if keyword.starts_with("offload_") => false,
            "run_expensive_tests" => std::env::var_os("GCC_TEST_RUN_EXPENSIVE").is_some(),
            // The word with which tests are switched off.
            "skip-all-targets" => false,
            _ => return None,
        };
        Some(holds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_the_processor_and_the_language_decide() {
        let facts = Facts::with_cpu(Language::C, &cpu_flags("x: y\nflags\t\t: fpu sse2 avx\n"));
        assert_eq!(facts.holds("avx_runtime"), Some(true));
        assert_eq!(facts.holds("c"), Some(true));
        assert_eq!(facts.holds("c++"), Some(false));
        let facts = Facts::with_cpu(Language::Cxx, &cpu_flags(""));
        assert_eq!(facts.holds("avx_runtime"), Some(false));
        assert_eq!(facts.holds("c++"), Some(true));
        assert_eq!(facts.holds("offload_device"), Some(false));
        assert_eq!(facts.holds("offload_device_shared_as"), Some(true));
        assert_eq!(facts.holds("no_such_thing"), None);
    }
}
