//! Untrusted stays untrusted: what enters from outside keeps its rank.

mod outside;
mod sources;
