//! The heap's account in `instr summary`.

use serde_json::Value;

/// The numbers of the account that programs of these tests keep themselves.
pub const ACCOUNT: [&str; 5] = [
    "allocations",
    "frees",
    "allocated_bytes",
    "live_high_water_bytes",
    "live_bytes",
];

/// The account that a program keeps of itself, as the trace must have it: with what libgcc of GCC 13 and later takes in static programs before
/// `main` for its tree of exception tables (`btree_allocate_node` in GCC's unwind-dw2-btree.h), and gives back, if at all, at the end.
#[must_use]
pub fn with_libgcc(own: &[u64], memory: &Value) -> Vec<u64> {
    let mut expected = own.to_vec();
    let sites = memory["sites"].as_array().into_iter().flatten();
    for site in sites.filter(|site| site["function"] == "btree_allocate_node") {
        let number = |name: &str| site[name].as_u64().unwrap_or_default();
        let (taken, bytes) = (number("allocations"), number("allocated_bytes"));
        let back = taken - number("live_blocks");
        let of_site = [taken, back, bytes, bytes, number("live_bytes")];
        for (own, more) in expected.iter_mut().zip(of_site) {
            *own += more;
        }
    }
    expected
}
