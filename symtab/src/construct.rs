//! OpenMP's constructs, by the entry point of the runtime library that was called for them.

/// A construct whose body the compiler makes a function of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Construct {
    /// `parallel`; a combined loop of static schedule looks the same from outside.
    Parallel,
    /// `parallel for`, `parallel do`.
    ParallelLoop,
    /// `parallel sections`.
    ParallelSections,
    /// `for`, `do`.
    Loop,
    /// `sections`.
    Sections,
    /// `single`.
    Single,
    /// `task`.
    Task,
    /// `taskloop`.
    Taskloop,
    /// `teams` on the host.
    Teams,
    /// `target` and its combinations.
    Target,
}

impl Construct {
    /// The construct that a runtime library's entry point stands for, of libgomp (`GOMP_parallel`) or libomp
    /// (`__kmpc_fork_call`); `None` for entry points that tell nothing of the kind.
    ///
    /// What a name does not tell is not guessed: GCC calls `GOMP_parallel` for `parallel for` too when the schedule is
    /// static, so the answer is [`Construct::Parallel`], which such a region is.
    ///
    /// ```
    /// use instr_symtab::Construct;
    /// let of = Construct::of_entry_point;
    /// assert_eq!(of("GOMP_parallel_loop_nonmonotonic_dynamic"), Some(Construct::ParallelLoop));
    /// assert_eq!(of("__kmpc_omp_task_with_deps"), Some(Construct::Task));
    /// assert_eq!(of("GOMP_barrier"), None);
    /// ```
    #[must_use]
    pub fn of_entry_point(name: &str) -> Option<Self> {
        let name = name.strip_suffix("@plt").unwrap_or(name);
        if let Some(name) = name.strip_prefix("GOMP_") {
            return of_gomp(name);
        }
        of_kmpc(name.strip_prefix("__kmpc_")?)
    }

    /// The construct as it is written behind `omp`, in Fortran or in C and C++.
    #[must_use]
    pub fn words(self, fortran: bool) -> &'static str {
        match self {
            Self::Parallel => "parallel",
            Self::ParallelLoop if fortran => "parallel do",
            Self::ParallelLoop => "parallel for",
            Self::ParallelSections => "parallel sections",
            Self::Loop if fortran => "do",
            Self::Loop => "for",
            Self::Sections => "sections",
            Self::Single => "single",
            Self::Task => "task",
            Self::Taskloop => "taskloop",
            Self::Teams => "teams",
            Self::Target => "target",
        }
    }
}

fn of_gomp(name: &str) -> Option<Construct> {
    let begins = |word| name.starts_with(word);
    Some(match name {
        "parallel" | "parallel_start" | "parallel_reductions" => Construct::Parallel,
        "task" => Construct::Task,
        "taskloop" | "taskloop_ull" => Construct::Taskloop,
        "teams_reg" => Construct::Teams,
        "target" | "target_ext" => Construct::Target,
        "single_start" | "single_copy_start" => Construct::Single,
        _ if begins("parallel_loop_") => Construct::ParallelLoop,
        _ if begins("parallel_sections") => Construct::ParallelSections,
        _ if begins("loop_") && name.ends_with("start") => Construct::Loop,
        _ if begins("sections") && name.ends_with("start") => Construct::Sections,
        _ => return None,
    })
}

fn of_kmpc(name: &str) -> Option<Construct> {
    let begins = |word| name.starts_with(word);
    Some(match name {
        "fork_call" | "fork_call_if" | "serialized_parallel" => Construct::Parallel,
        "fork_teams" => Construct::Teams,
        "omp_task" | "omp_task_with_deps" | "omp_task_begin_if0" => Construct::Task,
        "taskloop" | "taskloop_5" => Construct::Taskloop,
        "single" => Construct::Single,
        // Allocation alone does not tell a task from a taskloop, nor `for_static_init` a loop from sections.
        _ if begins("dispatch_init_") => Construct::Loop,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_points_tell_what_they_can() {
        let of = Construct::of_entry_point;
        for (name, expected) in [
            ("GOMP_parallel", Some(Construct::Parallel)),
            ("GOMP_parallel@plt", Some(Construct::Parallel)),
            ("GOMP_parallel_loop_guided", Some(Construct::ParallelLoop)),
            ("GOMP_parallel_sections", Some(Construct::ParallelSections)),
            ("GOMP_parallel_end", None),
            ("GOMP_loop_dynamic_next", None),
            ("GOMP_loop_ull_runtime_start", Some(Construct::Loop)),
            ("GOMP_loop_doacross_static_start", Some(Construct::Loop)),
            ("GOMP_sections2_start", Some(Construct::Sections)),
            ("GOMP_taskloop_ull", Some(Construct::Taskloop)),
            ("GOMP_taskwait", None),
            ("GOMP_target_data_ext", None),
            ("__kmpc_fork_teams", Some(Construct::Teams)),
            ("__kmpc_taskloop_5", Some(Construct::Taskloop)),
            ("__kmpc_omp_task_alloc", None),
            ("__kmpc_omp_taskwait", None),
            ("__kmpc_for_static_init_4", None),
            ("__kmpc_dispatch_init_8u", Some(Construct::Loop)),
            ("main", None),
        ] {
            assert_eq!(of(name), expected, "{name}");
        }
    }
}
