//! Concurrency: several workers, and a session that goes on while a summary is written.

use crate::compacts_without_losing::compaction::scene::*;
use futures_executor::block_on;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::task::{Context, Waker};
use std::time::Duration;
use wunderblock::{CompactOptions, Compacted, CompactionResult, ContextOptions, LaneState, Session};
use wunderblock_core::event::{ContentPinned, Fact};
use wunderblock_core::id::LaneId;
use wunderblock_core::message::{Message, Role};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::Seq;

const WINDOW: u64 = 32_000;
/// Maximum number of checks on the work of another thread; at 20 ms per check, they take half a minute.
const LOOKS: u32 = 1_500;

fn small() -> Arc<Policy> {
    policy("extends = \"always\"\n[summary]\ntarget = 300\nshare = 0.3\nat_least = 64\ncondensed = 400\n")
}

/// A compaction on a separate thread, whose summariser waits until it is released.
struct Slow {
    thread: std::thread::JoinHandle<Compacted>,
    go: mpsc::Sender<()>,
}

impl Slow {
    /// Starts a compaction, and returns once its summariser has been called.
    fn start(session: Session, options: CompactOptions) -> Self {
        let (go, gone) = mpsc::channel::<()>();
        let (began, begun) = mpsc::channel::<()>();
        let (gone, began) = (Mutex::new(gone), Mutex::new(began));
        let compactor = with(&options.compactor.policy, move |_| {
            let _ = began.lock().unwrap_or_else(PoisonError::into_inner).send(());
            // After the release, the summariser no longer waits.
            let _ = gone.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(Duration::from_secs(60));
            Err(wunderblock::summarize::CallFailure::Empty)
        });
        let options = CompactOptions { compactor, ..options };
        let thread = std::thread::spawn(move || block_on(session.compact(&options)).unwrap());
        begun.recv_timeout(Duration::from_secs(60)).expect("the summariser is asked");
        Self { thread, go }
    }

    /// Releases the summariser, and returns the result.
    fn end(self) -> Compacted {
        drop(self.go);
        self.thread.join().unwrap()
    }
}

#[test]
fn one_lane_is_compacted_by_one_at_a_time() {
    let scene = Scene::of(30);
    let options = by_hand(&small(), WINDOW);
    let main = LaneId::main();
    assert_eq!(block_on(scene.session.lane(main.clone()).state()).unwrap(), LaneState::Active);
    let slow = Slow::start(scene.session.clone(), options.clone());
    let LaneState::Compacting { worker, until } =
        block_on(scene.elsewhere().lane(main.clone()).state()).unwrap()
    else {
        panic!("it is being compacted");
    };
    assert!(until.0 > scene.clock.load(Ordering::SeqCst));
    let other = block_on(scene.elsewhere().compact(&options)).unwrap();
    assert_eq!(other.outcome, CompactionResult::Busy(worker));
    assert_eq!(other.recorded, None);
    // The lease does not block another lane or a dry run.
    let dry =
        block_on(scene.elsewhere().compact(&CompactOptions { dry_run: true, ..options.clone() })).unwrap();
    assert_eq!(dry.outcome, CompactionResult::WouldCompact);
    let lane = Some(LaneId::new("other").unwrap());
    let context = ContextOptions { lane, ..window(WINDOW) };
    let third = block_on(scene.elsewhere().compact(&CompactOptions { context, ..options.clone() })).unwrap();
    assert_eq!(third.outcome, CompactionResult::Compacted);
    let done = slow.end();
    assert_eq!(done.outcome, CompactionResult::Compacted);
    assert_eq!(block_on(scene.session.lane(main.clone()).state()).unwrap(), LaneState::Active);
    assert_eq!(scene.problems(), [""; 0]);
}

