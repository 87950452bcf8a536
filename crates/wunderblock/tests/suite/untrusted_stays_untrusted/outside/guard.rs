//! A request that does not fit is not sent, and its refusal is recorded once. A request near the limit causes a
//! warning at each threshold.

use crate::scene::*;
use crate::untrusted_stays_untrusted::outside::desk::*;
use futures_executor::block_on;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use wunderblock::store::sqlite::Access;
use wunderblock::store::{Commit, Storage, Write};
use wunderblock::{Config, ContextOptions, Engine, Error, Session, Sources};
use wunderblock_core::event::{BudgetWarned, Fact, Overflow, TurnCompleted};
use wunderblock_core::message::Role;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Cost, Millis, Tokens};
use wunderblock_testkit::faults::{FaultyStorage, PortMethod};
use wunderblock_testkit::memory::MemoryStorage;

fn overflows(session: &Session) -> Vec<TurnCompleted> {
    let all = events(session).into_iter();
    let turns = all.filter_map(|event| match event.fact {
        Some(Fact::TurnCompleted(turn)) => Some(turn),
        _ => None,
    });
    turns.collect()
}

/// Opens a ledger whose clock advances at each reading.
fn going_on(home: &Home) -> Engine {
    let now = AtomicI64::new(1_800_000_000_000);
    let clock = Arc::new(move || Millis(now.fetch_add(1_000, Ordering::Relaxed)));
    block_on(Engine::open_with(home.db(), Access::Create, Config { clock, ..Config::default() })).unwrap()
}

#[test]
fn what_cannot_fit_is_refused_and_recorded_once() {
    let home = Home::new();
    let engine = going_on(&home);
    let session = begun(&engine, "s");
    let rules = "Each of these rules counts. ".repeat(4_000);
    let project = Project::new(&[("AGENTS.md", "Use tabs.")]);
    let sources = || Sources { system: Some(vec![given("rules", &rules)]), ..project.sources() };
    let small = |sources| ContextOptions { window: Some(Tokens(8_000)), ..with(sources) };
    for _ in 0..3 {
        let refused = block_on(session.context(small(sources()))).unwrap_err();
        let Error::OverBudget(refusal) = refused else { panic!("{refused}") };
        assert!(refusal.needed.tokens > refusal.limit.tokens);
        assert_eq!(refusal.parts.iter().map(|part| part.cost).sum::<Cost>(), refusal.needed);
        assert!(matches!(block_on(session.explain(small(sources()))), Err(Error::OverBudget(_))));
        let turns = overflows(&session);
        assert_eq!(turns.len(), 1, "told once, however often it is tried");
        let TurnCompleted {
            stop_reason,
            error_code,
            overflow: Some(Overflow { limit, needed, sections }),
            ..
        } = &turns[0]
        else {
            panic!("{turns:?}")
        };
        assert_eq!((&**stop_reason, error_code.as_deref()), ("error", Some("context_overflow")));
        assert_eq!((*limit, *needed), (refusal.limit, refusal.needed));
        assert_eq!(sections.iter().map(|(_, cost)| *cost).sum::<Cost>(), *needed);
        let largest = sections.iter().max_by_key(|(_, cost)| cost.tokens).unwrap();
        assert_eq!(largest.0, Section::System);
        assert_eq!((kinds(&session, "context.built"), preambles(&session).len()), (0, 0));
    }
    // With enough room, the session continues.
    built(&session, &with(sources()));
    assert_eq!((kinds(&session, "context.built"), overflows(&session).len()), (1, 1));
}

fn warnings(session: &Session) -> Vec<u8> {
    let all = events(session).into_iter();
    let warned = all.filter_map(|event| match event.fact {
        Some(Fact::BudgetWarned(BudgetWarned { percent, total_tokens, limit, .. })) => {
            assert!(total_tokens.0 * 100 >= limit.0 * u64::from(percent));
            Some(percent)
        }
        _ => None,
    });
    warned.collect()
}

#[test]
fn a_warning_is_given_once_for_each_threshold_that_is_passed() {
    let home = Home::new();
    let engine = home.engine();
    let session = begun(&engine, "s");
    let options = ContextOptions { window: Some(Tokens(20_000)), ..with(Sources::default()) };
    let (mut expected, mut last, mut steps) = (Vec::new(), 0, 0);
    for number in 0..120 {
        append(&engine, "s", vec![said(&format!("w{number}"), Role::User, &"some more words ".repeat(60))]);
        let next = built(&session, &options);
        let percent = next.draft.report.total_tokens.0 * 100 / next.draft.report.limit.0;
        let passed = [85, 95].into_iter().filter(|threshold| percent >= *threshold).max();
        assert_eq!(next.draft.warned.map(u64::from), passed);
        expected.extend(passed.filter(|threshold| last < *threshold).map(|threshold| threshold as u8));
        assert_eq!(warnings(&session), expected, "request {number} at {percent} %");
        (last, steps) = (percent, steps + usize::from(next.draft.step.is_some()));
    }
    assert!(steps >= 2 && expected.iter().filter(|percent| **percent == 85).count() >= 2, "{expected:?}");
}

#[test]
fn a_build_with_a_preamble_takes_four_round_trips() {
    round_trips(5);
}

#[test]
fn so_does_one_that_changes_it() {
    round_trips(4);
}

/// Builds requests with sources that change occasionally. `changed` is the maximum number of round trips in a build
/// that records a changed preamble.
fn round_trips(changed: u64) {
    let store = Arc::new(MemoryStorage::new());
    block_on(store.commit(Commit::raw(vec![Write::Tenant { name: "local".to_owned(), key: [7; 32] }])))
        .unwrap();
    let faulty = FaultyStorage::<dyn Storage>::new(store);
    let faults = faulty.faults();
    let engine = block_on(Engine::on(Arc::new(faulty), true, config())).unwrap();
    let session = begun(&engine, "s");
    let project = Project::new(&[("AGENTS.md", &long("Use tabs")), ("sub/AGENTS.md", &long("Be kind"))]);
    project.write(".wunderblockignore", "secret/\n");
    let sources = |number: usize| Sources {
        tools: Some(vec![tool("Read", &long(&format!("Reads files {}", number / 4))).into()]),
        skills: Some(vec![skill("bake", "Bakes bread.", &long("Heat the oven"))]),
        memory: Some(vec![given("taste", &long("Likes rye"))]),
        now: number == 9,
        ..project.sources()
    };
    for number in 0..14 {
        append(&engine, "s", reads(number, if number == 3 { "sub/a.txt" } else { "a.txt" }));
        if number == 2 {
            project.write("AGENTS.md", &long("Use spaces"));
        }
        let narrow = number >= 12;
        let steps = number == 12;
        if steps {
            let many = |n| said(&format!("n{n}"), Role::User, &"many words ".repeat(400));
            append(&engine, "s", (0..40).map(many).collect());
        }
        catch_up(&engine);
        let before = (faults.trips(PortMethod::Query), faults.trips(PortMethod::Commit));
        let window = Some(Tokens(if narrow { 24_000 } else { 100_000 }));
        let one = built(&session, &ContextOptions { window, ..with(sources(number)) });
        let queries = faults.trips(PortMethod::Query) - before.0;
        let commits = faults.trips(PortMethod::Commit) - before.1;
        let most = if one.draft.changes.is_empty() { 4 } else { changed };
        assert!(
            queries + commits <= most && commits == 1,
            "request {number}: {queries} queries, {commits} commits"
        );
        assert_eq!(one.draft.step.is_some(), steps, "request {number}");
    }
    assert!(preambles(&session).len() > 2);
}
