//! Promise: no request is over budget, and no build is stuck.

use crate::explained::check_account;
use crate::simulated::history::{History, budget, config, injection, new_history, steps};
use crate::simulated::lane::{build, fixed_cost, show, view_of};
use proptest::prelude::*;
use wunderblock_core::budget::Treatment;
use wunderblock_core::cost;
use wunderblock_core::message::Body;
use wunderblock_core::pair::{ExchangeKind, arrange};
use wunderblock_core::plan::{GAP_COST, Trim};
use wunderblock_core::ports::CostModel;
use wunderblock_core::render::measure;
use wunderblock_core::section::Section;
use wunderblock_core::trim::treatment;
use wunderblock_core::units::{Cost, Seq};
use wunderblock_core::view::View;

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn a_request_fits_or_is_refused_for_parts_that_do_not(steps in steps(40), budget in budget(), lost in any::<bool>()) {
        let mut history = new_history();
        for step in &steps {
            history.play(step);
        }
        if lost {
            history.wax.lose(wunderblock_core::id::Handle(1));
        }
        let mut view = view_of(&history.events);
        let hits: Vec<_> = [2, 3].into_iter().map(injection).collect();
        match build(&mut history, &mut view, budget, &hits) {
            Ok(built) => {
                let cost = measure(&built.rendered.request, &history.wax);
                prop_assert!(cost.fits(budget.limit()), "{cost:?} exceeds {:?}", budget.limit());
                check_account(&built.rendered, &view, &history.wax, budget);
            }
            Err(refusal) => {
                let sum: Cost = refusal.parts.iter().map(|part| part.cost).sum();
                prop_assert_eq!(sum, refusal.needed);
                prop_assert!(!refusal.needed.fits(budget.limit()));
                // Even the parts that must be present do not fit.
                let preamble = refusal.parts.iter().filter(|part| part.section < Section::Summaries && !part.what.starts_with("system message"));
                let least: Cost = must_be_there(&view, &history.wax).chain(preamble.map(|part| part.cost)).chain(said(&history)).sum();
                let marks: Cost = (0..=view.entries().count()).map(|_| GAP_COST).sum();
                prop_assert!(!(least + marks).fits(budget.limit()));
            }
        }
    }

    #[test]
    fn the_newest_turn_stays_word_for_word_or_is_clipped_because_it_must(steps in steps(30), budget in budget()) {
        let mut history = new_history();
        for step in &steps {
            history.play(step);
        }
        let mut view = view_of(&history.events);
        if let Ok(built) = build(&mut history, &mut view, budget, &[])
            && let Some(newest) = view.newest_user()
        {
            let line = built.rendered.lines.iter().find(|line| line.seq == Some(newest) && line.section == Section::Prompt);
            let treatment = line.map(|line| line.treatment);
            if built.plan.trim.clip_of(newest).is_none() {
                prop_assert_eq!(treatment, Some(Treatment::Verbatim));
            } else {
                prop_assert_eq!(treatment, Some(Treatment::Clipped));
                let least: Cost = must_be_there(&view, &history.wax).chain(said(&history)).sum::<Cost>() + fixed_cost(&history, &view);
                let marks: Cost = (0..=view.entries().count()).map(|_| GAP_COST).sum();
                prop_assert!(!(least + marks).fits(budget.limit()), "clipped, though whole it fits");
            }
        }
    }

    /// The trim leaves nothing out, so that no mark of a gap makes up for a cost that is too low.
    #[test]
    fn what_a_unit_is_taken_to_cost_is_never_below_what_it_costs(steps in steps(25), stubs in any::<bool>()) {
        let mut history = new_history();
        for step in &steps {
            history.play(step);
        }
        let mut view = view_of(&history.events);
        let stub_before = if stubs { history.head().next() } else { Seq::START };
        view.trim_to(Trim { stub_before, ..Trim::default() });
        let taken = arrange(&view).exchanges.clone().into_iter().map(|exchange| {
            let cost = cost::exchange(&exchange, view.trim(), &view, &history.wax);
            match treatment(&exchange, view.trim(), &view) {
                Treatment::Stub => cost.stub,
                _ => cost.verbatim,
            }
        });
        let taken = taken.sum::<Cost>() + fixed_cost(&history, &view);
        prop_assert!(measure(&show(&history, &view).request, &history.wax).fits(taken));
    }
}

/// Returns the maximum cost of the texts that the input puts at the tail.
fn said(history: &History) -> impl Iterator<Item = Cost> {
    let items = history.input.state.iter().map(|item| (item.what.len(), &item.body));
    let nested = history.input.offer.nested.iter().map(|block| (block.name.len(), &block.text));
    let frames = Cost::new(1_000, 1_000);
    items.chain(nested).map(move |(name, body)| {
        let text = match body {
            Body::Inline(text) => history.wax.text(text),
            Body::Blob { blob, .. } => history.wax.blob(*blob),
        };
        text + frames + Cost::new(name as u64, name as u64)
    })
}

/// Returns the verbatim cost of the operator's words, the pinned entries and the newest turn.
fn must_be_there<'a>(view: &'a View, costs: &'a dyn CostModel) -> impl Iterator<Item = Cost> + 'a {
    let newest = view.newest_user();
    arrange(view).exchanges.clone().into_iter().filter_map(move |exchange| {
        let must = exchange.shape == ExchangeKind::System
            || newest.is_some_and(|seq| exchange.speakers.contains(&seq))
            || exchange.members.iter().any(|seq| view.pinned().contains(seq));
        must.then(|| cost::exchange(&exchange, view.trim(), view, costs).verbatim)
    })
}
