//! Commands that look at what is recorded: lists, pictures, figures, searches and texts.

pub(crate) mod cost;
pub(crate) mod describe;
pub(crate) mod expand;
pub(crate) mod gain;
pub(crate) mod grep;
pub(crate) mod read;
pub(crate) mod search;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod status;
