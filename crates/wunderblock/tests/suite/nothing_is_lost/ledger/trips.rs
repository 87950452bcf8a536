//! Round trips to the store, and recovery from lost calls.

use crate::nothing_is_lost::ledger::road::rewound;
use crate::scene::*;
use futures_executor::block_on;
use std::sync::Arc;
use wunderblock::store::sqlite::{Access, Sqlite};
use wunderblock::store::{
    Answer, Answering, Commit, DerivedTable, Query, Storage, StoreError, Write, Written,
};
use wunderblock::{ContextOptions, Engine, Error, SearchOptions};
use wunderblock_core::message::Role;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_testkit::faults::{FaultPlan, FaultTime, FaultyStorage, PortMethod};
use wunderblock_testkit::memory::MemoryStorage;

fn behind_weather(store: Arc<dyn Storage>) -> (Engine, Arc<FaultPlan>) {
    let write = Write::Tenant { name: "local".to_owned(), key: [7; 32] };
    block_on(store.commit(Commit::raw(vec![write]))).unwrap();
    let faulty = FaultyStorage::<dyn Storage>::new(store);
    let faults = faulty.faults();
    (block_on(Engine::on(Arc::new(faulty), true, config())).unwrap(), faults)
}

/// C-43: the cost of a build depends on the window, not on the history.
#[test]
fn a_build_takes_four_round_trips_however_long_the_session() {
    let (engine, faults) = behind_weather(Arc::new(MemoryStorage::new()));
    let options = |window| ContextOptions { window: Some(Tokens(window)), ..ContextOptions::uncompacted() };
    let mut all = wunderblock_testkit::generate::session(1_000, 11);
    // The longest session has more events than the first load of a view (`limits::VIEW_EVENTS`).
    for length in [60, 1_000, 5_000] {
        let have = block_on(engine.session_by_id(stream("s")).info()).map_or(0, |info| info.head.0);
        let filler = |number: usize| said(&format!("filler {number}"), Role::User, "a few words");
        append(&engine, "s", (have as usize..length).map(filler).collect());
        append(&engine, "s", all.by_ref().take(100).collect());
        for window in [8_000, 128_000] {
            for number in 0..3 {
                // The first build of a lane decides its state, and the later ones continue from it.
                append(&engine, "s", all.by_ref().take(5).collect());
                catch_up(&engine);
                let before = (faults.trips(PortMethod::Query), faults.trips(PortMethod::Commit));
                let lane = wunderblock_core::id::LaneId::new(format!("lane {window} from {length}")).unwrap();
                built(&session_of(&engine), &ContextOptions { lane: Some(lane), ..options(window) });
                let queries = faults.trips(PortMethod::Query) - before.0;
                let commits = faults.trips(PortMethod::Commit) - before.1;
                assert!(
                    queries + commits <= 4 && commits == 1,
                    "build {number} of {length} events for {window}: {queries} queries and {commits} commits"
                );
            }
        }
    }
}

/// The number of round trips does not grow with the number of lanes, because the latest event of the right lane is
/// found among the events of all lanes.
#[test]
fn a_build_takes_four_round_trips_with_fifty_lanes() {
    let (engine, faults) = behind_weather(Arc::new(MemoryStorage::new()));
    append(&engine, "s", wunderblock_testkit::generate::session(400, 11).collect());
    let options = |window| ContextOptions { window: Some(Tokens(window)), ..ContextOptions::uncompacted() };
    let lane = |number: u64| wunderblock_core::id::LaneId::new(format!("lane {number}")).unwrap();
    let named = |number| ContextOptions { lane: Some(lane(number)), ..options(8_000 + number) };
    for number in 0..50 {
        built(&session_of(&engine), &named(number));
    }
    catch_up(&engine);
    for (number, options) in [(0, named(0)), (25, named(25)), (0, options(8_000)), (31, options(8_031))] {
        append(&engine, "s", vec![said(&format!("for {number} {:?}", options.lane), Role::User, "and more")]);
        catch_up(&engine);
        let before = faults.trips(PortMethod::Query) + faults.trips(PortMethod::Commit);
        assert_eq!(*built(&session_of(&engine), &options).draft.lane(), lane(number));
        let trips = faults.trips(PortMethod::Query) + faults.trips(PortMethod::Commit) - before;
        assert!(trips <= 4, "{trips} round trips for lane {number}");
    }
}

