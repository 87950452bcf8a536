//! Decisions that a lane makes and records: what it leaves out, what it brings back, and the plan of a request.
//!
//! This module contains only data, since events hold it; [`crate::lane::trim`] and [`crate::planning::plan`] derive what follows from
//! it.

use crate::id::{CallId, Handle, StreamId};
use crate::record::message::Body;
use crate::source::authority::Authority;
use crate::source::section::Section;
use crate::units::{Bytes, Seq, is_default};
use serde::{Deserialize, Serialize};

/// A place in a session: the position of a message, and the index of a part in it.
pub type PartPosition = (Seq, usize);

/// State of a lane: what it leaves out, until the next recorded step.
///
/// Two frontiers run through the session. Frontiers only move forward, except when the lane begins again or a
/// compaction is undone. Exchanges that end before `drop_before` are left out. Exchanges that end before
/// `stub_before` are shown with their large bodies as stubs, the rest verbatim. Entries in `keep` stay verbatim
/// wherever they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trim {
    /// First position that is shown at all.
    pub drop_before: Seq,
    /// First position that is shown verbatim.
    pub stub_before: Seq,
    /// Speakers before the frontiers that stay verbatim, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<Seq>,
    /// Positions before `drop_before` that a later request can still need, ascending: entries that stay, exchanges
    /// that continue after the frontier, and calls that still wait for a result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hold: Vec<Seq>,
    /// Runs of positions before `drop_before` that hold no message, between entries that stay, ascending. No mark is
    /// shown for these runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<(Seq, Seq)>,
    /// Places of results that no call may take, in entries that are still needed, ascending: duplicates, and results
    /// of exchanges that are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spent: Vec<PartPosition>,
    /// User texts that exceed the window by themselves, with the number of bytes shown of each: half head, half tail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clip: Vec<(Seq, Bytes)>,
    /// Summaries shown before `drop_before`, in the order of their ranges, which do not overlap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<PlacedSummary>,
    /// Whether the summaries come after everything else before `drop_before`, instead of at their ranges.
    #[serde(default, skip_serializing_if = "is_default")]
    pub nodes_last: bool,
    /// Speakers of the newest exchanges that are not shown yet, because results are outstanding. The list applies to
    /// one request, and no step records it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Seq>,
    /// Runs of positions (first and last), ascending, whose thinking is not sent because it was written after a
    /// different beginning. Every request of a lane repeats these runs, and no step removes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unbound: Vec<(Seq, Seq)>,
    /// Parts that the provider would reject, ascending. The list applies to one request, as `waiting` does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsent: Vec<PartPosition>,
    /// Parts shown in a different form than the frontiers imply, ascending by place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forms: Vec<(PartPosition, PartForm)>,
    /// Standing rules of the user, quoted from turns that are not shown.
    #[serde(default, skip_serializing_if = "StandingRules::is_unknown")]
    pub rules: StandingRules,
}

/// The user's standing rules, as quotes from the user's own turns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingRules {
    /// Newest position that was searched for rules; [`Seq::START`] if there was no search.
    pub through: Seq,
    /// The quotes, ascending by place.
    pub quotes: Vec<Quote>,
}

impl StandingRules {
    /// Returns whether there was no search for rules.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the handles of the quoted bodies that are in blobs.
    pub fn blobs(&self) -> impl Iterator<Item = Handle> + '_ {
        self.quotes.iter().filter_map(|quote| quote.blob)
    }
}

/// A quotation from a text part. A quote holds a place and no text, so erasing the entry also erases the quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Quote {
    /// Place of the part.
    pub at: PartPosition,
    /// Offset of the first quoted byte in the part's text.
    pub from: Bytes,
    /// Offset of the first byte after the quote.
    pub to: Bytes,
    /// Handle of the part's body, if the body is in a blob.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<Handle>,
}

/// A summary with its place in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedSummary {
    /// Position of its `session.compacted` event.
    pub at: Seq,
    /// First position the summary covers.
    pub from: Seq,
    /// Last position the summary covers.
    pub to: Seq,
}

/// Form of a part that is not shown as the frontiers imply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartForm {
    /// The bodies of the part as stubs.
    Stub,
    /// The text of the `content.reduced` at this position in place of the part's text; a stub if that text was
    /// erased.
    Reduced(Seq),
    /// A reference to the place where the request shows the same text verbatim; a stub if the request does not show
    /// it.
    Same(PartPosition),
    /// Not shown at all.
    Gone,
    /// A placeholder, because nothing else is left of the message.
    Placeholder,
}

impl Trim {
    /// Returns a copy of the trim that also holds the given entries before its frontier. This allows entries that had
    /// been left out to be shown again if they are pinned. `members` must be the entries of whole exchanges, because
    /// calls are paired with their results again.
    #[must_use]
    pub fn holding(&self, members: &[Seq]) -> Self {
        let mut trim = self.clone();
        trim.hold.extend(members.iter().copied().filter(|seq| *seq < self.drop_before));
        trim.hold.sort_unstable();
        trim.hold.dedup();
        trim.spent.retain(|(seq, _)| !members.contains(seq));
        trim
    }

    /// Returns the number of bytes shown of each text of an entry; `None` if the entry is not clipped.
    #[must_use]
    pub fn clip_of(&self, seq: Seq) -> Option<Bytes> {
        self.clip.iter().find(|(at, _)| *at == seq).map(|(_, bytes)| *bytes)
    }

