//! Standing rules of the user stay in view, however often the lane is compacted.

use crate::compacts_without_losing::compaction::scene::*;
use futures_executor::block_on;
use serde_json::Value;
use wunderblock::{Built, ContextOptions};
use wunderblock_core::event::{ContentHidden, Fact};
use wunderblock_core::id::LaneId;
use wunderblock_core::message::{Message, MessageOrigin, Role};

/// Reads the turns of a recorded conversation: the user's typed turns, and the texts between them.
fn session(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/rules");
    serde_json::from_slice(&std::fs::read(format!("{folder}/{name}.json")).unwrap()).unwrap()
}

fn texts<'v>(turn: &'v Value, name: &str) -> impl Iterator<Item = &'v str> {
    turn[name].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Rules in the last request after a number of compactions.
struct Kept {
    /// Number of rules in the request, out of `of`.
    rules: usize,
    of: usize,
    /// Number of tokens in the message that quotes the rules.
    tokens: u64,
    lost: Vec<String>,
}

/// Plays a session with work between its turns, continues until the lane has been compacted `compactions` times, and
/// inspects the last request.
fn kept(name: &str, (window, compactions): (u64, usize)) -> Kept {
    let scene = Scene::new();
    let options = under(&policy("extends = \"balanced\"\n"), window);
    let session = session(name);
    let turns = session["turns"].as_array().unwrap();
    for (number, turn) in turns.iter().enumerate() {
        let text = turn["text"].as_str().unwrap();
        let id = format!("look_{number}");
        match turn["kind"].as_str() {
            Some("typed") => vec![scene.user(text)],
            _ => scene.add(vec![
                said(Message::new(Role::Assistant, vec![call(&id, "Read", r#"{"path":"README.md"}"#)])),
                said(result(&id, text)),
            ]),
        };
        work(&scene, number, 4);
        scene.build(&options);
    }
    let mut number = turns.len();
    while scene.compactions() < compactions {
        scene.user(&format!("now the next part, number {number}"));
        work(&scene, number, 24);
        scene.build(&options);
        number += 1;
    }
    let built = scene.build(&options);
    assert_eq!(scene.unreachable(&built), []);
    let shown = Shown::of(&built.draft.body);
    let quoted: Vec<&String> =
        shown.texts.iter().filter(|text| text.starts_with("⟨What the user said that may hold")).collect();
    assert_eq!(quoted.len(), 1, "one message of rules");
    for decoy in turns.iter().flat_map(|turn| texts(turn, "decoys")) {
        assert!(!quoted[0].contains(decoy), "{decoy}");
    }
    let all: Vec<&str> = turns.iter().flat_map(|turn| texts(turn, "rules")).collect();
    let lost: Vec<String> = all
        .iter()
        .filter(|rule| !shown.says(rule.trim_end_matches(['.', '。'])))
        .map(|rule| (*rule).to_owned())
        .collect();
    let lines = built.draft.report.entries.iter().filter(|line| line.what.contains("standing rules"));
    let tokens = lines.map(|line| line.tokens.0).sum();
    Kept { rules: all.len() - lost.len(), of: all.len(), tokens, lost }
}

fn work(scene: &Scene, number: usize, replies: usize) {
    let said_so =
        |line| format!("Part {number}.{line} of the work: {}", "it goes on as was said. ".repeat(24));
    scene.add((0..replies).map(|line| said(Message::text(Role::Assistant, said_so(line)))).collect());
}

#[test]
fn what_holds_for_all_that_comes_is_quoted() {
    let Kept { rules, of, tokens, lost } = kept("b2", (32_000, 12));
    assert!(rules >= 20, "{rules} of {of} in {tokens} tokens: {lost:?}");
    assert!(tokens * 50 <= 32_000, "{tokens} tokens");
}

#[test]
#[ignore = "minutes: run with --release"]
fn rules_outlive_fifty_compactions() {
    // With a limit of 32,000 tokens, two hundredths of that limit hold about thirty short sentences.
    for (window, least) in [(32_000, 195), (64_000, 210)] {
        let mut all = 0;
        for name in ["a1", "a2", "b1", "b2", "c1", "c2", "c3", "mixed", "zh1", "zh2"] {
            let Kept { rules, of, tokens, lost } = kept(name, (window, 50));
            eprintln!("{window} {name}: {rules} of {of} in {tokens} tokens; lost {lost:?}");
            assert!(tokens * 50 <= window, "{name}: {tokens} tokens");
            all += rules;
        }
        assert!(all >= least, "{all} of 270 at {window}");
    }
}

#[test]
fn a_rule_goes_with_its_turn() {
    let scene = Scene::new();
    let options = under(&policy("extends = \"balanced\"\n"), 16_000);
    scene.user("Look around.");
    let first = scene.user("Yes. Never push to the branch called release.");
    let second = scene.user("Commit subjects are lowercase and imperative. Now the first part.");
    for number in 0..12 {
        scene.user(&format!("now the next part, number {number}, {}", "as we said. ".repeat(20)));
        work(&scene, number, 24);
        scene.build(&options);
    }
    let rules = |built: &wunderblock::Built| {
        let shown = Shown::of(&built.draft.body);
        shown
            .texts
            .into_iter()
            .find(|text| text.starts_with("⟨What the user said that may hold"))
            .unwrap_or_default()
    };
    let built = scene.build(&options);
    assert!(rules(&built).ends_with(
        "⟩\nNever push to the branch called release.\nCommit subjects are lowercase and imperative."
    ));
    assert_eq!(rules(&scene.explain(&options)), rules(&built));
    scene.add(vec![Fact::ContentHidden(ContentHidden { target: first, hidden: true })]);
    let built = scene.build(&options);
    assert!(rules(&built).ends_with("⟩\nCommit subjects are lowercase and imperative."));
    let replay = || block_on(scene.session.replay(built.recorded)).unwrap();
    assert!(!replay().erased);
    block_on(scene.session.erase(second, second, None)).unwrap();
    assert!(replay().erased);
    assert_eq!(rules(&scene.build(&options)), "");
}

#[test]
fn a_projects_instructions_stay_unless_they_are_long() {
    let file = |lines: usize| {
        format!("# AGENTS.md instructions for /work\n{}", "- Use bun, not npm.\n".repeat(lines))
    };
    for (lines, stay) in [(20, true), (2_000, false)] {
        let scene = Scene::new();
        let inserted = Message::text(Role::User, file(lines).as_str());
        let at = scene.say(inserted.standing(MessageOrigin::Injected("agents_md".into())));
        let options = under(&preset("balanced"), 16_000);
        let is_shown = |built: &Built| built.draft.report.entries.iter().any(|line| line.seq == Some(at));
        for number in 0..60 {
            scene.turns(number..number + 1);
            let built = scene.build(&options);
            assert!(!stay || is_shown(&built), "turn {number}");
        }
        assert!(scene.compactions() > 2, "they outlive several compactions");
        assert_eq!(is_shown(&scene.build(&options)), stay);
        // A lane that begins at the end of the session sweeps what no view can hold.
        scene.turns(60..600);
        let cold = ContextOptions { lane: Some(LaneId::new("cold").unwrap()), ..options.clone() };
        assert_eq!(is_shown(&scene.build(&cold)), stay, "{lines} lines, cold");
    }
}
