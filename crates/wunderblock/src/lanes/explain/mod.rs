//! Explains where a text of a session is in a request, and what an entry is.

pub(crate) mod entry;
pub(crate) mod found;
pub(crate) mod placement;
