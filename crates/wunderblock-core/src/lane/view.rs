//! View of a lane: events folded into the ordered entries that a model *could* see.
//!
//! A view belongs to one lane of one session. A view holds everything that a later request could show, and nothing
//! else: entries before the lane's frontier are gone, so the size of a view depends on the window, not on the
//! history.

pub(crate) mod entry;
mod summaries;
mod work;

use crate::form::fence;
use crate::id::{CallId, LaneId};
use crate::lane::arrangement::Arranged;
use crate::record::decision::{PartPosition, Trim};
use crate::record::event::{Event, EventSource, Fact};
use crate::record::message::{Body, Message, MessageOrigin, Part, Role};
use crate::record::preamble::Preamble;
use crate::record::reduction::{ContentReduced, Reduction, Reductions};
use crate::record::work::WorkLog;
use crate::source::section::Section;
use crate::units::Seq;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use summaries::place;
use work::WorkHistory;

pub use entry::{LaneProgress, SummaryNode, ViewEntry};
pub(crate) use summaries::all_prepared;
pub use summaries::{is_request, prepared, prepared_to, restating, unbind, unchecked_by};

/// Ordered entries that a model could see, and the state of the lane.
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
    lane: LaneId,
    head: Seq,
    entries: BTreeMap<Seq, ViewEntry>,
    gists: HashMap<CallId, BTreeMap<Seq, Box<str>>>,
    trim: Trim,
    pinned: BTreeSet<Seq>,
    hidden: BTreeSet<Seq>,
    /// Runs of erased positions: for each, the first position, the last position, and the number of events that lost
    /// their content.
    erased: BTreeMap<Seq, (Seq, u64)>,
    /// Preamble of the lane, and the position of its record.
    preamble: Option<(Seq, Arc<Preamble>)>,
    /// Positions of the summaries and shorter texts that the trim names.
    named: HashSet<Seq>,
    /// Summaries that the trim names, by the positions of their events.
    nodes: BTreeMap<Seq, SummaryNode>,
    /// Summaries made ahead that no trim names yet, by their first positions.
    prepared: BTreeMap<Seq, SummaryNode>,
    /// Shorter texts that the trim names, and those of standing reductions.
    reduced: Reductions,
    /// Entries that this lane inserted at the tail. Callers can append messages that look like these entries.
    ours: BTreeSet<Seq>,
    /// Texts at the tail from outside the ledger, by section and name: the position of the latest text, and its body.
    injected: BTreeMap<(Section, Box<str>), (Seq, Body)>,
    /// Work logs of the lane, the newest last.
    work: WorkHistory<ToldWork>,
    /// Starts and ends of sub-agents' work, by position.
    delegated: BTreeMap<Seq, Fact>,
    /// Progress of the lane.
    progress: LaneProgress,
    /// Arrangement of the entries.
    arranged: Arranged,
}

impl View {
    /// Creates the empty view of a lane.
    #[must_use]
    pub fn new(lane: LaneId) -> Self {
        Self { lane, ..Self::default() }
    }

