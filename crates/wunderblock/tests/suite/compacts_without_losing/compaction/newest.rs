//! The newest exchange is in every request, however long it is, and nothing that is not sent makes a lane shorter.

use crate::compacts_without_losing::compaction::scene::*;
use wunderblock::Built;
use wunderblock_core::budget::Reason;
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_core::units::{Seq, Tokens};

/// Number of lines of a listing that is larger than a window of 32,000 tokens.
const LINES: u64 = 2_000;

/// Returns a listing with a number of lines, all different.
fn listing(lines: u64) -> String {
    let line = |at: u64| format!("{at:06} rw-r--r-- {} src/part/file_{at}.rs\n", at * 7_919 % 100_003);
    (0..lines).map(line).collect()
}

/// Returns the last name in a listing with a number of lines.
fn last_of(lines: u64) -> String {
    format!("file_{}.rs", lines - 1)
}

fn call(id: &str, input: &str) -> Message {
    Message::new(
        Role::Assistant,
        vec![Part::ToolCall {
            call: id.into(),
            name: "bash".into(),
            input: input.into(),
            gist: None,
            extra: None,
        }],
    )
}

fn result(id: &str, text: &str) -> Message {
    let content = vec![Part::text(text)];
    Message::new(Role::Tool, vec![Part::ToolResult { call: id.into(), content, failed: false, extra: None }])
}

fn presets() -> impl Iterator<Item = std::sync::Arc<wunderblock_core::policy::Policy>> {
    policies().names().map(preset)
}

/// Asserts that a request shows the beginning and the end of the texts at positions, and fills the window.
fn shows(built: &Built, positions: &[Seq], ends: &[&str], what: &str) {
    let report = &built.draft.report;
    for seq in positions {
        assert!(report.entries.iter().any(|line| line.seq == Some(*seq)), "{what}: #{seq} is not shown");
    }
    let body = String::from_utf8_lossy(&built.draft.body);
    for end in ends {
        assert!(body.contains(end), "{what}: `{end}` is not shown");
    }
    assert!(report.total_tokens.0 * 10 > report.limit.0, "{what}: {} tokens", report.total_tokens);
}

#[test]
fn a_result_larger_than_the_window_is_shown_with_its_head_and_tail() {
    for (number, policy) in presets().enumerate() {
        for window in [[8_000], [32_000]][number % 2] {
            let scene = Scene::new();
            let asked = scene.user("Please look at the list.");
            let said = scene.say(call("c1", "{\"command\":\"ls -lR\"}"));
            let came = scene.say(result("c1", &listing(LINES)));
            let what = format!("{} in {window}", policy.name);
            let built = scene.build(&under(&policy, window));
            shows(&built, &[asked, said, came], &["Please look", &last_of(LINES)], &what);
            scene.is_whole();
        }
    }
}

#[test]
fn a_message_larger_than_the_window_is_shown_with_its_head_and_tail() {
    for policy in presets() {
        let scene = Scene::new();
        scene.turns(0..3);
        let asked = scene.user(&format!("Here is the log:\n{}What is wrong?", listing(LINES / 2)));
        let built = scene.build(&under(&policy, 16_000));
        shows(&built, &[asked], &["Here is the log", "What is wrong?"], &policy.name);
        scene.is_whole();
    }
}

#[test]
fn a_message_and_a_result_larger_than_the_window_are_both_shown() {
    for policy in presets() {
        let scene = Scene::new();
        let asked = scene.user(&format!("Here is the log:\n{}What is wrong?", listing(LINES / 2)));
        let said = scene.say(call("c1", "{\"command\":\"cat other.log\"}"));
        let came = scene.say(result("c1", &listing(LINES / 2 - 1)));
        let built = scene.build(&under(&policy, 16_000));
        shows(&built, &[asked, said, came], &["What is wrong?", &last_of(LINES / 2 - 1)], &policy.name);
        scene.is_whole();
    }
}

/// A long turn before a result larger than the window leaves room for the summary of what came before it.
#[test]
fn a_long_turn_before_a_huge_result_leaves_room_for_the_summary() {
    for policy in ["balanced", "hermes", "observations"].map(preset) {
        for (lines, window) in [(60, 8_000), (150, 16_000), (330, 8_000), (600, 16_000)] {
            let scene = Scene::new();
            scene.turns(0..30);
            let asked = scene.user(&format!("Here is the log:\n{}What is wrong?", listing(lines)));
            let said = scene.say(call("c1", "{\"command\":\"cat other.log\"}"));
            let came = scene.say(result("c1", &listing(LINES / 2)));
            let built = scene.build(&under(&policy, window));
            let what = format!("{} of {lines} lines in {window}", policy.name);
            shows(&built, &[asked, said, came], &["What is wrong?", &last_of(LINES / 2)], &what);
            assert_eq!(built.draft.report.uncovered(), [], "{what}");
        }
    }
}

#[test]
fn arguments_larger_than_the_window_are_shown_with_their_head_and_tail() {
    let policy = preset("off");
    let scene = Scene::new();
    let input = format!("{{\"command\":\"cat > list <<END\\n{}END\"}}", listing(6_000).replace('\n', "\\n"));
    let asked = scene.user("Write the list.");
    let said = scene.say(call("c1", &input));
    let came = scene.say(result("c1", "written"));
    let built = scene.build(&under(&policy, 16_000));
    shows(&built, &[asked, said, came], &["cat > list", "file_5999.rs", "written"], "off");
}

#[test]
fn many_results_of_one_reply_are_all_shown() {
    let scene = Scene::new();
    let asked = scene.user("Read all of them.");
    let calls = (0..40).map(|at| call(&format!("c{at}"), "{\"command\":\"cat it\"}").parts.remove(0));
    let mut shown = vec![asked, scene.say(Message::new(Role::Assistant, calls.collect()))];
    shown.extend((0..40).map(|at| scene.say(result(&format!("c{at}"), &listing(200)))));
    let built = scene.build(&under(&preset("off"), 12_000));
    shows(&built, &shown, &["Read all of them"], "off");
}

/// Thinking that the provider would reject takes no room, so a lane is not compacted for it, and a compaction keeps as
/// much of the conversation as it does without the thinking.
#[test]
fn thinking_of_other_requests_takes_no_room() {
    let build = |thinks: bool| {
        let scene = Scene::new();
        for round in 0..60_u64 {
            scene.turns(round..round + 1);
            if thinks {
                let (text, signature) = ("".into(), Some(format!("{round}{}", listing(60)).into()));
                let thought = Part::Thinking { text, signature, extra: None };
                let message =
                    Message::new(Role::Assistant, vec![thought, Part::text(format!("Round {round}."))]);
                scene.say(message);
            } else {
                scene.reply(&format!("Round {round}."));
            }
        }
        scene.build(&under(&preset("balanced"), 16_000)).draft.report
    };
    let (with, without) = (build(true), build(false));
    let bare = with.left_out.iter().filter(|run| matches!(run.reason, Reason::Budget | Reason::Stepped));
    assert_eq!(bare.map(|run| run.tokens).sum::<Tokens>(), Tokens::ZERO);
    let shown = |report: &wunderblock_core::budget::BudgetReport| report.entries.len();
    assert!(with.total_tokens.0.abs_diff(without.total_tokens.0) < without.total_tokens.0 / 20);
    assert_eq!(shown(&with), shown(&without));
}
