//! Promises about requests, replays, reading and exports, over random sessions on SQLite and in memory.

use crate::nothing_is_lost::ledger::history::{Move, Story, step, tries};
use crate::scene::*;
use futures_executor::block_on;
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;
use wunderblock::store::sqlite::{Access, Sqlite};
use wunderblock::store::{Commit, Storage, Write};
use wunderblock::{Built, ContextOptions, Engine, Error, ErrorKind, Session, Slice, Sources};
use wunderblock_core::allocate::{Room, Shares};
use wunderblock_core::budget::{BudgetReport, Certainty};
use wunderblock_core::event::{Fact, NewEvent};
use wunderblock_core::id::LaneId;
use wunderblock_core::message::{Body, Dialect};
use wunderblock_core::plan::TrimReason;
use wunderblock_core::request::Tool;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_testkit::backdoor::put;
use wunderblock_testkit::memory::MemoryStorage;

fn keyed(storage: Arc<dyn Storage>) -> Engine {
    let write = Write::Tenant { name: "local".to_owned(), key: [42; 32] };
    block_on(storage.commit(Commit::raw(vec![write]))).unwrap();
    block_on(Engine::on(storage, true, config())).unwrap()
}

fn in_file(path: &Path) -> Engine {
    keyed(Arc::new(Sqlite::open(path, Access::Create).unwrap()))
}

/// Checks that every message is in the request or in a listed run of omissions.
fn complete(session: &Session, through: Seq, report: &BudgetReport) {
    for event in events(session).iter().filter(|event| event.seq <= through) {
        if !matches!(event.fact, Some(Fact::MessageAppended(_))) {
            continue;
        }
        let shown = report.entries.iter().any(|entry| entry.seq == Some(event.seq));
        let missed = report.left_out.iter().any(|run| run.from_seq <= event.seq && event.seq <= run.to_seq);
        assert!(shown || missed, "position {} is nowhere: {:#?}", event.seq, event.fact);
    }
    for run in &report.left_out {
        assert!(run.count > 0 && run.from_seq <= run.to_seq, "{run:?}");
        let bytes = read(session.engine(), &run.handle, &Slice::All);
        let first: serde_json::Value =
            serde_json::from_slice(bytes.split(|b| *b == b'\n').next().unwrap()).unwrap();
        assert_eq!(first["seq"].as_u64(), Some(run.from_seq.0), "{}", run.handle);
    }
}

/// Returns whether a body only adds to the previous one, except for the closing brackets.
fn goes_on((before, stem): &(Vec<u8>, Bytes), after: &[u8]) -> bool {
    wunderblock_wire::continues(before, stem.0 as usize, after)
}

/// Options of a lane's requests.
#[derive(Clone, Debug)]
struct Lane {
    model: &'static str,
    window: u64,
    dialect: Option<Dialect>,
    tools: bool,
}

impl Lane {
    fn options(&self, number: usize) -> ContextOptions {
        let tool = |name: &str| Tool {
            name: name.into(),
            description: "Reads a file.".into(),
            schema: r#"{"type":"object","properties":{"path":{"type":"string"}}}"#.into(),
            extra: None,
        };
        ContextOptions {
            lane: Some(LaneId::new(format!("lane {number}")).unwrap()),
            model: Some(self.model.to_owned()),
            window: Some(Tokens(self.window)),
            dialect: self.dialect,
            sources: Sources {
                tools: Some(if self.tools {
                    vec![tool("Read").into(), tool("Bash").into()]
                } else {
                    Vec::new()
                }),
                ..Sources::default()
            },
            ..ContextOptions::uncompacted()
        }
    }
}

fn lane() -> impl Strategy<Value = Lane> {
    let model = prop::sample::select(vec![
        "gpt-4o",
        "gpt-4",
        "claude-sonnet-4-5",
        "gemini-2.5-pro",
        "nobody-knows-it",
    ]);
    let window = prop_oneof![3 => 4_000..12_000u64, 3 => 12_000..60_000u64, 1 => 60_000..1_000_000u64];
    let dialect = prop::option::of(prop::sample::select(crate::scene::DIALECTS.to_vec()));
    (model, window, dialect, any::<bool>()).prop_map(|(model, window, dialect, tools)| Lane {
        model,
        window,
        dialect,
        tools,
    })
}