    /// Applies the next event. Events of other lanes, and those that [contradict](Fact::contradiction) their
    /// position, change nothing but the head.
    pub fn apply(&mut self, event: &Event) {
        self.head = self.head.max(event.seq);
        self.arranged = Arranged::default();
        let Some(fact) = &event.fact else {
            self.erase(event.seq, event.seq, 1);
            if event.id.as_str().starts_with(&preamble_id(&self.lane)) {
                self.preamble = None;
            }
            return;
        };
        if fact.contradiction(event.seq).is_some() {
            return;
        }
        match fact {
            Fact::MessageAppended(said) => self.say(event, || said.message.clone()),
            Fact::ContextInjected(injected) if injected.lane == self.lane => {
                if let Some(log) = &injected.work {
                    let told = take_told(self);
                    self.work.push(event.seq, log, told);
                }
                if !injected.items.is_empty() && self.trim.needs(event.seq) {
                    self.say(event, || fence::injected(&injected.items));
                    self.ours.insert(event.seq);
                    for item in injected.items.iter().filter(|item| item.is_new()) {
                        let name = (item.section, item.what.clone());
                        self.injected.insert(name, (event.seq, item.body.clone()));
                    }
                }
            }
            Fact::PreambleChanged(changed) if changed.lane == self.lane => {
                let preamble = Some(&changed.preamble).filter(|preamble| !preamble.is_erased());
                self.preamble = preamble.map(|preamble| (event.seq, Arc::new(preamble.clone())));
                self.absorb(event.seq, &changed.takes_in);
            }
            // A trim names the summaries to show: this lane's own, or those of another lane with which this lane
            // began.
            Fact::SessionCompacted(made) => place(self, event, made),
            Fact::ContentReduced(reduced) => self.shorten(event.seq, reduced),
            Fact::ContentPinned(pin) => set(&mut self.pinned, pin.target, pin.pinned),
            Fact::ContentHidden(hidden) => hide(self, hidden.target, hidden.hidden),
            Fact::ContentErased(erased) => self.erase(erased.from_seq, erased.to_seq, erased.events),
            // A resumed view encounters steps that precede the step with which it began.
            Fact::ViewTrimmed(trimmed) if trimmed.lane == self.lane && event.seq >= self.progress.stepped => {
                self.progress.stepped = event.seq;
                self.trim_to(trimmed.trim.clone());
            }
            Fact::CompactionUndone(undone) if undone.lane == self.lane => undo_work(self, undone.compaction),
            Fact::ContextBuilt(built) if built.lane == self.lane => {
                self.progress.built = Some((event.seq, built.plan.through));
                self.progress.waited.clone_from(&built.plan.trim.waiting);
                self.progress.shown = self.progress.shown.max(built.plan.through);
                self.progress.unbound.clone_from(&built.plan.trim.unbound);
                self.progress.asked = true;
            }
            Fact::ContextBuilt(_) => self.progress.asked = false,
            Fact::SubagentSpawned(_) | Fact::SubagentReturned(_) | Fact::SessionClosed(_)
                if event.seq >= self.trim.drop_before =>
            {
                self.delegated.insert(event.seq, fact.clone());
            }
            _ => {}
        }
    }

    /// Applies a shorter text if the trim names it, or if it is standing and the lane has not shown the part.
    fn shorten(&mut self, event: Seq, reduced: &ContentReduced) {
        let unseen = reduced.target > self.progress.shown && reduced.target < event;
        let ours = reduced.lane.as_ref().is_none_or(|lane| *lane == self.lane);
        if reduced.standing && ours && unseen && reduced.target >= self.trim.drop_before {
            self.reduced.stand(event, reduced);
        } else if self.named.contains(&event) {
            self.reduced.name(event, reduced);
        }
    }

    /// Forgets the texts at the tail that a later preamble incorporates.
    fn absorb(&mut self, at: Seq, takes_in: &[Section]) {
        let is_absorbed = |seq: &Seq| match self.entries.get(seq).map(|entry| &entry.message.standing) {
            Some(MessageOrigin::Injected(what)) => {
                takes_in.iter().any(|section| section.name() == what.as_ref())
            }
            _ => false,
        };
        let gone: Vec<Seq> = self.ours.range(..at).copied().filter(is_absorbed).collect();
        gone.into_iter().for_each(|seq| self.forget(seq));
    }

    pub(crate) fn arranged(&self) -> &Arranged {
        &self.arranged
    }

    /// Passes over an event that the view must not apply, except for what the event says the lane has shown.
    pub fn pass(&mut self, event: &Event) {
        self.head = self.head.max(event.seq);
        if let Some(fact @ Fact::ContextBuilt(built)) = &event.fact
            && built.lane == self.lane
            && fact.contradiction(event.seq).is_none()
        {
            self.progress.shown = self.progress.shown.max(built.plan.through);
        }
    }

