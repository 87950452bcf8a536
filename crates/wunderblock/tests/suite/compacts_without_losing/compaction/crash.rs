//! C-17: a compaction that is cut off at any point is recorded as a whole or not at all.

use crate::compacts_without_losing::compaction::scene::*;
use crate::scene as words;
use futures_executor::block_on;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wunderblock::store::StoreError;
use wunderblock::store::sqlite::Access;
use wunderblock::summarize::CommandSummariser;
use wunderblock::{CompactOptions, CompactionResult, Compactor, Config, Engine};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_testkit::faults::{FaultTime, PortMethod};

const WINDOW: u64 = 32_000;

fn small() -> Arc<Policy> {
    policy("extends = \"always\"\n[summary]\ntarget = 300\nshare = 0.3\nat_least = 64\ncondensed = 400\n")
}

/// Each commit of a compaction fails once, before or after it takes effect. The ledger stays whole, and the next try
/// completes the work.
#[test]
fn a_commit_that_fails_leaves_all_or_nothing() {
    for when in [FaultTime::Before, FaultTime::After] {
        for nth in 1..=4 {
            let scene = Scene::of(20);
            scene.build(&window(WINDOW));
            let messages = scene.messages();
            scene.faults.fail(PortMethod::Commit, nth, when, StoreError::Io("the disk is gone".to_owned()));
            let broken = block_on(scene.session.compact(&by_hand(&small(), WINDOW)));
            scene.faults.clear();
            let steps = scene.compactions();
            assert_eq!(
                steps > 0,
                !scene.made().is_empty(),
                "{when:?} {nth}: summaries without a step, or a step without"
            );
            scene.is_whole();
            assert_eq!(scene.messages(), messages);
            if let Ok(done) = &broken {
                assert!(nth > 3 || steps == 1, "{when:?} {nth}: {:?}", done.outcome);
            }
            // The failed worker may still hold the lease until it expires.
            scene.wait(wunderblock::COMPACTION_LEASE + 1);
            let again = scene.compact(&by_hand(&small(), WINDOW));
            assert!(
                matches!(again.outcome, CompactionResult::Compacted | CompactionResult::NothingGained),
                "{:?}",
                again.outcome
            );
            assert_eq!(scene.compactions(), 1, "{when:?} {nth}: once");
            assert_eq!(scene.unreachable(&scene.build(&window(WINDOW))), []);
            scene.is_whole();
        }
    }
}

/// Each query of a compaction fails once, and the ledger stays whole.
#[test]
fn a_question_that_fails_leaves_all_or_nothing() {
    for nth in 1..=16 {
        let scene = Scene::of(20);
        scene.build(&window(WINDOW));
        scene.faults.fail(
            PortMethod::Query,
            nth,
            FaultTime::Before,
            StoreError::Io("the disk is gone".to_owned()),
        );
        let broken = block_on(scene.session.compact(&by_hand(&small(), WINDOW)));
        scene.faults.clear();
        assert_eq!(scene.compactions() > 0, !scene.made().is_empty());
        assert!(broken.is_err() || scene.compactions() == 1, "{nth}");
        scene.is_whole();
        scene.wait(wunderblock::COMPACTION_LEASE + 1);
        scene.compact(&by_hand(&small(), WINDOW));
        assert_eq!(scene.compactions(), 1, "{nth}");
        scene.is_whole();
    }
}

/// A failed compaction releases the lane immediately instead of holding it until the lease expires.
#[test]
fn an_error_gives_the_claim_back() {
    let scene = Scene::of(20);
    scene.faults.fail(PortMethod::Query, 3, FaultTime::Before, StoreError::Io("the disk is gone".to_owned()));
    assert!(block_on(scene.session.compact(&by_hand(&small(), WINDOW))).is_err());
    scene.faults.clear();
    let again = block_on(scene.elsewhere().compact(&by_hand(&small(), WINDOW))).unwrap();
    assert_eq!(again.outcome, CompactionResult::Compacted);
}

const DB: &str = "WUNDERBLOCK_TEST_COMPACTION_DB";
const SCRIPT: &str = "WUNDERBLOCK_TEST_COMPACTION_SCRIPT";

fn at(millis: i64) -> Config {
    Config { clock: Arc::new(move || Millis(millis)), ..Config::default() }
}

fn opened(db: &Path, millis: i64) -> Engine {
    block_on(Engine::open_with(db, Access::Create, at(millis))).unwrap()
}

