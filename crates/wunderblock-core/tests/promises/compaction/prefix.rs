//! Promise: between compactions, a request grows only at its end, even with summaries and shorter forms.

use crate::compaction::rounds::{compact, round};
use crate::prefix_stable::{check_grown, says_so};
use crate::simulated::history::{Step, budget, config, new_history};
use crate::simulated::lane::{Built, build, view_of};
use crate::well_formed;
use proptest::prelude::*;
use wunderblock_core::event::Fact;

/// Returns whether a request is due after an event.
fn is_due(fact: Option<&Fact>) -> bool {
    matches!(fact, Some(Fact::MessageAppended(said))
        if said.message.is_user_turn() || said.message.results().next().is_some())
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn compacted_requests_grow_at_their_end(
        rounds in prop::collection::vec(round(15), 2..6), budget in budget()
    ) {
        let mut history = new_history();
        let mut view = view_of(&history.events);
        let mut last: Option<(Built, usize)> = None;
        for round in &rounds {
            for step in &round.steps {
                if matches!(step, Step::Elsewhere) {
                    continue;
                }
                let from = history.events.len();
                history.play(step);
                // Requests are built while results are still arriving, one at a time.
                let facts: Vec<_> = history.events.split_off(from).into_iter().collect();
                let erases = matches!(step, Step::Erase(..));
                for fact in facts.into_iter().filter_map(|event| event.fact) {
                    let due = is_due(Some(&fact));
                    history.append(fact);
                    view.apply(history.events.last().unwrap());
                    if !due || erases {
                        continue;
                    }
                    if let Ok(built) = build(&mut history, &mut view, budget, &[]) {
                        well_formed::check(&built.rendered.request);
                        if let Some((before, end)) = &last
                            && !history.events[*end..].iter().any(says_so)
                        {
                            check_grown(before, &built);
                        }
                        last = Some((built, history.events.len()));
                    }
                }
            }
            compact(&mut history, &mut view, budget, round, &mut |_| ());
        }
    }
}
