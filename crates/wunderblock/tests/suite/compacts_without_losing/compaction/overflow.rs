//! A request that does not fit leads to one compaction and one retry, and only then to the end of the turn.

use crate::compacts_without_losing::compaction::scene::*;
use futures_executor::block_on;
use wunderblock::{CompactionResult, Compactor, ContextOptions};
use wunderblock_core::budget::{EntryLine, Reason};
use wunderblock_core::decision::TrimReason;
use wunderblock_core::event::{ContentPinned, Fact, TurnCompleted};
use wunderblock_core::message::{Message, Role};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::Tokens;

/// Number of turns. The turns end without an open call, so that no boundary delays a compaction.
const TURNS: u64 = 60;

fn turn_failed(stop: &str, code: Option<&str>) -> Fact {
    Fact::TurnCompleted(TurnCompleted {
        stop_reason: stop.into(),
        error_code: code.map(Into::into),
        ..TurnCompleted::default()
    })
}

fn reasons(scene: &Scene) -> Vec<TrimReason> {
    scene.steps().into_iter().map(|(_, step)| step.reason).collect()
}

#[test]
fn a_request_that_does_not_fit_is_compacted_and_built_once_more() {
    for policy in active() {
        let scene = Scene::of(TURNS);
        let built = scene.build(&under(&policy, 12_000));
        let done = built.compacted.as_ref().unwrap_or_else(|| panic!("{}", policy.name));
        let level = if policy.trigger.cold.get().is_some() { "cold" } else { "overflow" };
        assert_eq!(done.due.level.word(), level, "{}", policy.name);
        assert_eq!(done.outcome, CompactionResult::Compacted, "{}: {done:?}", policy.name);
        assert_eq!(reasons(&scene)[0], TrimReason::Compacted, "{}", policy.name);
        assert!(reasons(&scene).len() <= 2, "{}: one try, then the plan", policy.name);
        assert_eq!(scene.count("context.built"), 1);
        assert_eq!(scene.count("turn.completed"), 0);
        assert_eq!(scene.unreachable(&built), [], "{}", policy.name);
        scene.is_whole();
    }
}

#[test]
fn levels_that_can_never_fire_are_named() {
    let scene = Scene::of(4);
    let named = |policy: &str, window| -> Vec<String> {
        scene.build(&under(&preset(policy), window)).out_of_reach.iter().map(ToString::to_string).collect()
    };
    // The reserve and the margin take more than the 16,384 tokens that the level requires to be free.
    let [soft] = &named("pi", 200_000)[..] else { panic!("one level: {:?}", named("pi", 200_000)) };
    assert!(soft.starts_with("trigger.soft.free can never fire here: it stands at"), "{soft}");
    assert_eq!(named("balanced", 8_000), Vec::<String>::new(), "a part of the limit is always reached");
}

#[test]
fn only_what_cannot_fit_ends_the_turn() {
    // Pinned text stays under any policy. In this test, the pinned text is larger than the window.
    let scene = Scene::of(8);
    let pinned = scene.user(&"Never forget this. ".repeat(3_000));
    scene.add(vec![Fact::ContentPinned(ContentPinned { target: pinned, pinned: true })]);
    scene.turns(8..16);
    let options = under(&preset("balanced"), 8_000);
    let refusal = refused(block_on(scene.session.context(&options)));
    assert!(refusal.needed.tokens > refusal.limit.tokens, "{refusal}");
    assert_eq!(scene.count("turn.completed"), 1);
    let turn = scene.events().into_iter().rev().find_map(|event| match event.fact {
        Some(Fact::TurnCompleted(turn)) => Some(turn),
        _ => None,
    });
    let turn = turn.unwrap();
    assert_eq!(turn.error_code.as_deref(), Some("context_overflow"));
    // The detail states what did not fit, what was done about it, and what helps.
    let detail = turn.detail.unwrap();
    let says = [
        &refusal.to_string(),
        "a compaction by `balanced` was due and could not make room",
        "unpin what is pinned",
    ];
    assert!(says.iter().all(|words| detail.contains(words)), "{detail}");
    // If the same refusal occurs again, it neither ends a second turn nor causes a second fruitless compaction.
    refused(block_on(scene.session.context(&options)));
    assert_eq!(scene.count("turn.completed"), 1);
    // Without the pin, the request fits again.
    scene.add(vec![Fact::ContentPinned(ContentPinned { target: pinned, pinned: false })]);
    let built = scene.build(&options);
    assert_eq!(scene.unreachable(&built), []);
}

