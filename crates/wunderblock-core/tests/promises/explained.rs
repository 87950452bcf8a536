//! Promise: every token of a request has a section and a source, and everything left out is listed once.

use crate::simulated::history::{budget, config, injection, new_history, steps};
use crate::simulated::lane::{STREAM, build, view_of};
use proptest::prelude::*;
use std::collections::BTreeSet;
use wunderblock_core::budget::{Budget, Certainty, Reason};
use wunderblock_core::ports::CostModel;
use wunderblock_core::render::{Missing, RenderedRequest, measure};
use wunderblock_core::report::{Tally, report};
use wunderblock_core::units::{Cost, Seq, Tokens};
use wunderblock_core::view::View;

pub(crate) fn check_account(rendered: &RenderedRequest, view: &View, costs: &dyn CostModel, budget: Budget) {
    let sum: Cost = rendered.lines.iter().map(|line| line.cost).sum();
    assert_eq!(sum, measure(&rendered.request, costs), "the lines add up to the request");
    let tally = |seq: Seq| Tally { messages: seq.0, tokens: Tokens(seq.0), certainty: Certainty::Exact };
    let account = report(rendered, budget, Certainty::Exact, STREAM, &tally);
    assert_eq!(account.total_tokens, account.sections.iter().map(|section| section.tokens).sum());
    assert_eq!(account.total_tokens, account.entries.iter().map(|entry| entry.tokens).sum());
    let shown: BTreeSet<Seq> = rendered.lines.iter().filter_map(|line| line.seq).collect();
    assert_eq!(shown.intersection(view.hidden()).next(), None, "it is hidden, and shown");
    let mut runs: Vec<(Seq, Seq)> = Vec::new();
    for missing in &rendered.missing {
        let of_a_part = matches!(
            missing.reason,
            Reason::DuplicateResult | Reason::OrphanResult | Reason::Hidden | Reason::Repeated
        );
        if missing.known.is_none() || !of_a_part && missing.reason != Reason::Budget {
            assert!(shown.range(missing.from..=missing.to).next().is_none(), "{missing:?} is shown as well");
            if let Some((_, to)) = runs.last() {
                assert!(*to < missing.from, "{missing:?} is listed twice");
            }
            runs.push((missing.from, missing.to));
        }
    }
    for entry in view.entries() {
        let listed = |missing: &Missing| (missing.from..=missing.to).contains(&entry.seq);
        assert!(
            shown.contains(&entry.seq) || rendered.missing.iter().any(listed),
            "{entry:?} is neither shown nor listed"
        );
    }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn every_token_has_a_source_and_all_that_is_left_out_is_listed(steps in steps(40), budget in budget()) {
        let mut history = new_history();
        for step in &steps {
            history.play(step);
        }
        let mut view = view_of(&history.events);
        let hits: Vec<_> = [2, 3].into_iter().map(injection).collect();
        if let Ok(built) = build(&mut history, &mut view, budget, &hits) {
            check_account(&built.rendered, &view, &history.wax, budget);
        }
    }
}
