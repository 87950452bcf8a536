//! Searching, reading, erasing, examining, copying.

use crate::scene::*;
use futures_executor::block_on;
use rusqlite::Connection;
use std::ops::ControlFlow;
use std::path::Path;
use wunderblock::store::sqlite::Access;
use wunderblock::store::{DerivedTable, StoreError};
use wunderblock::{Along, Engine, Error, ErrorKind, GrepOptions, Ledger, SearchOptions, SearchOrder, Slice};
use wunderblock_core::event::NewEvent;
use wunderblock_core::message::Role;
use wunderblock_core::units::{Bytes, Seq};

/// C-14, C-15: an event with a known id is either the same event or a conflict. The same words can be different
/// events.
#[test]
fn an_id_identifies_one_event() {
    let home = Home::new();
    let engine = home.engine();
    let first = || vec![said("1", Role::User, "yes"), said("2", Role::User, "yes")];
    assert_eq!(append(&engine, "s", first()), [2, 3], "the same words twice are two events");
    let again = block_on(engine.session_by_id(stream("s")).append(first())).unwrap();
    assert!(again.iter().all(|one| one.duplicate), "the same event twice is one");
    let other = block_on(
        engine
            .session_by_id(stream("s"))
            .append(vec![said("3", Role::User, "new"), said("1", Role::User, "no")]),
    );
    let error = other.unwrap_err();
    assert!(matches!(&error, Error::Store(StoreError::Conflict { seq: Seq(2), .. })), "{error}");
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(transcript(&session(&engine, "s")), ["user: yes", "user: yes"], "all or none");
    // The identity of an event does not depend on whether its body became a blob or its call had a gist.
    let long = || {
        vec![
            said("long", Role::User, &"x".repeat(100_000)),
            call("c", &[("c1", "Bash", r#"{"command":"ls"}"#)]),
        ]
    };
    append(&engine, "s", long());
    assert!(
        block_on(engine.session_by_id(stream("s")).append(long())).unwrap().iter().all(|one| one.duplicate)
    );
    // The caller may supply the opening.
    let opened = || vec![event("mine", wunderblock_core::event::Fact::SessionOpened(Default::default()))];
    assert_eq!(append(&engine, "t", opened()), [1]);
    assert_eq!(append(&engine, "t", opened()), [1]);
}

#[test]
fn what_is_caught_up_in_many_batches_is_done_once() {
    let home = Home::new();
    let engine = home.engine();
    for id in ["a", "b", "c"] {
        let events = (0..900).map(|n| said(&n.to_string(), Role::User, &format!("word{n} in {id}")));
        append(&engine, id, events.collect());
    }
    let mut told = Vec::new();
    block_on(engine.maintenance().catch_up(&mut |progress| told.push((progress.done, progress.total))))
        .unwrap();
    assert!(told.len() > 1, "several batches: {told:?}");
    assert!(told.is_sorted(), "none is done again: {told:?}");
    assert_eq!(told.last(), Some(&(2703, 2703)));
    for id in ["a", "b", "c"] {
        let info = block_on(session(&engine, id).info()).unwrap();
        assert_eq!(
            (info.reach(DerivedTable::Counts), info.reach(DerivedTable::Words)),
            (info.head, info.head)
        );
    }
    let found = block_on(engine.recall().search("word899", &SearchOptions::default())).unwrap();
    assert_eq!((found.hits.len(), found.scanned), (3, 0));
    assert!(block_on(engine.maintenance().doctor(&mut |_| {})).unwrap().problems.is_empty());
}

#[test]
fn sessions_are_found_by_their_beginning() {
    let home = Home::new();
    let engine = home.engine();
    for id in ["alpha-1", "alpha-2", "beta", "beta~1", "gamma~2"] {
        append(&engine, id, vec![said("1", Role::User, id)]);
    }
    for (text, expected) in
        [("beta", "beta"), ("beta~1", "beta~1"), ("gam", "gamma~2"), ("alpha-2", "alpha-2")]
    {
        assert_eq!(session(&engine, text).id().as_str(), expected, "{text}");
    }
    assert!(
        matches!(block_on(engine.find_session("alpha")), Err(Error::Ambiguous { matches, .. }) if matches.len() == 2)
    );
    assert!(matches!(block_on(engine.find_session("delta")), Err(Error::NoSession(_))));
    assert!(block_on(engine.find_session("")).is_err());
    block_on(session(&engine, "beta~1").erase_all(None, Along::default())).unwrap();
    assert_eq!(
        transcript(&session(&engine, "beta")),
        ["user: beta"],
        "a name like a branch's does not make a branch"
    );
}

fn grep(engine: &Engine, pattern: &str, options: &GrepOptions) -> Vec<(String, u64, String)> {
    let mut found = Vec::new();
    let mut note = |one: wunderblock::Match| {
        found.push((one.session.to_string(), one.seq.0, one.text));
        ControlFlow::Continue(())
    };
    block_on(engine.recall().grep(pattern, options, &mut note)).unwrap();
    found
}

fn search(engine: &Engine, query: &str, options: &SearchOptions) -> Vec<u64> {
    block_on(engine.recall().search(query, options)).unwrap().hits.into_iter().map(|hit| hit.seq.0).collect()
}

/// C-28: the search handles scope, phrases, operators as words, CJK, identifiers, and invalid patterns.
#[test]
fn words_of_any_kind_are_found() {
    let home = Home::new();
    let engine = home.engine();
    let texts = [
        "the config-loader module",
        "call parse_header_line(x) there",
        "記憶の層を設計する、長期の記憶",
        "a C++ program, v1.2.3, costs $5",
        "Straße and naïve café",
        "plain words about nothing",
        "two lines\nthe second has NEEDLE in it\nand a third",
    ];
    let all = texts.iter().zip(1..).map(|(text, id)| said(&format!("{id}"), Role::User, text));
    append(&engine, "s", all.collect());
    append(&engine, "other", vec![said("1", Role::User, "the config-loader of another session")]);
    let within = SearchOptions { session: Some(stream("s")), ..SearchOptions::default() };
    let table: [(&str, &[u64]); 9] = [
        ("config-loader", &[2]),
        ("parse_header_line", &[3]),
        ("記憶", &[4]),
        ("設計する", &[4]),
        ("naïve", &[6]),
        ("1.2.3", &[5]),
        ("needle", &[8]),
        ("\"words about\"", &[7]),
        ("\"about words\"", &[]),
    ];
    for indexed in [false, true] {
        if indexed {
            catch_up(&engine);
        }
        for (query, expected) in table {
            let found = search(&engine, query, &within);
            let best = found.get(..expected.len()).unwrap_or(&found);
            assert_eq!(best, expected, "{query}, indexed: {indexed}");
            assert!(!expected.is_empty() || found.is_empty(), "{query}: {found:?}");
        }
        assert_eq!(search(&engine, "config-loader", &SearchOptions::default()).len(), 2);
        for operators in ["OR", "(", "a AND (b", "col:x", "*", "NEAR(a b)", "\"", "-", "'; DROP TABLE"] {
            // Operators of other query languages are plain words here: the search returns a result or a clear error.
            match block_on(engine.recall().search(operators, &within)) {
                Ok(_) => {}
                Err(error) => assert_eq!(error.kind(), ErrorKind::Usage, "{operators}: {error}"),
            }
        }
        assert!(matches!(block_on(engine.recall().search("  ", &within)), Err(Error::Query(_))));
    }
    let plain = GrepOptions::default();
    let found = grep(&engine, "NEEDLE", &plain);
    assert_eq!(found, [("s".to_owned(), 8, "the second has NEEDLE in it".to_owned())]);
    assert_eq!(
        grep(&engine, "config-loader", &GrepOptions { session: Some(stream("s")), ..plain.clone() }).len(),
        1
    );
    assert_eq!(grep(&engine, "needle", &GrepOptions { ignore_case: true, ..plain.clone() }).len(), 1);
    assert_eq!(grep(&engine, "C++", &plain).len(), 1, "signs are taken literally");
    let regex = GrepOptions { regex: true, ..plain.clone() };
    assert_eq!(grep(&engine, r"v\d+\.\d+", &regex).len(), 1);
    let mut never = |_: wunderblock::Match| ControlFlow::Continue(());
    let error = block_on(engine.recall().grep("(unclosed", &regex, &mut never)).unwrap_err();
    assert!(matches!(error, Error::Pattern(_)), "{error}");
    let nowhere = GrepOptions { session: Some(stream("nowhere")), ..plain };
    assert!(matches!(block_on(engine.recall().grep("x", &nowhere, &mut never)), Err(Error::NoSession(_))));
    let nowhere = SearchOptions { session: Some(stream("nowhere")), ..SearchOptions::default() };
    assert!(matches!(block_on(engine.recall().search("x", &nowhere)), Err(Error::NoSession(_))));
}

/// C-28: events beyond the newest ten thousand are found.
#[test]
fn the_oldest_of_many_is_found() {
    let home = Home::new();
    let engine = home.engine();
    let event = |number: u32| {
        let text = if number % 3_000 == 1 { "a rare-needle here" } else { "common words" };
        said(&format!("{number}"), Role::User, text)
    };
    append(&engine, "s", (1..=12_100).map(event).collect());
    let expected = [12_002, 9_002, 6_002, 3_002, 2];
    let seqs =
        |found: Vec<(String, u64, String)>| found.into_iter().map(|(_, seq, _)| seq).collect::<Vec<_>>();
    assert_eq!(seqs(grep(&engine, "rare-needle", &GrepOptions::default())), expected, "newest first");
    let newest = SearchOptions { order: SearchOrder::Newest, limit: 50, ..SearchOptions::default() };
    assert_eq!(search(&engine, "rare-needle", &newest), expected);
    let all = SearchOptions { limit: 20_000, order: SearchOrder::Newest, ..SearchOptions::default() };
    assert_eq!(search(&engine, "common", &all).len(), 12_095);
    assert_eq!(problems(&engine), [""; 0]);
}

/// A long search reads only what may match according to the index, and finds the same as without an index: in old
/// texts, behind the index, in secrets, and in texts that are not in the index.
#[test]
fn a_long_search_finds_the_same_with_and_without_the_index() {
    let home = Home::new();
    let engine = home.engine();
    let old = [
        "the rareNeedle of old",
        "the entries of RARE_NEEDLES",
        "api_key = \"sk-ant-api03-rareneedle-Zx81yQvR7tLmN2pKdW4sHgJ6bFc9aEuV\"",
        "稀な針を探す",
    ];
    let mut events: Vec<NewEvent> =
        (1..).zip(old).map(|(id, text)| said(&format!("old{id}"), Role::User, text)).collect();
    events.extend((0..3_000).map(|n| said(&format!("a{n}"), Role::User, "common words")));
    append(&engine, "s", events);
    append(&engine, "t", vec![said("1", Role::User, "a rare needle elsewhere")]);
    let compacted = [
        r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"c","message":{"role":"user","content":"one"}}"#,
        r#"{"type":"system","uuid":"b1","parentUuid":null,"logicalParentUuid":"u1","sessionId":"c","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":77}}"#,
        r#"{"type":"user","uuid":"s1","parentUuid":"b1","sessionId":"c","isCompactSummary":true,"message":{"role":"user","content":"so far a rare needle"}}"#,
    ];
    import(&engine, &home.file("compacted.jsonl", compacted.join("\n") + "\n"));
    append(&engine, "s", (0..16_500).map(|n| said(&format!("b{n}"), Role::User, "common words")).collect());
    let searches = || {
        let options = |regex, ignore_case| GrepOptions { regex, ignore_case, ..GrepOptions::default() };
        let any_case = grep(&engine, "needle", &options(false, true));
        let mut found = vec![any_case];
        for pattern in ["Needle", "rare", "rareneedle-Zx81", "針を", "RARE_NEEDLES", "is nowhere"] {
            found.push(grep(&engine, pattern, &options(false, false)));
        }
        found.push(grep(&engine, "(rare)[ _]?needle.*(old|where)", &options(true, true)));
        found
    };
    let expected = searches();
    assert_eq!(expected.iter().map(Vec::len).collect::<Vec<_>>(), [5, 1, 4, 1, 1, 1, 0, 2]);
    catch_up(&engine);
    assert_eq!(searches(), expected);
    append(&engine, "s", vec![said("new", Role::User, "a new rare needle")]);
    assert_eq!(searches()[2].len(), 5);
}

/// C-33: large texts are read by lines and by bytes, at character boundaries.
#[test]
fn large_texts_are_read_in_parts_that_make_the_whole() {
    let home = Home::new();
    let engine = home.engine();
    let lines: Vec<String> = (1..=3_000).map(|number| format!("line {number} 漢字 🦀\r\n")).collect();
    let text = lines.concat() + &"no end ".repeat(20_000);
    append(&engine, "s", vec![said("1", Role::User, &text)]);
    let body =
        events(&session(&engine, "s"))[1].fact.as_ref().unwrap().bodies()[0].handle().unwrap().to_string();
    let part = |slice| String::from_utf8(read(&engine, &body, &slice)).unwrap();
    assert!(part(Slice::All) == text);
    assert_eq!(part(Slice::Lines(2, 4)), lines[1..4].concat());
    assert_eq!(part(Slice::Lines(3_000, 3_001)).len(), lines[2_999].len() + 140_000);
    let cut = "line 1 漢".len() as u64;
    assert_eq!(part(Slice::Bytes(0, cut - 1)), "line 1 漢", "widened to whole characters");
    assert_eq!(part(Slice::Bytes(cut - 1, cut)), "漢");
    let mut pages = String::new();
    for number in 1.. {
        let address = body.parse().unwrap();
        match block_on(engine.recall().read(address, &Slice::Page(number))) {
            Ok(page) => pages += std::str::from_utf8(&page.bytes).unwrap(),
            Err(error) => {
                assert!(matches!(error, Error::Address(_)) && number > 10, "{error}");
                break;
            }
        }
    }
    assert!(pages == text);
    for wrong in ["wb:0123456789abcdef", "wb:../../etc/passw", "/etc/passwd", "wb:zz"] {
        match wrong.parse() {
            Ok(address) => {
                assert!(matches!(
                    block_on(engine.recall().read(address, &Slice::All)),
                    Err(Error::NoHandle(_))
                ))
            }
            Err(error) => assert_eq!(Error::kind(&error), ErrorKind::Usage, "{wrong}"),
        }
    }
    assert!(block_on(engine.recall().read(body.parse().unwrap(), &Slice::Lines(9_000, 9_001))).is_err());
    // A handle means nothing to another tenant.
    let config =
        wunderblock::Config { tenant: wunderblock_core::id::TenantId::new("other").unwrap(), ..config() };
    let other = block_on(Engine::open_with(home.db(), Access::Write, config)).unwrap();
    assert!(matches!(
        block_on(other.recall().read(body.parse().unwrap(), &Slice::All)),
        Err(Error::NoHandle(_))
    ));
    append(&other, "s", vec![said("1", Role::User, &text)]);
    let foreign =
        events(&session(&other, "s"))[1].fact.as_ref().unwrap().bodies()[0].handle().unwrap().to_string();
    assert_ne!(foreign, body, "the same text has another handle there");
}

#[test]
fn secrets_are_read_exactly_and_never_found() {
    let home = Home::new();
    let engine = home.engine();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let text = format!("please use the token {secret} for the upload");
    append(&engine, "s", vec![said("1", Role::User, &text)]);
    for indexed in [false, true] {
        if indexed {
            catch_up(&engine);
        }
        let found = block_on(engine.recall().search("upload", &SearchOptions::default())).unwrap();
        assert_eq!(found.hits.len(), 1);
        assert!(!found.hits[0].snippet.contains(&secret[8..]), "{}", found.hits[0].snippet);
        assert_eq!(search(&engine, &secret, &SearchOptions::default()), [0; 0], "indexed: {indexed}");
    }
    assert!(exported(&session(&engine, "s")).contains(&secret));
    assert_eq!(grep(&engine, &secret, &GrepOptions::default()).len(), 1, "the original is exact");
    drop(engine);
    let db = Connection::open(home.db()).unwrap();
    for table in ["index_segments", "index_blocks"] {
        let column = if table == "index_segments" { "header" } else { "data" };
        let mut statement = db.prepare(&format!("SELECT {column} FROM {table}")).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
        for row in rows {
            assert!(!contains(&row.unwrap(), &secret.to_lowercase().as_bytes()[4..]), "{table}");
        }
    }
}

fn contains(bytes: &[u8], what: &[u8]) -> bool {
    memchr::memmem::find(bytes, what).is_some()
}

/// Creates a ledger with records of every kind.
fn full(home: &Home) {
    let engine = home.engine();
    let long = "some words that make a body of its own ".repeat(200);
    let mut all: Vec<NewEvent> = Vec::new();
    for number in 0..6 {
        all.push(said(&format!("u{number}"), Role::User, &format!("ask {number} {long}")));
        all.push(call(&format!("c{number}"), &[(&format!("k{number}"), "Bash", r#"{"command":"ls"}"#)]));
        all.push(result(&format!("r{number}"), &format!("k{number}"), &format!("told {number} {long}")));
    }
    append(&engine, "s", all);
    let lines: String =
        wunderblock_testkit::generate::claude_code_lines(60, 3).map(|line| line + "\n").collect();
    import(&engine, &home.file("session.jsonl", lines));
    built(&session(&engine, "s"), &window(20_000));
    catch_up(&engine);
    assert_eq!(problems(&engine), [""; 0]);
}

#[test]
fn doctor_reports_damage_and_rebuilds_derived_data() {
    const BLOB: &str = "(SELECT min(blob) FROM blobs)";
    let flip = "CAST(substr(data, 1, 8) || x'ff' || substr(data, 10) AS BLOB)";
    // Whether the damaged data is derived, a word that the report must contain, and the damage itself.
    let table: [(bool, &str, String); 15] = [
        (false, "missing", format!("DELETE FROM blobs WHERE blob = {BLOB}")),
        (false, "bod", format!("UPDATE blobs SET data = {flip} WHERE blob = {BLOB}")),
        (false, "bod", format!("UPDATE blobs SET data = (SELECT data FROM blobs ORDER BY blob DESC LIMIT 1) WHERE blob = {BLOB}")),
        (false, "gapless", "DELETE FROM events WHERE seq = 5 AND stream = 1".to_owned()),
        (false, "gapless", "DELETE FROM events WHERE stream = 1 AND seq = (SELECT max(seq) FROM events WHERE stream = 1)".to_owned()),
        (false, "is not what was written", "UPDATE events SET payload = CAST(replace(CAST(payload AS TEXT), 'Bash', 'Bush') AS BLOB) WHERE seq = 3 AND stream = 1".to_owned()),
        (false, "records can be read", "UPDATE events SET payload = x'7b' WHERE seq = 4 AND stream = 1".to_owned()),
        (false, "session", "DELETE FROM streams WHERE stream = 2".to_owned()),
        (false, "belongs to no event", "DELETE FROM refs WHERE stream = 1 AND seq = 2".to_owned()),
        (false, "imported", "DELETE FROM source_chunks".to_owned()),
        (false, "sources", format!("UPDATE source_chunks SET data = {flip}")),
        (true, "tall", "DELETE FROM tallies WHERE seq = 4 AND stream = 1".to_owned()),
        (true, "tall", "UPDATE tallies SET tokens = tokens + 5 WHERE seq = 4 AND stream = 1".to_owned()),
        (true, "index", "UPDATE index_blocks SET data = substr(data, 1, length(data) / 2)".to_owned()),
        (true, "index", "DELETE FROM index_segments".to_owned()),
    ];
    let whole = Home::new();
    full(&whole);
    for (derived, word, damage) in table {
        let home = Home::new();
        std::fs::copy(whole.db(), home.db()).unwrap();
        let db = Connection::open(home.db()).unwrap();
        db.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        assert!(db.execute(&damage, []).unwrap() > 0, "{damage}");
        drop(db);
        let engine = home.engine();
        let found = block_on(engine.maintenance().doctor(&mut |_| {})).unwrap().problems;
        assert!(!found.is_empty(), "nothing was found after {damage}");
        assert!(
            found.iter().any(|it| format!("{} {}", it.rule, it.detail).contains(word)),
            "{damage}: {found:#?}"
        );
        assert_eq!(found.iter().all(|it| it.derived), derived, "{damage}: {found:#?}");
        if derived {
            block_on(engine.maintenance().rebuild(&mut |_| {})).unwrap();
            assert_eq!(problems(&engine), [""; 0], "{damage}");
        }
    }
    let engine = whole.engine();
    let before = search(&engine, "ask", &SearchOptions::default());
    block_on(engine.maintenance().rebuild(&mut |_| {})).unwrap();
    assert_eq!(search(&engine, "ask", &SearchOptions::default()), before);
    assert_eq!(problems(&engine), [""; 0]);
}

/// Returns the files of a folder that contain a text, plain or in a compressed body.
fn files_with(folder: &Path, canary: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let forms = [canary.to_owned(), canary.to_lowercase()];
        let is_plain = forms.iter().any(|form| contains(&bytes, form.as_bytes()));
        // Search for zstd frames anywhere in the file, including free pages.
        let mut frames = memchr::memmem::find_iter(&bytes, b"\x28\xb5\x2f\xfd");
        let is_packed = frames.any(|at| {
            let mut plain = Vec::new();
            if let Ok(mut frame) = zstd::stream::read::Decoder::new(&bytes[at..]) {
                let _ = std::io::Read::read_to_end(&mut std::io::Read::take(&mut frame, 1 << 24), &mut plain);
            }
            contains(&plain, canary.as_bytes())
        });
        if is_plain || is_packed {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Checks that no file in a folder contains a text, plain or in a compressed body.
pub(crate) fn gone_from(folder: &Path, canary: &str) {
    assert_eq!(files_with(folder, canary), [""; 0], "{canary}");
}

/// Returns whether a file in a folder contains a text.
pub(crate) fn is_in(folder: &Path, canary: &str) -> bool {
    !files_with(folder, canary).is_empty()
}

const CANARY: &str = "Xylophonquarzvenediger7731";

#[test]
fn what_was_erased_is_in_no_file() {
    for long in [1, 400] {
        let home = Home::new();
        std::fs::create_dir(home.path("ledger")).unwrap();
        let path = home.path("ledger/ledger.db");
        let engine = open(&path);
        let secret = format!("{CANARY} and what belongs to it, ").repeat(long);
        let mut all = vec![
            said("first", Role::User, "Read secret/list.txt please."),
            call("call", &[("c1", "Read", r#"{"file_path":"secret/list.txt"}"#)]),
            result("result", "c1", &secret),
        ];
        for number in 0..25 {
            all.push(said(&format!("u{number}"), Role::User, &"more words to be said ".repeat(60)));
            all.push(said(&format!("a{number}"), Role::Assistant, &"and an answer to them ".repeat(60)));
        }
        all.push(said("again", Role::User, "What stands in secret/list.txt?"));
        append(&engine, "s", all);
        let s = session(&engine, "s");
        let request = built(&s, &window(10_000));
        let held = String::from_utf8(request.draft.body.clone()).unwrap().contains(CANARY);
        assert!(held || long > 1, "the recalled copy is in the request");
        catch_up(&engine);
        assert_eq!(search(&engine, CANARY, &SearchOptions::default()), [4]);
        let erased = block_on(s.erase(Seq(4), Seq(4), Some("asked to"))).unwrap();
        assert!(erased.events >= 1 && erased.receipt.is_some(), "{erased:?}");
        assert_eq!(search(&engine, CANARY, &SearchOptions::default()), [0; 0]);
        assert_eq!(grep(&engine, CANARY, &GrepOptions::default()), []);
        gone_from(&home.path("ledger"), CANARY);
        assert_eq!(problems(&engine), [""; 0]);
        let replayed = block_on(s.replay(request.recorded)).unwrap();
        assert_eq!(replayed.erased, held, "replay says that something is missing");
        let next = built(&s, &window(10_000));
        assert!(!String::from_utf8(next.draft.body).unwrap().contains(CANARY));
        drop(engine);
        gone_from(&home.path("ledger"), CANARY);
        let engine = open(&path);
        let again = block_on(session(&engine, "s").erase(Seq(4), Seq(4), None)).unwrap();
        assert_eq!(again.events, 0);
        block_on(session(&engine, "s").erase_all(None, Along::default())).unwrap();
        let left = transcript(&session(&engine, "s"));
        assert_eq!(left, [""; 0]);
        gone_from(&home.path("ledger"), "more words to be said");
        assert_eq!(problems(&engine), [""; 0]);
    }
}

fn line(id: &str, parent: &str, text: &str) -> String {
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"c","type":"user","uuid":"{id}","message":{{"role":"user","content":"{text}"}}}}"#
    ) + "\n"
}

#[test]
fn what_was_erased_is_in_no_source_and_no_fork() {
    let home = Home::new();
    std::fs::create_dir(home.path("ledger")).unwrap();
    let path = home.path("ledger/ledger.db");
    let engine = open(&path);
    let secret = line("u2", "\"u1\"", &format!("{CANARY} \\n to be forgotten"));
    let extra = format!(
        "{{\"type\":\"last-prompt\",\"sessionId\":\"c\",\"lastPrompt\":\"{CANARY} \\n to be forgotten\"}}\n"
    );
    let (first, rest) = (line("u1", "null", "one"), line("u3", "\"u2\"", "three"));
    let rewind = line("u4", "\"u2\"", "three, otherwise");
    let versions = [
        [&first[..], &secret, &rest].concat(),
        [&first[..], &secret, &extra, &rest, &rewind].concat(),
        // The file is rewritten from the start, so that records have moved.
        [&line("u0", "null", "zero"), &line("u1", "\"u0\"", "one")[..], &secret, &extra, &rest, &rewind]
            .concat(),
    ];
    let file = home.path("session.jsonl");
    for text in &versions {
        std::fs::write(&file, text).unwrap();
        import(&engine, &file);
    }
    catch_up(&engine);
    let branch = session(&engine, "c");
    assert_eq!(original(&branch), versions[2].as_bytes());
    let seq = events(&branch).into_iter().find(|it| it.id.as_str().starts_with("u2")).unwrap().seq;
    let erased = block_on(branch.erase(seq, seq, None)).unwrap();
    assert!(
        erased.source_bytes >= Bytes(2 * (secret.trim_end().len() + extra.trim_end().len()) as u64),
        "{erased:?}"
    );
    assert!(erased.source_bytes >= Bytes(secret.trim_end().len() as u64), "{erased:?}");
    for info in block_on(engine.streams("", 99)).unwrap() {
        let left = exported(&engine.session_by_id(info.id));
        assert!(!left.contains(CANARY), "{left}");
    }
    let left = String::from_utf8(original(&branch)).unwrap();
    assert!(!left.contains(CANARY) && left.len() == versions[2].len(), "{left}");
    assert!(left.contains(rest.trim_end()) && left.contains("zero"), "{left}");
    gone_from(&home.path("ledger"), CANARY);
    assert_eq!(problems(&engine), [""; 0]);
    drop(engine);
    gone_from(&home.path("ledger"), CANARY);
}

#[test]
fn a_backup_is_a_ledger_and_forgets_what_was_erased_since() {
    let home = Home::new();
    std::fs::create_dir(home.path("ledger")).unwrap();
    let path = home.path("ledger/ledger.db");
    let engine = open(&path);
    append(&engine, "s", vec![said("1", Role::User, CANARY), said("2", Role::User, &"kept ".repeat(2_000))]);
    catch_up(&engine);
    let before = exported(&session(&engine, "s"));
    let backup = home.path("backup.db");
    block_on(engine.ledger().backup(&backup)).unwrap();
    assert!(block_on(engine.ledger().backup(&backup)).is_err(), "nothing is overwritten");
    append(&engine, "s", vec![said("3", Role::User, "later")]);
    block_on(session(&engine, "s").erase(Seq(2), Seq(2), None)).unwrap();
    drop(engine);
    // A backup restored in another place equals the old ledger.
    let elsewhere = home.path("elsewhere/ledger.db");
    block_on(Ledger::restore(&backup, &elsewhere, false, config())).unwrap();
    let other = open(&elsewhere);
    assert_eq!(exported(&session(&other, "s")), before);
    assert_eq!(problems(&other), [""; 0]);
    drop(other);
    // A backup restored in its original place loses what has been erased since the backup.
    assert!(block_on(Ledger::restore(&backup, &path, false, config())).is_err());
    let restored = block_on(Ledger::restore(&backup, &path, true, config())).unwrap();
    assert_eq!(restored.erased_again, 1);
    let kept = restored.kept.unwrap();
    let engine = open(&path);
    let now = exported(&session(&engine, "s"));
    assert!(!now.contains(CANARY) && now.contains("kept kept") && !now.contains("later"));
    assert_eq!(problems(&engine), [""; 0]);
    drop(engine);
    assert!(exported(&session(&open(&kept), "s")).contains("later"), "what was there is beside it");
    gone_from(&home.path("ledger"), CANARY);
    // A damaged backup is rejected without touching anything.
    let broken = home.path("broken.db");
    std::fs::write(&broken, &std::fs::read(&backup).unwrap()[..20_000]).unwrap();
    assert!(block_on(Ledger::restore(&broken, &path, true, config())).is_err());
    assert_eq!(exported(&session(&open(&path), "s")), now);
}

#[test]
fn a_session_that_an_earlier_version_doubled_is_named() {
    let home = Home::new();
    let engine = home.engine();
    append(&engine, "s", vec![said("1", Role::User, "hello"), said("2", Role::User, "more")]);
    append(&engine, "s@1f2e3d4c", vec![said("1", Role::User, "hello")]);
    append(&engine, "s@99999999", vec![said("1", Role::User, "another session with the same id")]);
    let found = block_on(engine.ledger().doctor(&mut |_| {})).unwrap();
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let notes: Vec<&str> = found.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("session s@1f2e3d4c holds records of s:"), "{notes:?}");
    assert!(notes[0].contains("erasing s with its copies erases both"), "{notes:?}");
}
