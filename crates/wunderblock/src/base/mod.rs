//! Errors, advice, futures, workers, and what everything above shares.

pub(crate) mod apart;
pub(crate) mod deadline;
pub(crate) mod edit_error;
pub(crate) mod error;
pub(crate) mod future;
pub(crate) mod hint;
pub(crate) mod lossy;
pub(crate) mod parallel;
pub(crate) mod progress;
pub(crate) mod short_id;
pub(crate) mod turns;
