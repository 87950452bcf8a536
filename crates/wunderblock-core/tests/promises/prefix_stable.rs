//! Promise: between two builds, a request grows only at its end, unless an event allows another change.

use crate::simulated::history::{budget, config, injection, new_history, steps};
use crate::simulated::lane::{Built, build, view_of};
use crate::well_formed;
use proptest::prelude::*;
use wunderblock_core::budget::Budget;
use wunderblock_core::decision::PartForm;
use wunderblock_core::event::{Event, Fact};
use wunderblock_core::id::LaneId;
use wunderblock_core::message::Body;
use wunderblock_core::plan::{Trim, TrimReason};
use wunderblock_core::ports::CostModel;
use wunderblock_core::render::measure;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Cost, Seq, Tokens};

/// Returns whether an event allows a request to change before its end.
pub(crate) fn says_so(event: &Event) -> bool {
    match &event.fact {
        Some(Fact::ViewTrimmed(trimmed)) => trimmed.lane == LaneId::main(),
        Some(Fact::PreambleChanged(changed)) => changed.lane == LaneId::main(),
        Some(Fact::ContentErased(_) | Fact::ContentPinned(_) | Fact::ContentHidden(_)) => true,
        _ => false,
    }
}

pub(crate) fn check_grown(before: &Built, after: &Built) {
    let (old, new) = (&before.rendered.request, &after.rendered.request);
    assert_eq!(old.tools, new.tools);
    let is_said = [Section::Summaries, Section::Transcript, Section::Prompt, Section::State, Section::Recall];
    if !before.rendered.lines.iter().any(|line| is_said.contains(&line.section)) {
        return; // Nothing could have been sent, because the conversation has not begun.
    }
    assert_eq!(old.system, new.system);
    let same = old.messages.iter().zip(&new.messages).take_while(|(old, new)| old == new).count();
    assert_eq!(
        same,
        old.messages.len(),
        "changed from {:?}\nto {:?}",
        old.messages.get(same),
        new.messages.get(same)
    );
}

/// Checks that a fifth of the window is free after a step, unless required parts and the newest exchange leave no
/// room.
fn check_room(history: &crate::simulated::history::History, built: &Built, budget: Budget) {
    let upto = built.upto;
    let limit = budget.limit();
    let gain = (budget.window.0 / 5).min(limit.tokens.0 / 2);
    let view = {
        let mut view = view_of(&history.events[..upto]);
        view.trim_to(built.plan.trim.clone());
        view
    };
    let from_outside = || built.plan.inject.iter().filter(|item| item.is_new());
    let wax = &history.wax;
    // Minimum cost of the texts. The maximum cost of the fences around the texts follows.
    let said: Cost = from_outside()
        .map(|item| match &item.body {
            Body::Inline(text) => wax.text(text),
            Body::Blob { blob, .. } => wax.blob(*blob),
        })
        .sum();
    let fences: Cost = from_outside().map(|_| Cost::new(1_000, 1_000)).sum();
    let cost = measure(&crate::simulated::lane::show(history, &view).request, &history.wax) + said;
    if limit.saturating_sub(cost).tokens >= Tokens(gain) {
        return;
    }
    // If a step leaves too little room, the smallest request that contains the whole newest exchange must be too
    // large.
    let plain = view_of(&history.events[..upto]);
    let exchanges = wunderblock_core::pair::arrange(&plain).exchanges.clone();
    let newest = plain.newest_user();
    // Exchanges whose results are outstanding are not shown.
    let waiting = &built.plan.trim.waiting;
    let shown = exchanges.iter().filter(|it| !it.speakers.iter().any(|seq| waiting.contains(seq)));
    let from = shown.map(|exchange| exchange.last).max().unwrap_or(Seq(1));
    let mut least = plain.clone();
    let mut keep: Vec<Seq> = newest.into_iter().filter(|seq| *seq < from).collect();
    keep.sort_unstable();
    let hold: Vec<Seq> = plain.entries().map(|entry| entry.seq).filter(|seq| *seq < from).collect();
    let standing = plain.standings().filter(|((seq, _), _)| *seq < from);
    let forms = standing.map(|(at, event)| (at, PartForm::Reduced(event))).collect();
    least.trim_to(Trim {
        drop_before: from,
        stub_before: from,
        keep,
        hold,
        forms,
        waiting: waiting.clone(),
        ..Trim::default()
    });
    let needed = measure(&crate::simulated::lane::show(history, &least).request, &history.wax);
    let marks =
        Cost::new(128 * (plain.entries().count() as u64 + 1), 512 * (plain.entries().count() as u64 + 1));
    let bytes_left = limit.bytes.0 - limit.bytes.0 / 5;
    let needed = needed + marks + said + fences;
    assert!(
        needed.tokens.0 > limit.tokens.0 - gain || needed.bytes.0 > bytes_left,
        "the step left {cost:?} of {limit:?} in use, though {needed:?} would do; {gain} {:?}\n{:?}",
        built.plan.trim,
        exchanges
    );
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn requests_grow_at_their_end(steps in steps(40), budget in budget(), hits in any::<bool>()) {
        let mut history = new_history();
        let mut view = view_of(&history.events);
        let mut last: Option<(Built, usize)> = None;
        for (index, step) in steps.iter().enumerate() {
            let from = history.events.len();
            history.play(step);
            // Requests are built while results are still arriving, one at a time.
            let (mut events, mut at) = (history.events[from..].to_vec(), 0);
            let mut refold = matches!(step, crate::simulated::history::Step::Erase(..));
            while at < events.len() {
                let event = events[at].clone();
                view.apply(&event);
                at += 1;
                let due = matches!(&event.fact, Some(Fact::MessageAppended(said))
                    if said.message.is_user_turn() || said.message.results().next().is_some());
                if !due || std::mem::take(&mut refold) {
                    continue;
                }
                // The ledger receives the rest of the step only after the request.
                let rest = history.events.split_off(event.seq.0 as usize);
                let hit = injection(index as u64);
                let built = build(&mut history, &mut view, budget, if hits { std::slice::from_ref(&hit) } else { &[] });
                if let Ok(built) = built {
                    well_formed::check(&built.rendered.request);
                    if let Some((before, end)) = &last
                        && !history.events[*end..].iter().any(says_so)
                    {
                        check_grown(before, &built);
                    }
                    if built.plan.step == Some(TrimReason::OverBudget) && built.plan.trim.clip.is_empty() {
                        check_room(&history, &built, budget);
                    }
                    last = Some((built, history.events.len()));
                }
                events = rest.into_iter().filter_map(|event| Some(history.append(event.fact?)))
                    .collect::<Vec<_>>().into_iter().map(|seq| history.events[seq.0 as usize - 1].clone()).collect();
                at = 0;
            }
        }
    }
}
