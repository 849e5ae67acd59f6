//! The name of a function, which often stands in another entry than its code.

use std::sync::Arc;

use gimli::{AttributeValue, constants as dw};

use crate::dwarf::{Dwarf, Reader};
use crate::units::{Open, Sections, Units};

/// How many entries are followed to a name: an inlined copy leads to its pattern, that to its declaration.
const MAX_STEPS: usize = 16;

/// What an entry says of a name.
enum Told<'d> {
    Name(Reader<'d>),
    See(AttributeValue<Reader<'d>>),
    Nothing,
}

/// The linker's name of the function that the entry at `offset` of the unit's functions leads to, else the plain one.
pub(crate) fn name<'d>(dwarf: &Dwarf<'d>, open: &Open<'d>, offset: usize) -> Option<&'d [u8]> {
    let view = dwarf.view(open);
    let mut told = told(view.sections, view.unit, offset)?;
    let mut here = Here::First(open);
    for _ in 0..MAX_STEPS {
        let reference = match told {
            Told::Name(name) => return Some(name.slice()),
            Told::See(reference) => reference,
            Told::Nothing => return None,
        };
        told = match reference {
            AttributeValue::UnitRef(offset) => here.told(dwarf, offset.0)?,
            AttributeValue::DebugInfoRef(offset) => {
                let (sections, units, from_supplementary) = match here {
                    Here::Supplementary(_) => {
                        let (sections, units) = dwarf.supplementary()?;
                        (sections, units, true)
                    }
                    _ => (&*dwarf.sections, &dwarf.units, false),
                };
                let (open, offset) = opened(sections, units, offset.0)?;
                here = if from_supplementary {
                    Here::Supplementary(open)
                } else {
                    Here::Main(open)
                };
                here.told(dwarf, offset)?
            }
            AttributeValue::DebugInfoRefSup(offset) => {
                let (sections, units) = dwarf.supplementary()?;
                let (open, offset) = opened(sections, units, offset.0)?;
                here = Here::Supplementary(open);
                here.told(dwarf, offset)?
            }
            _ => return None,
        };
    }
    None
}

/// The unit that references are relative to.
enum Here<'o, 'd> {
    /// The one where the search began, or its split half.
    First(&'o Open<'d>),
    /// Another one of the same file.
    Main(Arc<Open<'d>>),
    /// One of the supplementary file.
    Supplementary(Arc<Open<'d>>),
}

impl<'d> Here<'_, 'd> {
    fn told(&self, dwarf: &Dwarf<'d>, offset: usize) -> Option<Told<'d>> {
        match self {
            Here::First(open) => {
                let view = dwarf.view(open);
                told(view.sections, view.unit, offset)
            }
            Here::Main(open) => told(&dwarf.sections, &open.unit, offset),
            Here::Supplementary(open) => told(dwarf.supplementary()?.0, &open.unit, offset),
        }
    }
}

fn opened<'d>(
    sections: &Sections<'d>,
    units: &Units<'d>,
    offset: usize,
) -> Option<(Arc<Open<'d>>, usize)> {
    let (number, inner) = units.around(offset)?;
    Some((units.open(sections, number).ok()?, inner))
}

/// What the entry at an offset of a unit says.
fn told<'d>(
    sections: &Sections<'d>,
    unit: &gimli::Unit<Reader<'d>>,
    offset: usize,
) -> Option<Told<'d>> {
    let mut entry = unit.entries_raw(Some(gimli::UnitOffset(offset))).ok()?;
    let abbreviation = entry.read_abbreviation().ok()??;
    let mut told = Told::Nothing;
    for spec in abbreviation.attributes() {
        match spec.name() {
            dw::DW_AT_linkage_name | dw::DW_AT_MIPS_linkage_name => {
                let value = entry.read_attribute(*spec).ok()?.value();
                if let Ok(name) = sections.attr_string(unit, value) {
                    return Some(Told::Name(name));
                }
            }
            dw::DW_AT_name => {
                let value = entry.read_attribute(*spec).ok()?.value();
                if let Ok(name) = sections.attr_string(unit, value) {
                    told = Told::Name(name);
                }
            }
            dw::DW_AT_abstract_origin | dw::DW_AT_specification => {
                let value = entry.read_attribute(*spec).ok()?.value();
                if matches!(told, Told::Nothing) {
                    told = Told::See(value);
                }
            }
            _ => entry.skip_attributes(std::slice::from_ref(spec)).ok()?,
        }
    }
    Some(told)
}
