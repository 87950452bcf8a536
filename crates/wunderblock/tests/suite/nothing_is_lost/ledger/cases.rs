//! Conformance cases C-14 to C-16, C-37, C-38 and C-40 of the ledger. Locations of the other cases:
//!
//! | case | tests |
//! |---|---|
//! | C-10 to C-13 | `core/tests/promises/cases.rs` |
//! | C-14, C-15 | `care::an_id_identifies_one_event`, here |
//! | C-28 | `care::words_of_any_kind_are_found`, `care::the_oldest_of_many_is_found` |
//! | C-33 | `care::large_texts_are_read_in_parts_that_make_the_whole` |
//! | C-35 | `core/tests/promises/fence.rs`, `cases::text_that_comes_back_cannot_close_its_own_fence` |
//! | C-38 | `testkit::conformance::reading`, here |
//! | C-43 | `trips::a_build_takes_four_round_trips_however_long_the_session`, `xtask bench` |

use crate::scene::*;
use futures_executor::block_on;
use wunderblock::Error;
use wunderblock::store::StoreError;
use wunderblock_core::event::{Fact, SessionClosed};
use wunderblock_core::message::Role;

/// C-14, C-15: an event is stored once, however often it is sent and whatever other events are sent with it. Equal
/// words under different ids are different events.
#[test]
fn an_event_sent_again_is_there_once() {
    let home = Home::new();
    let texts = ["yes", "yes", "no", "漢字", ""];
    let all = || texts.iter().zip(1..).map(|(text, id)| said(&format!("{id}"), Role::User, text));
    for round in 0..3 {
        // Each round represents a separate process.
        let engine = home.engine();
        let placed = block_on(engine.session_by_id(stream("s")).append(all().collect::<Vec<_>>())).unwrap();
        assert_eq!(placed.iter().map(|one| one.seq.0).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
        assert!(placed.iter().all(|one| one.duplicate == (round > 0)), "round {round}");
        for event in all().collect::<Vec<_>>().into_iter().rev() {
            assert!(block_on(engine.session_by_id(stream("s")).append(vec![event])).unwrap()[0].duplicate);
        }
        assert_eq!(events(&session(&engine, "s")).len(), 6);
    }
}

/// C-16: a redacted variant under the id of the raw event is not a second event, and does not replace the first.
#[test]
fn a_redacted_variant_is_not_a_second_event() {
    let home = Home::new();
    let engine = home.engine();
    let secret = ["ghp", "_", "Zk3VbQ8mXr5TnW1y", "Lc7PdG2sJf9HaUe4RoKi"].concat();
    let raw = format!("the token is {secret}");
    for (first, then) in [(raw.clone(), "the token is [redacted]".to_owned()), ("[redacted]".to_owned(), raw)]
    {
        let name = format!("s{}", first.len());
        append(&engine, &name, vec![said("1", Role::User, &first)]);
        let error = block_on(engine.session_by_id(stream(&name)).append(vec![said("1", Role::User, &then)]))
            .unwrap_err();
        assert!(matches!(error, Error::Store(StoreError::Conflict { .. })), "{error}");
        assert_eq!(transcript(&session(&engine, &name)), [format!("user: {first}")]);
    }
}

/// C-37: a new session begins empty and leaves the old one whole. Neither closing nor restarting resets a session.
#[test]
fn a_new_session_begins_empty_and_a_restart_continues_the_old_one() {
    let home = Home::new();
    let told = |id: &str| transcript(&session(&home.engine(), id));
    append(&home.engine(), "first", vec![said("1", Role::User, "one"), said("2", Role::Assistant, "two")]);
    let closed = event("bye", Fact::SessionClosed(SessionClosed { reason: Some("/new".into()) }));
    append(&home.engine(), "first", vec![closed]);
    append(&home.engine(), "second", vec![said("1", Role::User, "another")]);
    assert_eq!(told("first"), ["user: one", "assistant: two"]);
    assert_eq!(told("second"), ["user: another"]);
    let body = built(&session(&home.engine(), "second"), &window(8_000)).draft.body;
    assert!(!String::from_utf8(body).unwrap().contains("two"));
    assert_eq!(
        append(&home.engine(), "first", vec![said("3", Role::User, "three")]),
        [5],
        "it goes on where it was"
    );
    let body = built(&session(&home.engine(), "first"), &window(8_000)).draft.body;
    let body = String::from_utf8(body).unwrap();
    assert!(["one", "two", "three"].iter().all(|word| body.contains(word)), "{body}");
}

/// C-38: a branch sees its parent up to the fork. Neither the branch nor its parent sees what the other writes later.
#[test]
fn a_branch_and_its_parent_do_not_leak() {
    let home = Home::new();
    let record = |id: &str, parent: &str, text: &str| {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{id}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    let lines = [record("1", "", "shared"), record("2", "1", "the parent"), record("3", "1", "the branch")];
    let engine = home.engine();
    import(&engine, &home.file("s.jsonl", lines.concat()));
    append(&engine, "s~2", vec![said("live", Role::User, "later in the branch")]);
    assert_eq!(transcript(&session(&engine, "s~1")), ["user: shared", "user: the parent"]);
    let branch = ["user: shared", "user: the branch", "user: later in the branch"];
    assert_eq!(transcript(&session(&engine, "s~2")), branch);
    block_on(engine.session_by_id(stream("s")).append(vec![said("live", Role::User, "later in the parent")]))
        .unwrap();
    assert_eq!(transcript(&session(&engine, "s~2")), branch);
    for (name, other) in [("s~1", "branch"), ("s~2", "parent")] {
        let body = String::from_utf8(built(&session(&engine, name), &window(8_000)).draft.body).unwrap();
        assert!(body.contains("shared") && !body.contains(other), "{name}: {body}");
    }
}

/// C-40: opening an existing ledger does not change a single byte of it.
#[test]
fn opening_a_ledger_again_changes_nothing() {
    let home = Home::new();
    append(&home.engine(), "s", vec![said("1", Role::User, "hello")]);
    catch_up(&home.engine());
    let before = std::fs::read(home.db()).unwrap();
    for _ in 0..3 {
        let engine = home.engine();
        assert_eq!(transcript(&session(&engine, "s")), ["user: hello"]);
        drop(engine);
        assert!(std::fs::read(home.db()).unwrap() == before);
    }
}