#[test]
fn a_provider_that_finds_a_request_too_long_is_believed() {
    let refusals = [
        turn_failed("error", Some("context_length_exceeded")),
        turn_failed("error", Some("request_too_large")),
        turn_failed("error", Some("prompt_too_long")),
        turn_failed("model_context_window_exceeded", None),
    ];
    for refusal in refusals {
        let scene = Scene::of(20);
        let options = under(&preset("balanced"), 64_000);
        let before = scene.build(&options);
        assert!(
            before.compacted.is_none(),
            "by our count there is room: {}",
            before.draft.report.total_tokens
        );
        scene.add(vec![refusal]);
        let after = scene.build(&options);
        let done = after.compacted.as_ref().unwrap();
        assert_eq!((done.due.level.word(), &done.outcome), ("overflow", &CompactionResult::Compacted));
        assert!(done.due.why.starts_with("the provider found the last request too long"), "{}", done.due.why);
        let (was, is) = (before.draft.report.total_tokens.0, after.draft.report.total_tokens.0);
        assert!(is <= was * 3 / 4, "{was}, then {is}");
        assert_eq!(reasons(&scene), [TrimReason::Compacted]);
        // Only that request was too long, not every later one.
        scene.user("And now?");
        let next = scene.build(&options);
        assert!(next.compacted.is_none() && goes_on(&after, &next));
        assert_eq!(scene.unreachable(&next), []);
    }
}

#[test]
fn other_failures_of_a_provider_compact_nothing() {
    for (stop, code) in [("error", Some("overloaded")), ("error", None), ("aborted", None), ("end", None)] {
        let scene = Scene::of(20);
        let options = under(&preset("balanced"), 64_000);
        let before = scene.build(&options);
        scene.add(vec![turn_failed(stop, code)]);
        let after = scene.build(&options);
        assert!(after.compacted.is_none(), "{stop} {code:?}");
        assert_eq!(before.draft.body, after.draft.body);
    }
}

#[test]
fn a_model_with_a_smaller_window_gets_a_compacted_lane() {
    for name in ["balanced", "lossless", "claude-code", "manus", "codex"] {
        let scene = Scene::of(TURNS);
        let large = scene.build(&under(&preset(name), 200_000));
        assert!(large.compacted.is_none() && scene.steps().is_empty(), "{name}");
        let small = scene.build(&under(&preset(name), 10_000));
        let level = if preset(name).trigger.cold.get().is_some() { "cold" } else { "overflow" };
        let done = small.compacted.as_ref().unwrap();
        assert_eq!(
            (done.due.level.word(), &done.outcome),
            (level, &CompactionResult::Compacted),
            "{name}: {done:?}"
        );
        assert_eq!(scene.unreachable(&small), [], "{name}");
        // Back in the large window, the lane begins again and shows everything that it showed before.
        scene.user("Back again.");
        let back = scene.build(&under(&preset(name), 200_000));
        assert!(back.compacted.is_none(), "{name}");
        assert_eq!(back.draft.step, Some(TrimReason::Resized), "{name}");
        assert!(goes_on(&large, &back), "{name}");
        assert_eq!(scene.unreachable(&back), [], "{name}");
        scene.is_whole();
    }
}

