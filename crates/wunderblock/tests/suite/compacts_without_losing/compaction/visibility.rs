//! Pins and hides of entries that requests show, and of entries that were compacted away.

use crate::compacts_without_losing::compaction::scene::*;
use futures_executor::block_on;
use std::collections::BTreeSet;
use wunderblock::{Built, CompactionResult, ContextOptions, GrepOptions, Visibility, VisibilityChange};
use wunderblock_core::budget::{Reason, Treatment};
use wunderblock_core::id::LaneId;
use wunderblock_core::units::Seq;

fn set(scene: &Scene, what: Visibility, seq: Seq) -> VisibilityChange {
    block_on(what.set(&scene.session, seq)).unwrap_or_else(|error| panic!("{error}"))
}

fn treatment(built: &Built, seq: Seq) -> Option<Treatment> {
    let line = built.draft.report.entries.iter().find(|entry| entry.seq == Some(seq));
    line.map(|line| line.treatment)
}

fn reason(built: &Built, seq: Seq) -> Option<Reason> {
    let run = built.draft.report.left_out.iter().find(|run| run.from_seq <= seq && seq <= run.to_seq);
    run.map(|run| run.reason)
}

/// Returns the first entry of a compacted session that belongs to an exchange with other entries, that is, a call or
/// a result.
fn exchange(scene: &Scene) -> (Seq, Vec<Seq>) {
    let mut tried = (2..60).map(|seq| {
        let change = block_on(Visibility::Unpin.set(&scene.session, Seq(seq)));
        change.map_or((Seq(seq), Vec::new()), |change| (Seq(seq), change.entry.along))
    });
    tried.find(|(_, along)| !along.is_empty()).unwrap()
}

#[test]
fn a_pin_brings_back_what_was_compacted_away_with_all_that_belongs_to_it() {
    for policy in active().filter(|policy| policy.summarises()) {
        let scene = Scene::of(40);
        let options = window(64_000);
        scene.build(&options);
        let done = scene.compact(&by_hand(&policy, 64_000));
        assert_eq!(done.outcome, CompactionResult::Compacted, "{}", policy.name);
        let (seq, along) = exchange(&scene);
        let compacted = scene.build(&options);
        if treatment(&compacted, seq).is_some() {
            continue;
        }
        let change = set(&scene, Visibility::Pin, seq);
        assert!(change.brought_back && change.recorded.is_some(), "{}: {change:?}", policy.name);
        let pinned = scene.build(&options);
        for seq in along.iter().chain([&seq]) {
            assert_eq!(treatment(&pinned, *seq), Some(Treatment::Verbatim), "{}: #{seq}", policy.name);
        }
        assert_eq!(scene.unreachable(&pinned), []);
        let again = set(&scene, Visibility::Pin, seq);
        assert!(again.recorded.is_none() && !again.brought_back, "{again:?}");
        set(&scene, Visibility::Unpin, seq);
        // Only the tools can differ, because the tools of a call that was in view stay declared until the lane's next
        // step.
        let messages = |built: &Built| {
            wunderblock_wire::decode(built.draft.dialect, &built.draft.body).unwrap().messages
        };
        assert!(messages(&scene.build(&options)) == messages(&compacted), "{}: as before", policy.name);
        // Pinned again, the entry stays through the next compaction.
        set(&scene, Visibility::Pin, seq);
        scene.turns(40..52);
        scene.build(&options);
        scene.compact(&by_hand(&policy, 64_000));
        assert_eq!(treatment(&scene.build(&options), seq), Some(Treatment::Verbatim), "{}", policy.name);
        assert_eq!(scene.problems(), [""; 0]);
    }
}

#[test]
fn what_is_hidden_is_in_no_lanes_request_and_in_no_summary_and_is_still_found() {
    for policy in active().filter(|policy| policy.summarises()) {
        let scene = Scene::of(6);
        let secret = scene.user("The codename of the migration is heliotrope-44.");
        scene.turns(6..20);
        let options = window(64_000);
        let before = scene.build(&options);
        let change = set(&scene, Visibility::Hide, secret);
        assert!(change.hidden && change.recorded.is_some());
        let hidden = scene.build(&options);
        assert_eq!((treatment(&hidden, secret), reason(&hidden, secret)), (None, Some(Reason::Hidden)));
        let done = scene.compact(&by_hand(&policy, 64_000));
        assert!(done.nodes.iter().all(|node| !node.text.contains("heliotrope-44")), "{}", policy.name);
        let after = scene.build(&options);
        let text = String::from_utf8_lossy(&after.draft.body).into_owned();
        assert!(!text.contains("heliotrope-44"), "{}", policy.name);
        let mut found = Vec::new();
        let mut keep = |hit: wunderblock::Match| {
            found.push(hit.seq);
            std::ops::ControlFlow::Continue(())
        };
        block_on(scene.engine.recall().grep("heliotrope-44", &GrepOptions::default(), &mut keep)).unwrap();
        assert_eq!(found, [secret], "hidden is not lost");
        assert_eq!(scene.problems(), [""; 0]);
        // If nothing has been compacted in the meantime, unhiding restores the previous request.
        let scene = Scene::of(6);
        let said = scene.user("The codename of the migration is heliotrope-44.");
        scene.turns(6..20);
        scene.build(&options);
        set(&scene, Visibility::Hide, said);
        scene.build(&options);
        set(&scene, Visibility::Unhide, said);
        assert_eq!(scene.build(&options).draft.body, before.draft.body);
    }
}

