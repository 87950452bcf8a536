//! Texts and their words: on one line, compared, counted as names, and judged by words that reveal a kind.

pub(super) mod cue;
pub(super) mod names;
pub(super) mod plain;
pub(super) mod words;
