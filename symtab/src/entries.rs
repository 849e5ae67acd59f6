//! Debugging information entries of one unit, read by plans.

use gimli::{Abbreviations, DwForm, Encoding, Format, Reader as _, constants as dw};

use crate::dwarf::Reader;
use crate::plan::{Field, Plan, Plans, Step, form_length, plan};

/// A value as it stands in an entry, before bases of the unit are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Address {
    /// An address.
    Plain(u64),
    /// A number in the unit's list of addresses.
    Index(u64),
}

/// Where the end of a function's code is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// By the address behind it.
    At(Address),
    /// By its length.
    After(u64),
}

/// Where a list of ranges is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RangeList {
    /// At an offset in the section.
    Offset(u64),
    /// At a number in the unit's table of lists.
    Index(u64),
}

/// What the attributes of an entry say, as far as it matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) low: Option<Address>,
    pub(crate) high: Option<End>,
    pub(crate) ranges: Option<RangeList>,
    /// Offset in the unit of the entry that this one is a copy of.
    pub(crate) origin: Option<u64>,
    /// Whether the name stands in this entry, or in one of another unit: all that `origin` does not tell.
    pub(crate) named_here: bool,
    pub(crate) call_file: Option<u64>,
    pub(crate) call_line: u64,
    pub(crate) call_column: u64,
    /// Offset in the unit.
    pub(crate) sibling: Option<u64>,
    pub(crate) ranges_base: Option<u64>,
    pub(crate) address_base: Option<u64>,
    /// Offset of the line table.
    pub(crate) lines: Option<u64>,
}

/// The plan of an entry: kept, or made for a code beyond the kept ones.
pub(crate) enum Found<'p> {
    Kept(&'p Plan),
    Made(Box<Plan>),
}

impl std::ops::Deref for Found<'_> {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        match self {
            Found::Kept(plan) => plan,
            Found::Made(plan) => plan,
        }
    }
}

/// A place between the entries of a unit.
#[derive(Clone)]
pub(crate) struct Entries<'u, 'd> {
    input: Reader<'d>,
    /// Length of the unit in bytes, counted as its offsets are.
    end: usize,
    encoding: Encoding,
    plans: &'u Plans,
    abbreviations: &'u Abbreviations,
}

impl<'u, 'd> Entries<'u, 'd> {
    /// The entries of a unit from `offset` on. `unit` are its bytes from the start of its header.
    pub(crate) fn new(
        unit: Reader<'d>,
        offset: usize,
        encoding: Encoding,
        plans: &'u Plans,
        abbreviations: &'u Abbreviations,
    ) -> gimli::Result<Self> {
        let mut input = unit;
        input.skip(offset)?;
        Ok(Entries {
            input,
            end: unit.len(),
            encoding,
            plans,
            abbreviations,
        })
    }

    /// Offset of the next entry in the unit.
    pub(crate) fn offset(&self) -> usize {
        self.end - self.input.len()
    }

