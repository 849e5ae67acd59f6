//! Every description fits its probe and its compiler: all stubs compile without a warning, in both linkages.

mod common;

use common::{CLANG, GCC, Toolchain, V8, V9, include, run, scratch};
use instr_rewrite::stubs::{Linkage, emit, emit_for_library};
use instr_rewrite::{Api, CType, Function};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

fn compile(toolchain: &Toolchain, text: &str, name: &str) {
    let directory = scratch();
    let file = directory.path().join(name);
    std::fs::write(&file, text).unwrap();
    let mut command = toolchain.command("gcc");
    command
        .args([
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-I",
        ])
        .arg(include())
        .arg("-I")
        .arg(include().join(".."));
    run(command
        .arg("-c")
        .arg(&file)
        .arg("-o")
        .arg(directory.path().join("out.o")));
}

const ALL_LINKAGES: [Linkage; 4] = [
    Linkage::Wrap,
    Linkage::Rename,
    Linkage::Both,
    Linkage::Forward,
];

#[test]
fn all_stubs_of_libraries_compile_everywhere() {
    let mut api = Api::builtin();
    api.add_memory();
    api.add_threads();
    let symbols = || api.functions().map(|function| &function.symbol);
    for linkage in ALL_LINKAGES {
        let text = emit_for_library(symbols().map(|symbol| (symbol, linkage)), &api, 3);
        assert!(text.contains("const uint32_t instr_library_flags = 3;"));
        for toolchain in [&GCC, &CLANG, &V8, &V9] {
            compile(toolchain, &text, "stubs.c");
        }
    }
    let none = emit_for_library(std::iter::empty::<(&str, Linkage)>(), &api, 0);
    compile(&GCC, &none, "stubs.c");
}

#[test]
fn all_stubs_compile_everywhere() {
    let mut api = Api::builtin();
    api.add_memory();
    api.add_threads();
    for linkage in ALL_LINKAGES {
        let text = emit(
            api.functions().map(|function| &function.symbol),
            &api,
            linkage,
        );
        let stubs = text.matches(&format!(" {}", linkage.stub_prefix())).count()
            + text.matches("*instr").count();
        assert!(stubs > 300, "{stubs}");
        for toolchain in [&GCC, &CLANG, &V8, &V9] {
            compile(toolchain, &text, "stubs.c");
        }
    }
}

#[test]
fn every_type_of_a_user_description_compiles() {
    const DESCRIPTION: &str = r#"
        //! A library with every sort of type.
        use core::ffi::*;
        struct Handle;
        type Callback = Option<unsafe extern "C" fn(handle: *mut Handle, value: f64) -> c_int>;
        #[link(name = "odd")]
        unsafe extern "C" {
            /// Integers of every width.
            pub fn odd_integers(a: i8, b: u8, c: i16, d: u16, e: i32, f: u32, g: i64, h: u64, i: isize, j: usize) -> c_char;
            pub fn odd_names(a: c_schar, b: c_uchar, c: c_short, d: c_ushort, e: c_uint, f: c_ulong, g: c_longlong) -> c_ulonglong;
            pub fn odd_floats(a: f32, b: f64, c: c_float, d: c_double, e: bool) -> f32;
            pub fn odd_pointers(a: *const c_char, b: *mut *const c_char, c: *const *mut c_void, d: *mut *mut *mut i64) -> *const Handle;
            pub fn odd_callbacks(a: Callback, b: extern "C" fn(), c: *mut Callback) -> Callback;
            #[since(2, 1)]
            #[link_name = "odd.name$1"]
            pub fn odd_name(a: size_t) -> ();
            pub fn odd_end() -> !;
            pub fn r#while();
            #[link_name = "__odd_MOD_procedure"]
            pub fn procedure(a: *mut f64);
            pub fn memcpy(to: *mut c_void, from: *const c_void, size: size_t) -> *mut c_void;
            pub fn strlen(text: *const c_char) -> size_t;
        }
    "#;
    let mut api = Api::empty();
    api.add_source("odd */ name.rs", DESCRIPTION).unwrap();
    for linkage in ALL_LINKAGES {
        let text = emit(
            api.functions().map(|function| &function.symbol),
            &api,
            linkage,
        );
        for toolchain in [&GCC, &CLANG, &V8, &V9] {
            compile(toolchain, &text, "odd.c");
        }
    }
}

