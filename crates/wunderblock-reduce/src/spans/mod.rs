//! Groups of lines with their values, and the choice of those that stay.

pub(super) mod duplicates;
pub(super) mod query;
pub(super) mod select;
pub(super) mod shown;
pub(super) mod span;
