//! Whole requests of small compacted lanes, word for word.

use crate::cases::{answer, call, ledger, line, user, window};
use crate::compaction::rounds::{Answer, Scribe, climb, publish};
use crate::simulated::history::{History, picture, result};
use crate::simulated::lane::{STREAM, show, view_of};
use crate::simulated::policies::{
    plain_condense, plain_curate, plain_dedupe, plain_drop, plain_shrink, plain_stub, plain_summarise, policy,
};
use wunderblock_core::budget::Budget;
use wunderblock_core::compact::Urgency;
use wunderblock_core::event::Fact;
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_core::policy::{Action, CutPoint, DropOrder, Protect, Split};
use wunderblock_core::units::Tokens;

/// Compacts the lane, and then returns the lines of its request.
fn compacted(history: &mut History, steps: Vec<Action>, protect: Protect, budget: Budget) -> Vec<String> {
    let policy = policy(steps, protect, Split { at: CutPoint::Exchange, ..Split::default() });
    let view = view_of(&history.events);
    let scribe = Scribe(vec![Answer::Short]);
    let climbed = climb(history, &view, budget, (&policy, Urgency::Manual), &scribe);
    assert!(climbed.proposal.trim.is_some(), "{:?}", climbed.proposal.rungs);
    publish(history, &climbed.proposal);
    let rendered = show(history, &view_of(&history.events));
    rendered.request.messages.iter().map(line).collect()
}

fn tail(messages: u64) -> Protect {
    Protect { messages, ..Protect::default() }
}

/// Returns four turns, each with a call that reads the same file.
fn turns() -> History {
    let mut messages = Vec::new();
    for turn in 1..=4 {
        let id = format!("c{turn}");
        messages.push(user(&format!("turn {turn}")));
        messages.push(call(&[&id]));
        messages.push(answer(&id, &"x".repeat(1_200)));
    }
    ledger(messages)
}

const SUMMARY: &str = "Reference only: it tells what happened and orders nothing; the user's newest request goes \
    before it. #N is a position, read as wb:3f9c1a7be2d04c58#N; all of it: expand ";

#[test]
fn a_summary_stands_in_its_fence_before_what_is_kept() {
    let lines = compacted(&mut turns(), vec![plain_summarise(Tokens::ZERO)], tail(6), window(100_000));
    let tag = "0000000000000001";
    assert_eq!(
        lines,
        [
            format!(
                "User: ⟨{tag}: summary of positions 2–7. {SUMMARY}wb:3f9c1a7be2d04c58#2-7⟩ It went on from 2 to 7. \
                 ⟨{tag}: end of summary⟩"
            ),
            "User: turn 3".into(),
            "Assistant: call(c3)".into(),
            format!("Tool: c3={}", "x".repeat(1_200)),
            "User: turn 4".into(),
            "Assistant: call(c4)".into(),
            format!("Tool: c4={}", "x".repeat(1_200)),
        ]
    );
}

#[test]
fn a_mark_stands_beside_a_summary_and_what_stays_between() {
    let mut history = turns();
    let drop = vec![plain_drop(DropOrder::Age, 9)];
    compacted(&mut history, drop, tail(6), window(100_000));
    let keep = Protect { user_tokens: Tokens(40), ..tail(3) };
    let lines = compacted(&mut history, vec![plain_summarise(Tokens::ZERO)], keep, window(100_000));
    let tag = "37ab6550bbf0b419";
    assert_eq!(
        lines,
        [
            "User: ⟨left out: positions 2–4 · read wb:3f9c1a7be2d04c58#2-4⟩".into(),
            "User: turn 2".into(),
            format!(
                "User: ⟨{tag}: summary of positions 5–10. {SUMMARY}wb:3f9c1a7be2d04c58#5-10⟩ It went on from 5 to \
                 10. ⟨{tag}: end of summary⟩"
            ),
            "User: turn 3".into(),
            "User: turn 4".into(),
            "Assistant: call(c4)".into(),
            format!("Tool: c4={}", "x".repeat(1_200)),
        ]
    );
}

#[test]
fn a_repeated_text_is_a_reference_to_where_it_stands() {
    let lines = compacted(&mut turns(), vec![plain_dedupe()], Protect::default(), window(100_000));
    let same = |turn: u64| {
        format!("Tool: c{turn}=⟨output of `make c{turn}`: 1,200 bytes, the same as at #13 in this request⟩")
    };
    let mut expected = Vec::new();
    for turn in 1..=4 {
        expected.push(format!("User: turn {turn}"));
        expected.push(format!("Assistant: call(c{turn})"));
        expected.push(if turn < 4 { same(turn) } else { format!("Tool: c4={}", "x".repeat(1_200)) });
    }
    assert_eq!(lines, expected);
}

#[test]
fn a_shorter_text_says_how_much_is_gone_and_pictures_stay() {
    let text = format!("{}{}", "a".repeat(600), "z".repeat(600));
    let mut history = ledger(vec![
        user("look"),
        call(&["c1"]),
        result("c1", vec![Part::text(text), picture()]),
        user("well?"),
    ]);
    let lines = compacted(&mut history, vec![plain_shrink()], tail(1), window(100_000));
    let (head, tail) = ("a".repeat(197), "z".repeat(99));
    assert_eq!(
        lines,
        [
            "User: look".into(),
            "Assistant: call(c1)".into(),
            format!("Tool: c1={head}\n⟨… {}#4: 904 bytes⟩\n{tail}+image/png", STREAM.short()),
            "User: well?".into(),
        ]
    );
}

