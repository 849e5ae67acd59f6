//! Energy from what sensors read: of the run and of regions, of zones that must not be added, and from a model where there is no meter.
//!
//! * [`Meter`]: the energy of regions by one meter, with a bound of its error;
//! * [`Unions`]: when regions are open, however many threads are inside;
//! * [`zone`]: which zones may be added;
//! * [`PowerModel`]: power of a chip without a meter from the number of its busy cores; [`ModelMeter`]: energy by it.
//!
//! `docs/metrics.md` has the formulas.

mod meter;
mod model;
mod modelled;
mod union;
mod zone;

pub use meter::{Energy, Meter, Quantity};
pub use model::PowerModel;
pub use modelled::ModelMeter;
pub use union::Unions;
pub use zone::{Part, Zone, total, zone};