/// Runs in the process that gets killed, and compacts with a slow program. Run as a normal test, this function does
/// nothing.
#[test]
fn a_process_that_compacts() {
    let (Ok(db), Ok(script)) = (std::env::var(DB), std::env::var(SCRIPT)) else { return };
    let engine = opened(Path::new(&db), 1_800_000_000_000);
    let argv = vec!["sh".to_owned(), "-c".to_owned(), script];
    let summariser = CommandSummariser::new(argv, None).limited(Millis(60_000), Bytes(1 << 20));
    let compactor = Compactor { summariser: Some(Arc::new(summariser)), ..Compactor::new(small()) };
    let options = CompactOptions { compactor, sweep: true, ..by_hand(&small(), WINDOW) };
    println!("begins");
    let done = block_on(engine.session_by_id(stream("s")).compact(&options)).unwrap();
    println!("ends {:?}", done.outcome);
}

/// After `kill -9` while a summary is being written or published: `doctor` finds no problem, the lease expires by
/// itself, and the next compaction makes one set of summaries.
#[test]
#[allow(clippy::too_many_lines, reason = "a table of cases, or one story")]
fn a_killed_compaction_leaves_all_or_nothing() {
    let script = "sleep 0.03; echo '## Goal'; echo '- to mend what was asked for'";
    let here = format!("{}::a_process_that_compacts", module_path!().split_once("::").unwrap().1);
    let (mut seen, mut cut_short) = (0, 0);
    for round in 0..8_u64 {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("ledger.db");
        let messages = {
            let engine = opened(&db, 1_800_000_000_000);
            for number in 0..20 {
                let said = |message| words::message(&format!("m{number}-{}", name(&message)), message);
                let events: Vec<_> = turn(number).into_iter().map(said).collect();
                block_on(engine.session_by_id(stream("s")).append(events)).unwrap();
            }
            messages(&engine.session_by_id(stream("s")))
        };
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([&here[..], "--exact", "--nocapture"])
            .env(DB, &db)
            .env(SCRIPT, script)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let held = |engine: &Engine| {
            let state = block_on(
                engine.session_by_id(stream("s")).lane(wunderblock_core::id::LaneId::main()).state(),
            );
            state.is_ok_and(|state| state != wunderblock::LaneState::Active)
        };
        let watch = opened(&db, 1_800_000_000_000);
        let begun = Instant::now();
        while !held(&watch) && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(2));
        }
        seen += usize::from(held(&watch));
        std::thread::sleep(Duration::from_millis(round * 60));
        let _ = child.kill();
        let _ = child.wait();
        drop(watch);
        let engine = opened(&db, 1_800_000_000_000);
        let session = engine.session_by_id(stream("s"));
        words::catch_up(&engine);
        assert_eq!(words::problems(&engine), [""; 0], "round {round}");
        let steps = words::events(&session)
            .iter()
            .filter(|event| event.fact.as_ref().is_some_and(|fact| fact.kind() == "view.trimmed"))
            .count();
        let nodes = block_on(session.nodes(None)).unwrap().len();
        assert_eq!(steps > 0, nodes > 0, "round {round}: all of it, or nothing");
        cut_short += usize::from(steps == 0);
        let options = by_hand(&small(), WINDOW);
        // Linux tells that the process has ended; elsewhere, its lease has to expire.
        assert!(!held(&engine) || !cfg!(target_os = "linux"), "round {round}");
        if held(&engine) {
            let busy = block_on(session.compact(&options)).unwrap();
            assert!(matches!(busy.outcome, CompactionResult::Busy(_)), "{:?}", busy.outcome);
        }
        drop((engine, session));
        let engine = opened(&db, 1_800_000_000_001 + wunderblock::COMPACTION_LEASE);
        let session = engine.session_by_id(stream("s"));
        let done = block_on(session.compact(&options)).unwrap();
        assert!(
            matches!(done.outcome, CompactionResult::Compacted | CompactionResult::NothingGained),
            "{:?}",
            done.outcome
        );
        let mut leaves: Vec<(Seq, Seq)> = block_on(session.nodes(None))
            .unwrap()
            .iter()
            .filter(|node| node.level == 0)
            .map(|node| (node.from, node.to))
            .collect();
        leaves.sort_unstable();
        assert!(!leaves.is_empty());
        assert!(leaves.windows(2).all(|two| two[0].1 < two[1].0), "one set of summaries: {leaves:?}");
        assert_eq!(
            crate::compacts_without_losing::compaction::scene::messages(&session),
            messages,
            "round {round}"
        );
        words::catch_up(&engine);
        assert_eq!(words::problems(&engine), [""; 0], "round {round}");
    }
    assert!(seen > 0, "the process that is killed takes the lane");
    assert!(cut_short > 0, "some were killed before they had published");
}

/// Returns a unique name for a message.
fn name(message: &wunderblock_core::message::Message) -> String {
    blake3::hash(format!("{message:?}").as_bytes()).to_hex().chars().take(12).collect()
}
