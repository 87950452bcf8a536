//! Limits of questions: of their size, and of the time that they take.

use crate::scene::*;
use futures_executor::block_on;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use wunderblock::summary_graph::Expand;
use wunderblock::{
    Address, ContextOptions, Deadline, Engine, Error, Found, GrepOptions, GrepStop, Match, SearchCut,
    SearchOptions, Turns,
};
use wunderblock_core::message::Role;
use wunderblock_core::units::Seq;

fn filled(home: &Home, count: usize, text: &str) -> Engine {
    let engine = home.engine();
    append(
        &engine,
        "s",
        (0..count).map(|n| said(&n.to_string(), Role::User, &format!("{text} {n}"))).collect(),
    );
    engine
}

#[test]
fn a_query_is_limited_in_bytes_and_words() {
    let home = Home::new();
    let engine = filled(&home, 3, "alpha beta");
    let options = SearchOptions::default();
    let long = [
        format!("\"{}\"", "alpha beta ".repeat(500)),
        "alpha ".repeat(600),
        format!("\"{}\"", "a b ".repeat(300)),
        "x".repeat(5_000),
    ];
    for query in &long {
        let error = block_on(engine.recall().search(query, &options)).unwrap_err();
        assert!(matches!(&error, Error::Query(why) if why.contains("at most")), "{error}");
    }
    let found = block_on(engine.recall().search(&"alpha ".repeat(400), &options)).unwrap();
    assert_eq!(found.hits.len(), 3);
    // A prompt is a query of any length.
    let free = SearchOptions { free_text: true, ..SearchOptions::default() };
    let prompt = format!(
        "{} {} alpha",
        "y".repeat(1 << 20),
        (0..20_000).map(|n| format!("a-b{} ", n % 7)).collect::<String>()
    );
    assert!(block_on(engine.recall().search(&prompt, &free)).is_ok());
}

#[test]
fn a_pattern_is_limited_in_its_compiled_size() {
    let home = Home::new();
    let engine = filled(&home, 3, "alpha");
    let regex = GrepOptions { regex: true, ..GrepOptions::default() };
    let mut none = |_| ControlFlow::Continue(());
    let error = block_on(engine.recall().grep("(?:a{1,100}){1,100}b", &regex, &mut none)).unwrap_err();
    assert!(matches!(error, Error::Pattern(_)) && error.hint().is_some(), "{error}");
}

#[test]
fn a_search_that_is_given_up_says_where() {
    let home = Home::new();
    let engine = filled(&home, 2_000, &"lorem ipsum ".repeat(60));
    let all = |deadline| GrepOptions { deadline, ..GrepOptions::default() };
    let mut none = |_| ControlFlow::Continue(());
    assert_eq!(
        block_on(engine.recall().grep("dolor", &all(Deadline::after(Duration::from_secs(600))), &mut none))
            .unwrap(),
        None
    );
    let stopped =
        block_on(engine.recall().grep("dolor", &all(Deadline::after(Duration::ZERO)), &mut none)).unwrap();
    assert_eq!(stopped, Some(GrepStop { session: stream("s"), seq: Seq(2_001) }), "nothing was searched");
    let searched = SearchOptions { deadline: Deadline::after(Duration::ZERO), ..SearchOptions::default() };
    assert_eq!(block_on(engine.recall().search("lorem", &searched)).unwrap().cut, Some(SearchCut::Scanning));
    assert_eq!(block_on(engine.recall().search("lorem", &SearchOptions::default())).unwrap().cut, None);
    // A cancelled call stops between two matches and between two texts.
    let flag = Arc::new(AtomicBool::new(false));
    let (asked, mut count) = (Arc::clone(&flag), 0);
    let deadline = Deadline::default().or_when(move || asked.load(Ordering::Relaxed));
    let mut found = |_| {
        count += 1;
        flag.fetch_or(count == 300, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let stopped = block_on(engine.recall().grep("lorem", &all(deadline), &mut found)).unwrap().unwrap();
    assert!(count == 300 && stopped.seq > Seq(1), "{count} {stopped:?}");
}

#[test]
fn an_expansion_and_a_placement_that_are_given_up_say_so() {
    let home = Home::new();
    let engine = filled(&home, 200, &"lorem ipsum ".repeat(60));
    let session = engine.session_by_id(stream("s"));
    let handle = block_on(session.info()).unwrap().handle;
    let address = Address { handle, range: None };
    let expanded = |deadline| {
        let wanted = Expand { query: Some("lorem".to_owned()), deadline, ..Expand::default() };
        block_on(engine.recall().expand(address, &wanted)).unwrap()
    };
    let (whole, stopped) = (expanded(Deadline::default()), expanded(Deadline::after(Duration::ZERO)));
    assert!(whole.matches == Some(200) && !whole.text.contains("given up"), "{}", whole.text);
    assert!(stopped.text.contains("the search was given up at #201"), "{}", stopped.text);
    let options = ContextOptions::default();
    let built = block_on(session.explain(&options)).unwrap();
    let found = |deadline| block_on(Found::of(&session, &options, &built.draft, "dolor", deadline)).unwrap();
    let (never, passed) = (Deadline::default(), Deadline::after(Duration::ZERO));
    assert!(!found(&never).more);
    assert!(found(&passed).more);
}

#[test]
fn searches_in_turns_find_what_one_alone_finds() {
    let home = Home::new();
    let engine = filled(&home, 2_000, &"lorem ipsum ".repeat(60));
    let turns = Turns::new(1);
    let find = |deadline| {
        let (mut seqs, options) = (Vec::new(), GrepOptions { deadline, ..GrepOptions::default() });
        let mut found = |hit: Match| {
            seqs.push(hit.seq);
            ControlFlow::Continue(())
        };
        block_on(engine.recall().grep("ipsum  1", &options, &mut found)).unwrap();
        seqs
    };
    let alone = find(Deadline::default());
    assert_eq!(alone.len(), 1_111);
    std::thread::scope(|scope| {
        let others: Vec<_> =
            (0..6).map(|_| scope.spawn(|| find(Deadline::default().in_turns(&turns)))).collect();
        for other in others {
            assert!(other.join().unwrap() == alone);
        }
    });
}

/// One text is searched in slices, so that its length does not matter.
#[test]
fn the_deadline_holds_within_one_text() {
    let home = Home::new();
    let engine = home.engine();
    append(&engine, "s", vec![said("1", Role::User, &"ab ".repeat(2 << 20))]);
    let asked = AtomicUsize::new(0);
    let deadline = Deadline::default().or_when(move || asked.fetch_add(1, Ordering::Relaxed) > 9);
    let options = GrepOptions { regex: true, deadline, ..GrepOptions::default() };
    let stopped =
        block_on(engine.recall().grep("(?-u)a[^c]{5}c", &options, &mut |_| ControlFlow::Continue(())))
            .unwrap();
    assert_eq!(stopped, Some(GrepStop { session: stream("s"), seq: Seq(2) }));
}

#[test]
fn a_phrase_of_common_words_is_sought_in_a_limited_number_of_messages() {
    let home = Home::new();
    let engine = filled(&home, 8_300, "beta alpha");
    let found = block_on(engine.recall().search("\"alpha beta\"", &SearchOptions::default())).unwrap();
    assert_eq!((found.hits.len(), found.cut), (0, Some(SearchCut::Candidates(8_192))));
    append(&engine, "s", vec![said("x", Role::User, "alpha beta gamma")]);
    let found = block_on(engine.recall().search("\"alpha beta\" gamma", &SearchOptions::default())).unwrap();
    assert_eq!(found.hits.len(), 1);
}
