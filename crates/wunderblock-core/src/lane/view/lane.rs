//! Lane of a view: what its events say apart from entries and the trim, and how far it has come.

use super::entry::{SummaryNode, TailName};
use super::work::WorkHistory;
use crate::id::LaneId;
use crate::record::decision::Trim;
use crate::record::event::{Event, Fact};
use crate::record::message::Body;
use crate::record::preamble::{Preamble, Restated};
use crate::record::reduction::ContentReduced;
use crate::record::work::WorkLog;
use crate::source::section::Section;
use crate::units::Seq;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Lane of a view: preamble, texts at the tail, work logs, delegated work, summaries made ahead, and progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewLane {
    /// Id of the lane.
    pub id: LaneId,
    /// Position of the last request's record, and the newest position that the request considered; `None` since the
    /// last step.
    pub built: Option<(Seq, Seq)>,
    /// Speakers that the last request did not show, because results were outstanding.
    pub waited: Vec<Seq>,
    /// Newest position that any request of the lane considered, or the last position before its frontier. A step does
    /// not reset this position, since no request has shown what came later.
    pub shown: Seq,
    /// Position of the lane's newest step; [`Seq::START`] before the first.
    pub stepped: Seq,
    /// Runs of unbound thinking as of the newest request or step; see [`Trim::unbound`].
    pub unbound: Vec<(Seq, Seq)>,
    /// Whether the newest request of the session was made by the lane since the lane's last step.
    pub asked: bool,
    /// Preamble of the lane, and the position of its record.
    preamble: Option<(Seq, Arc<Preamble>)>,
    /// Entries that this lane inserted at the tail. Callers can append messages that look like these entries.
    pub(super) ours: BTreeSet<Seq>,
    /// Texts at the tail from outside the ledger: the position of the latest text, and its body.
    injected: BTreeMap<TailName, (Seq, Body)>,
    /// Work logs of the lane, the newest last.
    pub(super) work: WorkHistory,
    /// Starts and ends of sub-agents' work, by position.
    delegated: BTreeMap<Seq, Fact>,
    /// Summaries made ahead that no trim names yet, by their first positions.
    prepared: BTreeMap<Seq, SummaryNode>,
}

impl ViewLane {
    pub(super) fn new(id: LaneId) -> Self {
        Self { id, ..Self::default() }
    }

    /// Applies an event that changes no entries. `frontier` is that of the lane's trim.
    pub(super) fn apply(&mut self, event: &Event, frontier: Seq) {
        match &event.fact {
            None if event.id.as_str().starts_with(&preamble_id(&self.id)) => self.preamble = None,
            Some(Fact::PreambleChanged(changed)) if changed.lane == self.id => {
                let preamble = Some(&changed.preamble).filter(|preamble| !preamble.is_erased());
                self.preamble = preamble.map(|preamble| (event.seq, Arc::new(preamble.clone())));
            }
            Some(Fact::SessionCompacted(made)) if made.is_ahead() && made.lane.as_ref() == Some(&self.id) => {
                let node = SummaryNode::of(event, made).filter(|node| node.at.min(node.from) >= frontier);
                self.prepared.extend(node.map(|node| (node.from, node)));
            }
            Some(Fact::ContextBuilt(built)) if built.lane == self.id => {
                self.built = Some((event.seq, built.plan.through));
                self.waited.clone_from(&built.plan.trim.waiting);
                self.shown = self.shown.max(built.plan.through);
                self.unbound.clone_from(&built.plan.trim.unbound);
                self.asked = true;
            }
            Some(Fact::ContextBuilt(_)) => self.asked = false,
            Some(fact @ (Fact::SubagentSpawned(_) | Fact::SubagentReturned(_) | Fact::SessionClosed(_)))
                if event.seq >= frontier =>
            {
                self.delegated.insert(event.seq, fact.clone());
            }
            _ => {}
        }
    }

    /// Returns whether a standing reduction applies: no request of the lane has shown the part.
    pub(super) fn takes(&self, event: Seq, reduced: &ContentReduced) -> bool {
        let is_unseen = reduced.target > self.shown && reduced.target < event;
        reduced.standing && is_unseen && reduced.lane.as_ref().is_none_or(|lane| *lane == self.id)
    }

    /// Adds an entry that the lane inserted at the tail, with the texts in it that come from outside the ledger.
    pub(super) fn inject(&mut self, at: Seq, texts: impl IntoIterator<Item = (TailName, Body)>) {
        self.ours.insert(at);
        self.injected.extend(texts.into_iter().map(|(name, body)| (name, (at, body))));
    }

