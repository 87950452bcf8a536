//! Undoing a compaction, and showing any earlier request unchanged.

use crate::compacts_without_losing::compaction::scene::*;
use futures_executor::block_on;
use std::sync::Arc;
use wunderblock::{Built, CompactOptions, CompactionResult, ContextOptions, Error, Undone};
use wunderblock_core::decision::TrimReason;
use wunderblock_core::id::LaneId;
use wunderblock_core::policy::Policy;
use wunderblock_core::units::Seq;

fn undo(scene: &Scene) -> Undone {
    block_on(scene.session.lane(LaneId::main()).undo()).unwrap_or_else(|error| panic!("{error}"))
}

fn small() -> Arc<Policy> {
    policy("extends = \"always\"\n[summary]\ntarget = 300\nshare = 0.3\nat_least = 64\ncondensed = 400\n")
}

/// Adds turns, and a last one that names nothing: a text that a build brings back after a compaction was said since, so it
/// stays when the compaction is undone.
fn goes_through(scene: &Scene, numbers: std::ops::Range<u64>) {
    scene.turns(numbers);
    scene.user("Thanks.");
    scene.reply("Gladly.");
}

/// Returns the messages of a request as the provider reads them.
fn heard(built: &Built) -> Vec<wunderblock_core::message::Message> {
    wunderblock_wire::decode(built.draft.dialect, &built.draft.body).unwrap().messages
}

/// Returns the texts around the first difference between two requests, ignoring the provider's cache marks.
fn first_difference(one: &[u8], other: &[u8]) -> Option<(String, String)> {
    let bare =
        |body: &[u8]| String::from_utf8_lossy(body).replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    let (one, other) = (bare(one), bare(other));
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let at = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let around = |bytes: &[u8]| {
        let around = bytes.get(at.saturating_sub(60)..(at + 200).min(bytes.len()));
        String::from_utf8_lossy(around.unwrap_or_default()).into_owned()
    };
    (one != other).then(|| (around(one), around(other)))
}

#[test]
fn what_was_shown_before_is_shown_again() {
    for policy in active() {
        let scene = Scene::new();
        goes_through(&scene, 0..40);
        let options = window(64_000);
        let before = scene.build(&options);
        let done = scene.compact(&by_hand(&policy, 64_000));
        assert_eq!(done.outcome, CompactionResult::Compacted, "{}", policy.name);
        let compacted = scene.build(&options);
        assert_ne!(compacted.draft.body, before.draft.body);
        let undone = undo(&scene);
        assert_eq!(Some(undone.compaction), done.recorded, "{}", policy.name);
        assert_eq!((undone.before, undone.after), (done.before, done.after));
        let after = scene.build(&options);
        let differs = first_difference(&before.draft.body, &after.draft.body);
        assert_eq!(differs, None, "{}: byte for byte", policy.name);
        let told =
            scene.explain(&ContextOptions { at: Some(before.recorded.unwrap().prev()), ..options.clone() });
        assert_eq!(
            told.draft.body, before.draft.body,
            "{}: as `explain --at` shows it, marks and all",
            policy.name
        );
        assert_eq!(scene.unreachable(&after), []);
        assert_eq!(scene.problems(), [""; 0]);
        // The summaries stay in the ledger, but no view shows them.
        assert!(scene.nodes().iter().all(|node| !node.shown));
    }
}

#[test]
fn what_was_said_since_stands_behind_what_was_shown_before() {
    let scene = Scene::of(24);
    let options = window(32_000);
    let before = scene.build(&options);
    scene.compact(&by_hand(&small(), 32_000));
    scene.turns(24..27);
    scene.build(&options);
    undo(&scene);
    let after = scene.build(&options);
    assert!(goes_on(&before, &after), "the request from before, and what came since");
    assert_eq!(
        heard(&after).len(),
        heard(&before).len()
            + heard(&{
                let since = Scene::new();
                since.turns(24..27);
                since.build(&options)
            })
            .len()
    );
    assert_eq!(scene.unreachable(&after), []);
}

