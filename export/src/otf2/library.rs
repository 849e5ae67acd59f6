//! The system's OTF2 library: its functions, found when they are asked for. The declarations are those of OTF2 3.0 and later; releases before
//! describe clocks and groups of locations in another way.

use std::ffi::{c_char, c_int, c_void};

use libloading::Library as Loaded;

use crate::error::Error;

/// The number of OTF2 3.0's library, and how many later ones are tried.
const FIRST: u32 = 10;
const LATER: u32 = 4;
/// What the library is called: by OTF2 itself, and by Debian.
const NAMES: [&str; 2] = ["libotf2.so", "libopen-trace-format2.so"];

/// `OTF2_ErrorCode`; 0: done.
pub(super) type Code = c_int;
/// An archive, and writers of events, definitions of a location and global definitions.
pub(super) type Archive = *mut c_void;
pub(super) type EvtWriter = *mut c_void;
pub(super) type DefWriter = *mut c_void;
/// `OTF2_AttributeList`: none is used.
pub(super) type Attributes = *mut c_void;

/// `OTF2_FlushCallbacks`.
#[repr(C)]
pub(super) struct FlushCallbacks {
    pub(super) pre: extern "C" fn(*mut c_void, u8, u64, *mut c_void, bool) -> u8,
    pub(super) post: Option<extern "C" fn(*mut c_void, u8, u64) -> u64>,
}

/// `OTF2_MemoryCallbacks`.
#[repr(C)]
pub(super) struct MemoryCallbacks {
    pub(super) allocate: extern "C" fn(*mut c_void, u8, u64, *mut *mut c_void, u64) -> *mut c_void,
    pub(super) free_all: extern "C" fn(*mut c_void, u8, u64, *mut *mut c_void, bool),
}

/// `OTF2_MetricValue`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) union MetricValue {
    pub(super) signed: i64,
    pub(super) real: f64,
}

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($argument:ty),* $(,)?) -> $result:ty;)*) => {
        /// The functions by what they do.
        pub(super) struct Library {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) -> $result,)*
            // Behind the functions, which are of no use without it.
            _loaded: Loaded,
        }

        impl Library {
            fn of(loaded: Loaded) -> Result<Self, libloading::Error> {
                Ok(Self {
                    // SAFETY: the types are those of the library's headers.
                    $($name: unsafe { *loaded.get(concat!($symbol, "\0").as_bytes())? },)*
                    _loaded: loaded,
                })
            }
        }
    };
}

