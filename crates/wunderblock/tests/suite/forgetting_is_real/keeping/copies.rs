//! Copies of a text in requests and summaries of other sessions are erased with it.

use crate::compacts_without_losing::compaction::scene::{by_hand, preset, with, written};
use crate::nothing_is_lost::ledger::care::{gone_from, is_in};
use crate::scene::{Home, append, catch_up, event, exported, problems, said, session, window};
use futures_executor::block_on;
use wunderblock::{Built, CompactOptions, CompactionResult, ContextOptions, Engine};
use wunderblock_core::event::{Fact, SessionOpened};
use wunderblock_core::id::Scope;
use wunderblock_core::message::Role;
use wunderblock_core::units::Seq;

const ERASED: &str = "Saatkraehe4711";
const KEPT: &str = "Turmfalke4712";
const ASKS: &str = "Why do the kestrel valves of the greenhouse stall at noon?";

fn fact(mark: &str) -> String {
    format!("The kestrel valves of the greenhouse stall at noon, because pump {mark} overheats.")
}

/// Opens a session of the project, and says something in it.
fn open(engine: &Engine, id: &str, said_in_it: &[(Role, &str)]) {
    let scope = Scope { project: Some("garden".to_owned()), ..Scope::default() };
    let opened = Fact::SessionOpened(SessionOpened { scope, ..SessionOpened::default() });
    let texts = said_in_it.iter().enumerate();
    let texts = texts.map(|(at, (role, text))| said(&format!("{id}-{at}"), *role, text));
    append(engine, id, std::iter::once(event(&format!("{id}-open"), opened)).chain(texts).collect());
}

fn ask(engine: &Engine, id: &str, prompt: &str) -> Built {
    append(engine, id, vec![said(&format!("{id}-asks"), Role::User, prompt)]);
    let options = ContextOptions { recall: true, ..window(24_000) };
    block_on(session(engine, id).context(options)).unwrap()
}

fn says(built: &Built, words: &str) -> bool {
    String::from_utf8_lossy(&built.draft.body).contains(words)
}

#[test]
fn recalled_copies_and_summaries_of_them_go_with_their_text() {
    let home = Home::new();
    std::fs::create_dir(home.path("ledger")).unwrap();
    let engine = crate::scene::open(&home.path("ledger/ledger.db"));
    open(&engine, "past", &[(Role::User, "What is it?"), (Role::Assistant, &fact(ERASED))]);
    open(&engine, "asking", &[(Role::User, "Begin."), (Role::Assistant, "I begin.")]);
    assert!(says(&ask(&engine, "asking", ASKS), ERASED), "recalled without being asked for");
    open(&engine, "twin", &[(Role::User, "What is it?"), (Role::Assistant, &fact(KEPT))]);
    open(&engine, "beside", &[(Role::User, "Begin."), (Role::Assistant, "I begin.")]);
    assert!(says(&ask(&engine, "beside", &format!("{ASKS} Is it pump {KEPT}?")), KEPT));
    // A summary of the session with the copy repeats it.
    for number in 0..40 {
        let more = format!("Bed {number} has clay, and its gate {number} is shut. ").repeat(20);
        append(&engine, "asking", vec![said(&format!("r{number}"), Role::Assistant, &more)]);
        append(&engine, "asking", vec![said(&format!("u{number}"), Role::User, "Go on.")]);
    }
    let policy = preset("balanced");
    let text = format!(
        "## Goal\n- {ASKS} (#4)\n## Decisions\n–\n## Files\n–\n## Commands\n–\n## Errors and fixes\n–\n\
         ## Findings\n- The pump {ERASED} overheats. (#5)\n## State\n- The gates of the beds are shut. (#7)\n"
    );
    let compactor = with(&policy, move |_| written(text.clone()));
    let options = CompactOptions { compactor, ..by_hand(&policy, 16_000) };
    let done = block_on(session(&engine, "asking").compact(&options)).unwrap();
    assert_eq!(done.outcome, CompactionResult::Compacted);
    catch_up(&engine);
    let all = exported(&session(&engine, "asking"));
    let lines = all.lines().filter(|line| line.contains(ERASED) || line.contains("session.compacted"));
    assert!(all.matches(ERASED).count() > 1, "the copy and the summary: {:?}", lines.collect::<Vec<_>>());
    block_on(session(&engine, "past").erase(Seq(3), Seq(3), None)).unwrap();
    assert!(!exported(&session(&engine, "asking")).contains(ERASED));
    drop(engine);
    gone_from(&home.path("ledger"), ERASED);
    assert!(is_in(&home.path("ledger"), KEPT), "a control: the twin stays");
    let engine = crate::scene::open(&home.path("ledger/ledger.db"));
    assert!(exported(&session(&engine, "twin")).contains(KEPT));
    assert!(exported(&session(&engine, "beside")).contains(KEPT));
    assert!(exported(&session(&engine, "asking")).contains("its gate 39 is shut"));
    assert_eq!(problems(&engine), [""; 0]);
}
