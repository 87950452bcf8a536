//! Choice of a lane by a request, and the independence of lanes.

use crate::compacts_without_losing::compaction::scene::*;
use futures_executor::block_on;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wunderblock::{Built, CompactOptions, ContextOptions, MadeNode};
use wunderblock_core::decision::TrimReason;
use wunderblock_core::id::LaneId;
use wunderblock_core::units::{Seq, Tokens};

/// Returns options for a request under a policy, without naming a lane.
fn unnamed(policy: &str, tokens: u64) -> ContextOptions {
    ContextOptions { lane: None, ..under(&preset(policy), tokens) }
}

/// Number of turns that exceed a window of 32,000 tokens.
const TURNS: u64 = 120;

fn lane(name: &str) -> LaneId {
    LaneId::new(name).unwrap()
}

fn named(name: &str, options: ContextOptions) -> ContextOptions {
    ContextOptions { lane: Some(lane(name)), ..options }
}

#[test]
fn a_request_without_a_lane_goes_on_with_the_one_for_its_model_window_and_policy() {
    let scene = Scene::of(12);
    let of = |built: &Built| built.draft.lane().to_string();
    assert_eq!(of(&scene.build(&unnamed("balanced", 64_000))), "main");
    assert_eq!(of(&scene.build(&unnamed("balanced", 16_000))), format!("{MODEL}@16000"));
    assert_eq!(of(&scene.build(&unnamed("lossless", 16_000))), format!("{MODEL}@16000+lossless"));
    let other = ContextOptions { model: Some("gpt-4o".to_owned()), ..unnamed("balanced", 64_000) };
    assert_eq!(of(&scene.build(&other)), "gpt-4o@64000");
    scene.user("Go on.");
    for (options, lane) in [
        (unnamed("balanced", 64_000), "main".to_owned()),
        (unnamed("lossless", 16_000), format!("{MODEL}@16000+lossless")),
        (other, "gpt-4o@64000".to_owned()),
        (unnamed("balanced", 16_000), format!("{MODEL}@16000")),
    ] {
        assert_eq!(of(&scene.explain(&options)), lane);
        let built = scene.build(&options);
        assert_eq!((of(&built), built.draft.step), (lane, None));
    }
    // A lane named by a caller also matches requests for the model, window and policy that it was built for; the
    // latest matching lane wins.
    scene.build(&named("mine", unnamed("balanced", 64_000)));
    assert_eq!(of(&scene.build(&unnamed("balanced", 64_000))), "mine");
    // A generated name that is already in use gets a suffix.
    scene.build(&named(&format!("{MODEL}@9000"), unnamed("balanced", 64_000)));
    assert_eq!(of(&scene.build(&unnamed("balanced", 9_000))), format!("{MODEL}@9000+balanced"));
}

#[test]
fn what_is_asked_without_a_lane_is_asked_of_the_one_built_last() {
    let scene = Scene::of(40);
    let latest = || block_on(scene.session.lane(None).built()).unwrap();
    assert_eq!(latest(), None);
    scene.build(&unnamed("balanced", 64_000));
    scene.build(&unnamed("balanced", 8_000));
    let last = latest().unwrap();
    assert_eq!((last.lane.clone(), last.budget.window), (lane(&format!("{MODEL}@8000")), Tokens(8_000)));
    assert_eq!(last.policy.as_deref(), Some("balanced"));
    let bare = wunderblock::CompactOptions::new(
        ContextOptions::uncompacted(),
        wunderblock::Compactor::new(preset("lossless")),
    );
    scene.turns(40..60);
    assert_eq!(scene.compact(&bare).lane, last.lane, "whatever it is compacted by");
    assert_eq!(block_on(scene.session.lane(None).undo()).unwrap().lane, last.lane);
    let main = named("main", unnamed("balanced", 64_000));
    scene.build(&main);
    assert_eq!(latest().unwrap().lane, LaneId::main());
    let of = block_on(scene.session.lane(last.lane.clone()).built()).unwrap().unwrap();
    assert_eq!(of.budget.window, Tokens(8_000));
}

/// With windows of 200k, 32k, 8k and 200k again, trying a window leaves no trace in later requests.
#[test]
fn a_window_that_is_tried_changes_no_later_request() {
    let scene = Scene::of(TURNS);
    let first = scene.build(&unnamed("balanced", 200_000));
    for window in [32_000, 8_000] {
        assert!(scene.build(&unnamed("balanced", window)).compacted.is_some());
    }
    let last = scene.build(&unnamed("balanced", 200_000));
    assert!(last.draft.body == first.draft.body);
    // A lane named by a caller begins again for each window, as a recorded step.
    let first = scene.build(&named("mine", unnamed("balanced", 200_000)));
    for window in [32_000, 8_000] {
        let small = scene.build(&named("mine", unnamed("balanced", window)));
        assert_eq!(small.compacted.unwrap().due.level.word(), "cold");
    }
    let last = scene.build(&named("mine", unnamed("balanced", 200_000)));
    assert_eq!(last.draft.step, Some(TrimReason::Resized));
    assert!(last.draft.body == first.draft.body);
    assert_eq!(scene.build(&named("mine", unnamed("balanced", 200_000))).draft.step, None);
    let of_mine = scene.steps().into_iter().filter(|(_, step)| step.lane == lane("mine"));
    assert_eq!(of_mine.filter(|(_, step)| step.reason == TrimReason::Resized).count(), 3);
    scene.is_whole();
}

