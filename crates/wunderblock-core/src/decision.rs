//! What a lane decides and records: what it leaves out, what it brings back, the plan of a request.
//!
//! Data only, since events hold it; [`crate::trim`] and [`crate::plan`] say what follows from it.

use crate::authority::Authority;
use crate::id::{CallId, Handle, StreamId};
use crate::message::Body;
use crate::section::Section;
use crate::units::{Bytes, Seq, is_default};
use serde::{Deserialize, Serialize};

/// A place in a session: a position, and a part of the message there.
pub type PartPosition = (Seq, usize);

/// What a lane leaves out, until the next recorded step.
///
/// Two frontiers run through the session, both only ever forward: exchanges that end before `drop_before` are left out,
/// those that end before `stub_before` are shown with their large bodies as stubs, the rest verbatim. Entries in `keep`
/// stay verbatim wherever they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trim {
    /// The first position that is shown at all.
    pub drop_before: Seq,
    /// The first position that is shown verbatim.
    pub stub_before: Seq,
    /// Turns of the user before the frontiers that stay, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<Seq>,
    /// Positions before `drop_before` that a later request can still need, ascending: what stays, exchanges that go on
    /// behind the frontier, and calls that still wait for a result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hold: Vec<Seq>,
    /// Runs of positions before `drop_before` at which nothing was said, among entries that stay, ascending: there is no mark
    /// for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<(Seq, Seq)>,
    /// Places of results in entries that are not left out, ascending, which no call may take: duplicates, and those of
    /// exchanges that are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spent: Vec<PartPosition>,
    /// User texts that alone exceed the window: only this many bytes of each, half head, half tail, are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clip: Vec<(Seq, Bytes)>,
    /// The summaries that stand before `drop_before`, in the order of their ranges, which do not overlap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<PlacedSummary>,
    /// The summaries stand behind everything else before `drop_before`, not where their ranges were.
    #[serde(default, skip_serializing_if = "is_default")]
    pub nodes_last: bool,
    /// Speakers of the newest exchanges that are not shown yet, since results are outstanding. It holds for one request: no
    /// step takes it along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Seq>,
    /// Positions whose thinking is not sent, as runs from the first to the last, ascending: it was written behind another
    /// beginning. Every request of a lane repeats them, and no step takes them back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unbound: Vec<(Seq, Seq)>,
    /// Parts that the provider would refuse, ascending. It holds for one request, as `waiting` does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsent: Vec<PartPosition>,
    /// Parts that are shown in another form than the frontiers say, ascending by place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forms: Vec<(PartPosition, PartForm)>,
    /// What the user ordered for all that comes, in turns that are not shown.
    #[serde(default, skip_serializing_if = "StandingRules::is_unknown")]
    pub rules: StandingRules,
}

/// The user's standing rules, as quotes of their own turns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingRules {
    /// The newest position at which rules were looked for; [`Seq::START`] where nobody has looked.
    pub through: Seq,
    /// The quotes, ascending by place.
    pub quotes: Vec<Quote>,
}

impl StandingRules {
    /// Whether nobody has looked for rules.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// The bodies that are quoted from, where those are in blobs.
    pub fn blobs(&self) -> impl Iterator<Item = Handle> + '_ {
        self.quotes.iter().filter_map(|quote| quote.blob)
    }
}

/// Some words of a text part. It holds no text, so that an erasure of the entry takes the quote along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Quote {
    /// The part.
    pub at: PartPosition,
    /// Where the words begin in its text, in bytes.
    pub from: Bytes,
    /// Where they end.
    pub to: Bytes,
    /// The part's body, where that is in a blob.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<Handle>,
}

/// A summary in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedSummary {
    /// The position of its `session.compacted`.
    pub at: Seq,
    /// The first position it stands for.
    pub from: Seq,
    /// The last.
    pub to: Seq,
}

/// How a part is shown that is not left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartForm {
    /// Its bodies as stubs.
    Stub,
    /// The text of a `content.reduced` at this position in place of its own; a stub where that has been erased.
    Reduced(Seq),
    /// A reference to the place where the same text stands verbatim in the same request; a stub where it does not.
    Same(PartPosition),
    /// Not at all.
    Gone,
    /// A mark, since nothing else is left of the message.
    Placeholder,
}

impl Trim {
    /// The same trim, which holds on to further entries before its frontier: what had been left out can be shown again, if
    /// it is pinned. `members` are the entries of whole exchanges; their results may be taken by their calls again.
    #[must_use]
    pub fn holding(&self, members: &[Seq]) -> Self {
        let mut trim = self.clone();
        trim.hold.extend(members.iter().copied().filter(|seq| *seq < self.drop_before));
        trim.hold.sort_unstable();
        trim.hold.dedup();
        trim.spent.retain(|(seq, _)| !members.contains(seq));
        trim
    }

    /// How many bytes of each text of an entry are shown, if it is clipped.
    #[must_use]
    pub fn clip_of(&self, seq: Seq) -> Option<Bytes> {
        self.clip.iter().find(|(at, _)| *at == seq).map(|(_, bytes)| *bytes)
    }