/// Builds one request on both stores, and checks that their results are equal.
fn build(engines: [&Engine; 2], options: &ContextOptions) -> Option<Built> {
    let both = engines.map(|engine| block_on(engine.session_by_id(stream("s")).context(options)));
    let [memory, file] = both;
    match (memory, file) {
        (Ok(memory), Ok(file)) => {
            assert!(memory.draft.body == file.draft.body, "the stores lead to different requests");
            assert_eq!((memory.recorded, memory.draft.step), (file.recorded, file.draft.step));
            Some(file)
        }
        (Err(memory), Err(file)) => {
            assert_eq!(memory.to_string(), file.to_string());
            if matches!(file, Error::Silence(_)) {
                return None;
            }
            assert_eq!(file.kind(), ErrorKind::Refused, "{file}");
            let Error::OverBudget(refusal) = file else { panic!("{file}") };
            let needed: Tokens = refusal.parts.iter().map(|part| part.cost.tokens).sum();
            assert_eq!(needed, refusal.needed.tokens, "the parts are what is needed");
            assert!(!refusal.needed.fits(refusal.limit));
            None
        }
        (memory, file) => panic!("one store refuses: {:?} / {:?}", memory.err(), file.err()),
    }
}

fn moved(events: &[NewEvent]) -> bool {
    events.iter().any(|event| matches!(event.fact, Fact::ContentPinned(_)))
}

/// Plays a session on both stores, building requests along the way.
fn play(moves: &[Move], lanes: &[Lane]) {
    let home = Home::new();
    let memory = keyed(Arc::new(MemoryStorage::new()));
    let mut file = in_file(&home.db());
    let mut story = Story::default();
    let mut requests: Vec<Built> = Vec::new();
    let mut last: Vec<Option<(Vec<u8>, Bytes)>> = vec![None; lanes.len()];
    for (number, chunk) in moves.chunks(3).enumerate() {
        let events: Vec<NewEvent> = chunk.iter().flat_map(|step| story.tell(step)).collect();
        let placed = [&memory, &file].map(|engine| append(engine, "s", events.clone()));
        assert_eq!(placed[0], placed[1]);
        if moved(&events) {
            last.fill(None);
        }
        if number % 3 == 2 {
            // Counting and indexing on one of the stores changes no request.
            catch_up(&file);
        }
        for (number, lane) in lanes.iter().enumerate() {
            let options = lane.options(number);
            let Some(built) = build([&memory, &file], &options) else { continue };
            sound(&built);
            complete(&session(&file, "s"), built.draft.through, &built.draft.report);
            if let Some(before) =
                last[number].as_ref().filter(|_| built.draft.step.is_none() && built.draft.changes.is_empty())
            {
                assert!(goes_on(before, &built.draft.body), "lane {number} was rewritten without a step");
            }
            last[number] = Some((built.draft.body.clone(), built.draft.stem));
            requests.push(built);
        }
        if number % 4 == 3 {
            drop(file);
            file = in_file(&home.db());
        }
    }
    drop(file);
    let file = in_file(&home.db());
    for engine in [&memory, &file] {
        for built in &requests {
            let replayed = block_on(engine.session_by_id(stream("s")).replay(built.recorded)).unwrap();
            assert!(replayed.body == built.draft.body && !replayed.erased);
        }
        catch_up(engine);
        assert_eq!(problems(engine), [""; 0]);
    }
    assert_eq!(exported(&session(&memory, "s")), exported(&session(&file, "s")));
    readable(&file);
    copied(&file);
}

/// Checks that every appended text can be read by its handle, in full and in pages.
fn readable(engine: &Engine) {
    let session = session(engine, "s");
    for line in exported(&session).lines() {
        let whole: NewEvent = serde_json::from_str(line).unwrap();
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let seq = Seq(value["seq"].as_u64().unwrap());
        let stored = events(&session).into_iter().find(|event| event.seq == seq).unwrap();
        let stored = stored.fact.unwrap();
        for (body, text) in stored.bodies().iter().zip(whole.fact.bodies()) {
            let (Body::Blob { blob, .. }, text) = (body, text.inline().unwrap()) else { continue };
            let handle = blob.to_string();
            assert!(read(engine, &handle, &Slice::All) == text.as_bytes());
            let mut pages = Vec::new();
            let mut number = 1;
            while let Ok(page) = block_on(engine.recall().read(handle.parse().unwrap(), &Slice::Page(number)))
            {
                pages.extend(page.bytes);
                number += 1;
            }
            assert!(pages == text.as_bytes());
        }
    }
}

/// Checks that an exported session can be recreated in another ledger.
fn copied(engine: &Engine) {
    let home = Home::new();
    let other = home.engine();
    let lines = exported(&session(engine, "s"));
    let mut events: Vec<NewEvent> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // The live door rejects events that steer a lane, because an export records what happened and gives no orders.
    // They take the back door.
    let rest = events.split_off(1);
    append(&other, "s", events);
    let storage = Sqlite::open(&home.db(), Access::Write).unwrap();
    put(&storage, "local", &stream("s"), rest);
    assert_eq!(exported(&session(&other, "s")), lines);
}

