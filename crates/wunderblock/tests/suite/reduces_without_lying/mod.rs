//! Reduces without lying: shortened content has a mark in every gap.

pub(crate) mod reduce;
