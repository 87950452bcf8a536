//! The texts that the ladder asks for.

use crate::units::{Seq, Tokens};

/// A text the ladder needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryJob {
    /// The first position it stands for.
    pub from: Seq,
    /// The last.
    pub to: Seq,
    /// The entries it is to be made from.
    pub entries: Vec<Seq>,
    /// The summaries that go into it, by the positions of their events; new ones have positions to come.
    pub sources: Vec<Seq>,
    /// Its level.
    pub level: u32,
    /// How much it should say.
    pub detail: Detail,
    /// Tokens of what it replaces.
    pub tokens: Tokens,
    /// Tokens it should take, about.
    pub target: Tokens,
    /// It covers the beginning of a turn that goes on behind it.
    pub splits: bool,
    /// No request shows it: it goes into another of the same climb, so no model need write it.
    pub inner: bool,
}

/// How much a summary says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// All parts of its template.
    #[default]
    Full,
    /// What was wanted, decided, changed and how it ended: a few lines.
    KeyPoints,
    /// Numbers: how many messages, calls, failures, files.
    Statistics,
    /// One line per turn or per summary, with its positions: where to look, not what happened.
    Catalogue,
}