    /// Whether the thinking of an entry was written behind another beginning than requests have.
    #[must_use]
    pub fn is_unbound(&self, seq: Seq) -> bool {
        let next = self.unbound.partition_point(|(from, _)| *from <= seq);
        let run = next.checked_sub(1).and_then(|at| self.unbound.get(at));
        run.is_some_and(|(_, to)| seq <= *to)
    }

    /// The trim as a step records it: without what holds for one request.
    #[must_use]
    pub fn of_step(&self) -> Self {
        Self { waiting: Vec::new(), unsent: Vec::new(), ..self.clone() }
    }

    /// In which form a part is shown, where that is not what the frontiers say.
    #[must_use]
    pub fn form_of(&self, at: PartPosition) -> Option<PartForm> {
        let index = self.forms.binary_search_by_key(&at, |(place, _)| *place).ok()?;
        self.forms.get(index).map(|(_, form)| *form)
    }

    /// The place of an entry's mark that nothing is left of it. An entry without any part has its mark at index 0.
    #[must_use]
    pub fn mark_of(&self, seq: Seq) -> Option<usize> {
        let from = self.forms.partition_point(|((at, _), _)| *at < seq);
        let mut own = self.forms.iter().skip(from).take_while(|((at, _), _)| *at == seq);
        own.find(|(_, form)| *form == PartForm::Placeholder).map(|((_, index), _)| *index)
    }

    /// Whether it names a summary, or a shorter text, recorded at a position.
    #[must_use]
    pub fn names(&self, at: Seq) -> bool {
        self.nodes.iter().any(|node| node.at == at)
            || self.forms.iter().any(|(_, form)| *form == PartForm::Reduced(at))
    }

    /// The positions of the summaries and shorter texts it names.
    pub fn named(&self) -> impl Iterator<Item = Seq> + '_ {
        let reduced = self.forms.iter().filter_map(|(_, form)| match form {
            PartForm::Reduced(at) => Some(*at),
            _ => None,
        });
        self.nodes.iter().map(|node| node.at).chain(reduced)
    }

    /// Whether a view trimmed so has any use for the entry at a position.
    #[must_use]
    pub fn needs(&self, seq: Seq) -> bool {
        seq >= self.drop_before
            || self.hold.binary_search(&seq).is_ok()
            || self.keep.binary_search(&seq).is_ok()
    }
}

/// Why a lane moved its frontiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrimReason {
    /// The request no longer fitted.
    OverBudget,
    /// A reply that had been shown became more complete: a result arrived for a call that had been answered in its
    /// place, or another record of the same reply. The frontiers stay.
    LateResult,
    /// Something that had been shown was erased.
    Erased,
    /// The lane begins again, for another model or window: what had been left out is considered again. The frontiers may
    /// move back, so a view takes this step by being resumed, not by going on. Records of earlier versions call it
    /// `widened`.
    #[serde(alias = "widened")]
    Resized,
    /// A policy compacted the lane.
    Compacted,
    /// A compaction was undone. As with [`TrimReason::Resized`], the frontiers move back.
    Undone,
    /// The provider would refuse something that had been shown, as the request is now. The frontiers stay.
    Refused,
    /// What the lane had left out was pinned and is held again. As with [`TrimReason::Undone`], a view takes it by being
    /// resumed.
    Pinned,
}

impl TrimReason {
    /// In words.
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

/// Something that comes in at the tail: from the ledger, where it was left out, or from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injection {
    /// Where it counts: recall, state or instructions.
    #[serde(default = "recall", skip_serializing_if = "is_recall")]
    pub section: Section,
    /// What it weighs.
    #[serde(default = "data", skip_serializing_if = "is_data")]
    pub authority: Authority,
    /// The stream of the entry it is from; `None`: the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_stream: Option<StreamId>,
    /// The entry it is from; [`Seq::START`] for what no entry holds.
    pub from_seq: Seq,
    /// The text.
    pub body: Body,
    /// What it is, in a few words.
    pub what: Box<str>,
    /// Why it came back.
    pub why: Box<str>,
}

fn recall() -> Section {
    Section::Recall
}

fn data() -> Authority {
    Authority::Data
}

// serde asks for functions that take references.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_recall(section: &Section) -> bool {
    *section == Section::Recall
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_data(authority: &Authority) -> bool {
    *authority == Authority::Data
}

impl Injection {
    /// Whether its text is new to the ledger, not a body that an entry holds already.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.section != Section::Recall
    }
}

/// What was decided. Everything needed to render the same request again from the same events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The newest position considered.
    pub through: Seq,
    /// What is left out and stubbed.
    pub trim: Trim,
    /// Why the frontiers moved, if they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<TrimReason>,
    /// What comes back at the tail with this request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inject: Vec<Injection>,
    /// Calls without a recorded result, answered by a mark that says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synthetic: Vec<CallId>,
}
