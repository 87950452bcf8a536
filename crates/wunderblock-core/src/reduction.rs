//! Shorter texts as they are recorded. What makes them is not this crate's business.
//!
//! A trim can name one, and shows it then. A *standing* one needs no trim to name it: a lane that has not shown the part
//! before shows the shorter text from then on, and one that has shown it goes on as it did. It stands for the lane whose
//! policy asked for it: what one lane records changes no other. Which of the two holds follows
//! from the order of events alone, so a request still only grows at its end.

use crate::decision::PartPosition;
use crate::id::{Handle, LaneId};
use crate::message::Body;
use crate::units::{Bytes, Seq, Tokens, is_default};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// See [`crate::event::Fact::ContentReduced`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentReduced {
    /// The entry.
    pub target: Seq,
    /// Which part of it.
    pub part: u32,
    /// What stands in place of the part's texts. It says itself what it left out, and how to read that.
    pub text: Body,
    /// What made it: `head-tail`, or a reducer's name.
    pub reducer: Box<str>,
    /// The part's size.
    pub bytes_before: Bytes,
    /// Whether it holds without a trim that names it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub standing: bool,
    /// The lane by whose policy it stands; every lane's if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<LaneId>,
    /// What the text was taken for, and what shortening it came to, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<Reduction>,
}

impl ContentReduced {
    /// The part it is of.
    #[must_use]
    pub fn at(&self) -> PartPosition {
        (self.target, usize::try_from(self.part).unwrap_or(usize::MAX))
    }
}

/// What shortening a text came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reduction {
    /// What the text was taken for, such as `log`.
    pub kind: Box<str>,
    /// How far it went: `lossless` or `fold`.
    pub level: Box<str>,
    /// The tokens of the text, by the model it was shortened for.
    pub tokens_before: Tokens,
    /// The tokens of what stands in its place.
    pub tokens_after: Tokens,
    /// Whether the text can be had again from what stands in its place alone.
    pub lossless: bool,
    /// How many stretches are left out, each with a mark.
    pub gaps: u64,
}

impl Reduction {
    /// What was lost, in words.
    #[must_use]
    pub fn loss(&self) -> String {
        match self.gaps {
            _ if self.lossless => "exact".to_owned(),
            1 => "1 gap".to_owned(),
            gaps => format!("{gaps} gaps"),
        }
    }
}

/// A part of a request that is shown shorter, for the account of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownShorter {
    /// Which part of the entry.
    pub part: u32,
    /// What it came to.
    #[serde(flatten)]
    pub how: Reduction,
    /// What reads the whole; none for a text so short that it has no handle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<Handle>,
}

/// The shorter texts of a view.
///
/// A standing one counts from the lane's frontier on; before it the trim names what holds ([`crate::trim`]), since a view
/// that is resumed there reads no older event that nothing names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reductions {
    /// By the positions of their events.
    texts: BTreeMap<Seq, ReducedText>,
    /// Which part each standing one is of: of several the first counts.
    standing: BTreeSet<(PartPosition, Seq)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ReducedText {
    text: Body,
    how: Option<Reduction>,
}

impl Reductions {
    /// Takes in what a trim names.
    pub(crate) fn name(&mut self, event: Seq, reduced: &ContentReduced) {
        self.texts.insert(event, ReducedText { text: reduced.text.clone(), how: reduced.how.clone() });
    }

    /// Takes in what stands by itself.
    pub(crate) fn stand(&mut self, event: Seq, reduced: &ContentReduced) {
        self.standing.insert((reduced.at(), event));
        self.name(event, reduced);
    }

    /// Takes in texts nothing else is known of.
    pub(crate) fn extend<'t>(&mut self, texts: impl Iterator<Item = &'t (Seq, Body)>) {
        for (event, text) in texts {
            let shorter = || ReducedText { text: text.clone(), how: None };
            self.texts.entry(*event).or_insert_with(shorter);
        }
    }

    /// Loses what was recorded in a run of positions.
    pub(crate) fn erase(&mut self, from: Seq, to: Seq) {
        self.texts.retain(|event, _| *event < from || *event > to);
        self.standing.retain(|(_, event)| *event < from || *event > to);
    }

    /// Forgets what a trim neither names nor leaves standing.
    pub(crate) fn trim(&mut self, named: &HashSet<Seq>, frontier: Seq) {
        self.standing.retain(|((target, _), _)| *target >= frontier);
        let standing: HashSet<Seq> = self.standing.iter().map(|(_, event)| *event).collect();
        self.texts.retain(|event, _| named.contains(event) || standing.contains(event));
    }

    /// The text recorded at a position.
    pub(crate) fn text(&self, event: Seq) -> Option<&Body> {
        self.texts.get(&event).map(|shorter| &shorter.text)
    }

    /// What it came to.
    pub(crate) fn how(&self, event: Seq) -> Option<&Reduction> {
        self.texts.get(&event)?.how.as_ref()
    }

    /// All texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Body> {
        self.texts.values().map(|shorter| &shorter.text)
    }

    /// Where the one that stands for a part is recorded.
    pub(crate) fn of(&self, at: PartPosition) -> Option<Seq> {
        self.standing.range((at, Seq::START)..).next().filter(|(of, _)| *of == at).map(|(_, event)| *event)
    }

    /// Every part one stands for, with the position of its event, ascending.
    pub(crate) fn standing(&self) -> impl Iterator<Item = (PartPosition, Seq)> {
        let mut last = None;
        self.standing.iter().copied().filter(move |(at, _)| last.replace(*at) != Some(*at))
    }
}
