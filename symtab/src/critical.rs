//! Names of critical sections.

/// The name of the critical section whose lock word carries this symbol: `sum` for `.gomp_critical_user_sum` (GCC)
/// and `.gomp_critical_user_sum.var` (clang); the empty name for the nameless section.
///
/// ```
/// assert_eq!(instr_symtab::critical_name(".gomp_critical_user_sum"), Some("sum"));
/// assert_eq!(instr_symtab::critical_name(".gomp_critical_user_sum.var"), Some("sum"));
/// assert_eq!(instr_symtab::critical_name("sum"), None);
/// ```
#[must_use]
pub fn critical_name(symbol: &str) -> Option<&str> {
    let name = symbol.strip_prefix(".gomp_critical_user_")?;
    Some(name.strip_suffix(".var").unwrap_or(name))
}