    fn say(&mut self, event: &Event, message: impl FnOnce() -> Message) {
        let seq = event.seq;
        if !self.trim.needs(seq) {
            return;
        }
        let message = message();
        for part in &message.parts {
            if let Part::ToolCall { call, gist: Some(gist), .. } = part {
                self.gists.entry(call.clone()).or_default().insert(seq, gist.clone());
            }
        }
        let answers = self.progress.asked && event.source == EventSource::Live;
        self.entries.insert(seq, ViewEntry { seq, at: event.at, message, answers });
    }

    fn erase(&mut self, from: Seq, to: Seq, events: u64) {
        if from > to {
            return;
        }
        let gone: Vec<Seq> = self.entries.range(from..=to).map(|(seq, _)| *seq).collect();
        gone.into_iter().for_each(|seq| self.forget(seq));
        self.nodes.retain(|at, _| *at < from || *at > to);
        self.prepared.retain(|_, node| node.at < from || node.at > to);
        self.reduced.erase(from, to);
        self.delegated.retain(|seq, _| !(from..=to).contains(seq));
        if self.preamble_at().is_some_and(|at| from <= at && at <= to) {
            self.preamble = None;
        }
        if self.work.has(from, to) {
            take_told(self);
            self.work = WorkHistory::default();
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
        if self.ours.remove(&seq) {
            self.injected.retain(|_, (at, _)| *at != seq);
        }
        for call in entry.message.calls() {
            if let Some(gists) = self.gists.get_mut(call) {
                gists.remove(&seq);
                if gists.is_empty() {
                    self.gists.remove(call);
                }
            }
        }
    }

    /// Moves the frontiers, and forgets what no request can show any longer.
    ///
    /// The trim is a step of the lane, so the next request does not have to continue the last one.
    pub fn trim_to(&mut self, trim: Trim) {
        self.progress.built = None;
        self.progress.waited.clear();
        self.progress.unbound.clone_from(&trim.unbound);
        self.progress.asked = false;
        self.entries.values_mut().for_each(|entry| entry.answers = false);
        self.arranged = Arranged::default();
        let before = self.entries.range(..trim.drop_before).map(|(seq, _)| *seq);
        let gone: Vec<Seq> = before.filter(|seq| !trim.needs(*seq)).collect();
        gone.into_iter().for_each(|seq| self.forget(seq));
        self.erased.retain(|_, (to, _)| *to >= trim.drop_before);
        self.work.forget_before(trim.drop_before);
        self.delegated.retain(|seq, _| *seq >= trim.drop_before);
        self.named = trim.named().collect();
        self.nodes.retain(|at, _| self.named.contains(at));
        // Drop the summaries that a loaded view would not encounter after the frontier.
        self.prepared.retain(|from, node| node.at >= trim.drop_before && *from >= trim.drop_before);
        self.reduced.trim(&self.named, trim.drop_before);
        self.progress.shown = self.progress.shown.max(trim.drop_before.prev());
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
    pub fn lane(&self) -> &LaneId {
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

    /// Returns the current state of the lane.
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

    /// Returns the shorter text recorded at a position, if the view may show it.
    #[must_use]
    pub fn reduced(&self, at: Seq) -> Option<&Body> {
        self.reduced.text(at)
    }

    /// Returns the result of the reduction recorded at a position, if it is known.
    #[must_use]
    pub fn reduction(&self, at: Seq) -> Option<&Reduction> {
        self.reduced.how(at)
    }

    /// Returns every shorter text that the view may show.
    pub fn shorter(&self) -> impl Iterator<Item = &Body> {
        self.reduced.texts()
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

    /// Returns the preamble of the lane; `None` until the lane has recorded one.
    #[must_use]
    pub fn preamble(&self) -> Option<&Arc<Preamble>> {
        self.preamble.as_ref().map(|(_, preamble)| preamble)
    }

    /// Returns the position of the preamble's record.
    #[must_use]
    pub fn preamble_at(&self) -> Option<Seq> {
        self.preamble.as_ref().map(|(seq, _)| *seq)
    }

    /// Returns the position and body of the latest text with a given name at the tail; `None` once the text has been
    /// left out.
    #[must_use]
    pub fn last_injected(&self, section: Section, name: &str) -> Option<(Seq, &Body)> {
        self.injected.get(&(section, name.into())).map(|(seq, body)| (*seq, body))
    }

    /// Returns whether this lane inserted the entry at the tail.
    #[must_use]
    pub fn is_ours(&self, seq: Seq) -> bool {
        self.ours.contains(&seq)
    }

    /// Returns the names of a section's texts at the tail.
    pub fn said_names(&self, section: Section) -> impl Iterator<Item = &str> {
        self.injected.keys().filter(move |(of, _)| *of == section).map(|(_, name)| name.as_ref())
    }

    /// Returns the newest work log of the lane.
    #[must_use]
    pub fn work(&self) -> Option<&Arc<WorkLog>> {
        self.work.newest()
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

    /// Returns the first request, as long as the lane keeps it; without a request, the first turn in the user's place.
    #[must_use]
    pub fn first_user(&self) -> Option<Seq> {
        let shown =
            |seq: &Seq| self.trim.drop_before == Seq::START || self.trim.keep.binary_search(seq).is_ok();
        let asks = |seq: &Seq| self.entries.get(seq).is_some_and(|entry| is_request(self, entry));
        self.turns().filter(asks).find(shown).or_else(|| self.turns().find(shown))
    }

    /// Returns the newest turn in the user's place, by any author.
    #[must_use]
    pub fn newest_user(&self) -> Option<Seq> {
        self.turns().next_back()
    }

    fn turns(&self) -> impl DoubleEndedIterator<Item = Seq> {
        let turns = self.entries.values().filter(|entry| entry.message.is_user_turn()).map(|entry| entry.seq);
        turns.filter(|seq| !self.hidden.contains(seq))
    }

    /// Returns the progress of the lane.
    #[must_use]
    pub fn progress(&self) -> &LaneProgress {
        &self.progress
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

/// Returns the starts and ends of sub-agents' work and of the session, from the lane's frontier on, in order.
pub fn delegated(view: &View) -> impl Iterator<Item = (Seq, &Fact)> {
    view.delegated.iter().map(|(seq, fact)| (*seq, fact))
}

/// Entry that shows the work log, with the name and the text of the log.
type ToldWork = (ViewEntry, Box<str>, Body);

/// Forgets the entry that shows the work log, so that another can replace it. Returns whether an entry showed the
/// work log.
pub fn forget_work(view: &mut View) -> bool {
    take_told(view).is_some()
}

fn take_told(view: &mut View) -> Option<ToldWork> {
    let mut told = view.injected.iter().filter(|((section, _), _)| *section == Section::Work);
    let ((_, name), (seq, body)) = told.next()?;
    let (name, seq, body) = (name.clone(), *seq, body.clone());
    let entry = view.entries.get(&seq).cloned();
    view.forget(seq);
    view.arranged = Arranged::default();
    entry.map(|entry| (entry, name, body))
}

/// Restores the work log that an undone compaction replaced, and the entry that showed it.
fn undo_work(view: &mut View, compaction: Seq) {
    if !view.work.undo(compaction) {
        return;
    }
    take_told(view);
    let Some((entry, name, body)) = view.work.take_told() else { return };
    if view.trim.needs(entry.seq) {
        view.ours.insert(entry.seq);
        view.injected.insert((Section::Work, name), (entry.seq, body));
        view.entries.insert(entry.seq, entry);
    }
}

/// Hides an entry, or shows it again. Hiding also removes what its exchange contributed to the work log.
fn hide(view: &mut View, target: Seq, hidden: bool) {
    set(&mut view.hidden, target, hidden);
    if hidden && view.work.hide(target) {
        take_told(view);
    }
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

/// Returns the prefix of the ids of a lane's `preamble.changed` events. The id of an erased event stays, so a view
/// knows that the event was this lane's preamble, and does not fall back on an older one.
#[must_use]
pub fn preamble_id(lane: &LaneId) -> String {
    let lane: String = blake3::hash(lane.as_str().as_bytes()).to_hex().chars().take(16).collect();
    format!("preamble.changed:{lane}@")
}