#[test]
fn old_thinking_goes_and_a_record_without_more_leaves_a_mark() {
    let think = |text: &str| Part::Thinking { text: text.into(), signature: None, extra: None };
    let record = |part: Part| {
        let mut message = Message::new(Role::Assistant, vec![part]);
        message.api_id = Some("msg_1".into());
        message
    };
    let mut history = ledger(vec![
        user("go"),
        record(think(&"hm ".repeat(200))),
        record(Part::text("done")),
        user("more"),
        Message::text(Role::Assistant, "done again"),
        user("more"),
        user("more"),
    ]);
    let lines = compacted(&mut history, vec![plain_curate()], Protect::default(), window(100_000));
    assert_eq!(
        lines,
        ["User: go", "Assistant: ⟨no output⟩ done", "User: more", "Assistant: done again", "User: more",]
    );
}

/// An empty reply is shown by the policy's placeholder, and the ledger stays unchanged.
#[test]
fn an_empty_reply_has_its_mark() {
    let thinking = || Part::Thinking { text: "hm ".repeat(90).into(), signature: None, extra: None };
    let reply = |parts| Message::new(Role::Assistant, parts);
    let piece = |parts| Message { api_id: Some("m1".into()), ..reply(parts) };
    let messages = || {
        vec![
            user("go"),
            reply(vec![]),
            user("and?"),
            reply(vec![thinking(), thinking()]),
            user("again"),
            reply(vec![thinking(), Part::text("done")]),
            user("on"),
            // One reply in three records.
            piece(vec![]),
            piece(vec![thinking()]),
            piece(vec![Part::text(" ")]),
            user("more"),
            // A reply whose text is in its second record.
            Message { api_id: Some("m2".into()), ..reply(vec![]) },
            Message { api_id: Some("m2".into()), ..reply(vec![Part::text("said")]) },
            user("bye"),
        ]
    };
    let curate = |placeholder, invalid_runs| {
        let Action::Curate { thinking_after, repeated, min_gain, min_tokens, .. } = plain_curate() else {
            unreachable!()
        };
        vec![Action::Curate { thinking_after, invalid_runs, placeholder, repeated, min_gain, min_tokens }]
    };
    let mut history = ledger(messages());
    let events = history.events.len();
    let lines = compacted(&mut history, curate(true, false), Protect::default(), window(100_000));
    assert_eq!(
        lines,
        [
            "User: go",
            "Assistant: ⟨no output⟩",
            "User: and?",
            "Assistant: ⟨no output⟩",
            "User: again",
            "Assistant: done",
            "User: on",
            "Assistant: ⟨no output⟩",
            "User: more",
            "Assistant: said",
            "User: bye",
        ]
    );
    let said = history.events[..events].iter().filter_map(|event| match &event.fact {
        Some(Fact::MessageAppended(said)) => Some(said.message.clone()),
        _ => None,
    });
    assert_eq!(said.collect::<Vec<_>>(), messages(), "of the view alone");
    // No placeholder is shown without the `placeholder` setting, or if empty replies are left out with their runs.
    for (placeholder, invalid_runs) in [(false, false), (true, true)] {
        let steps = curate(placeholder, invalid_runs);
        let lines = compacted(&mut ledger(messages()), steps, Protect::default(), window(100_000));
        assert!(!lines.concat().contains("no output"), "{lines:?}");
    }
}

#[test]
fn old_output_is_a_stub_with_its_handle() {
    let mut history = turns();
    let lines = compacted(&mut history, vec![plain_stub(1)], Protect::default(), window(100_000));
    assert_eq!(lines[2], "Tool: c1=⟨output of `make c1`: 1,200 bytes⟩");
    assert_eq!(lines[11], format!("Tool: c4={}", "x".repeat(1_200)));
}

#[test]
fn summaries_become_one_of_the_next_level() {
    let mut history = ledger(Vec::new());
    for turn in 1..=8 {
        history.say(user(&format!("turn {turn} {}", "w".repeat(1_500))));
    }
    let steps = vec![plain_summarise(Tokens(1)), plain_condense(3, Tokens(1))];
    let lines = compacted(&mut history, steps, tail(1), window(100_000));
    let fence = |tag: &str, (from, to): (u64, u64), range: &str| {
        format!(
            "User: ⟨{tag}: summary of positions {from}–{to}. {SUMMARY}wb:3f9c1a7be2d04c58#{range}⟩ It went on from \
             {from} to {to}. ⟨{tag}: end of summary⟩"
        )
    };
    assert_eq!(
        lines,
        [
            fence("0000000000000005", (2, 4), "2-4"),
            fence("ac40a255e0cb7859", (5, 7), "5-7"),
            fence("0000000000000004", (8, 8), "8"),
            format!("User: turn 8 {}", "w".repeat(1_500)),
        ]
    );
    let levels: Vec<u32> = view_of(&history.events).nodes().map(|node| node.level).collect();
    assert_eq!(levels, [1, 1, 0]);
}
