//! Abbreviations turned into plans: which bytes of an entry to read and which to jump over.
//!
//! Almost all entries of a unit say nothing about code. Where all attributes of an entry have a fixed length, passing
//! it is one addition; where an entry says where its next sibling is, its children need not be looked at either.

use gimli::{AttributeSpecification, DwForm, DwTag, Encoding, Format, constants as dw};

/// Codes above this are looked up anew each time; honest tables count from 1 up to some hundreds.
const MAX_PLANS: u64 = 1 << 16;

/// What an entry is to a reader of functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `DW_TAG_subprogram` that may have code.
    Function,
    /// `DW_TAG_subprogram` without any code of its own: a declaration or the pattern of inlined copies.
    Abstract,
    /// `DW_TAG_inlined_subroutine`.
    Inlined,
    /// A type, whose children are members.
    Type,
    /// Anything else.
    Other,
}

/// An attribute that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// `DW_AT_low_pc`.
    Low,
    /// `DW_AT_high_pc`.
    High,
    /// `DW_AT_ranges`.
    Ranges,
    /// `DW_AT_abstract_origin` or `DW_AT_specification`.
    Origin,
    /// `DW_AT_name` or a linkage name; its value is not read.
    Name,
    /// `DW_AT_call_file`.
    CallFile,
    /// `DW_AT_call_line`.
    CallLine,
    /// `DW_AT_call_column`.
    CallColumn,
    /// `DW_AT_sibling`.
    Sibling,
    /// `DW_AT_rnglists_base` or its predecessor of GNU.
    RangesBase,
    /// `DW_AT_addr_base` or its predecessor of GNU.
    AddressBase,
    /// `DW_AT_stmt_list`.
    Lines,
}

/// One step over the attributes of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// So many bytes do not matter.
    Skip(u32),
    /// An attribute of variable length does not matter.
    SkipForm(DwForm),
    /// An attribute to read; the last is the value of `DW_FORM_implicit_const`.
    Read(Field, DwForm, i64),
}

/// How to read the entries of one abbreviation.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) kind: Kind,
    pub(crate) children: bool,
    /// Bytes of all attributes together, where that does not vary.
    pub(crate) length: Option<u32>,
    /// Whether there is a sibling to jump to.
    pub(crate) sibling: bool,
    pub(crate) steps: Box<[Step]>,
}

/// The plans of one table of abbreviations, by code.
#[derive(Debug, Default)]
pub(crate) struct Plans(Vec<Plan>);

impl Plans {
    /// Plans for the codes 1, 2, 3, …, as far as the table goes without a gap.
    pub(crate) fn new(table: &gimli::Abbreviations, encoding: Encoding) -> Self {
        let known = (1..MAX_PLANS).map_while(|code| table.get(code));
        Plans(
            known
                .map(|abbreviation| plan(abbreviation, encoding))
                .collect(),
        )
    }

    /// The plan of a code in the part without gaps.
    pub(crate) fn get(&self, code: u64) -> Option<&Plan> {
        self.0.get(usize::try_from(code).ok()?.checked_sub(1)?)
    }

    /// Bytes that the plans take.
    pub(crate) fn size(&self) -> usize {
        let steps: usize = self.0.iter().map(|plan| plan.steps.len()).sum();
        self.0.len() * size_of::<Plan>() + steps * size_of::<Step>()
    }
}

/// The plan of one abbreviation.
pub(crate) fn plan(abbreviation: &gimli::Abbreviation, encoding: Encoding) -> Plan {
    let specs = abbreviation.attributes();
    let has = |name| specs.iter().any(|spec| spec.name() == name);
    let kind = match abbreviation.tag() {
        dw::DW_TAG_subprogram if has(dw::DW_AT_low_pc) || has(dw::DW_AT_ranges) => Kind::Function,
        dw::DW_TAG_subprogram => Kind::Abstract,
        dw::DW_TAG_inlined_subroutine => Kind::Inlined,
        tag if is_type(tag) => Kind::Type,
        _ => Kind::Other,
    };
    let all = matches!(kind, Kind::Function | Kind::Inlined);
    let wanted = |field| all || field == Field::Sibling;
    let steps = steps(specs, encoding, wanted);
    let fixed = |step: &Step| match step {
        Step::Skip(length) => Some(*length),
        Step::SkipForm(_) => None,
        Step::Read(_, form, _) => form_length(*form, encoding),
    };
    Plan {
        kind,
        children: abbreviation.has_children(),
        length: steps
            .iter()
            .map(fixed)
            .try_fold(0u32, |sum, length| sum.checked_add(length?)),
        sibling: has(dw::DW_AT_sibling),
        steps: steps.into_boxed_slice(),
    }
}

fn is_type(tag: DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_structure_type
            | dw::DW_TAG_class_type
            | dw::DW_TAG_union_type
            | dw::DW_TAG_enumeration_type
            | dw::DW_TAG_subroutine_type
            | dw::DW_TAG_array_type
    )
}

/// The steps over these attributes; those that are not wanted become gaps.
pub(crate) fn steps(
    specs: &[AttributeSpecification],
    encoding: Encoding,
    wanted: impl Fn(Field) -> bool,
) -> Vec<Step> {
    let mut steps = Vec::with_capacity(specs.len());
    for spec in specs {
        let implicit = spec.implicit_const_value().unwrap_or(0);
        if let Some(field) = field(spec.name()).filter(|&field| wanted(field)) {
            steps.push(Step::Read(field, spec.form(), implicit));
            continue;
        }
        match (form_length(spec.form(), encoding), steps.last_mut()) {
            (Some(0), _) => {}
            (Some(more), Some(Step::Skip(length))) if *length < u32::MAX / 2 => *length += more,
            (Some(length), _) => steps.push(Step::Skip(length)),
            (None, _) => steps.push(Step::SkipForm(spec.form())),
        }
    }
    steps
}

