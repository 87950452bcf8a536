//! View of a lane: events folded into the ordered entries that a model *could* see.
//!
//! A view belongs to one lane of one session. A view holds everything that a later request could show, and nothing
//! else: entries before the lane's frontier are gone, so the size of a view depends on the window, not on the
//! history.

mod entry;
mod lane;
mod work;

use crate::form::fence;
use crate::id::{CallId, LaneId};
use crate::lane::arrangement::Arranged;
use crate::record::author::Author;
use crate::record::decision::{PartPosition, Trim};
use crate::record::event::{Event, EventSource, Fact};
use crate::record::message::{Body, Message, MessageOrigin, Part, Role};
use crate::record::preamble::Restated;
use crate::record::reduction::Reductions;
use crate::units::Seq;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use work::ToldWork;

pub use entry::{SummaryNode, ViewEntry};
pub use lane::{ViewLane, preamble_id};

/// Ordered entries that a model could see, and their lane.
///
/// # Resuming
///
/// A view can be resumed without the earlier events. The same view, plan and request result from applying, in order:
///
/// 1. the lane's latest `view.trimmed`, if there is one;
/// 2. the lane's latest `preamble.changed` and every `content.pinned`, `content.hidden` and `content.erased` before its
///    `drop_before`, in order;
/// 3. the events at the positions of its `hold` and its `nodes`, and those that its `forms` name, in order;
/// 4. every event from `drop_before` on, in order (the trim occurs again, which changes nothing).
///
/// Events that a view must not apply are [passed](View::pass) over, so that what was shown stays shown.
///
/// Without a trim, all events must be applied. More events do no harm: [`View::apply`] drops what the trim does not
/// [need](Trim::needs). Erasure removes the content of messages, injections and summaries. Events that steer a view
/// (trims, pins, hides, builds, receipts of erasure) have no such content, and must keep their fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    head: Seq,
    entries: BTreeMap<Seq, ViewEntry>,
    gists: HashMap<CallId, BTreeMap<Seq, Box<str>>>,
    trim: Trim,
    pinned: BTreeSet<Seq>,
    hidden: BTreeSet<Seq>,
    /// Runs of erased positions: for each, the first position, the last position, and the number of events that lost
    /// their content.
    erased: BTreeMap<Seq, (Seq, u64)>,
    /// Positions of the summaries and shorter texts that the trim names.
    named: HashSet<Seq>,
    /// Summaries that the trim names, by the positions of their events.
    nodes: BTreeMap<Seq, SummaryNode>,
    /// Shorter texts that the trim names, and those of standing reductions.
    reduced: Reductions,
    /// Arrangement of the entries.
    pub(super) arranged: Arranged,
    /// The lane.
    lane: ViewLane,
}

impl View {
    /// Creates the empty view of a lane.
    #[must_use]
    pub fn new(lane: LaneId) -> Self {
        Self { lane: ViewLane::new(lane), ..Self::default() }
    }

