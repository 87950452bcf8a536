//! Extreme sessions: under any policy and window, the request fits or is refused with a list of its parts.

use crate::compacts_without_losing::compaction::scene::*;
use futures_executor::block_on;
use wunderblock::{CompactOptions, CompactionResult, Error};
use wunderblock_core::message::{Message, Role};

const WINDOWS: [u64; 3] = [8_000, 32_000, 200_000];

/// Compacts by hand and automatically, in a lane for each policy, and for each window or for one of them in turn.
/// Returns the number of refused requests.
fn tried_in(every: bool, scene: &Scene, what: &str) -> usize {
    let mut refused = 0;
    let before = scene.messages();
    for (number, policy) in active().enumerate() {
        let in_turn = |window: usize| every || window % WINDOWS.len() == number % WINDOWS.len();
        for size in WINDOWS.into_iter().enumerate().filter(|(at, _)| in_turn(*at)).map(|(_, size)| size) {
            let lane = wunderblock_core::id::LaneId::new(format!("{}-{size}", policy.name)).unwrap();
            let hand = by_hand(&policy, size);
            let context = wunderblock::ContextOptions { lane: Some(lane.clone()), ..hand.context.clone() };
            let done = scene.compact(&CompactOptions { context, sweep: true, ..hand });
            let known = matches!(done.outcome, CompactionResult::Compacted | CompactionResult::NothingGained);
            assert!(known, "{what}, {} at {size}: {:?}", policy.name, done.outcome);
            assert!(done.after <= done.before);
            let options = wunderblock::ContextOptions { lane: Some(lane), ..under(&policy, size) };
            match block_on(scene.session.context(&options)) {
                Ok(built) => {
                    crate::scene::sound(&built);
                    assert_eq!(
                        scene.unreachable_of(&before, &built),
                        [],
                        "{what}, {} at {size}: {:?}",
                        policy.name,
                        scene.trim()
                    );
                }
                Err(Error::OverBudget(refusal)) => {
                    assert!(!refusal.needed.fits(refusal.limit) && !refusal.parts.is_empty());
                    refused += 1;
                }
                Err(Error::Silence(_)) => refused += 1,
                Err(other) => panic!("{what}, {} at {size}: {other}", policy.name),
            }
        }
    }
    assert_eq!(scene.messages(), before, "{what}");
    assert_eq!(scene.problems(), [""; 0], "{what}");
    refused
}

fn tried(scene: &Scene, what: &str) -> usize {
    tried_in(false, scene, what)
}

fn one_message(words: usize) -> Scene {
    let scene = Scene::new();
    let text: String = (0..words).map(|word| format!("word{} ", word % 977)).collect();
    scene.user(&text);
    scene
}

#[test]
fn one_message_of_many_tokens() {
    // The message is larger than the smaller windows can take in.
    assert_eq!(tried(&one_message(12_000), "one message"), 0);
}

/// One message of half a million tokens is treated in the same way.
#[test]
#[ignore = "minutes without optimisation"]
fn one_message_of_half_a_million_tokens() {
    let scene = one_message(250_000);
    let counted = crate::scene::recount(&scene.build(&window(2_000_000)).draft.body);
    assert!(counted > 500_000, "{counted}");
    assert_eq!(tried_in(true, &scene, "one message of half a million"), 0);
}

#[test]
fn a_huge_result_in_the_middle() {
    let scene = Scene::of(3);
    let text: String = (0..20_000).map(|word| format!("row{} ", word % 977)).collect();
    scene.say(Message::new(Role::Assistant, vec![call("huge", "Read", r#"{"path":"huge.txt"}"#)]));
    scene.say(result("huge", &text));
    scene.reply("That was long.");
    scene.user("Go on.");
    assert_eq!(tried(&scene, "a huge result"), 0);
}

#[test]
fn only_tool_calls() {
    let scene = Scene::new();
    for number in 0..100 {
        let (id, input) = (format!("c{number}"), format!(r#"{{"n":{number}}}"#));
        scene.say(Message::new(Role::Assistant, vec![call(&id, "Count", &input)]));
        // One call in ten never gets a result.
        if number % 10 > 0 {
            scene.say(result(&id, &format!("{number} {}", "counted and counted ".repeat(40))));
        }
    }
    assert_eq!(tried(&scene, "only calls"), 0);
}

#[test]
fn only_calls_that_wait() {
    let scene = Scene::new();
    for number in 0..80 {
        let input = format!(r#"{{"n":{number},"why":"{}"}}"#, "waiting ".repeat(30));
        scene.say(Message::new(Role::Assistant, vec![call(&format!("c{number}"), "Wait", &input)]));
    }
    tried(&scene, "only calls that wait");
}

#[test]
fn only_system_messages() {
    let scene = Scene::new();
    for number in 0..120 {
        scene.say(Message::text(Role::System, format!("Rule {number}. {}", "Obey it. ".repeat(60))));
    }
    // No system message may be left out, and system messages alone are not a request.
    assert_eq!(tried(&scene, "only system messages"), active().count());
    assert_eq!(scene.compactions(), 0);
}

#[test]
fn only_the_assistant_and_only_empty_words() {
    for text in ["", " ", "\n\n", "…"] {
        let scene = Scene::new();
        for _ in 0..60 {
            scene.reply(text);
        }
        tried(&scene, "empty words");
    }
}

fn short_turns(turns: u64) -> Scene {
    let scene = Scene::new();
    for some in 0..turns / 100 {
        let turn = |number: u64| {
            [
                Message::text(Role::User, format!("go {number}")),
                Message::text(Role::Assistant, format!("did {number}")),
            ]
        };
        scene.add((some * 100..some * 100 + 100).flat_map(turn).map(said).collect());
    }
    scene
}

#[test]
fn turns_of_two_words() {
    assert_eq!(tried(&short_turns(200), "short turns"), 0);
}

#[test]
#[ignore = "minutes without optimisation"]
fn ten_thousand_turns_of_two_words() {
    assert_eq!(tried(&short_turns(10_000), "short turns"), 0);
}