fn field(name: gimli::DwAt) -> Option<Field> {
    Some(match name {
        dw::DW_AT_low_pc => Field::Low,
        dw::DW_AT_high_pc => Field::High,
        dw::DW_AT_ranges => Field::Ranges,
        dw::DW_AT_abstract_origin | dw::DW_AT_specification => Field::Origin,
        dw::DW_AT_name | dw::DW_AT_linkage_name | dw::DW_AT_MIPS_linkage_name => Field::Name,
        dw::DW_AT_call_file => Field::CallFile,
        dw::DW_AT_call_line => Field::CallLine,
        dw::DW_AT_call_column => Field::CallColumn,
        dw::DW_AT_sibling => Field::Sibling,
        dw::DW_AT_rnglists_base | dw::DW_AT_GNU_ranges_base => Field::RangesBase,
        dw::DW_AT_addr_base | dw::DW_AT_GNU_addr_base => Field::AddressBase,
        dw::DW_AT_stmt_list => Field::Lines,
        _ => return None,
    })
}

/// Bytes of an attribute's value where the form alone tells (DWARF 5, section 7.5.6).
#[inline]
pub(crate) fn form_length(form: DwForm, encoding: Encoding) -> Option<u32> {
    let offset = match encoding.format {
        Format::Dwarf32 => 4,
        Format::Dwarf64 => 8,
    };
    Some(match form {
        dw::DW_FORM_addr => encoding.address_size.into(),
        dw::DW_FORM_implicit_const | dw::DW_FORM_flag_present => 0,
        dw::DW_FORM_data1
        | dw::DW_FORM_flag
        | dw::DW_FORM_strx1
        | dw::DW_FORM_ref1
        | dw::DW_FORM_addrx1 => 1,
        dw::DW_FORM_data2 | dw::DW_FORM_ref2 | dw::DW_FORM_addrx2 | dw::DW_FORM_strx2 => 2,
        dw::DW_FORM_addrx3 | dw::DW_FORM_strx3 => 3,
        dw::DW_FORM_data4
        | dw::DW_FORM_ref_sup4
        | dw::DW_FORM_ref4
        | dw::DW_FORM_strx4
        | dw::DW_FORM_addrx4 => 4,
        dw::DW_FORM_data8 | dw::DW_FORM_ref8 | dw::DW_FORM_ref_sig8 | dw::DW_FORM_ref_sup8 => 8,
        dw::DW_FORM_data16 => 16,
        dw::DW_FORM_sec_offset
        | dw::DW_FORM_strp
        | dw::DW_FORM_strp_sup
        | dw::DW_FORM_line_strp
        | dw::DW_FORM_GNU_ref_alt
        | dw::DW_FORM_GNU_strp_alt => offset,
        dw::DW_FORM_ref_addr if encoding.version == 2 => encoding.address_size.into(),
        dw::DW_FORM_ref_addr => offset,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENCODING: Encoding = Encoding {
        format: Format::Dwarf32,
        version: 5,
        address_size: 8,
    };

    #[test]
    fn what_does_not_matter_is_one_jump() {
        let spec = |name, form| AttributeSpecification::new(name, form, None);
        let specs = [
            spec(dw::DW_AT_external, dw::DW_FORM_flag_present),
            spec(dw::DW_AT_name, dw::DW_FORM_strp),
            spec(dw::DW_AT_decl_file, dw::DW_FORM_data1),
            spec(dw::DW_AT_decl_line, dw::DW_FORM_data2),
            spec(dw::DW_AT_sibling, dw::DW_FORM_ref4),
            spec(dw::DW_AT_frame_base, dw::DW_FORM_exprloc),
            spec(dw::DW_AT_type, dw::DW_FORM_ref4),
        ];
        assert_eq!(
            steps(&specs, ENCODING, |field| field == Field::Sibling),
            [
                Step::Skip(7),
                Step::Read(Field::Sibling, dw::DW_FORM_ref4, 0),
                Step::SkipForm(dw::DW_FORM_exprloc),
                Step::Skip(4),
            ]
        );
    }

    #[test]
    fn lengths_agree_with_gimli() {
        let specs = (0..=u16::MAX).map(DwForm).filter_map(|form| {
            // Forms of no name have no length in either.
            form.static_string().map(|_| form)
        });
        let mut checked = 0;
        for form in specs {
            let mut bytes = vec![0, 5, 0, 0, 0, 0, 0, 0];
            bytes.resize(64, 0);
            if let Some(length) = form_length(form, ENCODING) {
                checked += 1;
                let implicit = (form == dw::DW_FORM_implicit_const).then_some(0);
                let spec = AttributeSpecification::new(dw::DW_AT_external, form, implicit);
                let section = unit_with(&bytes);
                let info = gimli::DebugInfo::new(&section, gimli::LittleEndian);
                let header = info.units().next().unwrap().unwrap();
                assert_eq!(spec.size(&header), Some(length as usize), "{form:?}");
            }
        }
        assert!(checked > 20);
    }

    /// A unit header of DWARF 5 in 32 bits before some bytes.
    fn unit_with(entries: &[u8]) -> Vec<u8> {
        let length = u32::try_from(entries.len() + 8).unwrap();
        let mut unit = length.to_le_bytes().to_vec();
        unit.extend([5, 0, 1, 8, 0, 0, 0, 0]);
        unit.extend(entries);
        unit
    }
}