    /// Applies the next event. Events of other lanes, and those that [contradict](Fact::contradiction) their
    /// position, change nothing but the head.
    pub fn apply(&mut self, event: &Event) {
        self.head = self.head.max(event.seq);
        self.arranged = Arranged::default();
        let Some(fact) = &event.fact else {
            self.erase(event.seq, event.seq, 1);
            return self.lane.apply(event, self.trim.drop_before);
        };
        if fact.contradiction(event.seq).is_some() {
            return;
        }
        match fact {
            Fact::MessageAppended(said) if self.trim.needs(event.seq) => {
                self.say(event, said.message.clone())
            }
            Fact::ContextInjected(injected) if injected.lane == self.lane.id => {
                if let Some(log) = &injected.work {
                    let told = self.forget_work();
                    self.lane.work.push(event.seq, log, told);
                }
                if !injected.items.is_empty() && self.trim.needs(event.seq) {
                    self.say(event, fence::injected(&injected.items));
                    let new = injected.items.iter().filter(|item| item.is_new());
                    let texts = new.map(|item| ((item.section, item.what.clone()), item.body.clone()));
                    self.lane.inject(event.seq, texts);
                }
            }
            // A preamble replaces the texts at the tail that it incorporates.
            Fact::PreambleChanged(changed) if changed.lane == self.lane.id => {
                let takes = |what: &str| changed.takes_in.iter().any(|section| section.name() == what);
                let is_absorbed = |seq: &Seq| match self.entry(*seq).map(|entry| &entry.message.standing) {
                    Some(MessageOrigin::Injected(what)) => takes(what),
                    _ => false,
                };
                let before = self.lane.ours.range(..event.seq).copied();
                let gone: Vec<Seq> = before.filter(is_absorbed).collect();
                gone.into_iter().for_each(|seq| self.forget(seq));
                self.lane.apply(event, self.trim.drop_before);
            }
            // A trim names the summaries to show: this lane's own, or those of another lane with which this lane
            // began.
            Fact::SessionCompacted(made) if self.named.contains(&event.seq) => {
                self.nodes.extend(SummaryNode::of(event, made).map(|node| (node.at, node)));
            }
            Fact::ContentReduced(reduced)
                if reduced.target >= self.trim.drop_before && self.lane.takes(event.seq, reduced) =>
            {
                self.reduced.stand(event.seq, reduced);
            }
            Fact::ContentReduced(reduced) if self.named.contains(&event.seq) => {
                self.reduced.name(event.seq, reduced);
            }
            Fact::ContentPinned(pin) => set(&mut self.pinned, pin.target, pin.pinned),
            Fact::ContentHidden(hidden) => {
                set(&mut self.hidden, hidden.target, hidden.hidden);
                // Hiding also removes what the exchange contributed to the work log.
                if hidden.hidden && self.lane.work.hide(hidden.target) {
                    self.forget_work();
                }
            }
            Fact::ContentErased(erased) => self.erase(erased.from_seq, erased.to_seq, erased.events),
            // A resumed view encounters steps that precede the step with which it began.
            Fact::ViewTrimmed(trimmed) if trimmed.lane == self.lane.id && event.seq >= self.lane.stepped => {
                self.lane.stepped = event.seq;
                self.trim_to(trimmed.trim.clone());
            }
            Fact::CompactionUndone(undone) if undone.lane == self.lane.id => {
                self.undo_work(undone.compaction);
            }
            _ => self.lane.apply(event, self.trim.drop_before),
        }
    }

    /// Passes over an event that the view must not apply, except for what the event says the lane has shown.
    pub fn pass(&mut self, event: &Event) {
        self.head = self.head.max(event.seq);
        if let Some(fact @ Fact::ContextBuilt(built)) = &event.fact
            && built.lane == self.lane.id
            && fact.contradiction(event.seq).is_none()
        {
            self.lane.shown = self.lane.shown.max(built.plan.through);
        }
    }

    fn say(&mut self, event: &Event, message: Message) {
        let seq = event.seq;
        for part in &message.parts {
            if let Part::ToolCall { call, gist: Some(gist), .. } = part {
                self.gists.entry(call.clone()).or_default().insert(seq, gist.clone());
            }
        }
        let answers = self.lane.asked && event.source == EventSource::Live;
        self.entries.insert(seq, ViewEntry { seq, at: event.at, message, answers });
    }

    fn erase(&mut self, from: Seq, to: Seq, events: u64) {
        if from > to {
            return;
        }
        let gone: Vec<Seq> = self.entries.range(from..=to).map(|(seq, _)| *seq).collect();
        gone.into_iter().for_each(|seq| self.forget(seq));
        self.nodes.retain(|at, _| *at < from || *at > to);
        self.reduced.erase(from, to);
        if self.lane.erase(from, to) {
            self.forget_work();
        }
        self.pinned.retain(|seq| !(from..=to).contains(seq));
        self.hidden.retain(|seq| !(from..=to).contains(seq));
        if to < self.trim.drop_before {
            return;
        }
        // A run covers what was erased inside it. An erased event and its receipt may arrive in either order.
        let covered =
            self.erased.range(..=from).next_back().is_some_and(|(_, (last, _))| from == to && *last >= to);
        if !covered {
            let inside: Vec<Seq> = self
                .erased
                .range(from..=to)
                .filter(|(_, (last, _))| *last <= to)
                .map(|(at, _)| *at)
                .collect();
            for at in inside {
                self.erased.remove(&at);
            }
            self.erased.insert(from, (to, events));
        }
    }

    fn forget(&mut self, seq: Seq) {
        let Some(entry) = self.entries.remove(&seq) else { return };
        self.lane.forget(seq);
        for call in entry.message.calls() {
            if let Some(gists) = self.gists.get_mut(call) {
                gists.remove(&seq);
                if gists.is_empty() {
                    self.gists.remove(call);
                }
            }
        }
    }

