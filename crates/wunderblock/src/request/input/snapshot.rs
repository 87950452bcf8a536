//! State of a lane at the start of a build: its view, and facts of its past that matter for the next request.

use crate::ledger::texts::Texts;
use crate::request::input::lane::{LaneChoice, target_of};
use crate::request::input::note::MeasurementNote;
use crate::request::input::target::SessionModel;
use crate::request::named::NamedPlaces;
use std::collections::HashMap;
use std::sync::Arc;
use wunderblock_core::event::{
    ContextBuilt, Event, Fact, LaneTarget, MessageAppended, UsageMeasured, ViewTrimmed,
};
use wunderblock_core::id::{Handle, LaneId};
use wunderblock_core::message::{Body, Message, MessageOrigin, Part, Role};
use wunderblock_core::pair::arrange;
use wunderblock_core::plan::{TrimReason, is_said};
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_core::view::{SummaryNode, View};
use wunderblock_store::BodyCount;

/// Selects the snapshot of a lane.
#[derive(Clone, Debug)]
pub(crate) struct LaneWanted {
    pub(crate) lane: LaneChoice,
    /// Position as of which the snapshot is taken. `None` means the head.
    pub(crate) at: Option<Seq>,
    /// Maximum number of bytes of text that the window can hold.
    pub(crate) text: Bytes,
    /// Position from which everything is loaded, whatever its size, because the request is known to need it.
    pub(crate) reach: Option<Seq>,
    /// Whether to ignore the lane's earlier steps.
    pub(crate) ignores_steps: bool,
    /// Whether to find the places of what the newest typed turn names.
    pub(crate) names: bool,
}

/// State of a lane at the start of a build.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// Number of the tenant's erasures when the snapshot was read; 0 of a lane that no ledger keeps.
    pub(crate) epoch: u64,
    pub(crate) view: Arc<View>,
    /// First position from which the view is complete.
    pub(crate) floor: Seq,
    /// Known token counts of the view's bodies.
    pub(crate) counts: HashMap<Handle, BodyCount>,
    /// Loaded texts: those of the user's latest turn, and of the ignore files in force.
    pub(crate) texts: Texts,
    /// Events other than the view's entries that affect measurements.
    pub(crate) notes: Arc<Vec<MeasurementNote>>,
    /// Latest reports of usage, oldest first.
    pub(crate) reports: Vec<(Seq, UsageMeasured)>,
    /// Previous request of the lane, and the time of its build.
    pub(crate) before: Option<(Millis, Arc<ContextBuilt>)>,
    /// Time of the session's first event.
    pub(crate) opened_at: Millis,
    /// Time of the latest event.
    pub(crate) newest_at: Millis,
    /// Model that spoke last.
    pub(crate) model: Option<Box<str>>,
    /// Latest step of the lane, and its time.
    pub(crate) step: Option<(Millis, ViewTrimmed)>,
    /// Whether the provider rejected the lane's last request as too long.
    pub(crate) refused: bool,
    /// Position at which a compaction was undone, unless the lane has been compacted since.
    pub(crate) undone: Option<Seq>,
    /// First events of the session up to [`OPENING`], regardless of steps. `None` if the view begins with the
    /// session's first events, or if the lane has built a request before.
    pub(crate) opening: Option<Box<Self>>,
    /// Names in the newest typed turn.
    pub(crate) named: Arc<NamedPlaces>,
}

impl Snapshot {
    /// Creates an empty snapshot of a lane.
    pub(crate) fn new(lane: LaneId) -> Self {
        Self {
            epoch: 0,
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
            named: Arc::default(),
        }
    }

    /// Returns the lane.
    pub(crate) fn lane(&self) -> &LaneId {
        &self.view.lane().id
    }

    /// Returns the lane's previous request: the time of its build, and its record.
    pub(crate) fn before(&self) -> Option<(Millis, &ContextBuilt)> {
        self.before.as_ref().map(|(at, built)| (*at, &**built))
    }

