//! Samples: which functions the threads were in, and by which calls.

pub mod table;

use std::collections::HashMap;

use super::model::Summary;

/// Names the bodies of regions, tasks and loops as the other tables do: `main [omp parallel heat.c:11]`, not `main._omp_fn.0`.
pub(super) fn label(summary: &mut Summary) {
    let Some(samples) = &mut summary.samples else {
        return;
    };
    let regions = summary.parallel_regions.iter().map(|region| &region.place);
    let tasks = summary.task_functions.iter().map(|task| &task.place);
    let bodies = regions.chain(tasks).filter(|place| !place.call_site);
    let labels: HashMap<&str, &str> = bodies
        .filter_map(|place| Some((place.function.as_deref()?, place.label.as_str())))
        .collect();
    let rename = |name: &mut String| {
        if let Some(label) = labels.get(name.as_str()) {
            (*label).clone_into(name);
        }
    };
    for function in &mut samples.functions {
        rename(&mut function.function);
    }
    for name in samples
        .paths
        .iter_mut()
        .flat_map(|path| &mut path.functions)
    {
        rename(name);
    }
}

#[cfg(test)]
mod tests {
    use instr_analysis::samples::{FunctionShare, Samples};

    use super::super::model::{ParallelRegion, Place};
    use super::*;

    #[test]
    fn bodies_have_one_name_in_all_tables() {
        let place = Place {
            function: Some("main._omp_fn.0".to_owned()),
            label: "main [omp parallel heat.c:11]".to_owned(),
            ..Place::default()
        };
        let function = |name: &str| FunctionShare {
            function: name.to_owned(),
            ..FunctionShare::default()
        };
        let mut summary = Summary {
            parallel_regions: vec![ParallelRegion {
                place,
                ..ParallelRegion::default()
            }],
            samples: Some(Samples {
                functions: vec![function("main._omp_fn.0"), function("main")],
                ..Samples::default()
            }),
            ..Summary::default()
        };
        label(&mut summary);
        let names = summary.samples.map(|samples| samples.functions);
        let names: Vec<_> = names
            .iter()
            .flatten()
            .map(|f| f.function.as_str())
            .collect();
        assert_eq!(names, ["main [omp parallel heat.c:11]", "main"]);
    }
}
