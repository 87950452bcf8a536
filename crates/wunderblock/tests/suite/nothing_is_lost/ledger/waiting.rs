//! Work that a process leaves to the next one: a short log, and events that are not indexed yet.

use crate::scene::{Home, append, config, events, result, said, session};
use futures_executor::block_on;
use wunderblock::store::sqlite::Access;
use wunderblock::{Engine, SearchHit, SearchOptions, SearchOrder};
use wunderblock_core::event::NewEvent;
use wunderblock_core::message::Role;
use wunderblock_core::units::Seq;
use wunderblock_store::DerivedTable;

fn brief(home: &Home) -> Engine {
    block_on(Engine::open_with(home.db(), Access::Brief, config())).unwrap()
}

fn log(home: &Home) -> u64 {
    home.path("ledger.db-wal").metadata().map_or(0, |meta| meta.len())
}

#[test]
fn a_short_log_is_left_and_nothing_is_lost_with_it() {
    let home = Home::new();
    for id in ["1", "2", "3"] {
        let engine = brief(&home);
        append(&engine, "s", vec![said(id, Role::User, &format!("text {id}"))]);
        drop(engine);
        assert!(log(&home) > 0, "the log of process {id} is left");
    }
    let engine = home.engine();
    assert_eq!(events(&session(&engine, "s")).len(), 4, "the opening and three messages");
    append(&engine, "s", vec![said("4", Role::User, "text 4")]);
    drop(engine);
    assert_eq!(log(&home), 0, "a process that stays longer empties the log");
    assert_eq!(events(&session(&brief(&home), "s")).len(), 5);
}

#[test]
fn a_long_log_is_emptied() {
    let home = Home::new();
    let engine = brief(&home);
    // Numbers that do not compress to less than the limit.
    let long = (0..400_000u32).map(|n| format!("{:08x}", n.wrapping_mul(2_654_435_761))).collect::<String>();
    append(&engine, "s", vec![said("1", Role::User, &long)]);
    drop(engine);
    assert_eq!(log(&home), 0);
}

#[test]
fn erased_content_is_not_in_a_log_that_was_left() {
    let home = Home::new();
    append(&brief(&home), "s", vec![said("1", Role::User, "the word is xylophone")]);
    let holds = |name: &str| {
        let bytes = std::fs::read(home.path(name)).unwrap_or_default();
        bytes.windows(9).any(|window| window == b"xylophone")
    };
    assert!(holds("ledger.db-wal"));
    block_on(brief(&home).session_by_id(crate::scene::stream("s")).erase(Seq(2), Seq(2), None)).unwrap();
    assert!(!holds("ledger.db-wal") && !holds("ledger.db"));
}

/// Returns messages of which some are long enough to be stored apart, with a secret in one of them.
fn messages(count: usize) -> Vec<NewEvent> {
    let message = |n: usize| match n % 3 {
        0 => said(&n.to_string(), Role::User, &format!("question {n} about the parser")),
        1 => {
            said(&n.to_string(), Role::Assistant, &format!("answer{n} {}", "with the parser ".repeat(n % 90)))
        }
        _ => result(
            &n.to_string(),
            "c",
            &format!("token ghp_{} line{n} ", "a1B2c3D4e5".repeat(4)).repeat(n % 40),
        ),
    };
    (0..count).map(message).collect()
}

#[test]
fn what_waits_is_scanned_with_the_answer_of_the_index() {
    let home = Home::new();
    let engine = home.engine();
    append(&engine, "s", messages(1_500));
    block_on(engine.maintenance().catch_up(&mut |_| {})).unwrap();
    append(&engine, "t", messages(1_500));
    let ask = |query: &str, order| -> (Vec<SearchHit>, u64) {
        let options = SearchOptions { order, limit: 40, ..SearchOptions::default() };
        let found = block_on(engine.recall().search(query, &options)).unwrap();
        (found.hits, found.scanned)
    };
    let queries = ["parser", "answer1000", "line500 token", "\"about the parser\"", "a1b2c3d4e5"];
    let asked = |waiting: u64| -> Vec<Vec<SearchHit>> {
        let orders = [SearchOrder::Ranked, SearchOrder::Newest];
        let all = queries.iter().flat_map(|query| orders.map(|order| ask(query, order)));
        all.map(|(hits, scanned)| {
            assert_eq!(scanned, waiting);
            hits
        })
        .collect()
    };
    let scanned = asked(1_500);
    assert_eq!(
        block_on(session(&engine, "t").info()).unwrap().reach(DerivedTable::Words),
        Seq(0),
        "no answer waits for the index"
    );
    block_on(engine.maintenance().catch_up(&mut |_| {})).unwrap();
    assert_eq!(scanned, asked(0));
    assert!(scanned[0].len() == 40 && scanned[4].iter().any(|hit| hit.session.as_str() == "t"));
}

#[test]
fn brief_work_is_done_and_more_than_a_scan_takes_is_indexed_first() {
    let home = Home::new();
    let engine = home.engine();
    append(&engine, "s", messages(600));
    block_on(engine.maintenance().catch_up_briefly()).unwrap();
    let indexed = |id| block_on(session(&engine, id).info()).unwrap().reach(DerivedTable::Words);
    assert!(indexed("s") > Seq(0));
    append(&engine, "t", messages(4_200));
    block_on(engine.recall().search("parser", &SearchOptions::default())).unwrap();
    assert!(indexed("t") > Seq(0), "a search does not scan everything for ever");
    let reader = block_on(Engine::open_with(home.db(), Access::Read, config())).unwrap();
    block_on(reader.maintenance().catch_up_briefly()).unwrap();
}
