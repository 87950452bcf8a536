//! Pins and hides: entries that people want in every request, or in none.

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::compaction::compact::history::marked_events;
use crate::lanes::explain::entry::{EntryDescription, describe_entries};
use crate::ledger::recording::record::{MadeFrom, append_events, engine_event, standing};
use crate::ledger::session::Session;
use crate::limits;
use std::collections::BTreeSet;
use wunderblock_core::decision::{Injection, TrimReason};
use wunderblock_core::event::{ContentHidden, ContentPinned, Fact, ViewTrimmed};
use wunderblock_core::id::{Handle, LaneId};
use wunderblock_core::message::Body;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_store::{Marked, StoreError};

/// Wanted visibility of an entry in the requests of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Keep the entry in every request.
    Pin,
    /// Undo a pin.
    Unpin,
    /// Leave the entry out of every request. The entry stays in the ledger, where it can be read and found.
    Hide,
    /// Undo a hide: requests may show the entry again.
    Unhide,
}

/// Result of changing an entry's visibility.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibilityChange {
    /// Entry whose visibility was set. The entries that belong to this entry ([`EntryDescription::along`]) follow it.
    pub entry: EntryDescription,
    /// Position of the recorded change. `None` if the entry already had this visibility.
    pub recorded: Option<Seq>,
    /// Positions of copies of the entry that were recalled at the tail of requests. The copies are hidden and shown
    /// together with the entry.
    pub copies: Vec<Seq>,
    /// Whether the entry is hidden now. A pin does not make a hidden entry visible.
    pub hidden: bool,
    /// Lanes whose latest step left the entry out, each with the position of that step.
    pub left_out: Vec<(LaneId, Seq)>,
    /// Whether the lanes in `left_out` show the entry again from now on because it was pinned.
    pub brought_back: bool,
    /// Positions of the summaries that requests show and that were made from the entry.
    pub told_by: Vec<Seq>,
}

impl Visibility {
    /// Returns the name of the new state, as a past participle.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pin => "pinned",
            Self::Unpin => "unpinned",
            Self::Hide => "hidden",
            Self::Unhide => "shown again",
        }
    }

    /// Sets the visibility of the entry at a position, for all lanes of the session, until the visibility is changed
    /// again.
    ///
    /// # Errors
    /// Returns an error if the position holds no message, or if the ledger cannot be written.
    pub fn set<'a>(self, session: &'a Session, seq: Seq) -> BoxFuture<'a, VisibilityChange> {
        Box::pin(async move {
            let head = session.info().await?.head;
            let entry = match describe_entries(session, [seq]).await?.remove(&seq) {
                Some(entry) => entry,
                None => return Err(no_entry(session, seq, head).await),
            };
            // The events refer to positions after the head, so the events are computed again if the session grows.
            for _ in 0..limits::BUILD_RETRIES {
                let (head, epoch) = standing(session).await?;
                match self.record(session, &entry, head, epoch).await {
                    Err(Error::Store(StoreError::HeadMoved { .. } | StoreError::EpochMoved { .. })) => {}
                    done => return done,
                }
            }
            Err(Error::Restless)
        })
    }

    async fn record(
        self,
        session: &Session,
        entry: &EntryDescription,
        head: Seq,
        epoch: u64,
    ) -> Result<VisibilityChange, Error> {
        let (target, stamp) = (entry.seq, session.engine.config.stamp());
        let is_pinned = is_set(session, "content.pinned", target, head).await?;
        let is_hidden = is_set(session, "content.hidden", target, head).await?;
        let (was, fact) = match self {
            Self::Pin | Self::Unpin => {
                let pinned = self == Self::Pin;
                (is_pinned == pinned, Fact::ContentPinned(ContentPinned { target, pinned }))
            }
            Self::Hide | Self::Unhide => {
                let hidden = self == Self::Hide;
                (is_hidden == hidden, Fact::ContentHidden(ContentHidden { target, hidden }))
            }
        };
        let steps = steps_without(session, target, head).await?;
        let mut events = if was { Vec::new() } else { vec![stamp.event(fact)?] };
        let copies = match self {
            Self::Hide | Self::Unhide => copies(session, target, head).await?,
            Self::Pin | Self::Unpin => Vec::new(),
        };
        for target in copies.iter().filter(|_| !was) {
            let hidden = self == Self::Hide;
            events.push(stamp.event(Fact::ContentHidden(ContentHidden { target: *target, hidden }))?);
        }
        let brings_back = self == Self::Pin && !steps.is_empty();
        if brings_back {
            // A pin alone does not undo a step that left the entry out, so each lane with such a step takes a new
            // step that holds the entry.
            for (_, step) in &steps {
                let at = Seq(head.0 + 1 + events.len() as u64);
                events.push(engine_event(session, at, Fact::ViewTrimmed(holding(step, entry)))?);
            }
        }
        if !events.is_empty() {
            append_events(session, Some(head), events, MadeFrom::session(epoch, head)).await?;
        }
        let nodes = session.nodes(None).await?;
        let told_by = nodes.iter().filter(|node| node.shown && node.from <= target && target <= node.to);
        Ok(VisibilityChange {
            entry: entry.clone(),
            recorded: (!was).then(|| head.next()),
            copies,
            hidden: if matches!(self, Self::Hide | Self::Unhide) { self == Self::Hide } else { is_hidden },
            left_out: steps.into_iter().map(|(at, step)| (step.lane, at)).collect(),
            brought_back: brings_back,
            told_by: told_by.map(|node| node.seq).collect(),
        })
    }
}

