//! Tests without any feature: a lane in memory, and an engine on a caller's store.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::unwrap_used)]

use std::sync::Arc;
use wunderblock::in_memory::MemoryLane;
use wunderblock::prelude::*;
use wunderblock::{SearchOptions, StateProvider, block_on};
use wunderblock_testkit::memory::MemoryStorage;

fn small_window() -> ContextOptions {
    let reserve = Some(Tokens(1_000));
    ContextOptions { window: Some(Tokens(8_000)), reserve, ..ContextOptions::default() }
}

/// Returns a source file of 120 functions.
fn source(turn: usize) -> String {
    (0..120)
        .map(|n| format!("pub fn f{turn}_{n}() -> usize {{\n    let n = {n};\n    n + {turn}\n}}\n\n"))
        .collect()
}

#[test]
fn a_lane_in_memory_stays_within_its_window() {
    let mut lane = MemoryLane::new(Config::default(), StreamId::new("smallest").unwrap()).unwrap();
    let (mut compacted, mut left_out) = (false, Vec::new());
    for turn in 0..12 {
        let call = format!("call-{turn}");
        lane.append(vec![
            Message::user(format!("Read part {turn} of the library.")),
            Message::tool_call(call.clone(), "read", format!(r#"{{"path":"src/part{turn}.rs"}}"#)),
            Message::tool_result(call, source(turn)),
            Message::assistant(format!("Part {turn} has 120 functions.")),
        ])
        .unwrap();
        let built = lane.context(small_window()).unwrap();
        let report = &built.draft.report;
        assert!(report.total_tokens <= report.limit, "turn {turn}");
        assert!(!built.draft.body.is_empty());
        compacted |= built.compacted.is_some();
        let text = String::from_utf8_lossy(&built.draft.body).into_owned();
        left_out.extend(
            // Marks have only the first digits of a handle, whereas stubs have all of them.
            text.match_indices("wb:")
                .filter_map(|(at, _)| text.get(at..at + 11)?.parse::<HandlePrefix>().ok()),
        );
    }
    assert!(compacted, "a session of this length must have been compacted");
    let known: Vec<&str> = left_out.into_iter().filter_map(|handle| lane.read(handle)).collect();
    assert!(
        (0..12).any(|turn| known.contains(&&*source(turn))),
        "what was left out is read by its handle: {known:?}"
    );
}

#[test]
fn an_engine_works_on_a_store_of_the_callers() {
    block_on(async {
        let store = Arc::new(MemoryStorage::new());
        let engine = Engine::on(store, true, Config::default()).await.unwrap();
        let session = engine.session("smallest").await.unwrap();
        session.append(Message::user("The port of staging is 8080.")).await.unwrap();
        let built = session.context(small_window()).await.unwrap();
        let again = session.replay(built.recorded).await.unwrap();
        assert!(again.body == built.draft.body);
        let found = engine.recall().search("staging", &SearchOptions::default()).await.unwrap();
        assert_eq!(found.hits.len(), 1);
        session.erase_all(None, wunderblock::Along::default()).await.unwrap();
        assert!(engine.recall().search("staging", &SearchOptions::default()).await.unwrap().hits.is_empty());
        assert!(engine.ledger().doctor(&mut |_| {}).await.unwrap().problems.is_empty());
    });
}

/// A program that cannot run is an error, not a silent omission.
#[test]
fn a_program_runs_or_says_why_not() {
    let said =
        StateProvider::command("branch", vec!["echo".into(), "main".into()], std::env::temp_dir()).ask();
    match cfg!(all(feature = "processes", unix)) {
        true => assert_eq!(said.unwrap(), "main"),
        false => assert!(said.unwrap_err().contains("feature `processes`")),
    }
}
