//! Command lines, response files, linker lines.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use anyhow::Result;
use instr_cc::argv::{emit, parse, response_file};
use instr_cc::cli;
use instr_cc::plan::{arguments, plan};
use instr_cc::shim::{context::Context, line};

use super::Target;
use crate::input::Input;
use crate::seeds::Seeds;

/// Command lines of real builds, one word after the other as a response file would hold them.
const LINES: [&str; 14] = [
    "-O2 -g -fopenmp -c main.c -o main.o",
    "-fopenmp main.o lu.o -o sparselu -lm -Wl,--as-needed -Wl,-rpath,/opt/lib",
    "-std=c11 -Wall -DNAME=\"a b\" -I include -Iother -MD -MF dep.d -MT x -c 'a file.c'",
    "-static -fopenmp a.c b.c c.c -o prog -Wl,-z,relro,-z,now -Wl,-Map=prog.map",
    "-flto=auto -fuse-ld=mold -fopenmp x.o @more.rsp -L/lib -L . -lfoo -l bar -Xlinker --wrap=malloc",
    "-### -E -M -MM -v --version -x c - -x none y.f90 -S -o - -pipe",
    "-shared -fPIC -Wl,-soname,libx.so.1 -Wl,--version-script=x.map a.o -o libx.so.1",
    "-r a.o b.o -o c.o -nostdlib -nostartfiles -T script.ld -u symbol -e start",
    "--instr-verbose --instr-api=my.rs --instr-target=gr740 --instr-off gcc -O2 a.c",
    "ccache gcc -m32 -mcpu=v8 -D A=1 -U B -include x.h -isystem /usr/inc -idirafter y a.c",
    "-plugin /usr/lib/liblto_plugin.so -plugin-opt=-fresolution=/tmp/x.res -dynamic-linker /lib64/ld.so -pie crt1.o --start-group -lgcc -lc --end-group crtn.o",
    "--whole-archive libx.a --no-whole-archive --push-state --as-needed -lgcc_s --pop-state -z now -m elf64_sparc -o out",
    "-Wp,-MD,x -Wa,-mshared -Wl,-\\\"quoted\\\\ -frandom-seed=1 \\ 'single \" double' \"in 'ner\" ''",
    "-fsanitize=address -pg -B/usr/lib -specs=x.specs -Wno-error=foo --param max-inline=3 -iquote . -Tbss=1 -o",
];

/// No file exists, so that only the words themselves count.
struct NoFiles;

impl cli::Files for NoFiles {
    fn in_path(&self, _: &OsStr) -> Option<PathBuf> {
        None
    }

    fn is_executable(&self, _: &Path) -> bool {
        false
    }

    fn exists(&self, _: &Path) -> bool {
        false
    }

    fn real(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }
}

/// Feeds `instr_cc`'s parsers.
pub(crate) struct CommandLines {
    folder: tempfile::TempDir,
}

impl CommandLines {
    pub(crate) fn new() -> Result<Self> {
        Ok(CommandLines {
            folder: tempfile::tempdir()?,
        })
    }

    /// Expands a response file of these bytes that names another one, rarely itself.
    fn expand(&self, bytes: &[u8], itself: bool) {
        let (outer, inner) = (
            self.folder.path().join("outer"),
            self.folder.path().join("inner"),
        );
        let named = if itself { &outer } else { &inner };
        // Words such as `@/etc/passwd` that mutation may form are kept from leading elsewhere.
        let mut inside = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            inside.push(byte);
            if byte == b'@' {
                inside.extend_from_slice(named.as_os_str().as_bytes());
                inside.push(b' ');
            }
        }
        let plain: Vec<u8> = bytes.iter().copied().filter(|&byte| byte != b'@').collect();
        if fs::write(&outer, &inside).is_ok() && fs::write(&inner, plain).is_ok() {
            let mut word = OsString::from("@");
            word.push(&outer);
            let _ = response_file::expand(&[word]);
        }
    }
}

impl Target for CommandLines {
    fn seeds(&self, _: &Seeds) -> Result<Vec<Input>> {
        let mut inputs: Vec<_> = LINES
            .iter()
            .map(|line| Input::single("line", line.as_bytes().to_vec()))
            .collect();
        inputs.push(Input::single("line", LINES.join("\n").into_bytes()));
        Ok(inputs)
    }

    fn run(&mut self, input: &Input) -> bool {
        let bytes = input.first();
        self.expand(bytes, input.fingerprint().is_multiple_of(64));
        let words = response_file::split(bytes);
        let joined = response_file::join(&words);
        assert_eq!(
            response_file::split(&joined),
            words,
            "words change by being quoted and split again"
        );
        // An argument of a process holds no zero byte.
        let words: Vec<OsString> = words
            .into_iter()
            .filter(|word| !word.as_bytes().contains(&0))
            .collect();
        let args = parse(&words);
        assert_eq!(
            emit(&args),
            words,
            "words change by being parsed and written back"
        );
        let _ = plan(&words);
        let raw = OsString::from_vec(bytes.to_vec());
        let added = arguments(&words, Some("/inc".as_ref()), Some("/shim".as_ref()));
        assert!(added.len() >= words.len(), "words are lost");
        let _ = line::parse(&words);
        if let Ok(split) = cli::split(words.clone()) {
            let _ = cli::choose("instr-cc".as_ref(), split.rest, None, Some(&raw), &NoFiles);
        }
        let _ = (
            Context::decode(&raw),
            cli::compiler_of_name(OsStr::from_bytes(bytes)),
        );
        !words.is_empty()
    }
}