#[test]
fn builds_of_one_lane_at_once_all_succeed() {
    for round in 0..6 {
        let scene = Scene::of(TURNS);
        let sessions: Vec<_> = (0..6).map(|_| scene.elsewhere()).collect();
        let window = [8_000, 16_000, 32_000][round % 3];
        let bodies: Vec<Vec<u8>> = std::thread::scope(|threads| {
            let build = |session| {
                move || {
                    let session: &wunderblock::Session = session;
                    block_on(session.context(unnamed("balanced", window))).map(|built| built.draft.body)
                }
            };
            let all: Vec<_> = sessions.iter().map(|session| threads.spawn(build(session))).collect();
            all.into_iter().map(|one| one.join().unwrap().unwrap_or_else(|error| panic!("{error}"))).collect()
        });
        assert_eq!(bodies.len(), 6);
        scene.is_whole();
    }
}

#[test]
fn the_options_of_a_lane_resume_it() {
    let scene = Scene::of(20);
    scene.build(&unnamed("balanced", 32_000));
    let last = block_on(scene.session.lane(None).built()).unwrap().unwrap();
    let policy = preset(last.policy.as_deref().unwrap());
    let bare = ContextOptions {
        compactor: Some(wunderblock::Compactor::new(Arc::clone(&policy))),
        ..ContextOptions::default()
    };
    scene.turns(20..23);
    let resumed = scene.explain(&last.resume(bare));
    assert!(resumed.draft.body == scene.build(&unnamed("balanced", 32_000)).draft.body);
}

/// A lane divides its view as if no other lane existed: a small window changes neither the cuts nor the summaries of a
/// large one.
#[test]
fn a_small_window_spoils_nothing() {
    for policy in ["balanced", "claude-code", "lossless"] {
        let told = |built: &Built| -> Vec<(Seq, Seq, String)> {
            let made = built.compacted.as_ref().map(|done| &done.nodes).into_iter().flatten();
            made.map(|node| (node.from, node.to, node.text.clone())).collect()
        };
        let fresh = Scene::of(TURNS / 2);
        let alone = fresh.build(&unnamed(policy, 32_000));
        let scene = Scene::of(TURNS / 2);
        for window in [6_000, 12_000, 24_000] {
            assert!(scene.build(&unnamed(policy, window)).compacted.is_some());
        }
        let large = scene.build(&unnamed(policy, 32_000));
        assert_eq!(told(&large), told(&alone), "{policy}");
        let cuts = |scene: &Scene| (scene.trim().drop_before, scene.trim().stub_before, scene.trim().keep);
        assert_eq!(cuts(&scene), cuts(&fresh), "{policy}");
        assert_eq!(scene.unreachable(&large), []);
        scene.is_whole();
        assert_eq!(scene.problems(), [""; 0]);
        // A window that fits the whole session needs no summary.
        assert!(scene.build(&unnamed(policy, 200_000)).compacted.is_none());
    }
}

/// A summary that a model wrote stands in every lane that would summarise exactly its range, unless it was undone.
#[test]
fn no_range_is_paid_for_twice() {
    let policy = policy("extends = \"balanced\"\n[[step]]\ndo = \"summarise\"\nall = true\n");
    let of = |name: &str, tokens: u64| {
        let options = by_hand(&policy, tokens);
        CompactOptions { context: ContextOptions { lane: Some(lane(name)), ..options.context }, ..options }
    };
    let dry = CompactOptions { dry_run: true, ..of("dry", 24_000) };
    let good = Scene::of(30).compact(&dry).nodes[0].text.clone();
    for undoes in [false, true] {
        let scene = Scene::of(30);
        let calls = Arc::new(AtomicUsize::new(0));
        let (counted, good) = (Arc::clone(&calls), good.clone());
        let compactor = with(&policy, move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            written(good.clone())
        });
        let compact = |name: &str, tokens| {
            let done = scene.compact(&CompactOptions { compactor: compactor.clone(), ..of(name, tokens) });
            (done, calls.load(Ordering::SeqCst))
        };
        let (first, paid) = compact("first", 24_000);
        assert_eq!((first.nodes.len(), paid), (1, 1));
        if undoes {
            block_on(scene.session.lane(lane("first")).undo()).unwrap();
        }
        let (second, paid) = compact("second", 24_000);
        assert_eq!(paid, if undoes { 2 } else { 1 });
        let told = |node: &MadeNode| (node.from, node.to, node.producer.clone(), node.text.clone());
        assert_eq!(told(&second.nodes[0]), told(&first.nodes[0]));
        // Another window has other ranges, for which no summary was paid.
        assert!(compact("small", 12_000).1 > paid);
        scene.is_whole();
        assert_eq!(scene.problems(), [""; 0]);
    }
}