fn session_of(engine: &Engine) -> wunderblock::Session {
    engine.session_by_id(stream("s"))
}

fn lost() -> StoreError {
    StoreError::Io("the connection was lost".to_owned())
}

fn is_lost(error: &Error) -> bool {
    matches!(error, Error::Store(StoreError::Io(what)) if what == "the connection was lost")
}

/// Performs an action on a new store, once for each call that the action makes, and loses that call before or after
/// its effect. Repeats the action until it succeeds, and compares the store with one that lost nothing.
fn in_any_weather<R>(
    what: &str,
    prepare: &dyn Fn(&Engine),
    act: &dyn Fn(&Engine) -> Result<R, Error>,
    look: &dyn Fn(&Engine) -> String,
) {
    let fresh = || -> (Engine, Arc<FaultPlan>) {
        let (engine, faults) = behind_weather(Arc::new(MemoryStorage::new()));
        prepare(&engine);
        (engine, faults)
    };
    let (engine, faults) = fresh();
    let before = [PortMethod::Query, PortMethod::Commit].map(|call| faults.trips(call));
    act(&engine).unwrap_or_else(|error| panic!("{what}: {error}"));
    let made = [PortMethod::Query, PortMethod::Commit].map(|call| faults.trips(call));
    let expected = look(&engine);
    for (kind, call) in [PortMethod::Query, PortMethod::Commit].into_iter().enumerate() {
        for nth in 1..=(made[kind] - before[kind]) {
            for when in [FaultTime::Before, FaultTime::After] {
                let (engine, faults) = fresh();
                faults.fail(call, nth, when, lost());
                let case = format!("{what}: {call:?} {nth} lost {when:?}");
                let first = act(&engine);
                if let Err(error) = &first {
                    assert!(is_lost(error), "{case}: {error}");
                    act(&engine).unwrap_or_else(|error| panic!("{case}, said again: {error}"));
                }
                faults.clear();
                assert_eq!(look(&engine), expected, "{case}");
                catch_up(&engine);
                assert_eq!(problems(&engine), [""; 0], "{case}");
            }
        }
    }
}

/// Returns all messages of all sessions. Records of the engine's own work are left out, because they may be stored
/// twice.
fn said_in_all(engine: &Engine) -> String {
    let mut streams = block_on(engine.streams("", 1_000)).unwrap();
    streams.sort_by_key(|info| info.id.clone());
    let told = |info: wunderblock::store::StreamInfo| {
        format!("{}\n{}\n", info.id, transcript(&engine.session_by_id(info.id.clone())).join("\n"))
    };
    streams.into_iter().map(told).collect()
}

