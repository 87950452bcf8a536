//! Promise: a view can be resumed without the earlier events.

use crate::simulated::history::{budget, config, injection, new_history, steps};
use crate::simulated::lane::{build, decide, show, view_of};
use proptest::prelude::*;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::LaneId;
use wunderblock_core::plan::Trim;
use wunderblock_core::view::View;

/// Reads from the ledger what the documentation of [`View`] lists, and no more.
pub(crate) fn resume(events: &[Event]) -> View {
    let step = events.iter().rev().find(
        |event| matches!(&event.fact, Some(Fact::ViewTrimmed(trimmed)) if trimmed.lane == LaneId::main()),
    );
    let trim = match step.and_then(|event| event.fact.as_ref()) {
        Some(Fact::ViewTrimmed(trimmed)) => trimmed.trim.clone(),
        _ => Trim::default(),
    };
    let is_own = |event: &&Event| matches!(&event.fact, Some(Fact::PreambleChanged(changed)) if changed.lane == LaneId::main());
    let preamble = events.iter().rev().find(is_own).map(|event| event.seq);
    let steering = |event: &&Event| {
        event.seq < trim.drop_before
            && (matches!(
                event.fact,
                Some(Fact::ContentPinned(_) | Fact::ContentHidden(_) | Fact::ContentErased(_))
            ) || Some(event.seq) == preamble)
    };
    let held = |event: &&Event| trim.hold.contains(&event.seq) || trim.names(event.seq);
    let after = |event: &&Event| event.seq >= trim.drop_before;
    let mut view = View::new(LaneId::main());
    for event in step
        .into_iter()
        .chain(events.iter().filter(steering))
        .chain(events.iter().filter(held))
        .chain(events.iter().filter(after))
    {
        view.apply(event);
    }
    view
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn a_resumed_view_decides_as_one_that_saw_everything(
        steps in steps(40), budget in budget(), often in 3..12usize
    ) {
        let mut history = new_history();
        let mut live = view_of(&history.events);
        for (index, step) in steps.iter().enumerate() {
            let from = history.events.len();
            history.play(step);
            for event in &history.events[from..] {
                live.apply(event);
            }
            if index % often != 0 && index + 1 < steps.len() {
                continue;
            }
            let hits = [injection(index as u64)];
            if index % 2 == 0 {
                let _ = build(&mut history, &mut live, budget, &hits);
            } else if let Ok(plan) = decide(&history, &live, budget, &hits) {
                // The engine recorded the decision, and stopped before it built the request.
                for event in history.record(&plan) {
                    live.apply(&event);
                }
            }
            let folded = view_of(&history.events);
            let resumed = resume(&history.events);
            for other in [&folded, &resumed] {
                prop_assert_eq!(decide(&history, other, budget, &[]), decide(&history, &live, budget, &[]));
                prop_assert_eq!(show(&history, other), show(&history, &live));
                prop_assert_eq!(other.lane().preamble_at(), live.lane().preamble_at());
                prop_assert_eq!(other.lane().built, live.lane().built);
            }
        }
    }
}
