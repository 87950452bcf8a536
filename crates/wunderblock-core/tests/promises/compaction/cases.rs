//! Readable compactions: each is the smallest history that shows a behaviour that random histories seldom produce.

use crate::cases::{answer, call, ledger, line, user, window};
use crate::compaction::rounds::{Answer, Scribe, climb, publish, weight};
use crate::simulated::history::History;
use crate::simulated::lane::{STREAM, build, show, view_of};
use crate::simulated::policies::{plain_condense, plain_drop, plain_stub, plain_summarise, policy};
use wunderblock_core::budget::Reason;
use wunderblock_core::compact::{LaneMeasurement, Proposal, Urgency, due, rebase};
use wunderblock_core::decision::PartForm;
use wunderblock_core::event::{ContentPinned, Fact, ViewTrimmed};
use wunderblock_core::id::LaneId;
use wunderblock_core::message::{Message, Role};
use wunderblock_core::plan::{Trim, TrimReason};
use wunderblock_core::policy::{
    self, Action, CutPoint, DropOrder, Optional, Permille, Policy, Protect, Split, Triggers,
};
use wunderblock_core::render::measure;
use wunderblock_core::units::{Millis, Seq, Tokens};

fn exchange(steps: Vec<Action>, messages: u64) -> Policy {
    let protect = Protect { messages, ..Protect::default() };
    policy(steps, protect, Split { at: CutPoint::Exchange, ..Split::default() })
}

fn proposal(history: &History, policy: &Policy) -> Proposal {
    let scribe = Scribe(vec![Answer::Short]);
    climb(history, &view_of(&history.events), window(100_000), (policy, Urgency::Manual), &scribe).proposal
}

fn compact(history: &mut History, policy: &Policy) -> Proposal {
    let proposal = proposal(history, policy);
    assert!(proposal.trim.is_some(), "{:?}", proposal.rungs);
    publish(history, &proposal);
    proposal
}

fn turns(history: &mut History, count: usize) {
    for turn in 0..count {
        history.say(user(&format!("turn {turn} {}", "w".repeat(2_000))));
    }
}

fn lines(history: &History) -> Vec<String> {
    show(history, &view_of(&history.events)).request.messages.iter().map(line).collect()
}

fn anchored() -> Action {
    let mut action = plain_summarise(Tokens::ZERO);
    if let Action::Summarise { anchored, .. } = &mut action {
        *anchored = true;
    }
    action
}

#[test]
fn an_anchored_summary_takes_in_what_stands_before_it_and_no_gap() {
    let mut history = ledger(Vec::new());
    let mut ranges = Vec::new();
    for steps in [anchored(), anchored(), plain_drop(DropOrder::Age, 2), anchored(), anchored()] {
        turns(&mut history, 4);
        let made = compact(&mut history, &exchange(vec![steps], 1));
        ranges.extend(made.nodes.iter().map(|draft| (draft.job.from.0, draft.job.to.0, draft.job.level)));
    }
    // The fourth compaction begins after the dropped messages. The fifth compaction merges the summary of the fourth,
    // and nothing before it. Each summary of summaries is made together with a summary of the new messages.
    let first = [(2, 4, 0), (5, 10, 0), (2, 10, 1)];
    let behind = [(17, 22, 0), (23, 28, 0), (17, 28, 1)];
    assert_eq!(ranges, [first, behind].concat());
}

/// A chunk was once requested repeatedly if its summary said nothing.
#[test]
fn a_chunk_made_ahead_that_says_nothing_is_asked_for_once() {
    let mut history = ledger(Vec::new());
    turns(&mut history, 12);
    let mut action = plain_summarise(Tokens(2_000));
    if let Action::Summarise { ahead, .. } = &mut action {
        *ahead = true;
    }
    let policy = exchange(vec![action], 2);
    let made = |answer| {
        let scribe = Scribe(vec![answer]);
        climb(&history, &view_of(&history.events), window(100_000), (&policy, Urgency::Ahead), &scribe)
    };
    assert!(made(Answer::Short).proposal.nodes.len() > 1);
    let blank = made(Answer::Blank);
    assert_eq!((blank.asked, blank.proposal.nodes.len()), (1, 0));
}