    /// Returns the model and window that the session last used.
    pub(crate) fn said(&self) -> SessionModel<'_> {
        let window = self.reports.last().and_then(|(_, usage)| usage.window);
        SessionModel { model: self.model.as_deref(), window }
    }

    /// Returns whether the lane begins with its next request, that is, whether the request is the lane's first, or
    /// the first since a resize.
    pub(crate) fn begins(&self) -> bool {
        self.before.is_none() || self.is_resized()
    }

    /// Returns whether the lane was resized and has built nothing since.
    pub(crate) fn is_resized(&self) -> bool {
        let resized = |(_, step): &(Millis, ViewTrimmed)| step.reason == TrimReason::Resized;
        self.step.as_ref().is_some_and(resized) && self.view.lane().built.is_none()
    }

    /// Returns the target of the lane: that of a step taken for the next request, or that of its last request.
    pub(crate) fn target(&self) -> Option<LaneTarget> {
        let step = self.step.as_ref().filter(|_| self.view.lane().built.is_none());
        let stepped = step.and_then(|(_, step)| step.target.clone());
        stepped.or_else(|| self.before().map(|(_, built)| target_of(built)))
    }

    /// Adds an event, in the order of the session.
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

    /// Adds the facts of an event that are not part of the view.
    pub(crate) fn note(&mut self, event: &Event) {
        let lane = &self.view.lane().id;
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

/// Last position of the opening, in which a session's first replies are searched for.
pub(crate) const OPENING: Seq = Seq(64);

/// Number of latest usage reports kept. At least one of these reports must belong to a reply before the latest one.
pub(crate) const REPORTS: usize = 4;

/// Returns the model that wrote the message of an event.
pub(crate) fn speaker(event: &Event) -> Option<&str> {
    let Some(Fact::MessageAppended(MessageAppended { message: said })) = &event.fact else { return None };
    let spoke = said.role == Role::Assistant && said.standing == MessageOrigin::Said;
    said.model.as_deref().filter(|_| spoke)
}

/// Returns the text parts of a message.
pub(crate) fn spoken(said: &Message) -> impl Iterator<Item = &Body> {
    said.parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(text),
        _ => None,
    })
}

/// Returns the handles of all bodies that a view can show.
pub(crate) fn view_handles(view: &View) -> impl Iterator<Item = Handle> + '_ {
    let leaves = view.entries().flat_map(|entry| &entry.message.parts).flat_map(Part::leaves);
    let said = leaves.filter(|(part, _)| !part.is_data()).filter_map(|(_, body)| body.handle());
    let shown = view.lane().preamble().into_iter().flat_map(|preamble| preamble.shown());
    let made = view.nodes().map(|node| &node.text);
    said.chain(shown.chain(made).chain(view.reductions().texts()).filter_map(Body::handle))
}

/// Returns the handles of the items of summaries, which only a summary of summaries is made from.
pub(crate) fn item_handles<'n>(
    nodes: impl IntoIterator<Item = &'n SummaryNode>,
) -> impl Iterator<Item = Handle> {
    nodes.into_iter().filter_map(|node| node.items.as_ref()?.handle())
}

/// Returns the handles of texts that a plan reads: the user's latest turn, the latest exchange, what is clipped, and
/// the sources of standing rules.
pub(crate) fn planned_texts(view: &View) -> Vec<Handle> {
    let arrangement = arrange(view);
    let said = arrangement.exchanges.iter().filter(|exchange| is_said(exchange, view));
    let latest = said.max_by_key(|exchange| exchange.last);
    let clipped = view.trim().clip.iter().map(|(seq, _)| seq);
    let latest = latest.into_iter().flat_map(|exchange| &exchange.members).chain(clipped);
    let latest = latest.filter_map(|seq| view.entry(*seq)).flat_map(|entry| {
        let parts = entry.message.parts.iter().enumerate();
        parts.flat_map(move |(index, part)| {
            let shorter = view.standing((entry.seq, index)).and_then(|event| view.reductions().text(event));
            part.bodies().into_iter().chain(shorter)
        })
    });
    let turn = view.newest_user().and_then(|seq| view.entry(seq)).into_iter();
    let turn = turn.flat_map(|entry| spoken(&entry.message)).filter_map(Body::handle);
    turn.chain(latest.filter_map(Body::handle)).chain(view.trim().rules.blobs()).collect()
}

/// Returns whether an event is a step of a lane. Only the latest step applies, so views pass over the others. If
/// steps are ignored, requests are passed over, too.
pub(crate) fn is_step(event: &Event, ignores_steps: bool) -> bool {
    matches!(event.fact, Some(Fact::ViewTrimmed(_)))
        || ignores_steps && matches!(event.fact, Some(Fact::ContextBuilt(_)))
}

/// Returns whether an event is the step of a compaction.
pub(crate) fn is_compaction(event: &Event) -> bool {
    matches!(&event.fact, Some(Fact::ViewTrimmed(step)) if step.reason == TrimReason::Compacted)
}

/// Returns whether, as of an event, the provider had rejected the lane's last request as too long.
fn is_refused(before: bool, event: &Event, lane: &LaneId) -> bool {
    match &event.fact {
        Some(Fact::ContextBuilt(built)) if built.lane == *lane => false,
        Some(Fact::ViewTrimmed(step)) if step.lane == *lane => false,
        // The engine's own refusal sets `overflow`; it is not a provider's rejection.
        Some(Fact::TurnCompleted(turn)) if turn.overflow.is_none() => {
            let words = [turn.error_code.as_deref(), Some(&*turn.stop_reason)];
            words.into_iter().flatten().any(|word| TOO_LONG.contains(&word))
        }
        _ => before,
    }
}

/// Names that providers and agents use for requests that are too long. These names are error codes used by OpenAI and
/// Anthropic, and a stop reason used by Anthropic.
const TOO_LONG: [&str; 5] = [
    "context_overflow",
    "context_length_exceeded",
    "request_too_large",
    "model_context_window_exceeded",
    "prompt_too_long",
];
