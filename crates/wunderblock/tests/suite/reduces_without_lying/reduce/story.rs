//! In a session played turn by turn, shown texts stay the same, and shortened texts lead back to the original.

use crate::reduces_without_lying::reduce::scene::*;
use futures_executor::block_on;
use wunderblock::{CompactOptions, CompactionResult, Compactor};
use wunderblock_core::id::LaneId;
use wunderblock_core::plan::TrimReason;
use wunderblock_core::units::Seq;

/// Checks that each standing reduction is shorter, and that its marks lead to the whole original, byte for byte.
fn lead_back(scene: &Scene, outputs: &[(Seq, String)]) {
    for (at, reduced, text) in scene.standing() {
        let (_, whole) = outputs.iter().find(|(seq, _)| *seq == reduced.target).unwrap();
        let how = reduced.how.unwrap();
        assert!(how.tokens_after < how.tokens_before && text.len() < whole.len(), "{at}");
        assert_eq!(how.lossless, how.gaps == 0);
        let marks: Vec<_> = wunderblock_reduce::gaps(&text).collect();
        assert!(marks.len() as u64 <= how.gaps && (how.gaps == 0 || !marks.is_empty()), "{text}");
        for mark in marks {
            let handle = mark.handle.expect("a mark without a way back");
            assert_eq!(scene.read(handle), whole.as_bytes(), "{at}");
            let gone = scene.read(&format!("{handle}#{}", mark.place));
            assert!(
                !gone.is_empty() && whole.contains(std::str::from_utf8(&gone).unwrap()),
                "{at} {}",
                mark.place
            );
        }
    }
}

#[test]
fn a_session_is_built_turn_by_turn() {
    let scene = Scene::new();
    let (mut outputs, mut last, mut shown) = (Vec::new(), None, Vec::<String>::new());
    for number in 0..12 {
        outputs.push((scene.turn(number), output(number, 120)));
        let built = scene.build(&under(&fold()));
        if let Some(before) = &last {
            assert!(goes_on(before, &built), "turn {number}");
        }
        let now = results(&built);
        assert_eq!(now[..shown.len()], shown, "what is shorter never changes");
        assert!(now.last().unwrap().len() < outputs[number].1.len() / 2);
        assert!(now.last().unwrap().contains("certificate expired"));
        (last, shown) = (Some(built), now);
        // Build a second request without new events.
        let again = scene.build(&under(&fold()));
        assert!(goes_on(last.as_ref().unwrap(), &again));
        assert_eq!(results(&again), shown);
    }
    assert_eq!(scene.standing().len(), 12, "each is reduced once");
    lead_back(&scene, &outputs);
    assert_eq!(scene.replay_all(), 24);
    // Switching a policy off, or replacing it, does not change texts already shown.
    for policy in [off(), policy("[reduce]\nlevel = \"lossless\"\nexcept = [\"log\"]\n")] {
        let built = scene.build(&under(&policy));
        assert_eq!(results(&built), shown);
        assert!(goes_on(last.as_ref().unwrap(), &built));
    }
    scene.turn(12);
    let built = scene.build(&under(&off()));
    assert_eq!(results(&built)[..12], shown);
    assert_eq!(results(&built)[12], output(12, 120), "as it is");
    // A text that has been shown unchanged stays unchanged under any policy.
    let after = scene.build(&under(&fold()));
    assert!(goes_on(&built, &after));
    assert_eq!(results(&after)[12], output(12, 120));
}

#[test]
fn a_request_reaches_further_back_with_what_has_become_shorter() {
    let scene = Scene::new();
    for number in 0..60 {
        scene.turn(number);
    }
    let options = |policy: std::sync::Arc<_>| within(30_000, under(&policy));
    let whole = block_on(scene.session.explain(options(off()))).unwrap();
    assert_eq!(whole.draft.step, Some(TrimReason::OverBudget));
    let built = scene.build(&options(fold()));
    assert_eq!(built.draft.step, None, "all of it fits");
    assert_eq!((results(&built).len(), scene.standing().len()), (60, 60));
    assert_eq!(scene.replay_all(), 1);
    // Only results within reach of a request are reduced.
    let small = Scene::new();
    for number in 0..200 {
        small.turn(number);
    }
    small.build(&within(8_000, under(&fold())));
    let made = small.standing().len();
    assert!((5..100).contains(&made), "{made}");
}

