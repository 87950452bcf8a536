//! Work state is stated at the tail, and is repeated only when it has changed.

use crate::scene::*;
use crate::untrusted_stays_untrusted::outside::desk::*;
use futures_executor::block_on;
use std::sync::{Arc, Mutex};
use wunderblock::{Built, ContextOptions, Resource, Sources, StateProvider};
use wunderblock_core::event::Fact;
use wunderblock_core::instruction::FindingKind;
use wunderblock_core::message::Role;
use wunderblock_core::plan::TrimReason;
use wunderblock_core::state::{ItemStatus, NamedText, StateItem, WorkState};
use wunderblock_core::units::Tokens;

fn plan(items: &[(&str, ItemStatus)]) -> Sources {
    let items = items.iter().map(|(what, status)| StateItem { what: (*what).into(), status: *status });
    Sources { state: Some(WorkState { plan: items.collect(), ..WorkState::default() }), ..Sources::default() }
}

/// Returns the last `count` texts on the user's side of a request.
fn tail(built: &Built, count: usize) -> Vec<String> {
    let mut heard = heard(&decoded(built));
    heard.split_off(heard.len() - count)
}

#[test]
fn state_is_said_at_the_tail_and_again_when_it_changes() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    append(&engine, "s", reads(9, "b.txt"));
    let first = built(&session, &with(plan(&[("bake", ItemStatus::InProgress)])));
    let lines = tail(&first, 3);
    assert!(
        lines[0].contains(": state: plan. Replaces what was said of it before.") && lines[1] == "[>] bake"
    );
    append(&engine, "s", reads(1, "a.txt"));
    let second = built(&session, &with(plan(&[("bake", ItemStatus::InProgress)])));
    assert_eq!((times(&second, "[>] bake"), kinds(&session, "context.injected")), (1, 1), "not repeated");
    append(&engine, "s", reads(2, "a.txt"));
    let third = built(&session, &with(plan(&[("bake", ItemStatus::Done), ("eat", ItemStatus::Pending)])));
    assert_eq!(tail(&third, 3)[1], "[x] bake\n[ ] eat");
    append(&engine, "s", reads(3, "a.txt"));
    let fourth = built(&session, &with(Sources { state: Some(WorkState::default()), ..Sources::default() }));
    assert_eq!(tail(&fourth, 3)[1], "none");
    let fifth = built(&session, &with(Sources { state: Some(WorkState::default()), ..Sources::default() }));
    assert_eq!(kinds(&session, "context.injected"), 3, "said to be none once");
    for pair in [[&first, &second], [&second, &third], [&third, &fourth], [&fourth, &fifth]] {
        assert!(goes_on(pair[0], pair[1]));
    }
    for one in [&first, &second, &third, &fourth, &fifth] {
        assert!(block_on(session.replay(one.recorded)).unwrap().body == one.draft.body);
    }
}

#[test]
fn a_provider_is_asked_at_each_build_and_its_answer_recorded() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let answer = Arc::new(Mutex::new(Ok::<_, String>("2 files changed".to_owned())));
    let asked = answer.clone();
    let provider = StateProvider::new("git status", move || asked.lock().unwrap().clone());
    let sources = || Sources { providers: vec![provider.clone()], ..Sources::default() };
    append(&engine, "s", reads(9, "b.txt"));
    let first = built(&session, &with(sources()));
    assert!(tail(&first, 3)[1] == "2 files changed" && first.draft.findings.is_empty());
    *answer.lock().unwrap() = Err("it does not answer".to_owned());
    append(&engine, "s", reads(1, "a.txt"));
    let second = built(&session, &with(sources()));
    assert!(goes_on(&first, &second));
    assert_eq!(second.draft.findings.len(), 1);
    let finding = &second.draft.findings[0];
    assert_eq!((finding.what, &*finding.source), (FindingKind::Unusable, "state provider git status"));
    assert!(finding.detail.contains("it does not answer"));
    assert_eq!(times(&second, "none"), 0, "what it said last still stands");
    *answer.lock().unwrap() = Ok(long("Many files changed"));
    append(&engine, "s", reads(2, "a.txt"));
    let third = built(&session, &with(sources()));
    assert!(tail(&third, 3)[1].starts_with("Many files changed"));
    *answer.lock().unwrap() = Ok(" \n".to_owned());
    let fourth = built(&session, &with(sources()));
    assert_eq!(tail(&fourth, 3)[1], "none");
    let injected = events(&session).into_iter().filter_map(|event| match event.fact {
        Some(Fact::ContextInjected(injected)) => Some(injected.items),
        _ => None,
    });
    let texts: Vec<_> = injected.flatten().map(|item| item.body.bytes().0).collect();
    assert_eq!(texts, [15, long("Many files changed").len() as u64, 4]);
    for one in [&first, &second, &third, &fourth] {
        assert!(block_on(session.replay(one.recorded)).unwrap().body == one.draft.body);
    }
}