#[test]
fn compactions_are_undone_one_after_the_other_and_then_no_more() {
    let scene = Scene::new();
    goes_through(&scene, 0..12);
    let options = window(32_000);
    let mut bodies = vec![scene.build(&options).draft.body];
    for round in 0..3 {
        let done = scene.compact(&by_hand(&small(), 32_000));
        assert_eq!(done.outcome, CompactionResult::Compacted, "{round}");
        bodies.push(scene.build(&options).draft.body);
        if round < 2 {
            goes_through(&scene, 12 + round * 6..18 + round * 6);
            bodies.push(scene.build(&options).draft.body);
        }
    }
    let compactions = scene.compactions();
    assert_eq!(compactions, 3);
    let undone: Vec<Seq> = (0..3).map(|_| undo(&scene).compaction).collect();
    assert!(undone.windows(2).all(|two| two[0] > two[1]), "the newest first: {undone:?}");
    let end = block_on(scene.session.lane(LaneId::main()).undo()).unwrap_err();
    assert!(matches!(end, Error::NothingToUndo(_)), "{end}");
    let bare = Scene::new();
    for numbers in [0..12, 12..18, 18..24] {
        goes_through(&bare, numbers);
    }
    let (now, bare) = (scene.build(&options), bare.build(&options));
    assert_eq!(first_difference(&now.draft.body, &bare.draft.body), None, "as if none had been");
    assert_eq!(scene.problems(), [""; 0]);
    // Another compaction can be made and undone again.
    assert_eq!(scene.compact(&by_hand(&small(), 32_000)).outcome, CompactionResult::Compacted);
    scene.is_whole();
    undo(&scene);
    assert!(block_on(scene.session.lane(LaneId::main()).undo()).is_err());
}

#[test]
fn there_may_be_nothing_to_undo() {
    let scene = Scene::of(3);
    let head = scene.head();
    let nothing = block_on(scene.session.lane(LaneId::main()).undo()).unwrap_err();
    assert!(matches!(nothing, Error::NothingToUndo(_)), "{nothing}");
    scene.compact(&by_hand(&small(), 32_000));
    let other = LaneId::new("other").unwrap();
    assert!(block_on(scene.session.lane(other.clone()).undo()).is_err(), "another lane was not compacted");
    assert!(scene.head() > head);
    // A step taken for lack of room is not a compaction.
    let full = Scene::of(60);
    full.build(&window(8_000));
    assert!(block_on(full.session.lane(LaneId::main()).undo()).is_err());
}

#[test]
fn what_was_undone_is_not_done_again_at_once() {
    let scene = Scene::new();
    let policy = policy("extends = \"balanced\"\n[trigger]\nregrow = 0\nboundary = \"exchange\"\n");
    let options = under(&policy, 24_000);
    let mut number = 0;
    let compacted = loop {
        scene.turns(number..number + 1);
        number += 1;
        let built = scene.build(&options);
        if let Some(done) = built.compacted.filter(|done| done.due.level.word() != "overflow") {
            break done;
        }
        assert!(number < 100);
    };
    assert_eq!(compacted.outcome, CompactionResult::Compacted);
    undo(&scene);
    assert_eq!(scene.explain(&options).due, None);
    let after = scene.build(&options);
    assert!(after.compacted.is_none() && after.due.is_none());
    scene.user("A word more.");
    assert!(scene.build(&options).compacted.is_none());
    // The lane leaves out what does not fit, without summaries, until a fifth of the window has been appended.
    let (mut grown, mut stepped) = (None, false);
    let since = Scene::new();
    for more in number..number + 30 {
        scene.turns(more..more + 1);
        since.turns(more..more + 1);
        let built = scene.build(&options);
        stepped |= built.draft.step == Some(TrimReason::OverBudget);
        if built.compacted.is_some() {
            grown = built.compacted;
            break;
        }
    }
    grown.expect("it is not off for ever");
    assert!(stepped, "it did not fit before");
    let appended = since.explain(&options).draft.report.total_tokens;
    assert!(appended.0 >= 24_000 / 5, "{appended}");
}

/// Every request that was ever built can be shown unchanged from any later position, whatever has been compacted
/// since then.
#[test]
fn every_earlier_request_can_be_shown_as_it_was() {
    let scene = Scene::new();
    let mut requests: Vec<(Seq, Vec<u8>)> = Vec::new();
    let keep = |requests: &mut Vec<(Seq, Vec<u8>)>| {
        let built = scene.build(&window(16_000));
        requests.push((built.recorded.unwrap(), built.draft.body));
    };
    let names = ["balanced", "always", "lossless", "gemini-cli", "headroom", "selective", "letta-static"];
    for (round, name) in (0_u64..).zip(names) {
        scene.turns(round * 8..round * 8 + 8);
        keep(&mut requests);
        scene.compact(&by_hand(&preset(name), 16_000));
        keep(&mut requests);
        if round % 3 == 2 {
            undo(&scene);
            keep(&mut requests);
        }
    }
    for (index, (seq, body)) in requests.iter().enumerate() {
        let until = requests.get(index + 1).map_or(scene.head(), |(next, _)| next.prev());
        for at in [*seq, Seq((seq.0 + until.0) / 2), until] {
            let replayed = block_on(scene.session.replay(Some(at))).unwrap();
            assert_eq!((replayed.seq, &replayed.body), (*seq, body), "request {index} at {at}");
            assert!(!replayed.erased);
        }
        let explained = scene.explain(&ContextOptions { at: Some(seq.prev()), ..window(16_000) });
        assert_eq!(&explained.draft.body, body, "request {index}: planned again as of its time");
    }
    let elsewhere = scene.elsewhere();
    for (seq, body) in &requests {
        assert_eq!(&block_on(elsewhere.replay(Some(*seq))).unwrap().body, body);
    }
}

