//! Stubs of a library that is preloaded: they have the names of the functions that they stand in front of.

use super::{
    Function, HEADER, arguments, comment_text, emit_generic_call, emit_probe_end,
    emit_untraced_call, escape, named_parameters,
};
use crate::api::Api;
use crate::ctype::parameter_list;
use std::fmt::Write as _;

/// Probes of functions that make threads: with the first one the record of a process begins.
const MAKE_THREADS: [&str; 3] = ["cxx_thread", "pthread_create", "thrd_create"];

/// Probes of OpenMP's locks, which the runtime may be told not to record.
const LOCKS: [&str; 3] = ["lock_take", "lock_test", "lock_unset"];

/// Probes of functions of the system's pages, which the runtime itself calls.
const PAGES: [&str; 4] = ["mmap", "mmap64", "mremap", "munmap"];

/// The C source of the stubs of all functions for which `wanted` holds and that may be wrapped, and the list by which
/// `runtime/library/preload.c` finds the real ones.
///
/// A stub is bound to its function's name by an assembler label: compilers have declarations of some of these names. It is visible by default: programs
/// that hold a function's address in their code make the dynamic linker print a warning about a protected one.
pub fn emit_for_preload(api: &Api, wanted: impl Fn(&Function) -> bool) -> String {
    let functions: Vec<&Function> = api
        .functions()
        .filter(|function| function.refusal.is_none() && wanted(function))
        // A call without a probe cannot hand on arguments whose number it does not know.
        .filter(|function| function.probe.is_some() || !function.variadic)
        .collect();
    let mut text = format!("{HEADER}#include \"library/preload.h\"\n");
    super::emit_helpers(&mut text, functions.iter().copied());
    // Writing to a String cannot fail.
    text.push_str("\nstruct instr_slot instr_slots[] = {\n");
    for function in &functions {
        let probe = match &function.probe {
            Some(probe) => format!("instr_probe_{}", probe.name),
            None => "instr_call_enter".to_owned(),
        };
        let name = escape(&function.symbol);
        let heap = match function.is_of_memory() {
            true => ", .heap = true",
            false => "",
        };
        _ = writeln!(
            text,
            "    {{.name = \"{name}\", .probe_name = \"{probe}\"{heap}}},"
        );
    }
    text.push_str("    {.name = NULL},\n};\n");
    for (number, function) in functions.iter().enumerate() {
        let with = function.with.as_deref().map(|with| {
            let slot = functions.iter().position(|other| other.symbol == with);
            slot.map(|slot| (functions[slot], slot))
        });
        emit_stub(&mut text, function, number, with);
    }
    text
}

/// By which function of `runtime/library/preload.h` a stub finds the real one and its probe, and what that is told more.
fn way(function: &Function) -> (&'static str, &'static str) {
    let is_one_of = |probes: &[&str]| {
        let probe = function.probe.as_ref();
        probe.is_some_and(|probe| probes.contains(&&*probe.name))
    };
    match () {
        () if function.is_of_threads() && is_one_of(&MAKE_THREADS) => ("thread_way", ", true"),
        () if function.is_of_threads() => ("thread_way", ", false"),
        () if is_one_of(&LOCKS) => ("lock_way", ""),
        () if is_one_of(&["get_num_threads"]) => ("size_way", ""),
        () if is_one_of(&["get_thread_num"]) => ("number_way", ""),
        () if function.is_of_memory() && is_one_of(&PAGES) => ("pages_way", ""),
        () if function.is_of_memory() => ("heap_way", ""),
        () => ("way", ""),
    }
}

/// `with`: the other function that the probe gets, and its number; `Some(None)` where no stub stands in front of it.
fn emit_stub(
    text: &mut String,
    function: &Function,
    number: usize,
    with: Option<Option<(&Function, usize)>>,
) {
    let noreturn = match function.noreturn {
        true => " __attribute__((__noreturn__))",
        false => "",
    };
    let params = match function.params.is_empty() {
        true => "void".to_owned(),
        false => named_parameters(&function.params, function.variadic),
    };
    let bare = parameter_list(&function.params, function.variadic);
    let stub = format!("instr_stub_{number}({params})");
    let stub = function.result.declare(&stub);
    let real = function.result.declare(&format!("(*const real)({bare})"));
    let cast = function.result.declare(&format!("(*)({bare})"));
    let (name, source) = (escape(&function.symbol), comment_text(&function.source));
    _ = writeln!(text, "\n/* {source} */");
    _ = writeln!(
        text,
        "extern {stub} __asm__(\"{name}\") __attribute__((__visibility__(\"default\"))){noreturn};"
    );
    let (way, more) = way(function);
    // What asks for nothing but a number has the rest in a function of its own.
    let caller = match way {
        "number_way" => {
            let rest = format!("instr_rest_{number}(const void *caller)");
            let rest = function.result.declare(&rest);
            _ = writeln!(
                text,
                "static {rest} __attribute__((__noinline__, __cold__));\n{stub}\n{{\n    \
                 {real} = ({cast})instr_preload_number(&instr_slots[{number}]);\n    \
                 return real != NULL ? real() : instr_rest_{number}(__builtin_return_address(0));\n}}\n{rest}\n{{"
            );
            "caller"
        }
        _ => {
            _ = writeln!(text, "{stub}\n{{");
            "__builtin_return_address(0)"
        }
    };
    // A lock that is free is taken without the runtime.
    if let Some(Some((_, test))) = with
        && function
            .probe
            .as_ref()
            .is_some_and(|probe| probe.name == "lock_take")
    {
        _ = writeln!(
            text,
            "    if (instr_preload_takes(&instr_slots[{test}], a0))\n        return;"
        );
    }
    _ = writeln!(
        text,
        "    const struct instr_way way = instr_preload_{way}(&instr_slots[{number}], {caller}{more});"
    );
    _ = writeln!(text, "    {real} = ({cast})way.real;");
    text.push_str("    if (way.probe == NULL) {\n");
    emit_untraced_call(text, function, "real");
    if function.noreturn {
        text.push_str("    __builtin_unreachable();\n");
    }
    text.push_str("    }\n");
    match &function.probe {
        None => emit_generic_call(text, function, "real"),
        Some(probe) => {
            let mut list = vec!["real".to_owned()];
            list.extend(with.map(|with| emit_with(text, with)));
            list.extend(probe.constants.iter().cloned());
            list.extend(arguments(function.params.len()));
            list.extend(function.variadic.then(|| "rest".to_owned()));
            let call = format!(
                "((__typeof__(&instr_probe_{}))way.probe)({})",
                probe.name,
                list.join(", ")
            );
            emit_probe_end(text, function, &call);
        }
    }
    text.push_str("}\n");
}

