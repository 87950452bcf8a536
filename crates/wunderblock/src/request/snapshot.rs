//! A lane as a build finds it: its view, and what else the lane's past says of its next request.

use super::lane::{LaneChoice, target_of};
use super::note::MeasurementNote;
use super::target::SessionModel;
use crate::store::BodyCount;
use crate::texts::Texts;
use std::collections::HashMap;
use std::sync::Arc;
use wunderblock_core::event::{
    ContextBuilt, Event, Fact, LaneTarget, MessageAppended, UsageMeasured, ViewTrimmed,
};
use wunderblock_core::id::{Handle, LaneId};
use wunderblock_core::message::{Body, Message, MessageOrigin, Part, Role};
use wunderblock_core::plan::TrimReason;
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_core::view::View;

/// Which snapshot of a lane to take.
#[derive(Clone, Debug)]
pub(crate) struct LaneWanted {
    pub(crate) lane: LaneChoice,
    /// As of this position; the head if none.
    pub(crate) at: Option<Seq>,
    /// Maximum text the window can hold.
    pub(crate) text: Bytes,
    /// What is known to be part of it: from here on everything is loaded, however much that is.
    pub(crate) reach: Option<Seq>,
    /// Whether to take no account of what the lane has left out so far.
    pub(crate) ignores_steps: bool,
}

/// A lane as a build finds it.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) view: Arc<View>,
    /// The first position of which everything is in the view.
    pub(crate) floor: Seq,
    /// What is known of the view's bodies.
    pub(crate) counts: HashMap<Handle, BodyCount>,
    /// Texts that are here already: those of the user's newest turn, of the ignore files in force.
    pub(crate) texts: Texts,
    /// What bears on measurements, beside the entries of the view.
    pub(crate) notes: Arc<Vec<MeasurementNote>>,
    /// The newest reports of usage, oldest first.
    pub(crate) reports: Vec<(Seq, UsageMeasured)>,
    /// The lane's request before, and when it was built.
    pub(crate) before: Option<(Millis, Arc<ContextBuilt>)>,
    /// When the session began.
    pub(crate) opened_at: Millis,
    /// When the newest event happened.
    pub(crate) newest_at: Millis,
    /// The model that spoke last.
    pub(crate) model: Option<Box<str>>,
    /// The lane's newest step, and when it took it.
    pub(crate) step: Option<(Millis, ViewTrimmed)>,
    /// Whether the provider refused the lane's last request as too long.
    pub(crate) refused: bool,
    /// Where a compaction was undone, unless the lane has been compacted since.
    pub(crate) undone: Option<Seq>,
    /// The first events of the session up to [`OPENING`], whatever the lane has left out; none where the view begins with them,
    /// and for a lane that has built before.
    pub(crate) opening: Option<Box<Self>>,
}

impl Snapshot {
    /// A lane of which nothing is known.
    pub(crate) fn new(lane: LaneId) -> Self {
        Self {
            view: Arc::new(View::new(lane)),
            floor: Seq::START,
            counts: HashMap::new(),
            texts: Texts::default(),
            notes: Arc::default(),
            reports: Vec::new(),
            before: None,
            opened_at: Millis::ZERO,
            newest_at: Millis::ZERO,
            model: None,
            step: None,
            refused: false,
            undone: None,
            opening: None,
        }
    }

    /// The lane.
    pub(crate) fn lane(&self) -> &LaneId {
        self.view.lane()
    }

    /// The lane's request before: when it was built, and its record.
    pub(crate) fn before(&self) -> Option<(Millis, &ContextBuilt)> {
        self.before.as_ref().map(|(at, built)| (*at, &**built))
    }