fn some_events(engine: &Engine) {
    let mut all = vec![
        said("u1", Role::User, "Read src/list.txt please."),
        call("c1", &[("k1", "Read", r#"{"file_path":"src/list.txt"}"#)]),
        result("r1", "k1", &"the words of the list ".repeat(300)),
    ];
    for number in 0..10 {
        all.push(said(&format!("u{number}b"), Role::User, &"more words ".repeat(200)));
        all.push(said(&format!("a{number}"), Role::Assistant, &"an answer ".repeat(200)));
    }
    append(engine, "s", all);
}

#[test]
fn lost_calls_of_appends_are_repaired_by_saying_them_again() {
    let all = || vec![said("x", Role::User, "one"), said("y", Role::User, &"two ".repeat(5_000))];
    let act = |engine: &Engine| block_on(session_of(engine).append(all()));
    in_any_weather("a new session", &|_| {}, &act, &exported_all);
    in_any_weather("a session that is there", &some_events, &act, &exported_all);
}

fn exported_all(engine: &Engine) -> String {
    exported(&session_of(engine))
}

#[test]
fn lost_calls_of_builds_are_repaired_by_building_again() {
    for window_size in [4_000, 60_000] {
        let act = move |engine: &Engine| {
            let built = block_on(session_of(engine).context(window(window_size)))?;
            let replayed = block_on(session_of(engine).replay(built.recorded))?;
            assert!(replayed.body == built.draft.body);
            Ok(())
        };
        in_any_weather("a build", &some_events, &act, &|engine| {
            let built = block_on(session_of(engine).explain(window(window_size))).unwrap();
            String::from_utf8(built.draft.body).unwrap()
        });
    }
}

#[test]
fn lost_calls_of_imports_are_repaired_by_importing_again() {
    let home = Home::new();
    let path = home.file("session.jsonl", rewound());
    let act = |engine: &Engine| block_on(engine.import(&path, None, &mut |_, _| {}));
    let look = |engine: &Engine| {
        let branch = session(engine, "claude-1");
        format!("{}{}", said_in_all(engine), String::from_utf8(original(&branch)).unwrap())
    };
    in_any_weather("an import", &|_| {}, &act, &look);
    let half = home.file("half.jsonl", &rewound()[..rewound().len() / 2]);
    let grown = |engine: &Engine| {
        std::fs::write(&half, &rewound()[..rewound().len() / 2]).unwrap();
        import(engine, &half);
        std::fs::write(&half, rewound()).unwrap();
    };
    let act = |engine: &Engine| block_on(engine.import(&half, None, &mut |_, _| {}));
    in_any_weather("an import of a file that grew", &grown, &act, &look);
}

#[test]
fn lost_calls_of_erasures_are_repaired_by_erasing_again() {
    let prepare = |engine: &Engine| {
        some_events(engine);
        built(&session_of(engine), &window(4_000));
        catch_up(engine);
    };
    let act = |engine: &Engine| block_on(session_of(engine).erase(Seq(3), Seq(6), None));
    in_any_weather("an erasure", &prepare, &act, &said_in_all_but_receipts);
}

fn said_in_all_but_receipts(engine: &Engine) -> String {
    let found = block_on(engine.recall().search("list", &SearchOptions::default())).unwrap().hits;
    let found: Vec<_> = found.into_iter().map(|hit| hit.seq).collect();
    let receipts = events(&session_of(engine));
    let receipts =
        receipts.iter().any(|it| it.fact.as_ref().is_some_and(|fact| fact.kind() == "content.erased"));
    format!("{} {found:?} {receipts}", said_in_all(engine))
}

#[test]
fn lost_calls_of_the_background_are_repaired_by_the_next_time() {
    let act = |engine: &Engine| block_on(engine.maintenance().catch_up(&mut |_| {}));
    let look = |engine: &Engine| {
        let info = block_on(session_of(engine).info()).unwrap();
        let found = block_on(engine.recall().search("words", &SearchOptions::default())).unwrap();
        format!(
            "{:?} {:?} {:?}",
            info.reach(DerivedTable::Counts),
            info.reach(DerivedTable::Words),
            found.hits
        )
    };
    in_any_weather("catching up", &some_events, &act, &look);
    let act = |engine: &Engine| block_on(engine.maintenance().rebuild(&mut |_| {}));
    in_any_weather("rebuilding", &some_events, &act, &look);
}

#[test]
fn two_that_index_at_once_index_everything_once() {
    let home = Home::new();
    let engines = [home.engine(), home.engine()];
    for number in 0..6 {
        let events = wunderblock_testkit::generate::session(60, number).collect();
        append(&engines[0], &format!("s{number}"), events);
    }
    std::thread::scope(|scope| {
        for engine in &engines {
            scope.spawn(|| {
                for _ in 0..3 {
                    catch_up(engine);
                }
            });
        }
        for number in 6..10 {
            let events = wunderblock_testkit::generate::session(60, number).collect();
            append(&engines[0], &format!("s{number}"), events);
        }
    });
    catch_up(&engines[1]);
    assert_eq!(problems(&engines[0]), [""; 0]);
    let infos = block_on(engines[0].streams("", 99)).unwrap();
    assert!(
        infos.iter().all(|info| info.reach(DerivedTable::Counts) == info.head
            && info.reach(DerivedTable::Words) == info.head)
    );
}

#[test]
fn two_that_build_at_once_record_what_they_built() {
    let home = Home::new();
    let engines = [home.engine(), home.engine()];
    append(&engines[0], "s", wunderblock_testkit::generate::session(40, 1).collect());
    let requests: Vec<(Option<Seq>, Vec<u8>)> = std::thread::scope(|scope| {
        let builders: Vec<_> = engines
            .iter()
            .enumerate()
            .map(|(number, engine)| {
                scope.spawn(move || {
                    let mut all = Vec::new();
                    for round in 0..5 {
                        append(engine, "s", vec![said(&format!("{number} {round}"), Role::User, "go on")]);
                        // If the other builder keeps moving the session, this builder gets `Restless`.
                        match block_on(session_of(engine).context(window(50_000))) {
                            Ok(built) => all.push((built.recorded, built.draft.body)),
                            Err(error) => assert!(matches!(error, Error::Restless), "{error}"),
                        }
                    }
                    all
                })
            })
            .collect();
        builders.into_iter().flat_map(|builder| builder.join().unwrap()).collect()
    });
    assert!(requests.len() >= 2);
    for (seq, body) in requests {
        assert!(block_on(session_of(&engines[0]).replay(seq)).unwrap().body == body);
    }
    assert_eq!(problems(&engines[0]), [""; 0]);
    drop(Sqlite::open(&home.db(), Access::Read).unwrap());
}

/// A store that runs a closure before the first commit that stores an index segment.
struct Between {
    store: Arc<dyn Storage>,
    once: std::sync::Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Storage for Between {
    fn commit(&self, commit: Commit) -> Answering<'_, Vec<Written>> {
        if commit.writes.iter().any(|write| matches!(write, Write::Segment { .. }))
            && let Some(once) = self.once.lock().unwrap().take()
        {
            std::thread::spawn(once).join().unwrap();
        }
        self.store.commit(commit)
    }

    fn query(&self, queries: Vec<Query>) -> Answering<'_, Vec<Answer>> {
        self.store.query(queries)
    }
}

#[test]
fn words_that_were_erased_while_they_were_indexed_are_not_in_the_index() {
    let store: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let other = block_on(Engine::on(Arc::clone(&store), true, config())).unwrap();
    append(&other, "s", vec![said("1", Role::User, "the word is xylophone"), said("2", Role::User, "more")]);
    let erasing = other.clone();
    let once = Box::new(move || {
        block_on(erasing.session_by_id(stream("s")).erase(Seq(2), Seq(2), None)).unwrap();
    });
    let between = Between { store, once: std::sync::Mutex::new(Some(once)) };
    let engine = block_on(Engine::on(Arc::new(between), true, config())).unwrap();
    catch_up(&engine);
    let found = block_on(engine.recall().search("xylophone", &SearchOptions::default())).unwrap();
    assert!(found.hits.is_empty(), "{found:?}");
    assert_eq!(block_on(engine.recall().search("more", &SearchOptions::default())).unwrap().hits.len(), 1);
    let examined = block_on(engine.maintenance().doctor(&mut |_| {})).unwrap();
    assert!(examined.problems.is_empty(), "{:?}", examined.problems);
}
