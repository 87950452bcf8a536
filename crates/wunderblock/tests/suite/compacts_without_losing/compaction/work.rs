//! After each compaction, the work log appears once at the tail until the next compaction.

use crate::compacts_without_losing::compaction::scene::*;
use futures_executor::block_on;
use std::sync::Arc;
use wunderblock::{Built, CompactionResult, Visibility};
use wunderblock_core::budget::Treatment;
use wunderblock_core::event::{ContextInjected, Fact, SubagentOutcome, SubagentReturned, SubagentSpawned};
use wunderblock_core::id::CallId;
use wunderblock_core::message::{Message, Role};
use wunderblock_core::policy::Policy;
use wunderblock_core::section::Section;
use wunderblock_core::units::Seq;
use wunderblock_core::work::WorkLog;

const WINDOW: u64 = 24_000;

fn todo(scene: &Scene, id: &str, items: &[(&str, &str)]) -> Seq {
    let item = |(what, status): &(&str, &str)| format!(r#"{{"content":"{what}","status":"{status}"}}"#);
    let items: Vec<String> = items.iter().map(item).collect();
    let input = format!(r#"{{"todos":[{}]}}"#, items.join(","));
    let called = Message::new(Role::Assistant, vec![call(id, "TodoWrite", &input)]);
    scene.add(vec![said(called), said(result(id, "Todos have been modified"))])[0]
}

/// Returns the recorded work logs with their positions.
fn logs(scene: &Scene) -> Vec<(Seq, WorkLog)> {
    let log = |event: wunderblock_core::event::Event| match event.fact {
        Some(Fact::ContextInjected(ContextInjected { work: Some(work), .. })) => Some((event.seq, *work)),
        _ => None,
    };
    scene.events().into_iter().filter_map(log).collect()
}

/// Returns the positions of the entries that show a work log.
fn told(built: &Built) -> Vec<Seq> {
    let entries = built.draft.report.entries.iter().filter(|entry| entry.section == Section::Work);
    assert!(entries.clone().all(|entry| entry.treatment == Treatment::Verbatim));
    entries.filter_map(|entry| entry.seq).collect()
}

fn text(built: &Built) -> String {
    String::from_utf8_lossy(&built.draft.body).into_owned()
}

fn balanced() -> Arc<Policy> {
    policy("extends = \"balanced\"\n[protect]\nwork_share = 0.04\n")
}

#[test]
fn it_stands_once_at_the_tail_from_one_compaction_to_the_next() {
    for policy in [balanced(), preset("claude-code"), preset("pi")] {
        let scene = Scene::of(2);
        todo(&scene, "todo-1", &[("read the parser", "completed"), ("repair the lexer", "in_progress")]);
        let options = under(&policy, WINDOW);
        let mut before: Option<Built> = None;
        let (mut steps, mut seen) = (0, 0);
        for number in 2..60 {
            scene.turns(number..number + 1);
            let built = scene.build(&options);
            let places = told(&built);
            let compacted = scene.compactions() > steps;
            steps = scene.compactions();
            assert_eq!(places.len(), usize::from(steps > 0), "{}: {places:?} after {steps}", policy.name);
            if compacted {
                seen += 1;
                let newest = built.draft.report.entries.iter().filter_map(|entry| entry.seq).max();
                assert_eq!(newest, places.first().copied(), "{}: at the tail", policy.name);
            } else if let Some(before) = &before {
                assert!(goes_on(before, &built), "{}: a request only grows", policy.name);
            }
            if steps > 0 {
                assert!(text(&built).contains("repair the lexer"), "{}: after {steps}", policy.name);
            }
            before = Some(built);
            if seen >= 4 {
                break;
            }
        }
        assert!(seen >= 3, "{}: {seen} compactions", policy.name);
        let all = logs(&scene);
        assert!(all.windows(2).all(|two| two[0].1.through <= two[1].1.through));
        let built = before.unwrap();
        let replayed = block_on(scene.session.replay(built.recorded)).unwrap();
        assert_eq!(replayed.body, built.draft.body, "{}: replayed", policy.name);
        assert_eq!(scene.problems(), [""; 0]);
    }
}

#[test]
fn a_list_that_is_done_is_told_no_more() {
    let scene = Scene::of(2);
    todo(&scene, "todo-1", &[("repair the lexer", "in_progress")]);
    scene.turns(2..20);
    let policy = balanced();
    let options = under(&policy, WINDOW);
    scene.build(&options);
    assert_eq!(scene.compact(&by_hand(&policy, WINDOW)).outcome, CompactionResult::Compacted);
    assert_eq!(logs(&scene).last().unwrap().1.todo.len(), 1);
    todo(&scene, "todo-2", &[("repair the lexer", "completed")]);
    let steps = scene.compactions();
    for number in 20.. {
        scene.turns(number..number + 1);
        scene.build(&options);
        if scene.compactions() > steps + 1 {
            break;
        }
    }
    let log = logs(&scene).pop().unwrap().1;
    assert!(log.todo.is_empty() && !log.files.is_empty(), "{log:?}");
    assert_eq!(told(&scene.build(&options)).len(), 1);
}

#[test]
fn without_a_share_nothing_of_it_is_recorded() {
    let scene = Scene::of(2);
    todo(&scene, "todo-1", &[("repair the lexer", "in_progress")]);
    scene.turns(2..20);
    let none = policy("extends = \"balanced\"\n[protect]\nwork_share = 0\n");
    scene.build(&window(WINDOW));
    assert_eq!(scene.compact(&by_hand(&none, WINDOW)).outcome, CompactionResult::Compacted);
    assert_eq!((logs(&scene), told(&scene.build(&window(WINDOW)))), (Vec::new(), Vec::new()));
    // A compaction without a share for the work log removes the log of a compaction with such a share.
    let with = scene.compact(&by_hand(&balanced(), WINDOW));
    scene.turns(20..40);
    scene.build(&window(WINDOW));
    scene.compact(&by_hand(&none, WINDOW));
    assert_eq!(told(&scene.build(&window(WINDOW))), [], "{with:?}");
}

#[test]
fn what_is_erased_or_hidden_speaks_no_more() {
    for hides in [false, true] {
        let scene = Scene::of(2);
        let at = todo(&scene, "todo-1", &[("the codename heliotrope-44", "in_progress")]);
        scene.turns(2..20);
        let (policy, options) = (balanced(), window(WINDOW));
        scene.build(&options);
        assert_eq!(scene.compact(&by_hand(&policy, WINDOW)).outcome, CompactionResult::Compacted);
        assert!(text(&scene.build(&options)).contains("heliotrope-44"));
        let (told_at, _) = logs(&scene).pop().unwrap();
        if hides {
            block_on(Visibility::Hide.set(&scene.session, at)).unwrap();
            let built = scene.build(&options);
            let [again] = told(&built)[..] else { panic!("the rest is said again") };
            assert!(again > told_at);
        } else {
            let erased = block_on(scene.session.erase(at, at.next(), None)).unwrap();
            assert!(erased.events >= 3, "{erased:?}");
            let event = scene.events().into_iter().find(|event| event.seq == told_at).unwrap();
            assert!(event.fact.is_none(), "the log is erased, too");
        }
        for _ in 0..2 {
            assert!(
                logs(&scene).iter().filter(|(seq, _)| *seq > told_at).all(|(_, log)| log.todo.is_empty())
            );
            scene.turns(20..30);
            scene.build(&options);
            scene.compact(&by_hand(&policy, WINDOW));
        }
        assert_eq!(scene.problems(), [""; 0]);
    }
}

#[test]
fn an_undo_and_a_smaller_window_keep_one() {
    let scene = Scene::of(2);
    todo(&scene, "todo-1", &[("repair the lexer", "in_progress")]);
    scene.turns(2..60);
    let policy = balanced();
    for tokens in [64_000, 24_000, 8_000, 2_000, 24_000, 64_000] {
        let options = under(&policy, tokens);
        let built = scene.build(&options);
        assert!(told(&built).len() <= 1, "{tokens}");
        let built = scene.build(&options);
        assert!(told(&built).len() <= 1, "{tokens}");
        if tokens >= 24_000 {
            assert!(text(&built).contains("repair the lexer"), "{tokens}");
        }
    }
    assert_eq!(scene.problems(), [""; 0]);
}

/// Compacts the lane again after each turn, until it has been compacted twice more, and returns the last request.
fn compacted_twice(scene: &Scene, from: u64) -> Built {
    let policy = balanced();
    let options = under(&policy, WINDOW);
    let steps = scene.compactions();
    let mut built = scene.build(&options);
    for number in from.. {
        if scene.compactions() > steps + 1 {
            break;
        }
        scene.turns(number..number + 1);
        built = scene.build(&options);
    }
    built
}

#[test]
fn a_delegate_is_named_after_every_compaction_until_it_returns() {
    const TITLE: &str = "Delegates at work (do not start them again)";
    // In the request, which is JSON.
    const LINE: &str = r#"- Explore: \"map the parser\""#;
    let delegate = |id: &str, task: &str| {
        let input = format!(r#"{{"subagent_type":"Explore","prompt":"{task}"}}"#);
        said(Message::new(Role::Assistant, vec![call(id, "Agent", &input)]))
    };
    let spawned = |session: &str, call: Option<&str>| {
        let call = call.map(|call| CallId(call.into()));
        Fact::SubagentSpawned(SubagentSpawned {
            call,
            agent: Some("Explore".into()),
            ..SubagentSpawned::new(stream(session))
        })
    };
    let returned =
        |session: &str| Fact::SubagentReturned(SubagentReturned::new(stream(session), SubagentOutcome::Done));
    let scene = Scene::of(2);
    scene.add(vec![
        delegate("sync", "look here"),
        said(result("sync", "found")),
        delegate("async", "map the parser"),
        said(result("async", "Async agent launched successfully.\nagentId: 7")),
        spawned("agent-7", Some("async")),
        // A report without a call, as hooks and live agents write it.
        spawned("agent-8", None),
    ]);
    let log = |scene: &Scene| logs(scene).pop().unwrap().1;
    let built = compacted_twice(&scene, 2);
    assert!(text(&built).contains(TITLE) && text(&built).contains(LINE), "{}", text(&built));
    assert!(!text(&built).contains(r#"Explore: \"look here"#), "it has ended");
    let at_work: Vec<String> =
        log(&scene).delegates.iter().map(|one| one.session.as_ref().unwrap().to_string()).collect();
    assert_eq!(at_work, ["agent-7", "agent-8"]);
    scene.add(vec![returned("agent-7")]);
    let built = compacted_twice(&scene, 200);
    assert!(text(&built).contains(TITLE) && !text(&built).contains(LINE), "only the other one");
    // A later call of the type is another delegate, and its own report belongs to it.
    scene.add(vec![
        delegate("later", "look there"),
        said(result("later", "Async agent launched successfully.")),
    ]);
    compacted_twice(&scene, 300);
    let calls = |scene: &Scene| -> Vec<_> {
        log(scene).delegates.iter().map(|one| (one.call.is_some(), one.session.is_some())).collect()
    };
    assert_eq!(calls(&scene), [(false, true), (true, false)]);
    scene.add(vec![spawned("agent-9", None)]);
    compacted_twice(&scene, 350);
    assert_eq!(calls(&scene), [(false, true), (true, true)]);
    scene.add(vec![returned("agent-9"), returned("agent-8")]);
    let built = compacted_twice(&scene, 400);
    assert!(log(&scene).delegates.is_empty() && !text(&built).contains(TITLE));
    let replayed = block_on(scene.session.replay(built.recorded)).unwrap();
    assert_eq!(replayed.body, built.draft.body);
    assert_eq!(scene.problems(), [""; 0]);
}
