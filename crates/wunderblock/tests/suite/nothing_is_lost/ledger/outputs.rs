//! Texts that are kept as bytes are found like any other: outputs of more than 8 MiB, outputs that are not UTF-8, and
//! records that are too long to be parsed.

use crate::scene::*;
use futures_executor::block_on;
use std::ops::ControlFlow;
use std::time::Duration;
use wunderblock::store::EventFilter;
use wunderblock::store::sqlite::Access;
use wunderblock::{
    Address, Along, Config, Deadline, Engine, GrepOptions, Match, Output, SearchCut, SearchHit,
    SearchOptions, SearchOrder, Slice, TextFound,
};
use wunderblock::{MAX_LINE, MAX_MESSAGE_OUTPUT};
use wunderblock_core::id::TenantId;
use wunderblock_core::message::Role;
use wunderblock_core::units::Seq;

/// Keeps an output under a call's name, which is also the end of the name of its session if it is kept as bytes.
fn keep(engine: &Engine, call: &str, bytes: &[u8]) {
    let session = block_on(Output::session_for(engine, None, None)).unwrap();
    let output = Output { bytes, tool: "run", input: "{}", failed: false, call: Some(call) };
    block_on(output.keep(&session)).unwrap();
}

/// Returns lines of a total length, of which one holds a text at a given offset, or as near before it as a line allows.
fn lines(len: usize, text: &str, at: usize) -> Vec<u8> {
    let filler = b"nothing to see in this line\n";
    let mut out: Vec<u8> = filler.iter().copied().cycle().take(at / filler.len() * filler.len()).collect();
    out.extend_from_slice(text.as_bytes());
    out.push(b'\n');
    let left = len.saturating_sub(out.len());
    out.extend(filler.iter().cycle().take(left));
    out
}

fn grep(engine: &Engine, pattern: &str, options: &GrepOptions) -> Vec<Match> {
    let mut found = Vec::new();
    let mut keep = |one: Match| {
        found.push(one);
        ControlFlow::Continue(())
    };
    assert_eq!(block_on(engine.recall().grep(pattern, options, &mut keep)).unwrap(), None);
    found
}

fn search(engine: &Engine, query: &str, options: &SearchOptions) -> Vec<SearchHit> {
    let found = block_on(engine.recall().search(query, options)).unwrap();
    assert_eq!(found.cut, None);
    found.hits
}

/// Returns what `read` gives for an address.
fn read_at(engine: &Engine, address: &str) -> String {
    let (address, slice) = block_on(Address::find(engine, address)).unwrap();
    String::from_utf8_lossy(&block_on(engine.recall().read(address, &slice)).unwrap().bytes).into_owned()
}

#[test]
fn an_output_of_any_length_is_found_and_its_place_can_be_read() {
    let home = Home::new();
    let engine = home.engine();
    let most = MAX_MESSAGE_OUTPUT;
    let window = 1 << 20;
    // The text at the end of a message, in the first output of bytes, across two windows, and at the end of the text.
    for (call, len, text, at) in [
        ("a", most, "alpha kestrel", 5_000_000),
        ("b", most + 1, "beta kestrel", 5_000_000),
        ("c", most + 1, "gamma kestrel", window - 6),
        ("d", 0, "delta kestrel", most + 99),
    ] {
        let mut bytes = lines(len, text, at);
        if call == "d" {
            bytes.pop();
        }
        keep(&engine, call, &bytes);
    }
    for (word, id) in
        [("alpha", "outputs"), ("beta", "outputs-b"), ("gamma", "outputs-c"), ("delta", "outputs-d")]
    {
        let text = format!("{word} kestrel");
        let found = grep(&engine, &text, &GrepOptions::default());
        let [one] = found.as_slice() else { panic!("{text}: {} lines", found.len()) };
        assert_eq!((one.session.as_str(), one.seq, one.role, &*one.text), (id, Seq(3), Role::Tool, &*text));
        assert_eq!(&one.text[one.found.clone()], text);
        assert_eq!(one.place.is_some(), id != "outputs");
        let hits = search(&engine, &format!("+{word} kestrel"), &SearchOptions::default());
        let [hit] = hits.as_slice() else { panic!("{text}: {} hits", hits.len()) };
        assert_eq!((hit.session.as_str(), hit.seq), (id, Seq(3)));
        assert!(hit.snippet.contains(&text), "{}", hit.snippet);
        if let Some(place) = one.place {
            assert_eq!((read_at(&engine, &place.to_string()), hit.place), (text, Some(place)));
            let line = Slice::Lines(one.line, one.line);
            let whole = Address { handle: place.handle, range: None };
            assert_eq!(
                block_on(engine.recall().read(whole, &line)).unwrap().bytes.trim_ascii_end(),
                one.text.as_bytes()
            );
        }
    }
    assert_eq!(grep(&engine, "kestrel", &GrepOptions::default()).len(), 4);
    assert_eq!(search(&engine, "kestrel", &SearchOptions::default()).len(), 4);
    let newest = SearchOptions { order: SearchOrder::Newest, ..SearchOptions::default() };
    assert_eq!(search(&engine, "kestrel -beta", &newest).len(), 3);
    assert_eq!(search(&engine, "\"gamma kestrel\"", &SearchOptions::default()).len(), 1);
    assert_eq!(search(&engine, "\"kestrel gamma\"", &SearchOptions::default()).len(), 0);
    catch_up(&engine);
    assert_eq!(search(&engine, "kestrel", &SearchOptions::default()).len(), 4, "also once all is indexed");
}

