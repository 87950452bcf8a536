//! A request, and what was done about it.

use crate::compact::account::Compacted;
use crate::request::draft::Draft;
use wunderblock_core::compact::Due;
use wunderblock_core::units::Seq;

/// A built request, and what was done about it.
#[derive(Clone, Debug)]
pub struct Built {
    /// The request, and the account of it.
    pub draft: Draft,
    /// Where the request is recorded, if it was.
    pub recorded: Option<Seq>,
    /// The compaction that was made for it.
    pub compacted: Option<Box<Compacted>>,
    /// That a compaction is due, which is left to a worker.
    pub due: Option<Due>,
}
