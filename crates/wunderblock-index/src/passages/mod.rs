//! Passages: the parts of what persons and models said that are indexed, counted and shown one by one.
//!
//! ```text
//! text ─ cut ─► ranges ─┐
//! voice: who, when ─────┴─► traits ─► a row of a segment, or of the tail
//! ```
//! A message of a chat is mostly one passage; a long answer has many. [`traits`] are cheap facts about a passage that
//! [`crate::ranking`] weighs: they say nothing about the subject, but something about what kind of question the passage
//! may answer. `lists` are the words from which they are read.

pub mod cut;
pub(crate) mod lists;
pub mod traits;
pub mod voice;

use crate::words::is_unspaced;
use cut::cut;
use traits::Traits;
use voice::Voice;

/// A passage of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage<'t> {
    /// Text of the passage.
    pub text: &'t str,
    /// What its form and its speaker say about it.
    pub traits: Traits,
    /// Text whose terms are those of the passage. It has one character more than the passage if that ends within a run
    /// of a script without spaces, so that the pair of characters there is not lost.
    pub(crate) indexed: &'t str,
}

/// Returns the passages of a text, in order. They are those that a segment and the tail hold for it.
pub fn passages<'t>(voice: &Voice<'_>, text: &'t str) -> impl Iterator<Item = Passage<'t>> {
    let voice = voice.traits();
    cut(text).into_iter().filter_map(move |range| {
        let (own, rest) = (text.get(range.clone())?, text.get(range.end..)?);
        let splits_run = |next: &char| is_unspaced(*next) && own.ends_with(is_unspaced);
        let more = rest.chars().next().filter(splits_run).map_or(0, char::len_utf8);
        let indexed = text.get(range.start..range.end + more)?;
        Some(Passage { text: own, traits: voice | Traits::of(own), indexed })
    })
}