#[test]
fn summaries_are_condensed_without_a_step_that_makes_some() {
    let mut history = ledger(Vec::new());
    let leaf = exchange(vec![plain_summarise(Tokens::ZERO)], 1);
    for _ in 0..6 {
        turns(&mut history, 4);
        compact(&mut history, &leaf);
    }
    let view = view_of(&history.events);
    let one = view.nodes().map(|node| wunderblock_core::cost::node(node, &history.wax).tokens).max().unwrap();
    let made = |chunk: Tokens| {
        let made = proposal(&history, &exchange(vec![plain_condense(2, chunk)], 1));
        made.nodes[0].job.sources.len()
    };
    // A merge takes as many summaries as the chunk of the step holds, but no fewer than it needs.
    assert_eq!(made(Tokens::ZERO), 6);
    assert_eq!(made(Tokens(one.0 * 3)), 3);
    assert_eq!(made(Tokens(1)), 2);
}

/// If a window does not hold all summaries, as many of the newest stay as fit. The ranges of the omitted summaries
/// are listed with the reason, and the request has a mark with their handle.
#[test]
fn as_many_summaries_stay_as_fit() {
    let mut history = ledger(Vec::new());
    let leaf = exchange(vec![plain_summarise(Tokens::ZERO)], 1);
    for _ in 0..6 {
        turns(&mut history, 4);
        compact(&mut history, &leaf);
    }
    let before = view_of(&history.events);
    let all = before.trim().nodes.clone();
    assert_eq!(all.len(), 6);
    let mut counts = Vec::new();
    for tokens in (1_000..3_000).step_by(50) {
        let (mut history, mut view) = (history.clone(), before.clone());
        let Ok(built) = build(&mut history, &mut view, window(tokens), &[]) else { continue };
        let kept = &view.trim().nodes;
        assert_eq!(*kept, all[all.len() - kept.len()..], "the newest, at {tokens}");
        let shown: Vec<String> = built.rendered.request.messages.iter().map(line).collect();
        assert_eq!(shown.iter().filter(|line| line.contains("end of summary")).count(), kept.len());
        if let Some(gone) = all.len().checked_sub(kept.len() + 1).map(|last| all[last]) {
            let left = built.rendered.missing.iter().find(|run| run.from <= all[0].from).unwrap();
            assert_eq!((left.reason, left.to), (Reason::Budget, gone.to), "at {tokens}");
            let handle = format!("{STREAM}#{}-{}", all[0].from, gone.to);
            assert!(shown.iter().any(|line| line.contains(&handle)), "{handle} at {tokens}: {shown:?}");
        }
        counts.push(kept.len());
    }
    assert!(counts.is_sorted(), "more room holds no fewer: {counts:?}");
    // A window in which a step would keep four or five summaries holds all six without a step.
    counts.dedup();
    assert_eq!(counts, [0, 1, 2, 3, 6]);
}

#[test]
fn a_summary_that_was_erased_goes_into_no_other() {
    let mut history = ledger(Vec::new());
    let leaf = exchange(vec![plain_summarise(Tokens::ZERO)], 1);
    for _ in 0..3 {
        turns(&mut history, 4);
        compact(&mut history, &leaf);
    }
    turns(&mut history, 4);
    let view = view_of(&history.events);
    let first = view.trim().nodes[0].at;
    assert!(first < view.trim().drop_before, "the frontier is behind its event");
    let made = proposal(&history, &exchange(vec![plain_condense(3, Tokens::ZERO)], 1));
    assert_eq!(made.nodes[0].job.sources[0], first);
    history.say(user("more"));
    assert!(rebase(&made, &view, &view_of(&history.events)).is_some());
    history.erase_at(first, first);
    assert_eq!(rebase(&made, &view, &view_of(&history.events)), None);
}