functions! {
    open = "OTF2_Archive_Open"(*const c_char, *const c_char, u8, u64, u64, u8, u8) -> Archive;
    close = "OTF2_Archive_Close"(Archive) -> Code;
    set_flush = "OTF2_Archive_SetFlushCallbacks"(Archive, *const FlushCallbacks, *mut c_void) -> Code;
    set_memory = "OTF2_Archive_SetMemoryCallbacks"(Archive, *const MemoryCallbacks, *mut c_void) -> Code;
    set_serial = "OTF2_Archive_SetSerialCollectiveCallbacks"(Archive) -> Code;
    set_creator = "OTF2_Archive_SetCreator"(Archive, *const c_char) -> Code;
    open_events = "OTF2_Archive_OpenEvtFiles"(Archive) -> Code;
    close_events = "OTF2_Archive_CloseEvtFiles"(Archive) -> Code;
    events_of = "OTF2_Archive_GetEvtWriter"(Archive, u64) -> EvtWriter;
    close_events_of = "OTF2_Archive_CloseEvtWriter"(Archive, EvtWriter) -> Code;
    open_definitions = "OTF2_Archive_OpenDefFiles"(Archive) -> Code;
    close_definitions = "OTF2_Archive_CloseDefFiles"(Archive) -> Code;
    definitions_of = "OTF2_Archive_GetDefWriter"(Archive, u64) -> DefWriter;
    close_definitions_of = "OTF2_Archive_CloseDefWriter"(Archive, DefWriter) -> Code;
    definitions = "OTF2_Archive_GetGlobalDefWriter"(Archive) -> DefWriter;
    close_global = "OTF2_Archive_CloseGlobalDefWriter"(Archive, DefWriter) -> Code;
    number_of_events = "OTF2_EvtWriter_GetNumberOfEvents"(EvtWriter, *mut u64) -> Code;
    silence = "OTF2_Error_RegisterCallback"(*const c_void, *mut c_void) -> *const c_void;
    description = "OTF2_Error_GetDescription"(Code) -> *const c_char;
    string = "OTF2_GlobalDefWriter_WriteString"(DefWriter, u32, *const c_char) -> Code;
    clock = "OTF2_GlobalDefWriter_WriteClockProperties"(DefWriter, u64, u64, u64, u64) -> Code;
    node = "OTF2_GlobalDefWriter_WriteSystemTreeNode"(DefWriter, u32, u32, u32, u32) -> Code;
    domain = "OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain"(DefWriter, u32, u8) -> Code;
    location_group = "OTF2_GlobalDefWriter_WriteLocationGroup"(DefWriter, u32, u32, u8, u32, u32) -> Code;
    location = "OTF2_GlobalDefWriter_WriteLocation"(DefWriter, u64, u32, u8, u64, u32) -> Code;
    region = "OTF2_GlobalDefWriter_WriteRegion"(DefWriter, u32, u32, u32, u32, u8, u8, u32, u32, u32, u32) -> Code;
    paradigm = "OTF2_GlobalDefWriter_WriteParadigm"(DefWriter, u8, u32, u8) -> Code;
    group = "OTF2_GlobalDefWriter_WriteGroup"(DefWriter, u32, u32, u8, u8, u32, u32, *const u64) -> Code;
    comm = "OTF2_GlobalDefWriter_WriteComm"(DefWriter, u32, u32, u32, u32, u32) -> Code;
    metric_member = "OTF2_GlobalDefWriter_WriteMetricMember"(DefWriter, u32, u32, u32, u8, u8, u8, u8, i64, u32) -> Code;
    metric_class = "OTF2_GlobalDefWriter_WriteMetricClass"(DefWriter, u32, u8, *const u32, u8, u8) -> Code;
    enter = "OTF2_EvtWriter_Enter"(EvtWriter, Attributes, u64, u32) -> Code;
    leave = "OTF2_EvtWriter_Leave"(EvtWriter, Attributes, u64, u32) -> Code;
    measurement = "OTF2_EvtWriter_MeasurementOnOff"(EvtWriter, Attributes, u64, u8) -> Code;
    fork = "OTF2_EvtWriter_ThreadFork"(EvtWriter, Attributes, u64, u8, u32) -> Code;
    join = "OTF2_EvtWriter_ThreadJoin"(EvtWriter, Attributes, u64, u8) -> Code;
    team_begin = "OTF2_EvtWriter_ThreadTeamBegin"(EvtWriter, Attributes, u64, u32) -> Code;
    team_end = "OTF2_EvtWriter_ThreadTeamEnd"(EvtWriter, Attributes, u64, u32) -> Code;
    task_create = "OTF2_EvtWriter_ThreadTaskCreate"(EvtWriter, Attributes, u64, u32, u32, u32) -> Code;
    task_switch = "OTF2_EvtWriter_ThreadTaskSwitch"(EvtWriter, Attributes, u64, u32, u32, u32) -> Code;
    task_complete = "OTF2_EvtWriter_ThreadTaskComplete"(EvtWriter, Attributes, u64, u32, u32, u32) -> Code;
    acquire = "OTF2_EvtWriter_ThreadAcquireLock"(EvtWriter, Attributes, u64, u8, u32, u32) -> Code;
    release = "OTF2_EvtWriter_ThreadReleaseLock"(EvtWriter, Attributes, u64, u8, u32, u32) -> Code;
    metric = "OTF2_EvtWriter_Metric"(EvtWriter, Attributes, u64, u32, u8, *const u8, *const MetricValue) -> Code;
}

impl Library {
    /// Finds and loads the library.
    pub(super) fn load() -> Result<Self, Error> {
        Self::named(&NAMES)
    }

    fn named(names: &[&str]) -> Result<Self, Error> {
        let mut why = String::new();
        for number in FIRST..=FIRST + LATER {
            for name in names {
                // SAFETY: what the library does when it is loaded is its own; it is the one that users installed for this.
                let loaded = unsafe { Loaded::new(format!("{name}.{number}")) };
                match loaded.and_then(Self::of) {
                    Ok(library) => return Ok(library),
                    Err(error) if why.is_empty() => why = error.to_string(),
                    Err(_) => {}
                }
            }
        }
        Err(Error::Library {
            what: format!("the OTF2 library is not there: {why}"),
            help: "on Debian and Ubuntu: apt-get install otf2-tools; one of your own, of OTF2 3.0 or later: name its folder in LD_LIBRARY_PATH"
                .to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_brings_a_missing_library_is_told() {
        let Err(Error::Library { what, help }) = Library::named(&["libnone.so"]) else {
            panic!("there is no such library");
        };
        assert!(what.contains("libnone.so.10"), "{what}");
        assert!(help.contains("apt-get install otf2-tools"), "{help}");
    }
}