#[test]
fn a_description_that_does_not_fit_its_probe_is_caught_by_the_compiler() {
    let mut api = Api::empty();
    api.add_source(
        "bad.rs",
        "extern \"C\" { #[probe(loop_next)] fn wrong(x: *mut c_int, y: *mut c_int) -> bool; }",
    )
    .unwrap();
    let directory = scratch();
    let file = directory.path().join("bad.c");
    std::fs::write(&file, emit(["wrong"], &api, Linkage::Wrap)).unwrap();
    let status = Command::new("gcc")
        .args(["-Werror", "-fsyntax-only", "-I"])
        .arg(include())
        .arg(&file)
        .output()
        .unwrap()
        .status;
    assert!(!status.success());
}

/// The prototypes agree with GCC's own: `omp.h` for the library routines, the built-in declarations for `_exit` and friends.
#[test]
fn prototypes_agree_with_the_headers() {
    const HEADERS: &str = "#pragma GCC diagnostic ignored \"-Wunused-result\"\n#define _GNU_SOURCE\n#include <malloc.h>\n#include <omp.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include <sys/mman.h>\n#include <threads.h>\n#include <unistd.h>\n";
    let mut api = Api::builtin();
    api.add_memory();
    api.add_threads();
    let described: Vec<&Function> = api.functions().filter(|f| has_header(f)).collect();
    // Routines newer than this compiler's `omp.h` are unknown to it.
    let name_each = |function: &&Function| format!("__typeof__(&{0}) p_{0};\n", function.symbol);
    let names: String = described.iter().map(name_each).collect();
    let unknown = errors(&GCC, &format!("{HEADERS}{names}"));
    let is_known = |symbol: &str| {
        !unknown
            .iter()
            .any(|line| line.contains(&format!("'{symbol}' undeclared")))
    };
    let mut text = String::from(HEADERS);
    let mut compared = 0;
    for function in described.iter().filter(|f| is_known(&f.symbol)) {
        // Calls the function through its own header with arguments of the described types.
        let arguments: Vec<String> = function
            .params
            .iter()
            .enumerate()
            .map(|(i, ty)| ty.declare(&format!("a{i}")))
            .collect();
        let list = if arguments.is_empty() {
            "void".to_owned()
        } else {
            arguments.join(", ")
        };
        let call: Vec<String> = (0..arguments.len()).map(|i| format!("a{i}")).collect();
        _ = writeln!(
            text,
            "void call_{0}({list});\nvoid call_{0}({list}) {{ (void){0}({1}); }}",
            function.symbol,
            call.join(", ")
        );
        compared += 1;
    }
    assert!(compared >= 28, "{compared}");
    compile(&GCC, &text, "headers.c");
}

/// What GCC itself believes: with OpenMP it has every entry point that it generates calls to as `__builtin_GOMP_…`,
/// with `void *` for most pointers.
#[test]
fn prototypes_agree_with_the_compiler_that_generates_the_calls() {
    let api = Api::builtin();
    let entry_points: Vec<&Function> = api
        .functions()
        .filter(|function| function.symbol.starts_with("GOMP_"))
        .collect();
    for toolchain in [&GCC, &V8, &V9] {
        // Entry points older or newer than this compiler are unknown to it.
        let declare =
            |function: &&Function| format!("__typeof__(&__builtin_{0}) p_{0};\n", function.symbol);
        let unknown = errors(
            toolchain,
            &entry_points.iter().map(declare).collect::<String>(),
        );
        let is_known = |symbol: &str| {
            !unknown
                .iter()
                .any(|line| line.contains(&format!("'__builtin_{symbol}' undeclared")))
        };
        let mut text = String::from("#include <instr/probes.h>\n");
        let mut compared = 0;
        for function in &entry_points {
            let symbol = function.symbol.as_str();
            if TYPED_OTHERWISE.contains(&symbol) || !is_known(symbol) {
                continue;
            }
            compared += 1;
            let variants: Vec<String> = [CType::clone, untyped, untyped_unless_integers]
                .map(|change| same_type(function, change))
                .into();
            _ = writeln!(
                text,
                "_Static_assert({}, \"{symbol}\");",
                variants.join(" || ")
            );
        }
        let errors = errors(toolchain, &text);
        assert!(
            errors.is_empty(),
            "{}: {}",
            toolchain.name,
            errors.join("\n")
        );
        assert!(compared > 115, "{}: {compared}", toolchain.name);
    }
}