/// Returns the latest value that events of a kind set for a position.
async fn is_set(session: &Session, kind: &'static str, seq: Seq, head: Seq) -> Result<bool, Error> {
    let events = marked_events(session, Marked::Kind(kind), head).await?;
    let said = events.into_iter().find_map(|event| match event.fact {
        Some(Fact::ContentPinned(pin)) if pin.target == seq => Some(pin.pinned),
        Some(Fact::ContentHidden(hide)) if hide.target == seq => Some(hide.hidden),
        _ => None,
    });
    Ok(said.unwrap_or(false))
}

/// Returns the positions at which a text of the entry was recalled at the tail of a request.
async fn copies(session: &Session, seq: Seq, head: Seq) -> Result<Vec<Seq>, Error> {
    let said = session.events(seq, seq, 1, Bytes(1 << 20)).await?;
    let own = said.iter().filter_map(|event| event.fact.as_ref()).flat_map(Fact::bodies);
    let own: BTreeSet<Handle> = own.filter_map(Body::handle).collect();
    let is_copy = |item: &Injection| {
        let is_from = item.section == Section::Recall && item.from_stream.is_none() && item.from_seq == seq;
        is_from || item.body.handle().is_some_and(|handle| own.contains(&handle))
    };
    let injected = marked_events(session, Marked::Kind("context.injected"), head).await?;
    let copies = injected.into_iter().filter_map(|event| match event.fact {
        Some(Fact::ContextInjected(injected)) if injected.items.iter().any(is_copy) => Some(event.seq),
        _ => None,
    });
    Ok(copies.collect())
}

/// Returns the latest steps of the lanes that left the entry out, with their positions.
async fn steps_without(session: &Session, seq: Seq, head: Seq) -> Result<Vec<(Seq, ViewTrimmed)>, Error> {
    let mut seen = BTreeSet::new();
    let mut steps = Vec::new();
    for event in marked_events(session, Marked::Kind("view.trimmed"), head).await? {
        let Some(fact) = event.fact.filter(|fact| fact.contradiction(event.seq).is_none()) else { continue };
        let Fact::ViewTrimmed(step) = fact else { continue };
        let trim = &step.trim;
        let is_held = trim.keep.contains(&seq) || trim.hold.contains(&seq);
        if seen.insert(step.lane.clone()) && seq < trim.drop_before && !is_held {
            steps.push((event.seq, step));
        }
    }
    Ok(steps)
}

/// Returns a step that leaves out everything that an older step left out, except an entry and the entries that belong
/// to it.
fn holding(step: &ViewTrimmed, entry: &EntryDescription) -> ViewTrimmed {
    let members: Vec<Seq> = entry.along.iter().copied().chain([entry.seq]).collect();
    let trim = step.trim.holding(&members);
    ViewTrimmed { trim, reason: TrimReason::Pinned, compaction: None, ..step.clone() }
}

/// Returns the error that states why a position holds no message.
async fn no_entry(session: &Session, seq: Seq, head: Seq) -> Error {
    if seq > head || seq == Seq::START {
        return Error::Address(format!("position {seq} does not exist: the session has 1 to {head}"));
    }
    let events = session.events(seq, seq, 1, Bytes(1)).await;
    let what = match events.ok().and_then(|events| events.into_iter().next()) {
        Some(event) => match (event.fact, event.erased) {
            (Some(fact), _) => format!("`{}`, which requests do not show", fact.kind()),
            (None, _) => "erased".to_owned(),
        },
        None => "missing".to_owned(),
    };
    Error::Address(format!("position {seq} holds no message: it is {what}"))
}
