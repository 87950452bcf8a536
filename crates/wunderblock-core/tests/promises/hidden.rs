//! Promises about hidden entries: they are in no request, are listed, and can be shown again. All other promises
//! still hold.

use crate::compaction::rounds::{Round, play, round};
use crate::explained::check_account;
use crate::prefix_stable::{check_grown, says_so};
use crate::resume::resume;
use crate::simulated::history::{History, Step, budget, config, new_history, steps};
use crate::simulated::lane::{Built, build, decide, show, view_of};
use crate::well_formed;
use proptest::prelude::*;
use wunderblock_core::budget::{Reason, Treatment};
use wunderblock_core::decision::TrimReason;
use wunderblock_core::event::{ContentHidden, ContentPinned, Event, Fact, ViewTrimmed};
use wunderblock_core::id::LaneId;
use wunderblock_core::pair::arrange;
use wunderblock_core::render::measure;
use wunderblock_core::section::Section;
use wunderblock_core::units::Seq;

/// Generates histories in which entries are occasionally hidden or shown again.
fn hiding(max: usize) -> impl Strategy<Value = Vec<Step>> {
    let hide = prop::option::weighted(0.2, (any::<u8>(), prop::bool::weighted(0.8)));
    let hides = prop::collection::vec(hide, max);
    (steps(max), hides).prop_map(|(steps, hides)| {
        let steps = steps.into_iter().filter(|step| !matches!(step, Step::Pin(..))).zip(hides);
        steps
            .flat_map(|(step, hide)| {
                std::iter::once(step).chain(hide.map(|(at, hidden)| Step::Hide(at, hidden)))
            })
            .collect()
    })
}

fn hides() -> impl Strategy<Value = Vec<(u8, bool)>> {
    prop::collection::vec((any::<u8>(), prop::bool::weighted(0.8)), 0..5)
}