/// An erased message in a summarised range disappears from the summary, from every summary made from that summary,
/// and from every replayed request. A mark takes their place.
#[test]
fn erasing_in_a_summarised_range_takes_the_summaries_along() {
    let scene = Scene::of(10);
    let secret = scene.user("My door's code is zebra-4711-zulu, look at src/zebra_4711.rs, error E4711.");
    scene.reply("I noted zebra-4711-zulu.");
    scene.turns(10..40);
    let policy = small();
    scene.build(&window(64_000));
    scene.compact(&by_hand(&policy, 64_000));
    let compacted = scene.build(&window(64_000));
    let covering: Vec<Seq> = scene
        .made()
        .iter()
        .filter(|(_, made)| made.from_seq <= secret && secret <= made.to_seq)
        .map(|(seq, _)| *seq)
        .collect();
    assert!(covering.len() >= 3, "a leaf, and what was made from it: {covering:?} {:?}", scene.nodes());
    let others = scene.nodes().len() - covering.len();
    block_on(scene.session.erase(secret, secret.next(), Some("asked for"))).unwrap();
    let nodes = scene.nodes();
    assert_eq!(nodes.len(), others, "those that stand over it are gone, the others stay");
    assert!(nodes.iter().all(|node| !covering.contains(&node.seq)));
    let built = scene.build(&window(64_000));
    assert!(!goes_on(&compacted, &built));
    let shown = Shown::of(&built.draft.body);
    assert!(!shown.says("zebra"), "{:?}", shown.texts);
    let gap = scene.trim();
    let handle = block_on(scene.session.info()).unwrap().handle;
    let marked = shown.handles.iter().any(|one| {
        let Some((stream, range)) = one.split_once('#') else { return false };
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        handle.to_string().starts_with(stream)
            && (from.parse().unwrap()..=to.parse().unwrap()).contains(&secret.0)
    });
    assert!(marked, "a mark stands there: {:?} {gap:?}", shown.handles);
    for seq in scene.events().iter().map(|event| event.seq) {
        if let Ok(replayed) = block_on(scene.session.replay(Some(seq))) {
            assert!(!Shown::of(&replayed.body).says("zebra"), "shown again at {seq}");
        }
    }
    assert!(block_on(scene.session.replay(Some(compacted.recorded.unwrap()))).unwrap().erased);
    assert_eq!(scene.problems(), [""; 0]);
    // The rest of the range can still be read, and the lane can be compacted again and undone.
    assert_eq!(scene.unreachable(&built), []);
    scene.turns(40..50);
    scene.compact(&by_hand(&policy, 64_000));
    assert_eq!(scene.unreachable(&scene.build(&window(64_000))), []);
    assert_eq!(scene.problems(), [""; 0]);
    undo(&scene);
    let restored = scene.build(&window(64_000));
    assert!(!Shown::of(&restored.draft.body).says("zebra"));
    assert_eq!(scene.problems(), [""; 0]);
}

/// One undo reverses one command, in this case a sweep in many steps together with the compaction after it.
#[test]
fn a_sweep_is_undone_as_a_whole() {
    let scene = Scene::new();
    // These turns are more than a view can load.
    for number in 0..1_500 {
        scene.add(turn(number).into_iter().map(said).collect());
    }
    let options = window(16_000);
    let before = scene.build(&options);
    let trim = scene.trim();
    let policy = policy("extends = \"balanced\"\n[[step]]\ndo = \"summarise\"\nchunk = 2_000\n");
    let done = scene.compact(&CompactOptions { sweep: true, ..by_hand(&policy, 16_000) });
    assert_eq!(done.outcome, CompactionResult::Compacted);
    assert!(scene.compactions() > 2, "several steps: {}", scene.compactions());
    undo(&scene);
    assert_eq!(scene.trim().nodes, trim.nodes, "as before the sweep");
    assert_eq!(heard(&scene.build(&options)), heard(&before));
}

/// Recorded summaries take no room in the window. Recorded summaries can be longer than the whole conversation.
#[test]
fn the_newest_turn_is_found_behind_what_was_recorded_since() {
    let scene = Scene::of(11);
    scene.user("K-9001: what came of the newest turn?");
    let options = under(&preset("openclaw"), 500);
    scene.build(&options);
    undo(&scene);
    assert!(Shown::of(&scene.build(&options).draft.body).says("K-9001: what came of the newest turn?"));
}