    /// The model the session has been with.
    pub(crate) fn said(&self) -> SessionModel<'_> {
        let window = self.reports.last().and_then(|(_, usage)| usage.window);
        SessionModel { model: self.model.as_deref(), window }
    }

    /// Whether the lane begins with its next request: its first, or its first since it was resized.
    pub(crate) fn begins(&self) -> bool {
        self.before.is_none() || self.is_resized()
    }

    /// Whether the lane has been resized, and has built nothing since.
    pub(crate) fn is_resized(&self) -> bool {
        let resized = |(_, step): &(Millis, ViewTrimmed)| step.reason == TrimReason::Resized;
        self.step.as_ref().is_some_and(resized) && self.view.progress().built.is_none()
    }

    /// What the lane's requests are for: its last one, or a step that was taken for the next.
    pub(crate) fn target(&self) -> Option<LaneTarget> {
        let step = self.step.as_ref().filter(|_| self.view.progress().built.is_none());
        let stepped = step.and_then(|(_, step)| step.target.clone());
        stepped.or_else(|| self.before().map(|(_, built)| target_of(built)))
    }

    /// Takes in an event, in the order of the session.
    pub(crate) fn fold(&mut self, event: &Event, ignores_steps: bool) {
        if self.opened_at == Millis::ZERO {
            self.opened_at = event.at;
        }
        self.note(event);
        match &event.fact {
            Some(Fact::UsageMeasured(usage)) => {
                self.reports.push((event.seq, usage.clone()));
                let old = self.reports.len().saturating_sub(REPORTS);
                self.reports.drain(..old);
            }
            Some(Fact::ContextBuilt(built)) if built.lane == *self.lane() => {
                self.before = Some((event.at, Arc::new(built.as_ref().clone())));
            }
            Some(Fact::ViewTrimmed(step)) if step.lane == *self.lane() && !ignores_steps => {
                self.step = Some((event.at, step.clone()));
                self.undone = self.undone.filter(|_| !is_compaction(event));
            }
            Some(Fact::CompactionUndone(undone)) if undone.lane == *self.lane() => {
                self.undone = Some(event.seq);
            }
            _ => {}
        }
        let view = Arc::make_mut(&mut self.view);
        if ignores_steps && is_step(event, true) {
            view.pass(event);
        } else {
            view.apply(event);
        }
    }

    /// Takes in what an event says beside the view.
    pub(crate) fn note(&mut self, event: &Event) {
        let lane = self.view.lane();
        let refused = is_refused(self.refused, event, lane);
        let note = MeasurementNote::of(event, lane);
        if let Some(note) = note {
            Arc::make_mut(&mut self.notes).push(note);
        }
        self.refused = refused;
        self.newest_at = event.at;
        if let Some(model) = speaker(event) {
            self.model = Some(model.into());
        }
    }
}

/// The position up to which a session's first replies are looked for.
pub(crate) const OPENING: Seq = Seq(64);

/// Reports of usage that are looked at: the newest, and one before it that is of another reply.
pub(crate) const REPORTS: usize = 4;

/// The model that speaks in an event.
pub(crate) fn speaker(event: &Event) -> Option<&str> {
    let Some(Fact::MessageAppended(MessageAppended { message: said })) = &event.fact else { return None };
    let spoke = said.role == Role::Assistant && said.standing == MessageOrigin::Said;
    said.model.as_deref().filter(|_| spoke)
}

/// What a message says in words.
pub(crate) fn spoken(said: &Message) -> impl Iterator<Item = &Body> {
    said.parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(text),
        _ => None,
    })
}

/// The handles of all bodies a view can show.
pub(crate) fn view_handles(view: &View) -> impl Iterator<Item = Handle> + '_ {
    let leaves = view.entries().flat_map(|entry| &entry.message.parts).flat_map(Part::leaves);
    let said = leaves.filter(|(part, _)| !part.is_data()).filter_map(|(_, body)| body.handle());
    let shown = view.preamble().into_iter().flat_map(|preamble| preamble.shown());
    let made = view.nodes().map(|node| &node.text);
    said.chain(shown.chain(made).chain(view.shorter()).filter_map(Body::handle))
}

/// The handles of texts that a plan reads: the user's newest turn, and what standing rules are quoted from.
pub(crate) fn planned_texts(view: &View) -> Vec<Handle> {
    let turn = view.newest_user().and_then(|seq| view.entry(seq)).into_iter();
    let turn = turn.flat_map(|entry| spoken(&entry.message)).filter_map(Body::handle);
    turn.chain(view.trim().rules.blobs()).collect()
}

/// Whether an event is a lane's step, which the newest one makes void; of a view that ignores steps, also its requests.
pub(crate) fn is_step(event: &Event, ignores_steps: bool) -> bool {
    matches!(event.fact, Some(Fact::ViewTrimmed(_)))
        || ignores_steps && matches!(event.fact, Some(Fact::ContextBuilt(_)))
}

/// Whether an event is a step by which a lane was compacted.
pub(crate) fn is_compaction(event: &Event) -> bool {
    matches!(&event.fact, Some(Fact::ViewTrimmed(step)) if step.reason == TrimReason::Compacted)
}

/// Whether, as of an event, the provider refused the lane's last request as too long.
fn is_refused(before: bool, event: &Event, lane: &LaneId) -> bool {
    match &event.fact {
        Some(Fact::ContextBuilt(built)) if built.lane == *lane => false,
        Some(Fact::ViewTrimmed(step)) if step.lane == *lane => false,
        // Our own refusal says what did not fit.
        Some(Fact::TurnCompleted(turn)) if turn.overflow.is_none() => {
            let words = [turn.error_code.as_deref(), Some(&*turn.stop_reason)];
            words.into_iter().flatten().any(|word| TOO_LONG.contains(&word))
        }
        _ => before,
    }
}

/// What providers and agents call a request that is too long: OpenAI's and Anthropic's error codes, Anthropic's stop reason.
const TOO_LONG: [&str; 5] = [
    "context_overflow",
    "context_length_exceeded",
    "request_too_large",
    "model_context_window_exceeded",
    "prompt_too_long",
];
