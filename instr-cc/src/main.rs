//! The `instr-cc` command; see the library.

fn main() {
    std::process::exit(instr_cc::run(std::env::args_os()));
}
