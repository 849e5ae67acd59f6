//! The reader and rewriter of objects, archives, shared objects and executables.

use std::path::Path;

use anyhow::Result;
use instr_rewrite::Api;
use instr_rewrite::redirect::redirect;
use instr_rewrite::resolve::{ArchiveOrder, LinkItem, closure};
use instr_rewrite::scan::Source;
use instr_rewrite::select::select;
use instr_rewrite::stubs::emit_each;

use super::Target;
use crate::input::Input;
use crate::seeds::Seeds;

/// Feeds `instr_rewrite`.
pub(crate) struct Objects {
    api: Api,
}

impl Objects {
    pub(crate) fn new() -> Self {
        Objects {
            api: Api::builtin(),
        }
    }
}

impl Target for Objects {
    fn seeds(&self, seeds: &Seeds) -> Result<Vec<Input>> {
        let all = seeds
            .objects
            .iter()
            .chain(&seeds.archives)
            .chain(&seeds.linked);
        Ok(all
            .map(|(name, bytes)| Input::single(name, bytes.clone()))
            .collect())
    }

    fn run(&mut self, input: &Input) -> bool {
        let bytes = input.first();
        // No file of this name exists, so a thin archive's members are missing.
        let path = Path::new("/nonexistent/input");
        let source = Source::of(path, bytes);
        let scanned = source.scan();
        if let Ok(inputs) = &scanned {
            let (strong, weak) = inputs.undefined();
            let selection = select(&strong, &weak, &self.api);
            let _ = emit_each(selection.stubs(), &self.api);
            for order in [ArchiveOrder::Sequential, ArchiveOrder::Any] {
                let _ = closure(&[LinkItem::File(inputs)], &[b"main"], order);
            }
        }
        let redirected = redirect(path, bytes, &self.api);
        if let Ok(redirected) = &redirected {
            // What is written must be readable by what wrote it.
            if let Err(error) = Source::of(path, &redirected.bytes).scan() {
                panic!("the redirected file is refused: {error}");
            }
        }
        let _ = instr_cc::shim::lto::names(bytes, &|name| self.api.get(name).is_some());
        scanned.is_ok() || redirected.is_ok()
    }
}