/// A lease that ends further in the future than any lease can was claimed while a clock was wrong.
#[test]
fn a_claim_of_a_clock_that_was_wrong_holds_nobody_up() {
    let scene = Scene::of(30);
    let options = by_hand(&small(), WINDOW);
    scene.wait(30 * 365 * 24 * 3_600_000);
    let slow = Slow::start(scene.session.clone(), options.clone());
    scene.wait(-30 * 365 * 24 * 3_600_000);
    assert_eq!(block_on(scene.elsewhere().lane(LaneId::main()).state()).unwrap(), LaneState::Active);
    let other = block_on(scene.elsewhere().compact(&options)).unwrap();
    assert_eq!(other.outcome, CompactionResult::Compacted);
    assert_eq!(slow.end().outcome, CompactionResult::Overtaken);
    scene.is_whole();
}

/// While a model writes summaries, however long it takes, no other worker writes the same summaries.
#[test]
fn a_claim_is_renewed_while_its_worker_works() {
    let scene = Scene::of(30);
    let options = by_hand(&small(), WINDOW);
    let slow = Slow::start(scene.session.clone(), options.clone());
    for _ in 0..5 {
        scene.wait(wunderblock::COMPACTION_LEASE / 2);
        let now = scene.clock.load(Ordering::SeqCst);
        for look in 0.. {
            match block_on(scene.elsewhere().lane(LaneId::main()).state()).unwrap() {
                LaneState::Compacting { until, .. } if until.0 == now + wunderblock::COMPACTION_LEASE => {
                    break;
                }
                LaneState::Compacting { .. } => {}
                LaneState::Active => panic!("the claim has ended"),
            }
            assert!(look < LOOKS, "it is not renewed");
            std::thread::sleep(Duration::from_millis(20));
        }
        let other = block_on(scene.elsewhere().compact(&options)).unwrap();
        assert!(matches!(other.outcome, CompactionResult::Busy(_)), "{:?}", other.outcome);
    }
    assert_eq!(slow.end().outcome, CompactionResult::Compacted);
    assert_eq!(block_on(scene.session.lane(LaneId::main()).state()).unwrap(), LaneState::Active);
    assert_eq!(scene.compactions(), 1);
    scene.is_whole();
}

