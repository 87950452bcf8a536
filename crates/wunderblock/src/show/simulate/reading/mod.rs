//! What a simulation reads from a history.

pub(crate) mod digest;
pub(crate) mod history;
pub(crate) mod index;
pub(crate) mod names;
pub(crate) mod needs;
pub(crate) mod rereads;
pub(crate) mod said;