#[test]
fn bytes_are_searched_by_the_rules_of_texts() {
    let home = Home::new();
    let engine = home.engine();
    let key = "ghp_0123456789abcdefghijABCDEFGHIJ456789";
    let text = format!("r\u{e9}sum\u{e9} Kestrel\r\none \u{e9}\r\ntwo {key} osprey\r\n");
    // Windows-1252, so that it is kept as bytes although it is short.
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    keep(&engine, "a", &latin);
    let found = |pattern: &str, options: GrepOptions| -> Vec<(u64, String)> {
        grep(&engine, pattern, &options).into_iter().map(|one| (one.line, one.text)).collect()
    };
    let all = GrepOptions::default;
    assert_eq!(found("Kestrel", all()), [(1, "r\u{fffd}sum\u{fffd} Kestrel\r".to_owned())]);
    assert_eq!(found("kestrel", all()), []);
    assert_eq!(found("kestrel", GrepOptions { ignore_case: true, ..all() }).len(), 1);
    let regex = || GrepOptions { regex: true, ..all() };
    assert_eq!(found(r"(?-u)Kestrel\r\none.*\r\n^two", regex())[0].0, 1);
    assert_eq!(found(r"^one", regex())[0].0, 2);
    assert_eq!(found(key, all())[0].1, format!("two {key} osprey\r"));
    let masked = found("osprey", GrepOptions { masked: true, ..all() });
    assert!(masked[0].1.starts_with("two *") && masked[0].1.ends_with("* osprey\r"), "{masked:?}");
    let around = grep(&engine, "osprey", &GrepOptions { context: 1, masked: true, ..all() });
    assert_eq!((around[0].before.len(), around[0].after.len()), (1, 0));
    let hits = search(&engine, "osprey", &SearchOptions::default());
    assert!(
        hits[0].snippet.contains("osprey") && !hits[0].snippet.contains(&key[4..]),
        "{}",
        hits[0].snippet
    );
    assert!(
        search(&engine, key, &SearchOptions::default()).iter().all(|hit| hit.place.is_none()),
        "no secret is found"
    );
    // The filters are those of the message in place of the bytes.
    let of =
        |role, tool: Option<&str>| EventFilter { role, tool: tool.map(Into::into), ..EventFilter::default() };
    for (events, count) in
        [(of(Some(Role::Tool), Some("run")), 1), (of(Some(Role::User), None), 0), (of(None, Some("Bash")), 0)]
    {
        assert_eq!(found("osprey", GrepOptions { events: events.clone(), ..all() }).len(), count);
        let options = SearchOptions { events, ..SearchOptions::default() };
        assert_eq!(search(&engine, "osprey", &options).len(), count);
    }
    for (id, count) in [("outputs-a", 1), ("other", 0)] {
        append(&engine, "other", vec![said(id, Role::User, "nothing")]);
        assert_eq!(found("osprey", GrepOptions { session: Some(stream(id)), ..all() }).len(), count);
        let options = SearchOptions { session: Some(stream(id)), ..SearchOptions::default() };
        assert_eq!(search(&engine, "osprey", &options).len(), count);
    }
    assert_eq!(found("osprey", GrepOptions { messages_only: true, ..all() }).len(), 0);
    let other = {
        let config = Config { tenant: TenantId::new("other").unwrap(), ..config() };
        block_on(Engine::open_with(home.db(), Access::Create, config)).unwrap()
    };
    assert!(grep(&other, "osprey", &all()).is_empty());
    assert!(search(&other, "osprey", &SearchOptions::default()).is_empty());
}