proptest! {
    #![proptest_config(tries(12))]
    #[test]
    fn every_promise_holds_over_random_sessions(
        moves in prop::collection::vec(step(), 1..24),
        lanes in prop::collection::vec(lane(), 1..3),
    ) {
        play(&moves, &lanes);
    }
}

#[test]
fn a_step_frees_a_fifth_of_the_window() {
    for (window, model) in [(64_000, "gpt-4o"), (100_000, "claude-sonnet-4-5")] {
        let home = Home::new();
        let engine = home.engine();
        // Texts that come back because a turn names them would fill the window sooner.
        let shares = Shares { recall: Room { min: Tokens(0), max: None, share: 0 }, ..Shares::default() };
        let options = ContextOptions { model: Some(model.to_owned()), shares, ..window_of(window) };
        let all: Vec<NewEvent> = wunderblock_testkit::generate::session(400, 9).collect();
        let (mut steps, mut last): (u64, Option<(Vec<u8>, Bytes)>) = (0, None);
        for chunk in all.chunks(12) {
            append(&engine, "s", chunk.to_vec());
            let built = built(&session(&engine, "s"), &options);
            sound(&built);
            match (&last, built.draft.step) {
                (Some(before), None) => assert!(goes_on(before, &built.draft.body)),
                (_, Some(TrimReason::OverBudget)) => {
                    steps += 1;
                    let recall = built.draft.report.sections.iter().filter(|it| it.name == Section::Recall);
                    let recall: u64 = recall.map(|it| it.tokens.0).sum();
                    let free = built.draft.report.limit.0 - built.draft.report.total_tokens.0 + recall;
                    assert!(free * 5 >= window, "{free} of {window} are free after a step");
                }
                _ => {}
            }
            last = Some((built.draft.body, built.draft.stem));
        }
        let builds = all.chunks(12).len() as u64;
        assert!(steps > 0 && steps * 2 < builds, "{steps} steps in {builds} builds");
    }
}

fn window_of(tokens: u64) -> ContextOptions {
    window(tokens)
}

#[test]
fn certainty_is_what_the_vocabulary_allows() {
    let home = Home::new();
    let engine = home.engine();
    append(&engine, "s", vec![said("1", wunderblock_core::message::Role::User, &"words ".repeat(3000))]);
    for (model, certainty) in [
        ("gpt-4o", Certainty::Exact),
        ("gpt-4-turbo", Certainty::Exact),
        ("claude-sonnet-4-5", Certainty::Estimated),
        ("nobody-knows-it", Certainty::Unverified),
    ] {
        let options = ContextOptions { model: Some(model.to_owned()), ..window(20_000) };
        let built = built(&session(&engine, "s"), &options);
        assert_eq!(built.draft.report.certainty, certainty, "{model}");
        sound(&built);
    }
}

/// The cost of a recalled text is counted with the model's own vocabulary.
#[test]
fn recalled_bodies_are_counted_exactly() {
    use wunderblock_core::message::Role;
    let home = Home::new();
    let engine = home.engine();
    let mut all = vec![
        said("ask", Role::User, "Read the list."),
        call("call", &[("c1", "Read", r#"{"file_path":"src/list_of_things.rs"}"#)]),
        result("result", "c1", &"漢字 and 仮名 of a list\n".repeat(60)),
    ];
    for number in 0..30 {
        all.push(said(&format!("u{number}"), Role::User, &"more words to be said ".repeat(40)));
        all.push(said(&format!("a{number}"), Role::Assistant, &"and an answer to them ".repeat(40)));
    }
    all.push(said("last", Role::User, "What stands in src/list_of_things.rs?"));
    append(&engine, "s", all);
    let options = ContextOptions { model: Some("gpt-4".to_owned()), ..window(8_000) };
    let built = built(&session(&engine, "s"), &options);
    sound(&built);
    assert!(String::from_utf8(built.draft.body.clone()).unwrap().contains("漢字 and 仮名"), "it came back");
    let cl100k = tiktoken::encoding::cl100k_base();
    let values = wunderblock_wire::string_values(&built.draft.body).unwrap();
    let counted: usize = values.map(|text| cl100k.count(&text)).sum();
    assert!(
        counted as u64 <= built.draft.report.total_tokens.0,
        "{counted} > {}",
        built.draft.report.total_tokens
    );
}
