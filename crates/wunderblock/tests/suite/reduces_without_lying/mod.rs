//! Reduces without lying: what is shown shorter has a mark in every gap.

pub(crate) mod reduce;
