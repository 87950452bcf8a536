//! Records of shorter texts. Other crates create the shorter texts.
//!
//! A request shows a reduction if a trim names it. A *standing* reduction needs no trim: a lane that has not yet
//! shown the part shows the shorter text from then on, and a lane that has already shown the part continues as
//! before. A standing reduction applies to the lane whose policy asked for it, so that one lane's records do not
//! affect any other lane. The order of events alone decides which form applies, so a request still only grows at its
//! end.

use crate::id::{Handle, LaneId};
use crate::record::decision::PartPosition;
use crate::record::message::Body;
use crate::units::{Bytes, Seq, Tokens, is_default};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Fields of [`crate::record::event::Fact::ContentReduced`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentReduced {
    /// Position of the entry.
    pub target: Seq,
    /// Index of the part in the entry.
    pub part: u32,
    /// Text shown in place of the part's texts. The text itself says what it leaves out, and how to read the omitted
    /// content.
    pub text: Body,
    /// Producer of the text: `head-tail`, or the name of a reducer.
    pub reducer: Box<str>,
    /// Size of the part.
    pub bytes_before: Bytes,
    /// Whether the reduction applies without a trim that names it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub standing: bool,
    /// Lane to which the reduction applies; `None` for every lane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<LaneId>,
    /// Kind of the text, and the result of shortening it, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<Reduction>,
}

impl ContentReduced {
    /// Returns the place of the part.
    #[must_use]
    pub fn at(&self) -> PartPosition {
        (self.target, usize::try_from(self.part).unwrap_or(usize::MAX))
    }
}

/// Result of shortening a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reduction {
    /// Kind assigned to the text, such as `log`.
    pub kind: Box<str>,
    /// Extent of the reduction: `lossless` or `fold`.
    pub level: Box<str>,
    /// Number of tokens in the whole text, as counted for the model for which the text was shortened.
    pub tokens_before: Tokens,
    /// Number of tokens in the shorter text.
    pub tokens_after: Tokens,
    /// Whether the whole text can be restored from the shorter text alone.
    pub lossless: bool,
    /// Number of omitted stretches, each replaced by a mark.
    pub gaps: u64,
}

impl Reduction {
    /// Returns the loss, described in words.
    #[must_use]
    pub fn loss(&self) -> String {
        match self.gaps {
            _ if self.lossless => "exact".to_owned(),
            1 => "1 gap".to_owned(),
            gaps => format!("{gaps} gaps"),
        }
    }
}

/// A part that a request shows in a shorter form, for the report on the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownShorter {
    /// Index of the part in the entry.
    pub part: u32,
    /// Result of the reduction.
    #[serde(flatten)]
    pub how: Reduction,
    /// Handle by which the whole text can be read; `None` for a text too short to have a handle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<Handle>,
}

/// Reductions of a view: the shorter texts that the view may show.
///
/// A standing reduction applies from the lane's frontier on. Before the frontier, the trim names the reductions that
/// apply ([`crate::lane::trim`]), since a view that is resumed at the frontier reads an older event only if something names
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reductions {
    /// Shorter texts, by the positions of their events.
    texts: BTreeMap<Seq, ReducedText>,
    /// Places of the parts that have standing reductions, with the positions of the reductions' events. If a part has
    /// several standing reductions, the first one applies.
    standing: BTreeSet<(PartPosition, Seq)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ReducedText {
    text: Body,
    how: Option<Reduction>,
}

impl Reductions {
    /// Adds a reduction that a trim names.
    pub(crate) fn name(&mut self, event: Seq, reduced: &ContentReduced) {
        self.texts.insert(event, ReducedText { text: reduced.text.clone(), how: reduced.how.clone() });
    }

    /// Adds a standing reduction.
    pub(crate) fn stand(&mut self, event: Seq, reduced: &ContentReduced) {
        self.standing.insert((reduced.at(), event));
        self.name(event, reduced);
    }

    /// Adds texts about which nothing else is known.
    pub(crate) fn extend<'t>(&mut self, texts: impl Iterator<Item = &'t (Seq, Body)>) {
        for (event, text) in texts {
            let shorter = || ReducedText { text: text.clone(), how: None };
            self.texts.entry(*event).or_insert_with(shorter);
        }
    }

    /// Removes the reductions that were recorded in a run of positions.
    pub(crate) fn erase(&mut self, from: Seq, to: Seq) {
        self.texts.retain(|event, _| *event < from || *event > to);
        self.standing.retain(|(_, event)| *event < from || *event > to);
    }

    /// Removes the reductions that a trim neither names nor leaves standing.
    pub(crate) fn trim(&mut self, named: &HashSet<Seq>, frontier: Seq) {
        self.standing.retain(|((target, _), _)| *target >= frontier);
        let standing: HashSet<Seq> = self.standing.iter().map(|(_, event)| *event).collect();
        self.texts.retain(|event, _| named.contains(event) || standing.contains(event));
    }

    /// Returns the text recorded at a position.
    #[must_use]
    pub fn text(&self, event: Seq) -> Option<&Body> {
        self.texts.get(&event).map(|shorter| &shorter.text)
    }

    /// Returns the result of the reduction recorded at a position, if it is known.
    #[must_use]
    pub fn how(&self, event: Seq) -> Option<&Reduction> {
        self.texts.get(&event)?.how.as_ref()
    }

    /// Returns all shorter texts.
    pub fn texts(&self) -> impl Iterator<Item = &Body> {
        self.texts.values().map(|shorter| &shorter.text)
    }

    /// Returns the position at which the standing reduction of a part is recorded.
    pub(crate) fn of(&self, at: PartPosition) -> Option<Seq> {
        self.standing.range((at, Seq::START)..).next().filter(|(of, _)| *of == at).map(|(_, event)| *event)
    }

    /// Returns every part that has a standing reduction, each with the position of the reduction's event, in
    /// ascending order.
    pub(crate) fn standing(&self) -> impl Iterator<Item = (PartPosition, Seq)> {
        let mut last = None;
        self.standing.iter().copied().filter(move |(at, _)| last.replace(*at) != Some(*at))
    }
}