#[test]
fn what_a_summary_was_made_from_is_erased_from_a_call_that_waits_as_well() {
    let mut history = ledger(vec![user("go"), call(&["a", "b", "c"]), answer("a", &"secret ".repeat(500))]);
    turns(&mut history, 3);
    history.say(answer("c", "done"));
    history.say(user("and on"));
    compact(&mut history, &exchange(vec![plain_summarise(Tokens::ZERO)], 2));
    turns(&mut history, 2);
    let view = view_of(&history.events);
    assert!(Seq(4) < view.trim().drop_before && view.trim().hold.contains(&Seq(4)), "{:?}", view.trim());
    let made = proposal(&history, &exchange(vec![plain_summarise(Tokens::ZERO)], 1));
    assert!(made.nodes[0].job.entries.contains(&Seq(4)));
    history.say(answer("b", "late"));
    assert!(rebase(&made, &view, &view_of(&history.events)).is_some(), "what it waited for may come");
    history.erase_at(Seq(4), Seq(4));
    assert_eq!(rebase(&made, &view, &view_of(&history.events)), None);
}

#[test]
fn forms_hold_on_both_sides_of_the_frontier_a_reply_goes_across() {
    let long = "x".repeat(3_000);
    for frontier in [Seq::START, Seq(3), Seq(5)] {
        let mut history = ledger(vec![user("go"), call(&["a", "b"]), answer("a", &long)]);
        turns(&mut history, 2);
        history.say(answer("b", &long));
        history.say(user("more"));
        let hold = if frontier > Seq(4) { vec![Seq(3), Seq(4)] } else { Vec::new() };
        let trim = Trim { drop_before: frontier, stub_before: Seq(6), hold, ..Trim::default() };
        let reason = TrimReason::OverBudget;
        let lane = LaneId::main();
        history.append(Fact::ViewTrimmed(ViewTrimmed { lane, trim, reason, target: None, compaction: None }));
        let made = compact(&mut history, &exchange(vec![plain_stub(0)], 1));
        let forms = made.trim.unwrap().forms;
        let forms: Vec<_> = forms.iter().map(|((seq, _), form)| (seq.0, *form)).collect();
        assert_eq!(forms, [(4, PartForm::Stub), (7, PartForm::Stub)], "{frontier}");
        let view = view_of(&history.events);
        let counted = measure(&show(&history, &view).request, &history.wax);
        assert!(counted.fits(weight(&history, &view, window(100_000))));
    }
}

#[test]
fn the_most_important_stay_wherever_they_stand() {
    let said = |text: &str| Message::text(Role::Assistant, format!("{text} {}", "w".repeat(2_000)));
    let mut history = ledger(vec![
        user("first"),
        said("an error came up"),
        user("second"),
        said("nothing of note"),
        said("nothing again"),
        said("so I decide to go on"),
        said("fine"),
        user("third"),
    ]);
    compact(&mut history, &exchange(vec![plain_drop(DropOrder::Importance, 3)], 1));
    let short: Vec<String> = lines(&history).iter().map(|line| line.chars().take(30).collect()).collect();
    assert_eq!(
        short,
        [
            "User: ⟨left out: positions 2–2",
            "Assistant: an error came up ww",
            "User: ⟨left out: positions 4–6",
            "Assistant: so I decide to go o",
            "User: ⟨left out: positions 8–8",
            "User: third",
        ]
    );
}

#[test]
fn each_trigger_fires_at_its_number_and_not_before() {
    let measure = |tokens, messages, age, cache: i64| LaneMeasurement {
        tokens: Tokens(tokens),
        limit: Tokens(1_000),
        window: Tokens(2_000),
        messages,
        age: Millis(age),
        cache_left: Some(Millis(cache)),
        ..LaneMeasurement::default()
    };
    let none = policy::TriggerLevel::default;
    let table = [
        (
            policy::TriggerLevel { fraction: Some(Permille(920)), ..none() },
            measure(919, 0, 0, 9_000),
            measure(920, 0, 0, 9_000),
        ),
        (
            policy::TriggerLevel { tokens: Some(Tokens(500)), ..none() },
            measure(500, 0, 0, 9_000),
            measure(501, 0, 0, 9_000),
        ),
        (
            policy::TriggerLevel { free: Some(Tokens(100)), ..none() },
            measure(1_900, 0, 0, 9_000),
            measure(1_901, 0, 0, 9_000),
        ),
        (
            policy::TriggerLevel { messages: Some(10), ..none() },
            measure(1, 10, 0, 9_000),
            measure(1, 11, 0, 9_000),
        ),
        (
            policy::TriggerLevel { age_s: Some(60), ..none() },
            measure(1, 0, 60_000, 9_000),
            measure(1, 0, 60_001, 9_000),
        ),
        (
            policy::TriggerLevel { cache_s: Some(5), ..none() },
            measure(1, 0, 0, 5_001),
            measure(1, 0, 0, 5_000),
        ),
    ];
    let unsummarised = |tokens| LaneMeasurement { unsummarised: Tokens(tokens), ..measure(600, 0, 0, 9_000) };
    let level = policy::TriggerLevel { unsummarised: Some(Tokens(300)), ..none() };
    for (hard, not_yet, now) in table.into_iter().chain([(level, unsummarised(300), unsummarised(301))]) {
        let trigger = Triggers { hard, ..Triggers::default() };
        let policy = Policy { trigger, steps: vec![plain_stub(0)], ..Policy::never() };
        assert_eq!(due(&policy, &not_yet), None, "{hard:?}");
        assert_eq!(due(&policy, &now).map(|due| due.level), Some(Urgency::Hard), "{hard:?}");
    }
}

