//! What core promises, held against random histories and against cases one can read.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests: what cannot go on shall stop"
)]

mod cases;
mod fit;
mod history;
mod lane;
mod prefix;
mod resume;
mod wellformed;
