//! From what a person typed to what it names: sessions, filters, values and files.

pub(crate) mod conversation;
pub(crate) mod definitions;
pub(crate) mod fallback;
pub(crate) mod filter;
pub(crate) mod importing;
pub(crate) mod lookup;
pub(crate) mod names;
pub(crate) mod typed;