fn hide(history: &mut History, target: Seq, hidden: bool) {
    history.append(Fact::ContentHidden(ContentHidden { target, hidden }));
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn requests_without_what_is_hidden_fit_are_well_formed_and_grow_at_their_end(
        steps in hiding(40), budget in budget()
    ) {
        let mut history = new_history();
        let mut view = view_of(&history.events);
        let mut last: Option<(Built, usize)> = None;
        for step in &steps {
            let from = history.events.len();
            history.play(step);
            history.events[from..].iter().for_each(|event| view.apply(event));
            if matches!(step, Step::Erase(..) | Step::Hide(..)) {
                continue;
            }
            let Ok(built) = build(&mut history, &mut view, budget, &[]) else { continue };
            let cost = measure(&built.rendered.request, &history.wax);
            prop_assert!(cost.fits(budget.limit()), "{cost:?} exceeds {:?}", budget.limit());
            check_account(&built.rendered, &view, &history.wax, budget);
            well_formed::check(&built.rendered.request);
            if let Some((before, end)) = &last
                && !history.events[*end..].iter().any(says_so)
            {
                check_grown(before, &built);
            }
            last = Some((built, history.events.len()));
        }
        let resumed = resume(&history.events);
        prop_assert_eq!(decide(&history, &resumed, budget, &[]), decide(&history, &view, budget, &[]));
        prop_assert_eq!(show(&history, &resumed), show(&history, &view));
    }

    #[test]
    fn an_exchange_is_hidden_as_one_and_listed_and_comes_back_as_it_was(
        steps in steps(30), share in any::<u8>(), budget in budget()
    ) {
        let mut history = new_history();
        steps.iter().for_each(|step| { history.play(step); });
        let whole = view_of(&history.events);
        let target = Seq(1 + u64::from(share) * (history.events.len() as u64 - 1) / 255);
        let arrangement = arrange(&whole);
        let taken = arrangement.exchanges.iter().filter(|exchange| exchange.members.contains(&target));
        let along: Vec<Seq> = taken.flat_map(|exchange| exchange.speakers.clone()).collect();
        hide(&mut history, target, true);
        let mut hidden = view_of(&history.events);
        if let Ok(built) = build(&mut history, &mut hidden, budget, &[]) {
            for seq in &along {
                let is_it = |missing: &&wunderblock_core::render::Missing| (missing.from..=missing.to).contains(seq);
                let reasons: Vec<Reason> = built.rendered.missing.iter().filter(is_it).map(|missing| missing.reason).collect();
                prop_assert!(reasons.iter().any(|reason| matches!(reason, Reason::Hidden | Reason::Budget)), "#{seq}: {reasons:?}");
                prop_assert!(built.rendered.lines.iter().all(|line| line.seq != Some(*seq)));
            }
        }
        // Two events that change nothing take the same positions as the events that hide and show the entry.
        let mut history = new_history();
        steps.iter().for_each(|step| { history.play(step); });
        for _ in 0..2 {
            hide(&mut history, target, false);
        }
        let before = decide(&history, &view_of(&history.events), budget, &[]).map(|decided| decided.plan.trim);
        let mut history = new_history();
        steps.iter().for_each(|step| { history.play(step); });
        hide(&mut history, target, true);
        hide(&mut history, target, false);
        let again = view_of(&history.events);
        prop_assert_eq!(arrange(&again), arrangement);
        prop_assert_eq!(decide(&history, &again, budget, &[]).map(|decided| decided.plan.trim), before);
    }

    #[test]
    fn no_summary_is_made_from_what_is_hidden_and_no_compaction_shows_it(
        rounds in prop::collection::vec((round(15), hides()), 1..4), budget in budget()
    ) {
        let rounds: Vec<Round> = rounds.into_iter().map(|(round, hides)| {
            let mut steps: Vec<Step> = round.steps.into_iter().filter(|step| !matches!(step, Step::Pin(..))).collect();
            steps.extend(hides.into_iter().map(|(at, hidden)| Step::Hide(at, hidden)));
            Round { steps, ..round }
        }).collect();
        play(&rounds, budget, |stage| {
            let hidden = stage.before.hidden();
            for node in &stage.climbed.proposal.nodes {
                assert!(node.job.entries.iter().all(|seq| !hidden.contains(seq)), "{:?}", node.job);
            }
            for rendered in [&stage.old, &stage.new] {
                well_formed::check(&rendered.request);
                // The line of a summary has the position of its event, which is not an entry.
                let entries = rendered.lines.iter().filter(|line| line.section != Section::Summaries);
                let shown = entries.filter_map(|line| line.seq);
                assert_eq!(shown.filter(|seq| hidden.contains(seq)).count(), 0);
            }
        });
    }

    #[test]
    fn a_pin_brings_back_an_exchange_that_was_left_out(
        steps in steps(40), share in any::<u8>(), budget in budget()
    ) {
        let mut history = new_history();
        let mut view = view_of(&history.events);
        for step in steps.iter().filter(|step| !matches!(step, Step::Pin(..))) {
            let from = history.events.len();
            history.play(step);
            history.events[from..].iter().for_each(|event| view.apply(event));
            let _ = build(&mut history, &mut view, budget, &[]);
        }
        let trim = view.trim().clone();
        let is_step = |event: &&Event| matches!(event.fact, Some(Fact::ViewTrimmed(_)));
        let whole = view_of(history.events.iter().filter(|event| !is_step(event)));
        let arrangement = arrange(&whole);
        let gone = arrangement.exchanges.iter().filter(|exchange| {
            exchange.last < trim.drop_before && !exchange.members.iter().any(|seq| trim.needs(*seq))
        });
        let gone: Vec<_> = gone.collect();
        if gone.is_empty() {
            return Ok(());
        }
        let exchange = gone[usize::from(share) * (gone.len() - 1) / 255];
        let target = exchange.members[0];
        history.append(Fact::ContentPinned(ContentPinned { target, pinned: true }));
        let step = ViewTrimmed {
            lane: LaneId::main(),
            trim: trim.holding(&exchange.members),
            reason: TrimReason::Pinned,
            target: None,
            compaction: None,
        };
        history.append(Fact::ViewTrimmed(step));
        let mut resumed = resume(&history.events);
        match build(&mut history, &mut resumed, budget, &[]) {
            Ok(built) => {
                well_formed::check(&built.rendered.request);
                prop_assert!(measure(&built.rendered.request, &history.wax).fits(budget.limit()));
                check_account(&built.rendered, &resumed, &history.wax, budget);
                let shown = |seq: &Seq| built.rendered.lines.iter().any(|line| line.seq == Some(*seq) && line.treatment != Treatment::Stub);
                let listed = |seq: &Seq| built.rendered.missing.iter().any(|missing| missing.known.is_some() && (missing.from..=missing.to).contains(seq));
                for seq in &exchange.speakers {
                    prop_assert!(shown(seq) || listed(seq), "#{seq} is not back");
                }
            }
            Err(refusal) => prop_assert!(!refusal.needed.fits(budget.limit())),
        }
    }
}