/// Finds the other function that a probe gets, of the same library as the first: NULL where there is none. Returns its C name.
fn emit_with(text: &mut String, with: Option<(&Function, usize)>) -> String {
    let Some((with, number)) = with else {
        return "NULL".to_owned();
    };
    let bare = parameter_list(&with.params, with.variadic);
    let declared = with.result.declare(&format!("(*const with)({bare})"));
    let cast = with.result.declare(&format!("(*)({bare})"));
    // Writing to a String cannot fail.
    _ = writeln!(
        text,
        "    {declared} = ({cast})instr_preload_with(&instr_slots[{number}], __builtin_return_address(0));"
    );
    "with".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stub_has_the_functions_name_and_asks_for_the_way() {
        let mut api = Api::empty();
        api.add_source(
            "t.rs",
            "extern \"C\" { #[probe(p, A)] fn f(x: c_int) -> *mut c_void; #[no_wrap = \"why\"] fn g(); fn h(x: c_int, ...); fn other(); }",
        )
        .unwrap();
        let text = emit_for_preload(&api, |function| function.symbol != "other");
        let (_, text) = text.split_once("struct instr_slot").unwrap();
        assert_eq!(
            text,
            " instr_slots[] = {\n    {.name = \"f\", .probe_name = \"instr_probe_p\"},\n    {.name = NULL},\n};\n\n\
             /* t.rs */\nextern void *instr_stub_0(int a0) __asm__(\"f\") __attribute__((__visibility__(\"default\")));\nvoid *instr_stub_0(int a0)\n{\n    \
             const struct instr_way way = instr_preload_way(&instr_slots[0], __builtin_return_address(0));\n    \
             void *(*const real)(int) = (void *(*)(int))way.real;\n    if (way.probe == NULL) {\n    \
             return real(a0);\n    }\n    return ((__typeof__(&instr_probe_p))way.probe)(real, A, a0);\n}\n"
        );
    }

    #[test]
    fn another_function_for_a_probe_is_found_beside_the_real_one() {
        let mut api = Api::empty();
        api.add_source(
            "t.rs",
            "extern \"C\" { #[probe(p)] #[with(t)] fn f(x: c_int); #[probe(q)] fn t(x: c_int) -> c_int; }",
        )
        .unwrap();
        let text = emit_for_preload(&api, |_| true);
        let found = "    int (*const with)(int) = (int (*)(int))instr_preload_with(&instr_slots[1], __builtin_return_address(0));\n    \
                     ((__typeof__(&instr_probe_p))way.probe)(real, with, a0);\n";
        assert!(text.contains(found), "{text}");
        let alone = emit_for_preload(&api, |function| function.symbol == "f");
        assert!(alone.contains("way.probe)(real, NULL, a0);"), "{alone}");
    }

    #[test]
    fn free_locks_are_taken_by_a_try_and_numbers_have_ways_of_their_own() {
        let mut api = Api::empty();
        api.add_source(
            "t.rs",
            "extern \"C\" { #[probe(lock_take, K)] #[with(t)] fn f(l: *mut c_void); #[probe(lock_test, K)] fn t(l: *mut c_void) -> c_int; \
             #[probe(get_thread_num)] fn n() -> c_int; #[probe(get_num_threads)] fn s() -> c_int; }",
        )
        .unwrap();
        let text = emit_for_preload(&api, |_| true);
        let (try_first, way) = (
            "    if (instr_preload_takes(&instr_slots[3], a0))\n        return;\n",
            "instr_preload_lock_way(&instr_slots[0]",
        );
        assert_eq!(text.matches(try_first).count(), 1, "{text}");
        assert!(text.find(try_first) < text.find(way), "{text}");
        for way in [
            "lock_way(&instr_slots[3]",
            "number_way(&instr_slots[1], caller",
            "number(&instr_slots[1]",
            "size_way(&instr_slots[2]",
        ] {
            assert!(text.contains(&format!("instr_preload_{way}")), "{text}");
        }
        let alone = emit_for_preload(&api, |function| function.symbol == "f");
        assert!(!alone.contains("instr_preload_takes"), "{alone}");
    }

    #[test]
    fn functions_of_the_heap_are_marked_and_have_ways_of_their_own() {
        let mut api = Api::empty();
        api.add_memory();
        let text = emit_for_preload(&api, Function::is_of_memory);
        let marked = text.matches(", .heap = true}").count();
        assert_eq!(marked, api.functions().count());
        assert_eq!(text.matches("instr_preload_pages_way(").count(), 4);
        assert_eq!(text.matches("instr_preload_heap_way(").count(), marked - 4);
    }
}
