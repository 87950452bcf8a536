//! A small engine, which composes, plans, records and renders.

use crate::simulated::history::{History, tools};
use wunderblock_core::allocate::Shares;
use wunderblock_core::budget::Budget;
use wunderblock_core::compose::{self, Composed, Offer, compose};
use wunderblock_core::cost;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::{Handle, LaneId};
use wunderblock_core::message::Body;
use wunderblock_core::plan::{Fixed, Injection, Plan, PlanInput, PlanRefusal, Trim, TrimReason, plan};
use wunderblock_core::preamble::{Preamble, PreambleChange, PreambleChanged};
use wunderblock_core::preamble_text;
use wunderblock_core::render::{RenderInput, RenderedRequest, render};
use wunderblock_core::section::Section;
use wunderblock_core::units::{Cost, Tokens};
use wunderblock_core::view::View;

pub(crate) const STREAM: Handle = Handle(0x3f9c_1a7b_e2d0_4c58);

pub(crate) fn view_of<'e>(events: impl IntoIterator<Item = &'e Event>) -> View {
    let mut view = View::new(LaneId::main());
    for event in events {
        view.apply(event);
    }
    view
}

/// Returns the parts that no trim touches: the preamble, or the tools if there is no preamble.
pub(crate) fn fixed(history: &History, view: &View) -> Vec<Fixed> {
    if let Some(preamble) = view.lane().preamble() {
        return preamble_text::fixed(preamble, &history.wax);
    }
    let part =
        |tool| Fixed { section: Section::Tools, what: "tool".into(), cost: cost::tool(tool, &history.wax) };
    tools().iter().map(part).collect()
}

pub(crate) fn fixed_cost(history: &History, view: &View) -> Cost {
    fixed(history, view).iter().map(|part| part.cost).sum()
}

/// Decision about a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decided {
    pub(crate) preamble: Option<Preamble>,
    pub(crate) changes: Vec<PreambleChange>,
    pub(crate) takes_in: Vec<Section>,
    pub(crate) plan: Plan,
}

impl Decided {
    pub(crate) fn event(&self) -> Option<Fact> {
        let preamble = self.preamble.clone()?;
        let (changes, takes_in) = (self.changes.clone(), self.takes_in.clone());
        let changed = PreambleChanged { lane: LaneId::main(), preamble, changes, takes_in };
        Some(Fact::PreambleChanged(Box::new(changed)))
    }
}

pub(crate) fn composed(
    history: &History,
    offer: &Offer,
    view: &View,
    (limit, restarts): (Tokens, bool),
) -> Composed {
    let shares = Shares::default();
    let input = compose::ComposeInput {
        limit,
        shares: &shares,
        costs: &history.wax,
        bodies: &history.wax,
        pack: &|text| Body::Inline(text),
        cache: Some(Tokens(1_024)),
    };
    compose(offer, view, &input, restarts)
}

/// Returns the view with its next preamble.
pub(crate) fn led(history: &History, view: &View, decided: &Decided) -> View {
    let mut next = view.clone();
    if let Some(fact) = decided.event() {
        next.apply(&Event { seq: view.head().next(), fact: Some(fact), ..history.events[0].clone() });
    }
    next
}

fn attempt(
    history: &History,
    view: &View,
    (budget, hits): (Budget, &[Injection]),
    restarts: bool,
) -> (Decided, Result<Plan, Box<PlanRefusal>>) {
    let mut decided = Decided::default();
    let mut must = Vec::new();
    if history.input.is_used {
        let composed = composed(history, &history.input.offer, view, (budget.limit().tokens, restarts));
        decided.preamble = composed.preamble.map(|preamble| preamble.as_ref().clone());
        decided.changes = composed.changes;
        decided.takes_in = composed.takes_in.clone();
        must.extend(composed.tail.iter().chain(&history.input.state).cloned());
    }
    let next = led(history, view, &decided);
    let fixed = fixed(history, &next);
    let planned = plan(&PlanInput {
        view: &next,
        stream: STREAM,
        budget,
        costs: &history.wax,
        bodies: &history.wax,
        fixed: &fixed,
        must: &must,
        recall: Tokens(u64::MAX),
        transcript: Tokens(u64::MAX),
        hits,
        floor: wunderblock_core::units::Seq(0),
    });
    (decided, planned)
}

/// Composes and plans. If the lane takes a step, composes and plans a second time with all pending changes.
pub(crate) fn decide(
    history: &History,
    view: &View,
    budget: Budget,
    hits: &[Injection],
) -> Result<Decided, Box<PlanRefusal>> {
    let first = view.lane().preamble().is_none();
    let (mut decided, mut planned) = attempt(history, view, (budget, hits), first);
    let steps = |plan: &Plan| plan.step == Some(TrimReason::OverBudget);
    if !first && planned.as_ref().map_or(true, steps) {
        (decided, planned) = attempt(history, view, (budget, hits), true);
    }
    decided.plan = planned?;
    Ok(decided)
}

pub(crate) fn show(history: &History, view: &View) -> RenderedRequest {
    show_trimmed(history, view, view.trim())
}

/// Renders what a view shows under a plan's trim.
pub(crate) fn show_trimmed(history: &History, view: &View, trim: &Trim) -> RenderedRequest {
    let tools = tools();
    render(
        view,
        trim,
        RenderInput {
            version: wunderblock_core::render::VERSION,
            stream: STREAM,
            bodies: &history.wax,
            costs: &history.wax,
            tools: &tools,
        },
    )
}

pub(crate) struct Built {
    pub(crate) plan: Plan,
    pub(crate) rendered: RenderedRequest,
    /// Number of events that the request was planned from, including that of its preamble.
    pub(crate) upto: usize,
}

/// Builds a request of the main lane, records it in the ledger, and applies it to the view.
pub(crate) fn build(
    history: &mut History,
    view: &mut View,
    budget: Budget,
    hits: &[Injection],
) -> Result<Built, Box<PlanRefusal>> {
    let decided = decide(history, view, budget, hits)?;
    let upto = history.events.len() + usize::from(decided.preamble.is_some());
    for event in history.record(&decided) {
        view.apply(&event);
    }
    let rendered = show_trimmed(history, view, &decided.plan.trim);
    let event = history.built(decided.plan.clone(), budget);
    view.apply(&event);
    Ok(Built { plan: decided.plan, rendered, upto })
}