/// Same representation, other C type: `long` for `unsigned long`, `int` for `unsigned`, GCC's own integer type for
/// `uintptr_t`, a `noreturn` function.
const TYPED_OTHERWISE: &[&str] = &[
    "GOMP_alloc",
    "GOMP_error",
    "GOMP_free",
    "GOMP_taskloop",
    "GOMP_taskloop_ull",
    "GOMP_offload_register_ver",
    "GOMP_offload_unregister_ver",
];

fn errors(toolchain: &Toolchain, text: &str) -> Vec<String> {
    let directory = scratch();
    let file = directory.path().join("builtins.c");
    std::fs::write(&file, text).unwrap();
    let mut command = toolchain.command("gcc");
    let output = command
        .env("LC_ALL", "C")
        .args(["-fopenmp", "-fsyntax-only", "-I"])
        .arg(include())
        .arg(&file)
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    stderr
        .lines()
        .filter(|line| line.contains("error:"))
        .map(str::to_owned)
        .collect()
}

/// The C expression that compares the compiler's type of a function with the described one, `change`d.
fn same_type(function: &Function, change: fn(&CType) -> CType) -> String {
    let mut params: Vec<String> = function
        .params
        .iter()
        .map(|ty| change(ty).declare(""))
        .collect();
    if function.variadic {
        params.push("...".to_owned());
    }
    let params = if params.is_empty() {
        "void".to_owned()
    } else {
        params.join(", ")
    };
    let prototype = change(&function.result).declare(&format!("(*)({params})"));
    format!(
        "__builtin_types_compatible_p(__typeof__(&__builtin_{}), {prototype})",
        function.symbol
    )
}

fn untyped(ty: &CType) -> CType {
    match ty {
        CType::Pointer { constant, .. } => CType::Pointer {
            target: Box::new(CType::Void),
            constant: *constant,
        },
        other => other.clone(),
    }
}

fn untyped_unless_integers(ty: &CType) -> CType {
    match ty {
        CType::Pointer { target, .. }
            if matches!(**target, CType::Integer("long" | "unsigned long long")) =>
        {
            ty.clone()
        }
        other => untyped(other),
    }
}

fn has_header(function: &Function) -> bool {
    // `omp_init_lock_with_hint` takes an enumeration: same representation, other type.
    let described_in_header =
        ["memory.rs", "omp.rs", "process.rs", "pthread.rs"].contains(&&*function.source);
    let is_cpp = function.symbol.starts_with("_Z");
    described_in_header
        && !is_cpp
        && !function.symbol.ends_with('_')
        && !function.symbol.contains("hint")
}

#[test]
fn every_entry_point_of_the_installed_libgomp_is_described() {
    const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/libgomp.so.1";
    let text =
        String::from_utf8(run(Command::new("nm").args(["-D", "--defined-only", LIBRARY])).stdout)
            .unwrap();
    let api = Api::builtin();
    let mut seen = BTreeSet::new();
    for line in text.lines() {
        let symbol = line
            .split_whitespace()
            .next_back()
            .unwrap_or_default()
            .split('@')
            .next()
            .unwrap_or_default();
        let version_node = symbol
            .strip_prefix("GOMP_")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        // The plugin interface is for offloading plugins, not for compiled programs.
        if symbol.starts_with("GOMP_") && !version_node && !symbol.starts_with("GOMP_PLUGIN_") {
            assert!(api.get(symbol).is_some(), "{symbol} is not described");
            seen.insert(symbol.to_owned());
        }
    }
    assert!(seen.len() > 130, "{}", seen.len());
}