#[test]
fn a_search_in_bytes_ends_at_its_deadline() {
    let home = Home::new();
    let engine = home.engine();
    keep(&engine, "a", &lines(MAX_MESSAGE_OUTPUT + 1, "kestrel", 9));
    catch_up(&engine);
    let late = Deadline::after(Duration::ZERO);
    let options = SearchOptions { deadline: late, ..SearchOptions::default() };
    assert_eq!(block_on(engine.recall().search("kestrel", &options)).unwrap().cut, Some(SearchCut::Scanning));
    // The search stops in the middle of a text: here, as soon as it has a match.
    let (flag, mut count) = (std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)), 0);
    let seen = flag.clone();
    let deadline = Deadline::default().or_when(move || seen.load(std::sync::atomic::Ordering::Relaxed));
    let mut found = |_| {
        count += 1;
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let options = GrepOptions { deadline, ..GrepOptions::default() };
    let stopped = block_on(engine.recall().grep("nothing to see", &options, &mut found)).unwrap().unwrap();
    assert_eq!((count, stopped.session.as_str()), (1, "outputs-a"));
}

#[test]
fn erased_bytes_are_not_found() {
    let home = Home::new();
    let engine = home.engine();
    let text = [&b"\xff osprey here\n"[..], &lines(MAX_MESSAGE_OUTPUT, "kestrel", 1 << 20)].concat();
    keep(&engine, "a", &text);
    keep(&engine, "b", &[b"b ", &*text].concat());
    let count = |word: &str| {
        let lines = grep(&engine, word, &GrepOptions::default()).len();
        assert_eq!(search(&engine, word, &SearchOptions::default()).len(), lines);
        let found = block_on(TextFound::of(&engine, word, &mut |_| {})).unwrap();
        assert_eq!(found.originals.len(), lines);
        lines
    };
    assert_eq!((count("osprey"), count("kestrel")), (2, 2));
    let found = block_on(TextFound::of(&engine, "osprey", &mut |_| {})).unwrap();
    block_on(found.erase(&engine, None)).unwrap();
    assert_eq!((count("osprey"), count("kestrel")), (0, 2));
    block_on(session(&engine, "outputs-a").erase_all(None, Along::default())).unwrap();
    assert_eq!(count("kestrel"), 1);
    block_on(session(&engine, "outputs-b").erase(Seq(3), Seq(3), None)).unwrap();
    assert_eq!(count("kestrel"), 0);
    assert!(problems(&engine).is_empty());
}

#[test]
fn a_record_that_is_too_long_to_be_parsed_is_found() {
    let home = Home::new();
    let engine = home.engine();
    let line = |id: &str, text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{id}\",\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    let long = format!("{} kestrel {}", "x".repeat(MAX_LINE / 2), "y ".repeat(MAX_LINE / 4));
    let path = home.file("one.jsonl", [line("a", "before"), line("b", &long), line("c", "after")].concat());
    import(&engine, &path);
    for _ in 0..2 {
        let found = grep(&engine, "kestrel", &GrepOptions::default());
        let [one] = found.as_slice() else { panic!("{} lines", found.len()) };
        assert_eq!(&one.text[one.found.clone()], "kestrel");
        assert!(read_at(&engine, &one.place.unwrap().to_string()).contains(" kestrel "));
        let hits = search(&engine, "kestrel", &SearchOptions::default());
        assert_eq!((hits.len(), hits[0].seq), (1, one.seq));
        assert!(hits[0].snippet.contains("kestrel") && hits[0].place.is_some());
        catch_up(&engine);
    }
}
