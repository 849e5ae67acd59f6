//! Names of code as columns have them: each is looked up once.

use hashbrown::HashMap;
use instr_symtab::critical_name;
use instr_trace::Names;
use instr_trace::event::MutexKind;
use instr_trace::model::Code;
use instr_trace::names::{CodeName, CodeRole, format_label, format_site_label, sampled_function};
use instr_trace::words::mutex_name;

use crate::texts::{Text, Texts};

/// The columns `name`, `function`, `file` and `line` of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) name: Text,
    pub(crate) function: Option<Text>,
    pub(crate) file: Option<Text>,
    pub(crate) line: Option<i32>,
}

/// The names of a process.
pub(crate) struct Places<'n> {
    pub(crate) names: &'n dyn Names,
    code: HashMap<(Code, CodeRole), Place>,
    objects: HashMap<u64, Text>,
    sampled: HashMap<u64, Option<(Text, Place)>>,
}

impl<'n> Places<'n> {
    pub(crate) fn new(names: &'n dyn Names) -> Self {
        Self {
            names,
            code: HashMap::new(),
            objects: HashMap::new(),
            sampled: HashMap::new(),
        }
    }

    /// Of the body of a construct, or of the construct before a return address.
    #[inline]
    pub(crate) fn code(&mut self, code: Code, role: CodeRole, texts: &mut Texts) -> Place {
        if let Some(known) = self.code.get(&(code, role)) {
            return *known;
        }
        let place = self.look_up(code, role, texts);
        self.code.insert((code, role), place);
        place
    }

    fn look_up(&self, code: Code, role: CodeRole, texts: &mut Texts) -> Place {
        let Code { address, site } = code;
        if address == 0 {
            return Place {
                name: texts.word("(unknown)"),
                function: None,
                file: None,
                line: None,
            };
        }
        let name = self.names.resolve(address.wrapping_sub(u64::from(site)));
        let name = name.unwrap_or_default();
        let label = match site {
            true => format_site_label(&name, address, role),
            false => format_label(&name, address, role),
        };
        place(&label, &name, texts)
    }

    /// The call that returns to `site`.
    pub(crate) fn site(&mut self, site: u64, texts: &mut Texts) -> Option<Place> {
        let code = Code::new(site, true);
        (site != 0).then(|| self.code(code, CodeRole::Function, texts))
    }

    /// The name of a lock or another object of the program, or its address.
    pub(crate) fn object(&mut self, address: u64, texts: &mut Texts) -> Text {
        if let Some(known) = self.objects.get(&address) {
            return *known;
        }
        let symbol = self.names.resolve(address).and_then(|name| name.function);
        let name = match symbol {
            Some(symbol) => critical_name(&symbol).unwrap_or(&symbol).to_owned(),
            None => format!("{address:#x}"),
        };
        let name = texts.number(&name);
        self.objects.insert(address, name);
        name
    }

    /// The name of a lock: those that all of a kind share have that of their kind.
    pub(crate) fn lock(&mut self, kind: MutexKind, address: u64, texts: &mut Texts) -> Text {
        match kind {
            MutexKind::Critical | MutexKind::Atomic | MutexKind::Ordered => {
                texts.word(mutex_name(kind))
            }
            _ => self.object(address, texts),
        }
    }

    /// The function, and the place, of an instruction that was sampled.
    pub(crate) fn sampled(&mut self, address: u64, texts: &mut Texts) -> Option<(Text, Place)> {
        if let Some(known) = self.sampled.get(&address) {
            return *known;
        }
        let found = sampled_function(self.names, address).map(|function| {
            let name = self.names.resolve(address).unwrap_or_default();
            (texts.number(&function), place(&function, &name, texts))
        });
        self.sampled.insert(address, found);
        found
    }
}

fn place(label: &str, name: &CodeName, texts: &mut Texts) -> Place {
    let function = name.function.as_deref().filter(|text| !text.is_empty());
    Place {
        name: texts.number(label),
        function: function.map(|text| texts.number(text)),
        file: name.file.as_deref().map(|text| texts.number(text)),
        line: name.line.and_then(|line| i32::try_from(line).ok()),
    }
}
