//! Histories of extreme shapes: nothing is lost, each outcome is typed, and the time is proportional to the history.

use crate::cases::{answer, call, ledger, user, window};
use crate::compaction::kept::{check_account, check_fits, check_protected, check_references, check_whole};
use crate::compaction::rounds::{Answer, Round, Scribe, Stage, climb, compact, publish};
use crate::simulated::history::History;
use crate::simulated::lane::view_of;
use crate::simulated::policies::{
    plain_condense, plain_curate, plain_dedupe, plain_drop, plain_shrink, plain_stub, plain_summarise,
    policies, policy,
};
use crate::well_formed;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::time::{Duration, Instant};
use wunderblock_core::compact::{Urgency, rebase};
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_core::policy::{Action, CutPoint, DropOrder, Policy, Protect, Split};
use wunderblock_core::units::Tokens;

fn one_message() -> History {
    ledger(vec![user(&"漢字 and words. ".repeat(1_500_000 / 17))])
}

fn one_result() -> History {
    ledger(vec![user("read it"), call(&["a"]), answer("a", &"line\n".repeat(300_000)), user("well?")])
}

/// Returns a history that consists only of calls, the last of which are waiting for results.
fn only_calls(count: usize) -> History {
    let mut messages = Vec::new();
    for number in 0..count {
        let id = format!("c{number}");
        messages.push(call(&[&id]));
        if number + 3 < count {
            messages.push(answer(&id, &"out ".repeat(number % 7 * 100)));
        }
    }
    ledger(messages)
}

fn only_system(count: usize) -> History {
    ledger(
        (0..count)
            .map(|number| Message::text(Role::System, format!("rule {number} {}", "r".repeat(50))))
            .collect(),
    )
}

/// Returns a history of turns of two words each.
fn two_words(count: usize) -> History {
    let turn = |number: usize| [user("go on"), Message::text(Role::Assistant, format!("done {number}"))];
    ledger((0..count).flat_map(turn).collect())
}

/// Returns turns with empty replies, thinking, and a call whose output is repeated.
fn busy(count: usize) -> History {
    let mut messages = Vec::new();
    for number in 0..count {
        let id = format!("c{number}");
        messages.push(user(&format!("turn {number}")));
        messages.push(Message::new(
            Role::Assistant,
            vec![
                Part::Thinking { text: "hm".into(), signature: None, extra: None },
                Part::ToolCall {
                    call: id.as_str().into(),
                    name: "run".into(),
                    input: "{}".into(),
                    gist: None,
                    extra: None,
                },
            ],
        ));
        messages.push(answer(&id, &format!("error in file {}: {}", number % 10, "x".repeat(700))));
        messages.push(Message::text(Role::Assistant, " "));
    }
    ledger(messages)
}

fn check(stage: &Stage<'_>) {
    check_whole(stage);
    check_account(stage);
    check_protected(stage);
    check_references(stage.history, stage.after, &stage.new);
    well_formed::check(&stage.new.request);
    check_fits(stage);
}

#[test]
fn extreme_histories_keep_every_promise() {
    let mut runner = TestRunner::deterministic();
    let shapes: [fn() -> History; 5] =
        [one_message, one_result, || only_calls(60), || only_system(40), || two_words(150)];
    let windows = [(4_000, Urgency::Overflow), (60_000, Urgency::Soft), (1_000_000, Urgency::Manual)];
    for (shape, (tokens, level)) in shapes.iter().flat_map(|shape| windows.map(|window| (shape, window))) {
        let policy = policies().new_tree(&mut runner).unwrap().current();
        let scribe = Scribe(vec![Answer::Short, Answer::AsWanted, Answer::AsLong, Answer::None]);
        let round = Round { steps: Vec::new(), policy, level, scribe, builds: false };
        let mut history = shape();
        let mut view = view_of(&history.events);
        for _ in 0..2 {
            compact(&mut history, &mut view, window(tokens), &round, &mut |stage| check(stage));
        }
    }
}

type Shape = fn(usize) -> History;

/// Returns policies with a single step of each kind, and one that leaves very many summaries.
fn ladders() -> Vec<(&'static str, Policy)> {
    let exchange = Split { at: CutPoint::Exchange, ..Split::default() };
    let one = |action: Action| policy(vec![action], Protect::default(), exchange);
    let kept = Protect { user_tokens: Tokens(1_000_000), messages: 10, ..Protect::default() };
    vec![
        ("curate", one(plain_curate())),
        ("dedupe", one(plain_dedupe())),
        ("stub", one(plain_stub(0))),
        ("shrink", one(plain_shrink())),
        ("summarise", one(plain_summarise(Tokens::ZERO))),
        ("summarise in chunks", one(plain_summarise(Tokens(600)))),
        ("summarise, turns kept", policy(vec![plain_summarise(Tokens(600))], kept, Split::default())),
        ("drop", one(plain_drop(DropOrder::Importance, 50))),
        ("half of it dropped", one(plain_drop(DropOrder::Importance, 10_000))),
        (
            "condense",
            policy(
                vec![plain_summarise(Tokens(3_000)), plain_condense(4, Tokens(3_000))],
                Protect::default(),
                exchange,
            ),
        ),
    ]
}

fn took(history: &History, policy: &Policy) -> [Duration; 4] {
    let view = view_of(&history.events);
    let scribe = Scribe(vec![Answer::Short]);
    let budget = window(100_000);
    let begun = Instant::now();
    let climbed = climb(history, &view, budget, (policy, Urgency::Manual), &scribe);
    let climbing = begun.elapsed();
    let mut grown = history.clone();
    grown.say(user("one more"));
    let wider = view_of(&grown.events);
    let begun = Instant::now();
    let rebased = rebase(&climbed.proposal, &view, &wider);
    let rebasing = begun.elapsed();
    if let Some(rebased) = rebased {
        publish(&mut grown, &rebased);
    }
    let begun = Instant::now();
    let after = view_of(&grown.events);
    let folding = begun.elapsed();
    let begun = Instant::now();
    crate::simulated::lane::show(&grown, &after);
    [climbing, rebasing, folding, begun.elapsed()]
}

/// Prints how times grow with the lane: a benchmark over histories that only tests can make. The test asserts
/// nothing.
/// `cargo test --release -p wunderblock-core --test promises -- --ignored --nocapture how_a_climb_grows`
#[test]
#[ignore = "prints times, to be read"]
fn how_a_climb_grows() {
    let histories: [(&str, Shape); 3] =
        [("two words", two_words), ("busy", busy), ("only calls", only_calls)];
    for (shape, history) in histories {
        let (small, large) = (history(1_000), history(10_000));
        for (name, policy) in ladders() {
            let (short, long) = (took(&small, &policy), took(&large, &policy));
            let of = |at: usize| long[at].as_secs_f64() / short[at].as_secs_f64().max(1e-6) / 10.0;
            let [climb, rebase, fold, render] = [0, 1, 2, 3].map(of);
            println!(
                "{shape}, {name}: with ten times as much, each takes climb {climb:.2} ×, rebase {rebase:.2} ×, \
                 fold {fold:.2} ×, render {render:.2} × the time; the climb {:?}",
                long[0]
            );
        }
    }
}