    /// Forgets the entry that shows the work log, so that another can replace it. Returns the entry, with the name and
    /// the text of the log.
    pub fn forget_work(&mut self) -> Option<ToldWork> {
        let (name, (seq, body)) = self.lane.told_work()?;
        let told = (self.entry(*seq)?.clone(), name.clone(), body.clone());
        self.forget(told.0.seq);
        self.arranged = Arranged::default();
        Some(told)
    }

    /// Restores the work log that an undone compaction replaced, and the entry that showed it.
    fn undo_work(&mut self, compaction: Seq) {
        if !self.lane.work.undo(compaction) {
            return;
        }
        self.forget_work();
        let Some((entry, name, body)) = self.lane.work.take_told() else { return };
        if self.trim.needs(entry.seq) {
            self.lane.inject(entry.seq, [(name, body)]);
            self.entries.insert(entry.seq, entry);
        }
    }

    /// Leaves thinking out of all requests from here on, as the trim of a step does.
    pub fn unbind(&mut self, thinking: Vec<(Seq, Seq)>) {
        self.lane.unbound.clone_from(&thinking);
        self.trim.unbound = thinking;
    }

    /// Sets aside the texts of the operator as a composed preamble would, before that preamble is recorded.
    pub fn restate(&mut self, restated: &[Restated]) {
        self.lane.restate(restated);
        self.arranged = Arranged::default();
    }

    /// Moves the frontiers, and forgets what no request can show any longer.
    ///
    /// The trim is a step of the lane, so the next request does not have to continue the last one.
    pub fn trim_to(&mut self, trim: Trim) {
        self.lane.step(&trim);
        self.entries.values_mut().for_each(|entry| entry.answers = false);
        self.arranged = Arranged::default();
        let before = self.entries.range(..trim.drop_before).map(|(seq, _)| *seq);
        let gone: Vec<Seq> = before.filter(|seq| !trim.needs(*seq)).collect();
        gone.into_iter().for_each(|seq| self.forget(seq));
        self.erased.retain(|_, (to, _)| *to >= trim.drop_before);
        self.named = trim.named().collect();
        self.nodes.retain(|at, _| self.named.contains(at));
        self.reduced.trim(&self.named, trim.drop_before);
        self.trim = trim;
    }

    /// Restores a message that lies before the frontier, so that the next step can hold it.
    pub fn hold(&mut self, event: &Event) {
        let Some(Fact::MessageAppended(said)) = &event.fact else { return };
        if event.seq < self.trim.drop_before && !self.entries.contains_key(&event.seq) {
            let (seq, at, message) = (event.seq, event.at, said.message.clone());
            self.entries.insert(seq, ViewEntry { seq, at, message, answers: false });
            self.arranged = Arranged::default();
        }
    }

    /// Returns the view as it would be under a given trim. The trim finds its summaries in `nodes`, and its shorter
    /// texts in `reduced`.
    #[must_use]
    pub fn with(&self, trim: &Trim, nodes: &[SummaryNode], reduced: &[(Seq, Body)]) -> Self {
        let mut view = self.clone();
        view.trim_to(trim.clone());
        let named = nodes.iter().filter(|node| view.named.contains(&node.at));
        view.nodes.extend(named.map(|node| (node.at, node.clone())));
        let View { reduced: texts, named, .. } = &mut view;
        texts.extend(reduced.iter().filter(|(at, _)| named.contains(at)));
        view
    }

    /// Returns the lane of the view.
    #[must_use]
    pub fn lane(&self) -> &ViewLane {
        &self.lane
    }

    /// Returns the position of the newest event seen.
    #[must_use]
    pub fn head(&self) -> Seq {
        self.head
    }

