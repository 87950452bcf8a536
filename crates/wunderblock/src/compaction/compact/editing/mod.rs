//! Changes to summaries that a person asks for.

pub(crate) mod edit;
pub(crate) mod found;