#[test]
fn what_holds_no_message_can_be_neither_pinned_nor_hidden() {
    let scene = Scene::of(2);
    for (seq, why) in [(1, "requests do not show"), (0, "does not exist"), (9_999, "does not exist")] {
        for what in [Visibility::Pin, Visibility::Hide] {
            let error = block_on(what.set(&scene.session, Seq(seq))).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}

#[test]
fn a_copy_that_came_back_is_hidden_with_its_original() {
    let scene = Scene::of(2);
    let said = scene.user("The codename of the migration is heliotrope-44.");
    scene.turns(2..40);
    let options = window(8_000);
    scene.build(&options);
    let asked =
        ContextOptions { query: Some("codename migration heliotrope-44".to_owned()), ..options.clone() };
    let text = |built: &Built| String::from_utf8_lossy(&built.draft.body).into_owned();
    let recalled = scene.build(&asked);
    assert!(text(&recalled).contains("heliotrope-44"), "it came back");
    let change = set(&scene, Visibility::Hide, said);
    assert_eq!(change.copies.len(), 1, "{change:?}");
    assert!(!text(&scene.build(&options)).contains("heliotrope-44"), "the copy is hidden, too");
    assert!(!text(&scene.build(&asked)).contains("heliotrope-44"), "no query brings it back");
    set(&scene, Visibility::Unhide, said);
    assert!(text(&scene.build(&options)).contains("heliotrope-44"));
    assert_eq!(scene.problems(), [""; 0]);
}

#[test]
fn an_account_says_what_left_the_view_and_what_of_it_no_summary_has() {
    for policy in active().filter(|policy| policy.summarises()) {
        let scene = Scene::of(40);
        let options = window(64_000);
        let before = scene.build(&options);
        let done = scene.compact(&by_hand(&policy, 64_000));
        if done.recorded.is_none() {
            continue;
        }
        let after = scene.build(&options);
        let shown = |built: &Built| -> BTreeSet<Seq> {
            built.draft.report.entries.iter().filter_map(|entry| entry.seq).collect()
        };
        let (was, is) = (shown(&before), shown(&after));
        let gone: Vec<&Seq> = was.difference(&is).collect();
        assert_eq!(done.leaving.entries, gone.len() as u64, "{}", policy.name);
        let body = String::from_utf8_lossy(&after.draft.body).into_owned();
        for kind in &done.leaving.kinds {
            assert!(kind.untold.len() <= kind.count, "{}", policy.name);
            for noted in &kind.untold {
                assert!(gone.contains(&&noted.at), "{}: {noted:?}", policy.name);
                assert!(!body.contains(&format!("#{} ", noted.at)), "{}: {noted:?}", policy.name);
            }
        }
        let money = done.money.unwrap_or_else(|| panic!("{}: the model has a price", policy.name));
        assert!(money.later <= money.next_without && money.later <= money.next, "{}: {money:?}", policy.name);
    }
}

#[test]
fn a_lane_that_begins_takes_over_no_summary_that_tells_of_what_is_hidden() {
    let scene = Scene::of(2);
    let said = scene.user("Never rename heliotrope-44: it must stay as it is.");
    scene.turns(3..40);
    let policy = preset("balanced");
    let text = |built: &Built| String::from_utf8_lossy(&built.draft.body).into_owned();
    let first = scene.build(&under(&policy, 16_000));
    assert!(scene.nodes().iter().any(|node| node.from <= said && said <= node.to), "it was summarised");
    assert!(text(&first).contains("heliotrope-44"), "and the summary tells of it");
    let elsewhere =
        |name: &str| ContextOptions { lane: Some(LaneId::new(name).unwrap()), ..under(&policy, 16_000) };
    assert!(
        text(&scene.build(&elsewhere("before"))).contains("heliotrope-44"),
        "a lane that begins tells of it, too"
    );
    set(&scene, Visibility::Hide, said);
    assert!(!text(&scene.build(&elsewhere("after"))).contains("heliotrope-44"));
    assert_eq!(scene.problems(), [""; 0]);
}
