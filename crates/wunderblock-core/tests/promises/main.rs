//! Promises of core, tested with random histories and with readable cases.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests: what cannot go on shall stop"
)]

mod cases;
mod compaction;
mod compaction_cases;
mod compaction_due;
mod compaction_golden;
mod compaction_kept;
mod compaction_prefix;
mod compaction_rebase;
mod compaction_scale;
mod desk;
mod explained;
mod hidden;
mod history;
mod lane;
mod never_over_budget;
mod policies;
mod preamble;
mod prefix_stable;
mod replayable;
mod resume;
mod said_once;
mod untrusted_stays_untrusted;
mod well_formed;
