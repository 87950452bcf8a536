//! Promises of core, tested with random histories and with readable cases.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests: what cannot go on shall stop"
)]

mod cases;
mod compaction;
mod explained;
mod hidden;
mod never_over_budget;
mod preamble;
mod prefix_stable;
mod replayable;
mod resume;
mod said_once;
mod simulated;
mod untrusted_stays_untrusted;
mod well_formed;
