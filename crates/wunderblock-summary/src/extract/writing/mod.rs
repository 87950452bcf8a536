//! From what was found to the text of a summary: items, those there is room for, and their markup.

pub(super) mod catalogue;
pub(super) mod condense;
pub(super) mod demand;
pub(super) mod fit;
pub(super) mod form;
pub(super) mod item;
pub(super) mod log;
pub(super) mod pick;