    /// Forgets an entry that has left the view.
    pub(super) fn forget(&mut self, seq: Seq) {
        if self.ours.remove(&seq) {
            self.injected.retain(|_, (at, _)| *at != seq);
        }
    }

    /// Erases a run of positions. Returns whether a work log was recorded in the run: its text must not stay either.
    pub(super) fn erase(&mut self, from: Seq, to: Seq) -> bool {
        let is_in = |seq: Seq| from <= seq && seq <= to;
        self.prepared.retain(|_, node| !is_in(node.at));
        self.delegated.retain(|seq, _| !is_in(*seq));
        self.preamble.take_if(|(at, _)| is_in(*at));
        let logged = self.work.has(from, to);
        if logged {
            self.work = WorkHistory::default();
        }
        logged
    }

    /// Moves on to a step of the lane. The next request does not have to continue the last one.
    pub(super) fn step(&mut self, trim: &Trim) {
        self.built = None;
        self.waited.clear();
        self.unbound.clone_from(&trim.unbound);
        self.asked = false;
        self.work.forget_before(trim.drop_before);
        self.delegated.retain(|seq, _| *seq >= trim.drop_before);
        // Drop the summaries that a loaded view would not encounter after the frontier.
        self.prepared.retain(|from, node| node.at.min(*from) >= trim.drop_before);
        self.shown = self.shown.max(trim.drop_before.prev());
    }

    /// Sets aside texts of the operator in the preamble.
    pub(super) fn restate(&mut self, restated: &[Restated]) {
        let (at, old) = self.preamble.take().unwrap_or_default();
        self.preamble =
            Some((at, Arc::new(Preamble { restated: restated.to_vec(), ..old.as_ref().clone() })));
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

    /// Returns whether this lane inserted the entry at the tail.
    #[must_use]
    pub fn is_ours(&self, seq: Seq) -> bool {
        self.ours.contains(&seq)
    }

    /// Returns the position and body of the latest text with a given name at the tail; `None` once the text has been
    /// left out.
    #[must_use]
    pub fn last_injected(&self, section: Section, name: &str) -> Option<(Seq, &Body)> {
        self.injected.get(&(section, name.into())).map(|(seq, body)| (*seq, body))
    }

    /// Returns the names of a section's texts at the tail.
    pub fn said_names(&self, section: Section) -> impl Iterator<Item = &str> {
        self.injected.keys().filter(move |(of, _)| *of == section).map(|(_, name)| name.as_ref())
    }

    /// Returns the text at the tail that shows the work log.
    pub(super) fn told_work(&self) -> Option<(&TailName, &(Seq, Body))> {
        self.injected.iter().find(|((section, _), _)| *section == Section::Work)
    }

    /// Returns the newest work log of the lane.
    #[must_use]
    pub fn work(&self) -> Option<&Arc<WorkLog>> {
        self.work.newest()
    }

    /// Returns the starts and ends of sub-agents' work and of the session, from the lane's frontier on, in order.
    pub fn delegated(&self) -> impl Iterator<Item = (Seq, &Fact)> {
        self.delegated.iter().map(|(seq, fact)| (*seq, fact))
    }

    /// Returns the summaries made ahead that no trim names yet, from a position on, as long as they are adjacent and
    /// cover nothing that has been hidden since.
    #[must_use]
    pub fn prepared(&self, mut begins: Seq, hidden: &BTreeSet<Seq>) -> Vec<SummaryNode> {
        let mut chain = Vec::new();
        while let Some(node) = self.prepared.get(&begins)
            && hidden.range(node.from..=node.to).next().is_none()
        {
            begins = node.to.next();
            chain.push(node.clone());
        }
        chain
    }

    /// Returns the last position that summaries cover, including those made ahead.
    #[must_use]
    pub fn prepared_to(&self, trim: &Trim, hidden: &BTreeSet<Seq>) -> Seq {
        let told = trim.nodes.last().map_or(Seq::START, |node| node.to.next());
        let begins = told.max(trim.drop_before).max(Seq(2));
        self.prepared(begins, hidden).last().map_or(begins.prev(), |node| node.to)
    }

    /// Returns all summaries made ahead that no trim names yet.
    pub fn made_ahead(&self) -> impl Iterator<Item = &SummaryNode> {
        self.prepared.values()
    }
}

/// Returns the prefix of the ids of a lane's `preamble.changed` events. The id of an erased event stays, so a view
/// knows that the event was this lane's preamble, and does not fall back on an older one.
#[must_use]
pub fn preamble_id(lane: &LaneId) -> String {
    let lane: String = blake3::hash(lane.as_str().as_bytes()).to_hex().chars().take(16).collect();
    format!("preamble.changed:{lane}@")
}