#[test]
fn each_lane_is_compacted_for_its_own_window() {
    let scene = Scene::of(TURNS);
    let lane = |name: &str, tokens| ContextOptions {
        lane: Some(wunderblock_core::id::LaneId::new(name).unwrap()),
        ..under(&preset("balanced"), tokens)
    };
    let large = scene.build(&lane("large", 200_000));
    let small = scene.build(&lane("small", 10_000));
    assert!(small.compacted.is_some() && large.compacted.is_none());
    let again = scene.build(&lane("large", 200_000));
    assert_eq!(again.draft.body, large.draft.body, "a small model does not compact a large one's view");
    scene.is_whole();
}

#[test]
fn off_is_off_on_every_path() {
    for policy in [preset("off"), preset("never"), std::sync::Arc::new(Policy::never())] {
        let scene = Scene::of(TURNS);
        let large = under(&policy, 200_000);
        scene.build(&large);
        // The cases are a request that is too long according to the provider or by our count, a smaller model, and a
        // compaction by hand.
        scene.add(vec![turn_failed("error", Some("context_length_exceeded"))]);
        scene.build(&large);
        scene.build(&under(&policy, 10_000));
        scene.turns(100..160);
        let built = scene.build(&under(&policy, 10_000));
        assert!(built.compacted.is_none() && built.due.is_none());
        assert_eq!(scene.explain(&under(&policy, 10_000)).due, None);
        for options in [by_hand(&policy, 10_000), by_itself(&policy, 10_000)] {
            let done = scene.compact(&wunderblock::CompactOptions { sweep: true, ..options });
            assert_eq!(done.outcome, CompactionResult::Off);
        }
        scene.say(Message::text(Role::System, "The law. ".repeat(9_000)));
        refused(block_on(scene.session.context(under(&policy, 10_000))));
        let detail = scene.events().into_iter().rev().find_map(|event| match event.fact {
            Some(Fact::TurnCompleted(turn)) => turn.detail,
            _ => None,
        });
        assert!(detail.unwrap().contains("no policy compacts the lane"));
        assert_eq!(scene.count("session.compacted"), 0);
        assert_eq!(scene.count("compaction.rejected"), 0);
        assert_eq!(scene.compactions(), 0);
        assert!(!reasons(&scene).is_empty(), "the plan leaves out what does not fit");
        assert_eq!(scene.problems(), [""; 0]);
    }
}

#[test]
fn nobody_waits_for_a_model_where_a_worker_compacts() {
    let scene = Scene::of(TURNS);
    let policy = preset("balanced");
    let compactor = Compactor {
        background: true,
        ..with(&policy, |_| panic!("a request that does not fit waits for no model"))
    };
    let options = ContextOptions { compactor: Some(compactor), ..window(12_000) };
    let built = scene.build(&options);
    let done = built.compacted.unwrap();
    assert_eq!(done.outcome, CompactionResult::Compacted);
    assert!(!done.nodes.is_empty() && done.nodes.iter().all(|node| node.producer == "extractive"));
    // A lane that is due but still fits is left to the worker, and the request reports it as due.
    let scene = Scene::new();
    let mut due = None;
    for number in 0..TURNS {
        scene.turns(number..number + 1);
        let built = scene.build(&options);
        assert!(built.compacted.is_none(), "{number}");
        if built.due.is_some() {
            due = built.due;
            break;
        }
    }
    let due = due.expect("due before it does not fit");
    assert!(due.why.contains("tokens"), "{due:?}");
    assert_eq!((scene.compactions(), scene.rejected().len()), (0, 0));
}

#[test]
fn a_compaction_is_not_tried_twice_for_one_request() {
    // Nothing can be gained, because the session is a single message of the user.
    let scene = Scene::new();
    scene.user(&"word ".repeat(30_000));
    let built = scene.build(&under(&preset("balanced"), 8_000));
    assert_eq!(scene.rejected().len() + scene.compactions(), 1);
    assert_eq!(built.draft.report.limit.0, 8_000 - 1_000 - built.draft.report.margin.0);
    assert!(built.draft.report.total_tokens <= built.draft.report.limit);
    assert!(built.draft.report.total_tokens > Tokens(1_000), "head and tail of it are shown");
}

