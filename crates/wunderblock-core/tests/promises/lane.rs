//! An engine in small: plans, records, renders.

use crate::history::{History, tools};
use wunderblock_core::budget::Budget;
use wunderblock_core::cost;
use wunderblock_core::event::Event;
use wunderblock_core::id::{Handle, LaneId};
use wunderblock_core::plan::{Ask, Fixed, Injection, Plan, Refusal, plan};
use wunderblock_core::render::{Rendered, Scene, render};
use wunderblock_core::section::Section;
use wunderblock_core::units::Tokens;
use wunderblock_core::view::View;

pub(crate) const STREAM: Handle = Handle(0x3f9c_1a7b_e2d0_4c58);

pub(crate) fn view_of<'e>(events: impl IntoIterator<Item = &'e Event>) -> View {
    let mut view = View::new(LaneId::main());
    for event in events {
        view.apply(event);
    }
    view
}

pub(crate) fn fixed(history: &History) -> Vec<Fixed> {
    let part =
        |tool| Fixed { section: Section::Tools, what: "tool".into(), cost: cost::tool(tool, &history.wax) };
    tools().iter().map(part).collect()
}

pub(crate) fn decide(
    history: &History,
    view: &View,
    budget: Budget,
    hits: &[Injection],
) -> Result<Plan, Box<Refusal>> {
    let fixed = fixed(history);
    plan(&Ask {
        view,
        budget,
        gauge: &history.wax,
        bodies: &history.wax,
        fixed: &fixed,
        must: &[],
        recall: Tokens(u64::MAX),
        transcript: Tokens(u64::MAX),
        hits,
        floor: wunderblock_core::units::Seq(0),
    })
}

pub(crate) fn show(history: &History, view: &View) -> Rendered {
    let tools = tools();
    render(
        view,
        view.trim(),
        Scene { stream: STREAM, bodies: &history.wax, gauge: &history.wax, tools: &tools },
    )
}

pub(crate) struct Built {
    pub(crate) plan: Plan,
    pub(crate) rendered: Rendered,
}

/// One build of the main lane, recorded in the ledger and applied to the view.
pub(crate) fn build(
    history: &mut History,
    view: &mut View,
    budget: Budget,
    hits: &[Injection],
) -> Result<Built, Box<Refusal>> {
    let plan = decide(history, view, budget, hits)?;
    for event in history.record(&plan) {
        view.apply(&event);
    }
    let rendered = show(history, view);
    let event = history.built(plan.clone(), budget);
    view.apply(&event);
    Ok(Built { plan, rendered })
}