    /// The plan of the next entry, whose attributes are to be read or skipped next. The inner `None` ends a list of
    /// children, the outer one the unit.
    #[inline]
    pub(crate) fn next(&mut self) -> gimli::Result<Option<Option<Found<'u>>>> {
        if self.input.is_empty() {
            return Ok(None);
        }
        let code = match self.input.slice() {
            // Nearly always.
            [small @ 0..0x80, ..] => {
                let code = u64::from(*small);
                self.input.skip(1)?;
                code
            }
            _ => self.input.read_uleb128()?,
        };
        if code == 0 {
            return Ok(Some(None));
        }
        if let Some(plan) = self.plans.get(code) {
            return Ok(Some(Some(Found::Kept(plan))));
        }
        let made = self
            .abbreviations
            .get(code)
            .map(|abbreviation| Box::new(plan(abbreviation, self.encoding)))
            .ok_or(gimli::Error::InvalidAbbreviationCode(code))?;
        Ok(Some(Some(Found::Made(made))))
    }

    /// Passes the attributes of an entry.
    #[inline]
    pub(crate) fn skip(&mut self, plan: &Plan) -> gimli::Result<()> {
        match plan.length {
            Some(length) => self.input.skip(length as usize),
            None => self.read(plan).map(drop),
        }
    }

    /// Goes on at a sibling, if it is ahead and in the unit; false if it is not.
    pub(crate) fn jump(&mut self, sibling: Option<u64>) -> bool {
        let here = self.offset() as u64;
        let ahead = sibling
            .filter(|&sibling| sibling >= here && sibling <= self.end as u64)
            .and_then(|sibling| usize::try_from(sibling - here).ok());
        ahead.is_some_and(|bytes| self.input.skip(bytes).is_ok())
    }

    /// Reads the attributes of an entry that its plan wants.
    pub(crate) fn read(&mut self, plan: &Plan) -> gimli::Result<Fields> {
        self.follow(&plan.steps)
    }

    /// Reads the attributes of an entry.
    pub(crate) fn follow(&mut self, steps: &[Step]) -> gimli::Result<Fields> {
        let mut fields = Fields::default();
        for step in steps {
            match *step {
                Step::Skip(length) => self.input.skip(length as usize)?,
                Step::SkipForm(form) => self.skip_form(form)?,
                Step::Read(field, form, implicit) => {
                    self.read_field(&mut fields, field, form, implicit)?;
                }
            }
        }
        Ok(fields)
    }

    fn read_field(
        &mut self,
        fields: &mut Fields,
        field: Field,
        form: DwForm,
        implicit: i64,
    ) -> gimli::Result<()> {
        let form = self.direct(form)?;
        match field {
            Field::Name => {
                fields.named_here = true;
                return self.skip_form(form);
            }
            Field::Low => fields.low = self.address(form)?,
            Field::High => {
                fields.high = if is_address(form) {
                    self.address(form)?.map(End::At)
                } else {
                    self.constant(form, implicit)?.map(End::After)
                }
            }
            Field::Ranges => fields.ranges = self.range_list(form)?,
            Field::Origin => match self.unit_reference(form)? {
                Some(origin) => fields.origin = Some(origin),
                None => fields.named_here = true,
            },
            Field::Sibling => fields.sibling = self.unit_reference(form)?,
            Field::CallFile => fields.call_file = self.constant(form, implicit)?,
            Field::CallLine => fields.call_line = self.constant(form, implicit)?.unwrap_or(0),
            Field::CallColumn => fields.call_column = self.constant(form, implicit)?.unwrap_or(0),
            Field::RangesBase => fields.ranges_base = self.section_offset(form)?,
            Field::AddressBase => fields.address_base = self.section_offset(form)?,
            Field::Lines => fields.lines = self.section_offset(form)?,
        }
        Ok(())
    }

    /// The form itself, where an entry tells it.
    fn direct(&mut self, mut form: DwForm) -> gimli::Result<DwForm> {
        while form == dw::DW_FORM_indirect {
            form = DwForm(self.input.read_uleb128_u16()?);
        }
        Ok(form)
    }

    fn offset_sized(&mut self) -> gimli::Result<u64> {
        self.input
            .read_offset(self.encoding.format)
            .map(|offset| offset as u64)
    }

    fn address(&mut self, form: DwForm) -> gimli::Result<Option<Address>> {
        let index = match form {
            dw::DW_FORM_addr => {
                let address = self.input.read_address(self.encoding.address_size)?;
                return Ok(Some(Address::Plain(address)));
            }
            dw::DW_FORM_addrx | dw::DW_FORM_GNU_addr_index => self.input.read_uleb128()?,
            dw::DW_FORM_addrx1 => self.input.read_u8()?.into(),
            dw::DW_FORM_addrx2 => self.input.read_u16()?.into(),
            dw::DW_FORM_addrx3 => self.input.read_uint(3)?,
            dw::DW_FORM_addrx4 => self.input.read_u32()?.into(),
            _ => return self.skip_form(form).map(|()| None),
        };
        Ok(Some(Address::Index(index)))
    }

    fn constant(&mut self, form: DwForm, implicit: i64) -> gimli::Result<Option<u64>> {
        Ok(match form {
            dw::DW_FORM_data1 => Some(self.input.read_u8()?.into()),
            dw::DW_FORM_data2 => Some(self.input.read_u16()?.into()),
            dw::DW_FORM_data4 => Some(self.input.read_u32()?.into()),
            dw::DW_FORM_data8 => Some(self.input.read_u64()?),
            dw::DW_FORM_udata => Some(self.input.read_uleb128()?),
            dw::DW_FORM_sdata => u64::try_from(self.input.read_sleb128()?).ok(),
            dw::DW_FORM_implicit_const => u64::try_from(implicit).ok(),
            _ => return self.skip_form(form).map(|()| None),
        })
    }

    fn section_offset(&mut self, form: DwForm) -> gimli::Result<Option<u64>> {
        match form {
            dw::DW_FORM_sec_offset => self.offset_sized().map(Some),
            // DWARF 2 and 3 have no form of their own for offsets.
            dw::DW_FORM_data4 if self.encoding.format == Format::Dwarf32 => {
                Ok(Some(self.input.read_u32()?.into()))
            }
            dw::DW_FORM_data8 if self.encoding.format == Format::Dwarf64 => {
                Ok(Some(self.input.read_u64()?))
            }
            _ => self.skip_form(form).map(|()| None),
        }
    }

    fn range_list(&mut self, form: DwForm) -> gimli::Result<Option<RangeList>> {
        if form == dw::DW_FORM_rnglistx {
            return Ok(Some(RangeList::Index(self.input.read_uleb128()?)));
        }
        Ok(self.section_offset(form)?.map(RangeList::Offset))
    }

    /// A reference inside of the unit; `None` for others.
    fn unit_reference(&mut self, form: DwForm) -> gimli::Result<Option<u64>> {
        Ok(Some(match form {
            dw::DW_FORM_ref1 => self.input.read_u8()?.into(),
            dw::DW_FORM_ref2 => self.input.read_u16()?.into(),
            dw::DW_FORM_ref4 => self.input.read_u32()?.into(),
            dw::DW_FORM_ref8 => self.input.read_u64()?,
            dw::DW_FORM_ref_udata => self.input.read_uleb128()?,
            _ => return self.skip_form(form).map(|()| None),
        }))
    }

    /// Passes a value.
    fn skip_form(&mut self, form: DwForm) -> gimli::Result<()> {
        let length = match form_length(form, self.encoding) {
            Some(length) => length as usize,
            None => self.variable_length(form)?,
        };
        self.input.skip(length)
    }

    /// Length of a value that tells it by itself; reads as far as that takes.
    fn variable_length(&mut self, form: DwForm) -> gimli::Result<usize> {
        Ok(match form {
            dw::DW_FORM_block1 => self.input.read_u8()?.into(),
            dw::DW_FORM_block2 => self.input.read_u16()?.into(),
            dw::DW_FORM_block4 => self.input.read_u32()? as usize,
            dw::DW_FORM_block | dw::DW_FORM_exprloc => as_offset(self.input.read_uleb128()?)?,
            dw::DW_FORM_string => {
                self.input.read_null_terminated_slice()?;
                0
            }
            dw::DW_FORM_udata
            | dw::DW_FORM_sdata
            | dw::DW_FORM_ref_udata
            | dw::DW_FORM_strx
            | dw::DW_FORM_GNU_str_index
            | dw::DW_FORM_addrx
            | dw::DW_FORM_GNU_addr_index
            | dw::DW_FORM_loclistx
            | dw::DW_FORM_rnglistx => {
                self.input.skip_leb128()?;
                0
            }
            dw::DW_FORM_indirect => {
                let form = self.direct(form)?;
                return self.skip_form(form).map(|()| 0);
            }
            unknown => return Err(gimli::Error::UnknownForm(unknown)),
        })
    }
}

fn is_address(form: DwForm) -> bool {
    matches!(
        form,
        dw::DW_FORM_addr
            | dw::DW_FORM_addrx
            | dw::DW_FORM_GNU_addr_index
            | dw::DW_FORM_addrx1
            | dw::DW_FORM_addrx2
            | dw::DW_FORM_addrx3
            | dw::DW_FORM_addrx4
    )
}

/// A value of the file as an offset in memory.
pub(crate) fn as_offset(value: u64) -> gimli::Result<usize> {
    usize::try_from(value).map_err(|_| gimli::Error::UnsupportedOffset)
}