    /// Returns whether the thinking of an entry was written after a beginning different from that of the requests.
    #[must_use]
    pub fn is_unbound(&self, seq: Seq) -> bool {
        let next = self.unbound.partition_point(|(from, _)| *from <= seq);
        let run = next.checked_sub(1).and_then(|at| self.unbound.get(at));
        run.is_some_and(|(_, to)| seq <= *to)
    }

    /// Returns the trim as a step records it, without the fields that apply to one request only.
    #[must_use]
    pub fn of_step(&self) -> Self {
        Self { waiting: Vec::new(), unsent: Vec::new(), ..self.clone() }
    }

    /// Returns the form of a part if it differs from what the frontiers imply.
    #[must_use]
    pub fn form_of(&self, at: PartPosition) -> Option<PartForm> {
        let index = self.forms.binary_search_by_key(&at, |(place, _)| *place).ok()?;
        self.forms.get(index).map(|(_, form)| *form)
    }

    /// Returns the index of an entry's placeholder. An entry without parts has its placeholder at index 0.
    #[must_use]
    pub fn mark_of(&self, seq: Seq) -> Option<usize> {
        let from = self.forms.partition_point(|((at, _), _)| *at < seq);
        let mut own = self.forms.iter().skip(from).take_while(|((at, _), _)| *at == seq);
        own.find(|(_, form)| *form == PartForm::Placeholder).map(|((_, index), _)| *index)
    }

    /// Returns whether the trim names a summary, or a shorter text, that is recorded at a position.
    #[must_use]
    pub fn names(&self, at: Seq) -> bool {
        self.nodes.iter().any(|node| node.at == at)
            || self.forms.iter().any(|(_, form)| *form == PartForm::Reduced(at))
    }

    /// Returns the positions of the summaries and shorter texts that the trim names.
    pub fn named(&self) -> impl Iterator<Item = Seq> + '_ {
        let reduced = self.forms.iter().filter_map(|(_, form)| match form {
            PartForm::Reduced(at) => Some(*at),
            _ => None,
        });
        self.nodes.iter().map(|node| node.at).chain(reduced)
    }

    /// Returns whether a view with this trim needs the entry at a position.
    #[must_use]
    pub fn needs(&self, seq: Seq) -> bool {
        seq >= self.drop_before
            || self.hold.binary_search(&seq).is_ok()
            || self.keep.binary_search(&seq).is_ok()
    }
}

/// Reason why a lane took a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrimReason {
    /// The request no longer fitted.
    OverBudget,
    /// A shown reply became more complete: a result arrived for a call that was answered by a stand-in, or another
    /// record of the same reply arrived. The frontiers stay.
    LateResult,
    /// Shown content was erased.
    Erased,
    /// The lane begins again, for another model or window, and reconsiders what it had left out. The frontiers may
    /// move back, so a view must be resumed to take this step; it cannot just continue. Records of earlier versions
    /// call this reason `widened`.
    #[serde(alias = "widened")]
    Resized,
    /// A policy compacted the lane.
    Compacted,
    /// A compaction was undone. As with [`TrimReason::Resized`], the frontiers move back.
    Undone,
    /// In the current request, the provider would reject content that earlier requests showed. The frontiers stay.
    Refused,
    /// Content that the lane had left out was pinned, and is held again. As with [`TrimReason::Undone`], a view must
    /// be resumed to take this step.
    Pinned,
}

impl TrimReason {
    /// Returns the reason in words.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::OverBudget => "the request no longer fitted",
            Self::LateResult => "a reply became more complete",
            Self::Erased => "content was erased",
            Self::Resized => "another model or window",
            Self::Compacted => "the lane was compacted",
            Self::Undone => "a compaction was undone",
            Self::Refused => "the provider would refuse what had been shown",
            Self::Pinned => "what had been left out was pinned",
        }
    }
}

/// A text that enters at the tail: one from the ledger that was left out, or one from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injection {
    /// Section under which the text is counted: recall, state, work or instructions.
    #[serde(default = "recall", skip_serializing_if = "is_recall")]
    pub section: Section,
    /// Authority of the text.
    #[serde(default = "data", skip_serializing_if = "is_data")]
    pub authority: Authority,
    /// Stream of the entry from which the text is taken; `None` for the session's own stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_stream: Option<StreamId>,
    /// Position of the entry from which the text is taken; [`Seq::START`] if no entry holds the text.
    pub from_seq: Seq,
    /// The text.
    pub body: Body,
    /// Short description or name of the text.
    pub what: Box<str>,
    /// Reason why the text enters.
    pub why: Box<str>,
    /// Body of which the text is a part, if the whole text was too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<Handle>,
}

fn recall() -> Section {
    Section::Recall
}

fn data() -> Authority {
    Authority::Data
}

// serde requires functions that take references.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_recall(section: &Section) -> bool {
    *section == Section::Recall
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_data(authority: &Authority) -> bool {
    *authority == Authority::Data
}

impl Injection {
    /// Returns whether the text is new to the ledger, rather than a body that an entry already holds.
    #[must_use]
    pub fn is_new(&self) -> bool {
        let holds_none = self.from_stream.is_some() && self.from_seq == Seq::START;
        self.section != Section::Recall || holds_none || self.part_of.is_some()
    }
}

/// Decision about a request: everything needed to render the same request again from the same events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Newest position considered.
    pub through: Seq,
    /// State of the lane that the request shows.
    pub trim: Trim,
    /// Reason for the step, if the request takes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<TrimReason>,
    /// Texts that enter at the tail with this request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inject: Vec<Injection>,
    /// Calls without a recorded result, answered by a stand-in that says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synthetic: Vec<CallId>,
}
