//! What the newest turn names comes back, from anywhere in its session and under every policy; and where it does not,
//! the report says why.

use super::scene::*;
use crate::scene as words;
use futures_executor::block_on;
use std::sync::Arc;
use wunderblock::{AskedFor, AskedOutcome, Built, ContextOptions};
use wunderblock_core::event::{ContentHidden, Fact};
use wunderblock_core::id::LaneId;
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_core::policy::Policy;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_testkit::faults::PortMethod;

const WINDOW: u64 = 24_000;

/// A text of the session: the call that brought it, the prompts that name it, and words that only it has.
struct Named {
    call: (&'static str, String),
    text: String,
    asks: String,
    has: String,
}

fn code(name: &str, lines: usize) -> String {
    (0..lines)
        .map(|line| format!("pub fn {name}_{line}() -> usize {{ {line} }} // {name} line {line}\n"))
        .collect()
}

/// Fifty texts: files, also long ones and by Windows paths, URLs, commands, symbols and ids.
fn fifty() -> Vec<Named> {
    let mut all = Vec::new();
    for number in 0..16 {
        let (name, lines) = (format!("alpha{number}"), if number % 4 == 3 { 400 } else { 12 });
        let path = format!("/home/dev/app/src/deep/{name}.rs");
        let (call, asks) = match number % 4 {
            0 => (("Read", format!(r#"{{"file_path":"{path}"}}"#)), format!("src/deep/{name}.rs")),
            1 => (
                ("shell", format!(r#"{{"command":["bash","-lc","cat src/deep/{name}.rs"]}}"#)),
                format!("{name}.rs"),
            ),
            2 => (
                ("Read", format!(r#"{{"file_path":"C:\\app\\src\\{name}.rs"}}"#)),
                format!(r"C:\app\src\{name}.rs"),
            ),
            _ => (("read_file", format!(r#"{{"path":"src/deep/{name}.rs"}}"#)), path.clone()),
        };
        all.push(Named { call, text: code(&name, lines), asks, has: format!("pub fn {name}_0() -> usize") });
    }
    for number in 0..8 {
        let url = format!("https://example.org/docs/page-{number}?v=2");
        let text = format!("Page {number} of the manual: the valve of bed {number} opens at dawn.");
        all.push(Named {
            call: ("WebFetch", format!(r#"{{"url":"{url}"}}"#)),
            has: text.clone(),
            text,
            asks: url,
        });
    }
    for number in 0..8 {
        let command = format!("cargo test -p crate-{number} --lib");
        let text = format!("running 3 tests\ntest result: ok. 3 passed; finished in {number}.71s\n");
        let asks = if number % 2 == 0 { format!("`{command}`") } else { command.clone() };
        let has = format!("finished in {number}.71s");
        all.push(Named { call: ("Bash", format!(r#"{{"command":"{command}"}}"#)), text, asks, has });
    }
    for number in 0..10 {
        let text = format!(
            "{}\nfn weigh_bed_{number}(bed: &Bed) -> Grams {{\n    bed.soil() * {number}\n}}\n{}",
            code(&format!("before{number}"), 60),
            code(&format!("after{number}"), 60)
        );
        let asks = match number % 3 {
            0 => format!("`weigh_bed_{number}`"),
            1 => format!("weigh_bed_{number}()"),
            _ => format!("weigh_bed_{number}"),
        };
        let call = ("Read", format!(r#"{{"file_path":"src/beds/bed_{number}.rs"}}"#));
        all.push(Named { call, text, asks, has: format!("bed.soil() * {number}") });
    }
    for number in 0..8 {
        let id = match number % 4 {
            0 => format!("GARDEN-{}", 100 + number),
            1 => format!("3f9c{number}a7be2d04c5{number}"),
            2 => format!("0b5c7a3e-1d2f-4a5b-8c9d-0e1f2a3b4c5{number}"),
            _ => format!("E07{number}2"),
        };
        let text = format!("found {id}: the pump of zone {number} stalls at noon\n");
        let call = ("Grep", format!(r#"{{"pattern":"zone {number}"}}"#));
        all.push(Named { call, text, has: format!("zone {number} stalls"), asks: id });
    }
    all
}

impl Scene {
    fn tool(&self, id: &str, name: &str, input: &str, text: &str) -> Seq {
        self.say(Message::new(Role::Assistant, vec![call(id, name, input)]));
        self.say(result(id, text))
    }

    fn tells(&self, all: &[Named]) {
        for (number, one) in all.iter().enumerate() {
            self.user("Go on.");
            self.tool(&format!("named {number}"), one.call.0, &one.call.1, &one.text);
            self.reply("That is noted.");
        }
    }

    /// Returns the request after a prompt, with what became of the names. Nothing is recorded.
    fn asked(&self, prompt: &str, options: &ContextOptions) -> Built {
        self.explain(&ContextOptions { prompt: Some(prompt.to_owned()), ..options.clone() })
    }
}

fn outcome(built: &Built, name: &str) -> (AskedOutcome, Option<Seq>) {
    let found = built.draft.asked.iter().find(|asked| asked.name.contains(name));
    let found = found.unwrap_or_else(|| panic!("{name}: {:?}", built.draft.asked));
    (found.outcome, found.at)
}

/// Returns the texts that a request brought back.
fn recalled(built: &Built) -> usize {
    built.draft.report.entries.iter().filter(|entry| entry.section == Section::Recall).count()
}

#[test]
#[ignore = "takes minutes: .ci/full runs it, and so does --ignored"]
fn fifty_named_texts_come_back_after_ten_compactions_under_every_preset() {
    let all = fifty();
    assert_eq!(all.len(), 50);
    come_back(&all, policies().names().map(preset).collect(), 10);
}

#[test]
fn ten_named_texts_come_back_after_compactions() {
    let all: Vec<Named> = fifty().into_iter().step_by(5).collect();
    come_back(&all, ["balanced", "codex", "lossless"].map(preset).into(), 2);
}

/// Checks that texts come back under some policies after a number of compactions of each.
fn come_back(all: &[Named], lanes: Vec<Arc<Policy>>, least: u64) {
    let scene = Scene::new();
    scene.tells(all);
    // Each preset has a lane of its own.
    let of = |policy: &Arc<Policy>| ContextOptions {
        lane: Some(LaneId::new(&*policy.name).unwrap()),
        ..under(policy, WINDOW)
    };
    let mut compacted = vec![0; lanes.len()];
    for round in 0..12 + least + least / 5 {
        scene.turns(round * 12..round * 12 + 12);
        for (policy, times) in lanes.iter().zip(&mut compacted).filter(|(_, times)| **times < least) {
            *times += u64::from(scene.build(&of(policy)).compacted.is_some());
        }
    }
    words::catch_up(&scene.engine);
    let mut failed = Vec::new();
    for (policy, times) in lanes.iter().zip(compacted) {
        assert!(times >= least || policy.is_off(), "{}: {times} compactions", policy.name);
        let missing = |some: &[Named]| {
            let asks: Vec<&str> = some.iter().map(|one| &*one.asks).collect();
            let built = scene.asked(&format!("Explain {}.", asks.join(" and ")), &of(policy));
            let shown = Shown::of(&built.draft.body);
            let missing = some.iter().filter(|one| !shown.says(&one.has));
            missing
                .map(|one| format!("{}: {}: {:?}", policy.name, one.asks, built.draft.asked))
                .collect::<Vec<_>>()
        };
        // Several names share the room, so each has to come back at least alone.
        for some in all.chunks(10) {
            if !missing(some).is_empty() {
                failed.extend(some.chunks(1).flat_map(missing));
            }
        }
    }
    assert!(failed.is_empty(), "{} of them did not come back:\n{}", failed.len(), failed.join("\n"));
}

/// Returns a session with the fifty texts, which has been compacted.
fn compacted() -> (Scene, ContextOptions) {
    let (scene, options) = (Scene::new(), under(&preset("balanced"), WINDOW));
    scene.tells(&fifty());
    for from in 0..4 {
        scene.turns(from * 8..from * 8 + 8);
        scene.build(&options);
    }
    assert!(scene.compactions() > 0);
    words::catch_up(&scene.engine);
    (scene, options)
}

#[test]
fn a_text_that_does_not_come_back_is_said() {
    let (scene, options) = compacted();
    let unknown = scene.asked("Explain src/nowhere.rs, `no_such_fn` and and/or.", &options);
    for name in ["src/nowhere.rs", "no_such_fn"] {
        assert_eq!(outcome(&unknown, name), (AskedOutcome::Unknown, None));
    }
    assert_eq!(unknown.draft.asked.len(), 2, "an ordinary word is not reported: {:?}", unknown.draft.asked);
    let why = unknown.draft.asked[0].missing().unwrap();
    assert_eq!(why, "not in the ledger of this session");
    // A text of another session is not found, neither by name nor by handle.
    let other = scene.engine.session_by_id(words::stream("other"));
    let text = code("secret", 40);
    let call = call("x", "Read", r#"{"file_path":"src/secret.rs"}"#);
    block_on(other.append(vec![
        scene.event(said(Message::new(Role::Assistant, vec![call]))),
        scene.event(said(result("x", &text))),
    ]))
    .unwrap();
    words::catch_up(&scene.engine);
    let handle = words::events(&other).into_iter().find_map(|event| match event.fact {
        Some(Fact::MessageAppended(said)) => {
            said.message.parts[0].bodies().iter().find_map(|body| body.handle())
        }
        _ => None,
    });
    let built = scene.asked(&format!("Explain src/secret.rs and {}.", handle.unwrap()), &options);
    assert!(
        built.draft.asked.iter().all(|asked| asked.outcome == AskedOutcome::Unknown),
        "{:?}",
        built.draft.asked
    );
    assert!(!Shown::of(&built.draft.body).says("fn secret_0"));
    assert_eq!(built.draft.asked.len(), 2);
}

#[test]
fn erased_and_hidden_texts_are_said_and_stay_away() {
    let (scene, options) = compacted();
    let at = |name: &str| match outcome(&scene.asked(&format!("Explain {name}"), &options), name) {
        (AskedOutcome::Recalled, Some(at)) => at,
        other => panic!("{name}: {other:?}"),
    };
    let (erased, hidden) = (at("alpha0.rs"), at("alpha1.rs"));
    // A copy that was brought back goes with its text.
    scene.user("Explain src/deep/alpha3.rs and alpha0.rs");
    assert_eq!(outcome(&scene.build(&options), "alpha3.rs").0, AskedOutcome::Cut);
    let long = at_of(&scene, "pub fn alpha3_0");
    for seq in [erased, long] {
        block_on(scene.session.erase(seq, seq, None)).unwrap();
    }
    scene.add(vec![Fact::ContentHidden(ContentHidden { target: hidden, hidden: true })]);
    let built = scene.asked("Explain alpha0.rs, alpha1.rs and src/deep/alpha3.rs", &options);
    assert_eq!(outcome(&built, "alpha0.rs"), (AskedOutcome::Erased, Some(erased)));
    assert_eq!(outcome(&built, "alpha1.rs"), (AskedOutcome::Hidden, Some(hidden)));
    assert_eq!(outcome(&built, "alpha3.rs"), (AskedOutcome::Erased, Some(long)));
    let shown = Shown::of(&built.draft.body);
    for words in ["pub fn alpha0_1()", "pub fn alpha1_1()", "pub fn alpha3_1()"] {
        assert!(!shown.says(words), "{words}");
    }
    let all = words::exported(&scene.session);
    assert!(!all.contains("pub fn alpha3_1()") && all.contains("pub fn alpha1_1()"));
    assert_eq!(scene.problems(), [""; 0]);
}

/// Returns the position of the tool result with some words.
fn at_of(scene: &Scene, words: &str) -> Seq {
    let says =
        |part: &Part| part.bodies().iter().any(|body| body.inline().is_some_and(|text| text.contains(words)));
    let messages = scene.messages();
    let found = messages.iter().find(|(_, said)| said.role == Role::Tool && said.parts.iter().any(says));
    found.unwrap().0
}

#[test]
fn a_text_enters_once_and_replays() {
    let (scene, options) = compacted();
    scene.user("Explain `weigh_bed_4`, src/deep/alpha7.rs and `cargo test -p crate-2 --lib`.");
    let first = scene.build(&options);
    assert_eq!(outcome(&first, "weigh_bed_4").0, AskedOutcome::Cut);
    assert_eq!(outcome(&first, "alpha7.rs").0, AskedOutcome::Cut);
    assert_eq!(outcome(&first, "crate-2").0, AskedOutcome::Recalled);
    let entered = scene.count("context.injected");
    for round in 0..3 {
        scene.tool(&format!("once {round}"), "Bash", r#"{"command":"ls"}"#, "nothing");
        let next = scene.build(&options);
        assert!(next.compacted.is_none());
        assert_eq!(scene.count("context.injected"), entered, "round {round}");
        assert_eq!(outcome(&next, "alpha7.rs").0, AskedOutcome::Shown);
        let (stem, body) = (first.draft.stem.0 as usize, &next.draft.body);
        assert_eq!(body[..stem], first.draft.body[..stem], "the request only grows at its end");
    }
    let replayed = block_on(scene.session.replay(first.recorded)).unwrap();
    assert!(replayed.body == first.draft.body);
    assert_eq!(scene.problems(), [""; 0]);
}

#[test]
fn a_build_with_names_takes_four_round_trips() {
    let (scene, options) = compacted();
    let long =
        format!("{} Explain alpha4.rs, `weigh_bed_5` and GARDEN-104.", "The beds are dry again. ".repeat(40));
    for prompt in ["Explain src/deep/alpha0.rs and src/nowhere.rs.", &long, "Is wb:0123456789abcdef there?"] {
        scene.user(prompt);
        words::catch_up(&scene.engine);
        let trips = || [PortMethod::Query, PortMethod::Commit].map(|method| scene.faults.trips(method));
        let before = trips();
        let built = scene.build(&options);
        let made: u64 = trips().iter().zip(before).map(|(now, before)| now - before).sum();
        assert!(built.compacted.is_none() && !built.draft.asked.is_empty());
        assert!(made <= 4, "{made} round trips for {prompt}");
    }
}

#[test]
fn the_newest_state_of_a_file_comes_back() {
    let (scene, options) = (Scene::new(), window(WINDOW));
    let read = |id: &str, input: &str, text: &str| scene.tool(id, "Read", input, text);
    scene.user("Begin.");
    read("1", r#"{"file_path":"src/old/parser.rs"}"#, &code("older", 20));
    read("2", r#"{"file_path":"src/parser.rs"}"#, &code("first", 20));
    let whole = read("3", r#"{"file_path":"src/parser.rs"}"#, &code("second", 400));
    read("4", r#"{"file_path":"src/parser.rs","offset":1,"limit":2}"#, "pub fn second_0() -> usize { 0 }\n");
    let written = format!(r#"{{"file_path":"src/made.rs","content":"{}"}}"#, "fn made() {}\\n".repeat(60));
    scene.tool("5", "Write", &written, "written");
    scene.turns(0..40);
    scene.build(&options);
    words::catch_up(&scene.engine);
    let built = scene.asked("Explain parser.rs.", &options);
    assert_eq!(outcome(&built, "parser.rs"), (AskedOutcome::Cut, Some(whole)), "the newest whole one");
    assert!(Shown::of(&built.draft.body).says("other files of this name: src/old/parser.rs"));
    let built = scene.asked("看一下src/parser.rs:321，为什么？", &options);
    assert!(Shown::of(&built.draft.body).says("second line 320"), "the line that is asked for");
    let built = scene.asked("Explain src/made.rs.", &options);
    assert!(Shown::of(&built.draft.body).says("fn made() {}\nfn made() {}"), "{:?}", built.draft.asked);
    let edit = r#"{"file_path":"src/parser.rs","old_string":"second_1","new_string":"third_1"}"#;
    let edited = scene.tool("6", "Edit", edit, "edited").prev();
    scene.turns(40..80);
    scene.build(&options);
    words::catch_up(&scene.engine);
    let built = scene.asked("Explain parser.rs.", &options);
    assert!(
        Shown::of(&built.draft.body).says(&format!("changed since at #{edited}")),
        "{:?}",
        built.draft.asked
    );
}

#[test]
fn a_file_that_was_read_in_parts_comes_back_in_parts() {
    let (scene, options) = (Scene::new(), window(WINDOW));
    scene.user("Begin.");
    let read = |id: &str, from: usize| {
        let input = format!(r#"{{"file_path":"src/wide.rs","offset":{from},"limit":20}}"#);
        let lines = (from..from + 20).map(|line| format!("{line:>6}\tpub fn wide_{line}() {{}}\n"));
        scene.tool(id, "Read", &input, &lines.collect::<String>())
    };
    let parts = [read("1", 1), read("2", 21), read("3", 41)];
    let again = read("4", 1);
    scene.tool("5", "Read", r#"{"file_path":"src/other/wide.rs","offset":1,"limit":20}"#, &code("other", 20));
    scene.turns(0..40);
    scene.build(&options);
    words::catch_up(&scene.engine);
    let built = scene.asked("Explain src/wide.rs.", &options);
    let asked: Vec<_> = built.draft.asked.iter().map(|one| (&*one.name, one.outcome, one.at)).collect();
    let expected = [again, parts[2], parts[1]].map(|at| ("src/wide.rs", AskedOutcome::Recalled, Some(at)));
    assert_eq!(asked, expected, "the newest of each part, newest first");
    let shown = Shown::of(&built.draft.body);
    assert!([1, 20, 21, 40, 41, 60].iter().all(|line| shown.says(&format!("pub fn wide_{line}()"))));
    assert!(!shown.says("other_1()"));
    let built = scene.asked("Explain src/wide.rs:33.", &options);
    let asked: Vec<_> = built.draft.asked.iter().map(|one| one.at).collect();
    assert_eq!(asked, [Some(parts[1])], "the part with the line");
    for part in 0..9 {
        read(&format!("more {part}"), 100 + 20 * part);
    }
    scene.turns(40..80);
    scene.build(&options);
    words::catch_up(&scene.engine);
    let built = scene.asked("Explain src/wide.rs.", &options);
    assert_eq!(built.draft.asked.len(), 8);
    assert!(Shown::of(&built.draft.body).says("older parts are at #"), "{:?}", built.draft.asked);
}

#[test]
fn a_named_text_never_displaces_anything() {
    let (scene, options) = compacted();
    let mut outcomes = Vec::new();
    for filler in (0..80).map(|some| some * 10) {
        let prompt = format!("{} Explain src/deep/alpha3.rs.", "more words of the turn ".repeat(filler));
        // The request is checked against its limit, whatever comes back.
        let built = scene.asked(&prompt, &ContextOptions { compactor: None, ..options.clone() });
        assert!(Shown::of(&built.draft.body).says(&prompt), "the newest turn stays whole");
        outcomes.push(outcome(&built, "alpha3.rs").0);
        if matches!(outcomes.last(), Some(AskedOutcome::NoRoom { .. })) {
            break;
        }
    }
    assert_eq!(outcomes[0], AskedOutcome::Cut);
    let Some(AskedOutcome::NoRoom { needs, had }) = outcomes.pop() else { panic!("{outcomes:?}") };
    assert!(needs > had && had < Tokens(400), "{needs} {had}");
}

#[test]
fn only_what_a_person_typed_names_texts() {
    let (scene, options) = compacted();
    let prompt = "<system-reminder>See src/deep/alpha0.rs</system-reminder>\nThanks, go on.";
    let built = scene.asked(prompt, &options);
    assert_eq!((recalled(&built), built.draft.asked), (0, Vec::<AskedFor>::new()));
}