/// A lost cache lowers the level. A live cache does not lower the level, and a short request is not compacted either
/// way.
#[test]
fn a_lost_cache_sets_off_a_compaction_that_would_be_paid_for_anyway() {
    let trigger = Triggers {
        idle: Optional::new(Permille(500)),
        down_to: Optional::new(Permille(300)),
        ..Triggers::default()
    };
    let policy = Policy { trigger, steps: vec![plain_stub(0)], ..Policy::never() };
    for (tokens, cache_lost, expected) in
        [(499, true, None), (500, false, None), (500, true, Some(Urgency::Soft))]
    {
        let stands = due::ConversationState::InTurn;
        let (tokens, limit) = (Tokens(tokens), Tokens(1_000));
        let measure = LaneMeasurement { tokens, limit, cache_lost, stands, ..LaneMeasurement::default() };
        assert_eq!(due(&policy, &measure).map(|due| due.level), expected, "{measure:?}");
    }
}

/// An exchange that stayed inside a summary's range is described in no summary, so it is not dropped under that
/// range.
#[test]
fn what_stands_within_the_range_of_a_summary_untold_is_not_dropped() {
    let mut history = ledger(Vec::new());
    turns(&mut history, 4);
    let within = Seq(3);
    let pin = |pinned| Fact::ContentPinned(ContentPinned { target: within, pinned });
    history.append(pin(true));
    compact(&mut history, &exchange(vec![plain_summarise(Tokens::ZERO)], 1));
    let node = view_of(&history.events).trim().nodes[0];
    assert!(node.from < within && within < node.to, "{node:?}");
    history.append(pin(false));
    let told = |history: &History| lines(history).iter().any(|line| line.contains("turn 1"));
    assert!(told(&history));
    turns(&mut history, 4);
    compact(&mut history, &exchange(vec![plain_drop(DropOrder::Age, 1)], 1));
    assert!(told(&history), "{:?}", lines(&history));
    assert_eq!(lines(&history).iter().filter(|line| line.contains("turn ")).count(), 2);
}

/// Once a pin is removed, no other summary tells of the exchange: the range is already summarised.
#[test]
fn a_summary_of_what_the_steps_leave_out_tells_of_what_stays_within_its_range() {
    let mut history = ledger(Vec::new());
    turns(&mut history, 12);
    let within = Seq(4);
    history.append(Fact::ContentPinned(ContentPinned { target: within, pinned: true }));
    let (policy, scribe) = (exchange(vec![plain_stub(0)], 1), Scribe(vec![Answer::Short]));
    let view = view_of(&history.events);
    let made = climb(&history, &view, window(4_000), (&policy, Urgency::Hard), &scribe).proposal;
    let around = made.nodes.iter().find(|draft| (draft.job.from..=draft.job.to).contains(&within));
    assert!(around.is_some_and(|draft| draft.job.entries.contains(&within)), "{:?}", made.nodes);
    publish(&mut history, &made);
    assert!(lines(&history).iter().any(|line| line.contains("turn 2")), "{:?}", lines(&history));
}