/// A worker that stalls, for example on a sleeping machine, does not hold up others. When the stalled worker
/// continues, it is too late to publish its compaction.
#[test]
fn a_claim_ends_by_itself_and_a_late_compaction_is_overtaken() {
    let scene = Scene::of(30);
    let options = by_hand(&small(), WINDOW);
    let asked = Arc::new(AtomicBool::new(false));
    let goes_on = Arc::new(AtomicBool::new(false));
    let (told, awaited) = (Arc::clone(&asked), Arc::clone(&goes_on));
    let compactor = with(&small(), move |_| {
        told.store(true, Ordering::SeqCst);
        while !awaited.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(wunderblock::summarize::CallFailure::Empty)
    });
    let slow = CompactOptions { compactor, ..options.clone() };
    let mut late = Box::pin(scene.session.compact(&slow));
    // The worker stalls in its summariser.
    while !asked.load(Ordering::SeqCst) {
        assert!(late.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        std::thread::sleep(Duration::from_millis(1));
    }
    scene.wait(wunderblock::COMPACTION_LEASE + 1);
    assert_eq!(block_on(scene.session.lane(LaneId::main()).state()).unwrap(), LaneState::Active);
    let other = block_on(scene.elsewhere().compact(&options)).unwrap();
    assert_eq!(other.outcome, CompactionResult::Compacted);
    let (trim, nodes) = (scene.trim(), scene.nodes().len());
    goes_on.store(true, Ordering::SeqCst);
    let late = block_on(late).unwrap();
    assert_eq!((late.outcome, late.recorded), (CompactionResult::Overtaken, None));
    assert_eq!((scene.trim(), scene.nodes().len()), (trim, nodes), "nothing of it is there");
    assert_eq!(scene.rejected().last().map(|no| no.outcome.to_string()).as_deref(), Some("overtaken"));
    assert_eq!(scene.unreachable(&scene.build(&window(WINDOW))), []);
    scene.is_whole();
}

/// C-18: appends continue during a compaction, and the new entries appear in the tail.
#[test]
fn appends_never_wait_and_stand_in_the_tail() {
    for name in ["balanced", "lossless", "claude-code", "always"] {
        let scene = Scene::of(24);
        scene.build(&window(40_000));
        let slow = Slow::start(scene.session.clone(), by_hand(&preset(name), 40_000));
        let late = scene.user("A word that came meanwhile, K-9000.");
        scene.turns(50..54);
        let built = scene.build(&window(40_000));
        assert!(Shown::of(&built.draft.body).says("K-9000"));
        // The build did not wait for the summariser, which is still at work.
        let state = block_on(scene.elsewhere().lane(LaneId::main()).state()).unwrap();
        assert!(matches!(state, LaneState::Compacting { .. }), "{name}: {state:?}");
        let done = slow.end();
        assert_eq!(done.outcome, CompactionResult::Compacted, "{name}");
        assert!(done.nodes.iter().all(|node| node.to < late), "{name}: it was not there yet");
        assert!(done.recorded.unwrap() > late);
        for node in &done.nodes {
            assert!(
                scene.made().iter().any(|(seq, made)| *seq == node.at && made.from_seq == node.from),
                "{name}"
            );
        }
        let built = scene.build(&window(40_000));
        assert!(Shown::of(&built.draft.body).says("A word that came meanwhile, K-9000."), "{name}");
        assert!(Shown::of(&built.draft.body).says("E0053 came from step_53_7"), "{name}");
        assert_eq!(scene.unreachable(&built), [], "{name}");
        scene.is_whole();
    }
}

/// Changes to the entries being summarised.
#[test]
fn what_touches_the_range_makes_the_proposal_void() {
    type Touch = (&'static str, fn(&Scene), bool);
    let table: [Touch; 7] = [
        ("nothing", |_| {}, true),
        ("a message", |scene| assert!(scene.user("Hm.") > Seq(1)), true),
        (
            "a pin inside",
            |scene| {
                drop(scene.add(vec![Fact::ContentPinned(ContentPinned { target: Seq(7), pinned: true })]))
            },
            false,
        ),
        (
            "an erasure inside",
            |scene| assert_eq!(block_on(scene.session.erase(Seq(9), Seq(9), None)).unwrap().events, 1),
            false,
        ),
        ("a step of the lane", |scene| drop(scene.build(&window(6_000))), false),
        ("a request", |scene| drop(scene.build(&window(WINDOW))), true),
        ("an undone compaction", |scene| drop(block_on(scene.session.lane(LaneId::main()).undo())), true),
    ];
    for (what, touch, holds) in table {
        let scene = Scene::of(30);
        let slow = Slow::start(scene.session.clone(), by_hand(&small(), WINDOW));
        touch(&scene);
        let done = slow.end();
        let expected = if holds { CompactionResult::Compacted } else { CompactionResult::Overtaken };
        assert_eq!(done.outcome, expected, "{what}");
        assert_eq!(scene.made().is_empty(), !holds, "{what}");
        let built = scene.build(&window(WINDOW));
        assert_eq!(scene.unreachable(&built), [], "{what}");
        assert_eq!(scene.problems(), [""; 0], "{what}");
        // An obstacle to one compaction does not affect the next.
        scene.turns(40..46);
        assert_eq!(scene.compact(&by_hand(&small(), WINDOW)).outcome, CompactionResult::Compacted, "{what}");
        assert_eq!(scene.unreachable(&scene.build(&window(WINDOW))), [], "{what}");
        scene.is_whole();
    }
}

/// A compaction overtaken by another does not count as fruitless.
#[test]
fn an_overtaken_compaction_is_not_counted_as_a_fruitless_round() {
    let scene = Scene::of(30);
    let options = by_itself(&small(), WINDOW);
    for round in 0..4 {
        let slow = Slow::start(scene.session.clone(), options.clone());
        scene.add(vec![Fact::ContentPinned(ContentPinned { target: Seq(7 + round), pinned: true })]);
        assert_eq!(slow.end().outcome, CompactionResult::Overtaken, "{round}");
        assert_eq!(scene.rejected().last().unwrap().round, 0);
        // The calls allowed for this hour have been used up.
        scene.wait(3_600_001);
    }
    assert_eq!(scene.compact(&options).outcome, CompactionResult::Compacted);
}

/// A result that arrives while its call is being summarised is not lost: either the call waits in the tail, or the
/// proposal is void.
#[test]
fn a_result_that_comes_late_finds_its_call() {
    for gone_on in [false, true] {
        let scene = Scene::of(15);
        let calls = vec![call("late", "Run", r#"{"command":"make slow"}"#)];
        let called = scene.say(Message::new(Role::Assistant, calls));
        if gone_on {
            // The user has gone on, so the call is no longer open and may be summarised.
            scene.user("Never mind, go on.");
            scene.reply("Very well.");
            scene.turns(15..30);
        }
        let slow = Slow::start(scene.session.clone(), by_hand(&small(), WINDOW));
        let came = scene.say(result("late", "made in 4711 s"));
        scene.user("What came of it?");
        let done = slow.end();
        assert!(
            matches!(done.outcome, CompactionResult::Compacted | CompactionResult::Overtaken),
            "{:?}",
            done.outcome
        );
        let built = scene.build(&window(WINDOW));
        assert_eq!(scene.unreachable(&built), [], "call at {called}, result at {came}: {:?}", done.outcome);
        if !gone_on {
            assert!(Shown::of(&built.draft.body).says("made in 4711 s"));
        }
        assert_eq!(scene.problems(), [""; 0]);
    }
}

#[test]
fn many_workers_make_one_set_of_summaries() {
    let scene = Scene::of(40);
    let policy = small();
    let options = by_hand(&policy, WINDOW);
    let outcomes: Vec<CompactionResult> = std::thread::scope(|scope| {
        let work = || {
            let (session, options) = (scene.elsewhere(), options.clone());
            scope.spawn(move || block_on(session.compact(&options)).unwrap().outcome)
        };
        let all: Vec<_> = (0..6).map(|_| work()).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(outcomes.contains(&CompactionResult::Compacted), "{outcomes:?}");
    let fits = |one: &CompactionResult| {
        matches!(
            one,
            CompactionResult::Compacted
                | CompactionResult::Busy(_)
                | CompactionResult::NothingGained
                | CompactionResult::Overtaken
        )
    };
    assert!(outcomes.iter().all(fits), "{outcomes:?}");
    let mut leaves: Vec<(Seq, Seq)> = scene
        .made()
        .iter()
        .filter(|(_, made)| made.level == 0)
        .map(|(_, made)| (made.from_seq, made.to_seq))
        .collect();
    leaves.sort_unstable();
    assert!(leaves.windows(2).all(|two| two[0].1 < two[1].0), "no range is summarised twice: {leaves:?}");
    scene.is_whole();
}

/// The policy decides whether requests continue without the compaction or wait for it.
#[test]
fn requests_wait_for_the_end_where_the_policy_says_so() {
    let text = "extends = \"always\"\n[limits]\nmeanwhile = \"wait\"\n";
    for (policy, waits) in [(policy(text), true), (preset("always"), false)] {
        let scene = Scene::of(30);
        let slow = Slow::start(scene.session.clone(), by_hand(&small(), WINDOW));
        let (session, options) = (
            scene.elsewhere(),
            ContextOptions {
                // The request behaves as if a worker's compaction were in progress for it.
                compactor: Some(wunderblock::Compactor {
                    background: true,
                    ..wunderblock::Compactor::new(policy)
                }),
                ..window(WINDOW)
            },
        );
        let (built, done) = mpsc::channel();
        std::thread::spawn(move || drop(built.send(Box::new(block_on(session.context(&options)).unwrap()))));
        let early = done.recv_timeout(Duration::from_millis(if waits { 400 } else { 30_000 }));
        assert_eq!(early.is_err(), waits);
        // Appends never wait.
        scene.user("One more thing, K-9001.");
        assert_eq!(slow.end().outcome, CompactionResult::Compacted);
        let built = early.unwrap_or_else(|_| done.recv_timeout(Duration::from_secs(60)).unwrap());
        assert_eq!(
            Shown::of(&built.draft.body).says("summary of positions"),
            waits,
            "built from what there was"
        );
    }
}
