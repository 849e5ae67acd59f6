use super::*;
use crate::catalog::Language;
use crate::facts::Facts;

fn demand(text: &str, always: &[&str]) -> Result<Demands, DirectiveError> {
    let directives = parse(text)?;
    let always: Vec<String> = always.iter().map(|&word| word.to_owned()).collect();
    let defaults = Defaults {
        always: &always,
        options: &["-O2".to_owned()],
        folder: Path::new("/suite/libgomp.c"),
    };
    demands(
        &directives,
        defaults,
        &Facts::with_cpu(Language::C, &["sse2"]),
    )
}

fn of(text: &str) -> Demands {
    demand(text, &["-fopenmp"]).expect("well-formed")
}

#[test]
fn directives_are_found_where_dejagnu_finds_them() {
    let text = "/* { dg-do run } */\n! { dg-options \"-w\" }\nint x[] = { 1, 2 }; // {dg-do link}\n\
                /* { dg-skip-if \"\" { *-*-* } } */\n { dg-do run}\n";
    let found = parse(text).expect("well-formed");
    let shown: Vec<_> = found
        .iter()
        .map(|d| (d.line, d.name.as_str(), d.words.len()))
        .collect();
    let expected = [(1, "dg-do", 1), (2, "dg-options", 1), (4, "dg-skip-if", 2)];
    assert_eq!(shown, expected);
}

#[test]
fn a_program_without_directives_runs_with_the_folders_options() {
    let demands = of("int main (void) { return 0; }\n");
    assert_eq!(demands.verdict, Verdict::Run);
    assert_eq!(demands.options, ["-O2"]);
    assert!(!demands.should_fail && demands.output.is_none() && demands.env.is_empty());
}

#[test]
fn options_replace_and_add_where_their_selector_holds() {
    let text = "/* { dg-do run } */\n/* { dg-options \"-O0 -g\" { target c } } */\n\
                /* { dg-additional-options \"-msse2\" { target sse2_runtime } } */\n\
                /* { dg-additional-options \"-mavx\" { target avx_runtime } } */\n\
                /* { dg-additional-options \"-std=c99\" {target c } } */\n";
    assert_eq!(of(text).options, ["-O0", "-g", "-msse2", "-std=c99"]);
    let other = "/* { dg-options \"-O0\" { target c++ } } */\n";
    assert_eq!(of(other).options, ["-O2"]);
}

#[test]
fn what_is_not_run_is_told_from_what_cannot_run() {
    let verdict = |text: &str| of(text).verdict;
    assert!(matches!(
        verdict("/* { dg-do link } */"),
        Verdict::NotRun(_)
    ));
    assert!(matches!(
        verdict("! { dg-do compile { target skip-all-targets } }"),
        Verdict::NotRun(_)
    ));
    assert_eq!(
        verdict("/* { dg-require-effective-target offload_device } */"),
        Verdict::Unsupported("needs offload_device".into())
    );
    assert!(matches!(
        verdict("/* { dg-do run { target avx_runtime } } */"),
        Verdict::Unsupported(_)
    ));
    assert_eq!(
        verdict("/* { dg-do run { target *-*-linux* *-*-gnu* *-*-freebsd* } } */"),
        Verdict::Run
    );
    assert!(matches!(
        verdict("/* { dg-skip-if \"\" { *-*-* } } */"),
        Verdict::Unsupported(_)
    ));
}

#[test]
fn skip_if_looks_at_the_options_in_use() {
    let text =
        "! { dg-skip-if \"\" { ! ia32 } { \"*\" } { \"-O0\" \"-O2\" } }\n! { dg-options \"-w\" }";
    let verdict = |option: &str| {
        demand(text, &["-fopenmp", option])
            .expect("well-formed")
            .verdict
    };
    assert_eq!(verdict("-O2"), Verdict::Run);
    assert_eq!(verdict("-O0"), Verdict::Run);
    assert!(matches!(verdict("-O3"), Verdict::Unsupported(_)));
    assert!(matches!(verdict("-O20"), Verdict::Unsupported(_)));
    let only = "! { dg-skip-if \"\" { *-*-* } { \"-O3\" } { } }";
    assert_eq!(of(only).verdict, Verdict::Run);
}

#[test]
fn runs_are_described() {
    let text = "/* { dg-set-target-env-var OMP_PROC_BIND \"spread,close\" } */\n\
                /* { dg-shouldfail \"error directive\" } */\n\
                /* { dg-output \"message(\\n|\\r|\\r\\n)\" } */\n/* { dg-output \"\\\\\\[\\[0-9\\]+\\\\\\]\" } */\n\
                /* { dg-timeout 10 } */\n/* { dg-timeout-factor 2.0 } */\n\
                /* { dg-additional-sources \"a.c ../b.c\" } */\n/* { dg-warning \"x\" \"\" { target c } } */\n";
    let demands = of(text);
    assert!(demands.should_fail && !demands.expected_to_fail);
    assert_eq!(
        demands.env,
        [("OMP_PROC_BIND".to_owned(), "spread,close".to_owned())]
    );
    let output = demands.output.expect("an expression");
    assert!(output.is_match(b"a message\n[17]"));
    assert!(!output.is_match(b"a message\n17"));
    assert_eq!((demands.timeout, demands.timeout_factor), (Some(10), 2.0));
    assert_eq!(
        demands.sources,
        [
            PathBuf::from("/suite/libgomp.c/a.c"),
            PathBuf::from("/suite/libgomp.c/../b.c")
        ]
    );
}

#[test]
fn what_is_not_understood_is_refused() {
    for text in [
        "/* { dg-do run { avx_runtime } } */",
        "/* { dg-do run { target whatever } } */",
        "/* { dg-nonsense 3 } */",
        "/* { dg-timeout soon } */",
        "/* { dg-output \"(\" } */",
        "/* { dg-options \"-w } */",
    ] {
        assert!(demand(text, &[]).is_err(), "{text}");
    }
}