#[test]
fn after_a_step_the_state_stands_at_the_tail() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let state = || plan(&[("bake", ItemStatus::InProgress)]);
    let options = || ContextOptions { window: Some(Tokens(20_000)), ..with(state()) };
    built(&session, &options());
    let many = |n| said(&format!("n{n}"), Role::User, &"many words ".repeat(400));
    append(&engine, "s", (0..40).map(many).collect());
    let stepped = built(&session, &options());
    assert_eq!(stepped.draft.step, Some(TrimReason::OverBudget));
    assert_eq!(tail(&stepped, 3)[1], "[>] bake");
}

#[test]
fn sources_without_a_state_leave_the_state_unchanged() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    append(&engine, "s", reads(9, "b.txt"));
    let first = built(&session, &with(plan(&[("bake", ItemStatus::InProgress)])));
    append(&engine, "s", reads(1, "a.txt"));
    let second = built(&session, &with(Sources::default()));
    assert!(goes_on(&first, &second) && times(&second, "[>] bake") == 1 && times(&second, "none") == 0);
}

#[test]
fn a_changed_preamble_leaves_the_state_nobody_spoke_of() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    built(&session, &with(plan(&[("bake", ItemStatus::InProgress)])));
    let other = Sources { system: Some(vec![given("house", "You speak softly.")]), ..Sources::default() };
    let next = built(&session, &with(other));
    assert_eq!(times(&next, "[>] bake"), 1);
}

#[test]
fn what_is_explained_is_what_is_built() {
    let home = Home::new();
    let engine = home.engine();
    let project = Project::new(&[("AGENTS.md", &long("Use tabs")), ("sub/AGENTS.md", "Be kind.")]);
    for dialect in crate::scene::DIALECTS {
        let id = dialect.name();
        let session = begun(&engine, id);
        for number in 0..12 {
            append(&engine, id, reads(number, if number % 3 == 1 { "sub/a.txt" } else { "a.txt" }));
            append(
                &engine,
                id,
                vec![said(&format!("more {number}"), Role::User, &"more words ".repeat(700))],
            );
            let status = format!("{} files", number / 2);
            let resource = Resource {
                uri: "doc://one".to_owned(),
                name: "One".to_owned(),
                description: String::new(),
                text: Some(long("of a resource")),
                pinned: number > 3,
            };
            let state = WorkState {
                provided: vec![NamedText { name: "status".into(), text: status.into() }],
                ..WorkState::default()
            };
            let sources = Sources {
                safety: Some(vec![given("policy", "Delete nothing.")]),
                system: Some(vec![given("house", "You are careful.")]),
                tools: Some(vec![tool("Read", &long(&format!("{} reads", number / 5))).into()]),
                skills: Some(vec![skill("bake", "Bakes bread.", &long("Heat the oven"))]),
                memory: Some(vec![given("taste", "Likes rye.")]),
                resources: Some(vec![resource]),
                state: Some(state),
                ..project.sources()
            };
            let window = Some(Tokens(16_000));
            let options = ContextOptions { dialect: Some(dialect), window, ..with(sources) };
            let head = block_on(session.info()).unwrap().head;
            let explained = block_on(session.explain(&options)).unwrap();
            assert_eq!(block_on(session.info()).unwrap().head, head, "nothing is recorded");
            let one = built(&session, &options);
            assert!(
                explained.draft.body == one.draft.body && explained.draft.report == one.draft.report,
                "{id} {number}"
            );
            let sum: Tokens = one.draft.report.sections.iter().map(|section| section.tokens).sum();
            assert_eq!(one.draft.report.total_tokens, sum);
            assert!(one.draft.report.total_tokens <= one.draft.report.limit);
        }
    }
}