/// The newest exchange is in the request even if the exchange is larger than the window; in that case, its head and
/// tail appear along with what led to the exchange. Several results of one exchange are cut to the same length.
#[test]
fn a_result_larger_than_the_window_is_cut_and_not_left_out() {
    for count in [1_u64, 3] {
        let scene = Scene::of(60);
        scene.user("Read the tables.");
        let ids: Vec<String> = (0..count).map(|number| format!("table_{number}")).collect();
        let calls = ids.iter().map(|id| call(id, "Read", "{\"path\":\"tables\"}")).collect();
        scene.say(Message::new(Role::Assistant, calls));
        for id in &ids {
            let rows: String =
                (0..4_000 / count).map(|row| format!("{id} row {row}: {}\n", row * row)).collect();
            scene.say(result(id, &rows));
        }
        let built = scene.build(&under(&preset("balanced"), 32_000));
        let shown = Shown::of(&built.draft.body);
        for id in &ids {
            assert!(shown.says(&format!("{id} row 0: ")), "its beginning");
            assert!(shown.says(&format!("{id} row {}: ", 4_000 / count - 1)), "its end");
        }
        assert!(shown.says("Read the tables.") && shown.says("step_59_7"), "what led to it");
        let report = &built.draft.report;
        assert!(
            report.total_tokens.0 * 10 >= report.limit.0 * 6,
            "{} of {}",
            report.total_tokens,
            report.limit
        );
        assert_eq!(scene.unreachable(&built), []);
        scene.is_whole();
    }
}

/// Creates a session of riddles after a system text of `sentences` sentences. The questions are long, so that they
/// fill the summaries.
fn riddles(sentences: usize) -> Scene {
    let scene = Scene::new();
    let system = "You solve riddles, one after the other, and say how. ".repeat(sentences);
    scene.say(Message::text(Role::System, system));
    for number in 0..12 {
        let page = 100 + number;
        let hints = (0..6)
            .map(|hint| format!(" Mind hint {hint} of page {page}, which speaks of item_{number}_{hint}."));
        scene.user(&format!("Solve riddle {number} of the book.{}", hints.collect::<String>()));
        let answer = "the answer is in the words themselves. ".repeat(12);
        scene.reply(&format!("Riddle {number}: {answer}"));
    }
    scene
}

/// The newest exchanges are protected as far as they fit beside the operator's text. A longer protected tail would be
/// cut by a step, and no summary would cover what the step leaves out.
#[test]
fn a_long_system_text_leaves_less_room_to_protect() {
    let mut compacted = 0;
    for sentences in (100..210).step_by(10) {
        let built = riddles(sentences).build(&under(&preset("balanced"), 8_000));
        let report = &built.draft.report;
        compacted += u32::from(built.compacted.is_some());
        assert_eq!(built.draft.step, None, "{sentences}: {:?}", report.left_out);
        assert!(report.left_out.iter().all(|run| run.reason == Reason::Summarised), "{:?}", report.left_out);
        assert!(report.total_tokens.0 * 10 >= report.limit.0 * 6, "{sentences}: {}", report.total_tokens);
    }
    assert!(compacted > 5, "{compacted}");
}

/// A long system text and the summary together leave less than a fifth of the window free. The summary stays all the
/// same.
#[test]
fn a_step_does_not_pay_with_summaries_for_room() {
    let mut compacted = 0;
    for sentences in (200..270).step_by(10) {
        let scene = riddles(sentences);
        let built = scene.build(&under(&preset("balanced"), 8_000));
        let is_summary = |line: &EntryLine| line.what.starts_with("summary of positions");
        if !scene.nodes().is_empty() {
            compacted += 1;
            let told = built.draft.report.entries.iter().any(is_summary);
            assert!(told, "{sentences}: {:#?}", built.draft.report.entries);
        }
    }
    assert!(compacted > 0, "no request was compacted");
}