#[test]
fn a_step_keeps_what_is_shorter_where_the_lane_keeps_it() {
    let scene = Scene::new();
    let options = within(16_000, under(&fold()));
    let mut before: Option<(wunderblock::Built, Vec<String>)> = None;
    let mut steps = 0;
    for number in 0..80 {
        scene.turn(number);
        let built = scene.build(&options);
        let now = results(&built);
        if let Some((last, shown)) = before.filter(|_| built.draft.step.is_none()) {
            assert!(goes_on(&last, &built), "turn {number}");
            assert_eq!(now[..shown.len()], shown);
        }
        steps += usize::from(built.draft.step.is_some());
        before = Some((built, now));
    }
    assert!(steps > 1, "{steps}");
    assert_eq!(scene.replay_all(), 80);
}

#[test]
fn a_compaction_finds_what_is_shorter_and_its_undoing_brings_it_back() {
    let scene = Scene::new();
    for number in 0..30 {
        scene.turn(number);
    }
    let options = within(20_000, under(&fold()));
    let before = scene.build(&options);
    let texts = scene.standing();
    assert_eq!(texts.len(), 30);
    let always = policy("extends = \"always\"\n[reduce]\nlevel = \"fold\"\n");
    let context = wunderblock::ContextOptions { compactor: None, ..options.clone() };
    let wanted = CompactOptions::new(context, Compactor::new(always));
    let done = block_on(scene.session.compact(&wanted)).unwrap();
    assert_eq!(done.outcome, CompactionResult::Compacted);
    let compacted = scene.build(&options);
    assert_ne!(compacted.draft.body, before.draft.body);
    let kept = results(&compacted);
    assert!(kept.iter().all(|text| results(&before).contains(text) || text.starts_with('⟨')), "{kept:?}");
    block_on(scene.session.lane(LaneId::main()).undo()).unwrap();
    let after = scene.build(&options);
    assert_eq!(results(&after), results(&before));
    assert_eq!(scene.standing().len(), 30, "nothing is reduced a second time");
    assert_eq!(scene.replay_all(), 3);
}

#[test]
fn what_is_due_is_compacted_as_the_request_would_find_it() {
    let scene = Scene::new();
    let balanced = policy("extends = \"balanced\"\n[reduce]\nleast = 2_000\n");
    let options = within(12_000, under(&balanced));
    let mut before: Option<wunderblock::Built> = None;
    let mut compacted = 0;
    for number in 0..60 {
        scene.turn(number);
        let built = scene.build(&options);
        if let Some(last) = before.filter(|_| built.compacted.is_none() && built.draft.step.is_none()) {
            assert!(goes_on(&last, &built), "turn {number}");
        }
        compacted += usize::from(built.compacted.is_some());
        // The size measured before the compaction is the size of the request with its reductions.
        if let Some(done) = &built.compacted {
            assert!(done.before < wunderblock_core::units::Tokens(12_000), "{}", done.before);
        }
        before = Some(built);
    }
    assert!(compacted > 0);
    assert_eq!(scene.standing().len(), 60);
    assert_eq!(scene.replay_all(), 60);
}

#[test]
fn what_an_earlier_output_has_is_named_by_where_it_stands() {
    let scene = Scene::real();
    let part = |number: usize| {
        format!("part {number:03} goes to the {} shelf, by way of hall {}\n", number * 7, number % 9)
    };
    let parts = |from: usize, to: usize| (from..to).map(part).collect::<String>();
    let first = format!("Plan of Monday\n\n{}", parts(0, 90));
    let fresh = "The van is late.\nHall 7 stays shut until noon.\nAsk Maria for the key.\n";
    let second = format!("Plan of Tuesday\n\n{fresh}{}", parts(20, 90));
    scene.user("Show me the plans.");
    scene.ran(("Bash", "plan monday"), &first, false);
    let options = under(&fold());
    let before = scene.build(&options);
    scene.ran(("Bash", "plan tuesday"), &second, false);
    let after = scene.build(&options);
    assert!(goes_on(&before, &after));
    let [.., (_, fact, shown)] = &scene.standing()[..] else { panic!("nothing became shorter") };
    assert!(shown.contains(fresh), "{shown}");
    let seen = shown.split_once("seen in ").unwrap().1;
    // Both addresses of the mark can be read: the place where the text was seen, and the text at this place.
    let there = seen.split_once('⟩').unwrap().0;
    assert!(there.ends_with("#L23-92"), "{there}");
    assert_eq!(scene.read(there), parts(20, 90).as_bytes());
    let mark = wunderblock_reduce::gaps(shown).next().unwrap();
    let own = format!("{}#{}", mark.handle.unwrap(), mark.place);
    assert_eq!(scene.read(&own), parts(20, 90).as_bytes());
    assert!(second.ends_with(&parts(20, 90)));
    assert_eq!(fact.how.as_ref().unwrap().gaps, 1);
    assert_eq!(scene.replay_all(), 2);
}