    /// Returns the entries, in order.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &ViewEntry> {
        self.entries.values()
    }

    /// Returns the entry at a position.
    #[must_use]
    pub fn entry(&self, seq: Seq) -> Option<&ViewEntry> {
        self.entries.get(&seq)
    }

    /// Returns a part of the entry at a position.
    #[must_use]
    pub fn part(&self, at: PartPosition) -> Option<&Part> {
        let (seq, index) = at;
        self.entries.get(&seq)?.message.parts.get(index)
    }

    /// Returns the position of the model's first reply after a position.
    #[must_use]
    pub fn next_reply(&self, after: Seq) -> Option<Seq> {
        let mut later = self.entries.range(after.next()..);
        later.find(|(_, entry)| entry.message.role == Role::Assistant).map(|(seq, _)| *seq)
    }

    /// Returns the trim of the lane's latest step.
    #[must_use]
    pub fn trim(&self) -> &Trim {
        &self.trim
    }

    /// Returns the summaries that the trim names, in the order of their ranges.
    pub fn nodes(&self) -> impl Iterator<Item = &SummaryNode> {
        self.trim.nodes.iter().filter_map(|placed| self.nodes.get(&placed.at))
    }

    /// Returns the summary recorded at a position, if the trim names it.
    #[must_use]
    pub fn node(&self, at: Seq) -> Option<&SummaryNode> {
        self.nodes.get(&at)
    }

    /// Returns the shorter texts that the view may show.
    #[must_use]
    pub fn reductions(&self) -> &Reductions {
        &self.reduced
    }

    /// Returns the position of a part's standing reduction. A form that the trim gives the part takes precedence.
    /// Only tool results have standing reductions: nobody's words are shortened that way.
    #[must_use]
    pub fn standing(&self, at: PartPosition) -> Option<Seq> {
        self.reduced.of(at).filter(|_| is_result(self.part(at)))
    }

    /// Returns the parts that have a standing reduction, each with the position of its record, in ascending order.
    pub fn standings(&self) -> impl Iterator<Item = (PartPosition, Seq)> {
        self.reduced.standing().filter(|(at, _)| is_result(self.part(*at)))
    }

    /// Returns the pinned positions.
    #[must_use]
    pub fn pinned(&self) -> &BTreeSet<Seq> {
        &self.pinned
    }

    /// Returns the positions that a person or program hid. A hidden entry takes its exchange out of all requests.
    #[must_use]
    pub fn hidden(&self) -> &BTreeSet<Seq> {
        &self.hidden
    }

    /// Returns the erased runs from the frontier on, in ascending order: for each, its first and last position and
    /// the number of events.
    pub fn erased(&self) -> impl Iterator<Item = (Seq, Seq, u64)> {
        let frontier = self.trim.drop_before;
        self.erased.iter().map(move |(from, (to, events))| ((*from).max(frontier), *to, *events))
    }

    /// Returns the newest turn in the user's place, by any author.
    #[must_use]
    pub fn newest_user(&self) -> Option<Seq> {
        turns(self).next_back().map(|entry| entry.seq)
    }

    /// Returns the gist of a result's call, given the position of the result: the call is the nearest one before the
    /// result, or else the first one.
    #[must_use]
    pub fn gist(&self, call: &CallId, at: Seq) -> Option<&str> {
        let gists = self.gists.get(call)?;
        let nearest = gists.range(..=at).next_back().or_else(|| gists.iter().next());
        nearest.map(|(_, gist)| gist.as_ref())
    }
}

/// Returns whether an entry asks for work: a turn of the person, or of another agent if the person said nothing, as in
/// the session of a delegate.
#[must_use]
pub fn is_request(view: &View, entry: &ViewEntry) -> bool {
    let said = &entry.message;
    let is_peers = || said.is_user_turn() && said.author() == Author::Peer;
    said.is_persons() || is_peers() && !view.entries().any(|entry| entry.message.is_persons())
}

/// Returns the first request, as long as the lane keeps it; without a request, the first turn in the user's place.
pub(crate) fn first_user(view: &View) -> Option<Seq> {
    let trim = view.trim();
    let is_kept = |seq| trim.drop_before == Seq::START || trim.keep.binary_search(&seq).is_ok();
    let kept = || turns(view).filter(|entry| is_kept(entry.seq));
    kept().find(|entry| is_request(view, entry)).or_else(|| kept().next()).map(|entry| entry.seq)
}

/// Returns the turns in the user's place, by any author, that are not hidden.
fn turns(view: &View) -> impl DoubleEndedIterator<Item = &ViewEntry> {
    view.entries().filter(|entry| entry.message.is_user_turn() && !view.hidden().contains(&entry.seq))
}

fn set(positions: &mut BTreeSet<Seq>, target: Seq, is_in: bool) {
    if is_in {
        positions.insert(target);
    } else {
        positions.remove(&target);
    }
}

fn is_result(part: Option<&Part>) -> bool {
    matches!(part, Some(Part::ToolResult { .. }))
}
