//! Compactions that do not take place: the breaker, vetoes of hooks, and interruptions. Also focus and warnings.

use crate::compacts_without_losing::compaction::scene::*;
use futures_executor::block_on;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wunderblock::{CompactOptions, CompactionResult, CompactionStage, Compactor, ContextOptions, Hook};
use wunderblock_core::decision::TrimReason;
use wunderblock_core::event::{BudgetWarned, Fact};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::{Millis, Seq};

/// A policy that fires at every request and never saves its minimum.
fn vain() -> Arc<Policy> {
    policy("[trigger.hard]\ntokens = 0\n[[step]]\ndo = \"stub\"\nmin_gain = 0.99\n")
}

fn tried(scene: &Scene, options: &ContextOptions) -> Option<CompactionResult> {
    scene.build(options).compacted.map(|done| done.outcome)
}

#[test]
fn after_three_rounds_for_nothing_the_lane_is_left_alone_until_it_has_grown() {
    let scene = Scene::of(8);
    let options = under(&vain(), 100_000);
    for round in 1..=3 {
        assert_eq!(tried(&scene, &options), Some(CompactionResult::NothingGained), "{round}");
        assert_eq!(scene.rejected().last().unwrap().round, round);
    }
    for _ in 0..3 {
        scene.user("A word.");
        assert_eq!(tried(&scene, &options), Some(CompactionResult::Stopped(3)));
    }
    assert_eq!(scene.rejected().len(), 3, "nothing more is recorded of it");
    // Other processes see the lane as stopped, too.
    let elsewhere = block_on(scene.elsewhere().context(&options)).unwrap();
    assert_eq!(elsewhere.compacted.unwrap().outcome, CompactionResult::Stopped(3));
    // Another lane is not stopped.
    let lane = Some(wunderblock_core::id::LaneId::new("other").unwrap());
    assert_eq!(
        tried(&scene, &ContextOptions { lane, ..options.clone() }),
        Some(CompactionResult::NothingGained)
    );
    // A person may ask for a compaction at any time.
    assert_eq!(scene.compact(&by_hand(&vain(), 100_000)).outcome, CompactionResult::NothingGained);
    assert_eq!(tried(&scene, &options), Some(CompactionResult::Stopped(4)));
    // The lane is tried again once it has grown by two tenths of its limit, because each try waits for twice as much
    // growth as the previous one.
    scene.turns(20..28);
    assert_eq!(tried(&scene, &options), Some(CompactionResult::Stopped(4)));
    scene.turns(28..44);
    assert_eq!(tried(&scene, &options), Some(CompactionResult::NothingGained));
    assert_eq!(tried(&scene, &options), Some(CompactionResult::Stopped(5)));
    // A successful compaction resets the count.
    assert_eq!(scene.compact(&by_hand(&preset("always"), 100_000)).outcome, CompactionResult::Compacted);
    assert_eq!(tried(&scene, &options), Some(CompactionResult::NothingGained));
    assert_eq!(scene.rejected().last().unwrap().round, 1);
    assert_eq!(scene.problems(), [""; 0]);
}

/// A cut removes summaries that do not fit. Writing these summaries again for every request would only fill the
/// ledger.
#[test]
fn what_has_no_room_is_not_summarised_for_every_request() {
    for window in (500..1_100).step_by(50) {
        let scene = Scene::of(60);
        scene.user("And now?");
        scene.reply(&"All of it is done, and nothing is left over. ".repeat(30));
        let options = under(&preset("balanced"), window);
        let written: Vec<usize> = (0..8)
            .map(|_| {
                scene.build(&options);
                scene.made().len()
            })
            .collect();
        assert_eq!(written[3], written[7], "{window}: {written:?}");
        assert_eq!(scene.problems(), [""; 0]);
    }
}

#[test]
fn a_veto_is_not_counted_as_a_fruitless_round() {
    let scene = Scene::of(24);
    let vetoed = || CompactOptions {
        compactor: hooked(vec![sh("exit 2", true)]).compactor,
        ..by_itself(&preset("balanced"), 100_000)
    };
    for _ in 0..5 {
        assert!(
            matches!(scene.compact(&vetoed()).outcome, CompactionResult::Vetoed(_)),
            "it is asked each time"
        );
    }
    assert!(scene.rejected().iter().all(|no| no.round == 0));
    // A veto between fruitless compactions neither increases nor resets their count.
    for round in 1..=3 {
        assert_eq!(scene.compact(&by_itself(&vain(), 100_000)).outcome, CompactionResult::NothingGained);
        assert_eq!(scene.rejected().last().unwrap().round, round);
        if round < 3 {
            assert!(matches!(scene.compact(&vetoed()).outcome, CompactionResult::Vetoed(_)));
            assert_eq!(scene.rejected().last().unwrap().round, round);
        }
    }
    assert_eq!(scene.compact(&by_itself(&vain(), 100_000)).outcome, CompactionResult::Stopped(3));
    // A later veto does not delay the next try either.
    scene.turns(30..50);
    let asked = CompactOptions { due: None, ..vetoed() };
    assert!(matches!(scene.compact(&asked).outcome, CompactionResult::Vetoed(_)));
    assert_eq!(scene.compact(&by_itself(&vain(), 100_000)).outcome, CompactionResult::NothingGained);
}

/// Whatever its policy achieves, a lane that does not fit is compacted, so that nothing leaves behind a bare mark.
#[test]
fn a_stopped_lane_that_does_not_fit_is_compacted_all_the_same() {
    let scene = Scene::of(8);
    let options = under(&vain(), 12_000);
    for number in 10..50 {
        scene.turns(number..number + 1);
        scene.build(&options);
    }
    assert!(scene.compactions() > 0);
    assert!(scene.rejected().len() < 40, "{}", scene.rejected().len());
    assert!(scene.steps().iter().all(|(_, step)| step.reason == TrimReason::Compacted));
    assert_eq!(scene.unreachable(&scene.build(&options)), []);
}

fn sh(script: &str, before: bool) -> Hook {
    let argv = ["sh", "-c", script].map(ToOwned::to_owned).to_vec();
    Hook { argv, before, time: Millis(20_000) }
}

fn hooked(hooks: Vec<Hook>) -> CompactOptions {
    let options = by_hand(&preset("balanced"), 24_000);
    CompactOptions { compactor: Compactor { hooks, ..options.compactor.clone() }, ..options }
}

#[test]
fn a_hook_can_say_no() {
    let table = [
        ("echo 'not on a Friday' >&2; exit 2", "`sh` said no: not on a Friday"),
        (r#"echo '{"decision":"block","reason":"still at work"}'"#, "`sh` said no: still at work"),
    ];
    for (script, why) in table {
        let scene = Scene::of(24);
        let head = scene.head();
        let done = scene.compact(&hooked(vec![sh(script, true)]));
        assert_eq!(done.outcome, CompactionResult::Vetoed(why.to_owned()));
        assert_eq!((scene.compactions(), scene.made().len()), (0, 0));
        let rejected = scene.rejected();
        assert_eq!((&*rejected[0].outcome, &*rejected[0].why), ("vetoed", why));
        assert_eq!(scene.head(), head.next());
    }
}

#[test]
fn a_broken_hook_keeps_nothing_from_being_compacted() {
    let scripts = [
        "exit 1",
        "kill -9 $$",
        "echo '{\"decision\":', ",
        "echo '[]'",
        "echo '{\"focus\": 3}'",
        "yes | head -c 300000",
    ];
    for script in scripts {
        let scene = Scene::of(24);
        assert_eq!(
            scene.compact(&hooked(vec![sh(script, true)])).outcome,
            CompactionResult::Compacted,
            "{script}"
        );
    }
    let absent = Hook { argv: vec!["/no/such/program".to_owned()], before: true, time: Millis(1_000) };
    let slow = Hook { time: Millis(200), ..sh("sleep 30", true) };
    for hook in [absent, slow, Hook { argv: Vec::new(), before: true, time: Millis(1_000) }] {
        let scene = Scene::of(24);
        assert_eq!(
            scene.compact(&hooked(vec![hook.clone()])).outcome,
            CompactionResult::Compacted,
            "{hook:?}"
        );
    }
}

#[test]
fn hooks_are_told_what_is_to_be_done_and_what_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let keep = |name: &str, before| sh(&format!("cat >> {}", file(name).display()), before);
    let scene = Scene::of(24);
    let done = scene.compact(&CompactOptions {
        focus: Some("the door".to_owned()),
        ..hooked(vec![keep("before", true), keep("after", false)])
    });
    let told = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(file(name)).unwrap()).unwrap()
    };
    let (before, after) = (told("before"), told("after"));
    assert_eq!(before["event"], "before_compact");
    assert_eq!(
        (&before["session"], &before["lane"], &before["policy"]),
        (&"s".into(), &"main".into(), &"balanced".into())
    );
    assert_eq!(
        (&before["level"], &before["tokens"], &before["focus"]),
        (&"manual".into(), &done.before.0.into(), &"the door".into())
    );
    assert_eq!(after["event"], "after_compact");
    assert_eq!(
        (&after["tokens_before"], &after["tokens_after"]),
        (&done.before.0.into(), &done.after.0.into())
    );
    let summaries = after["summaries"].as_array().unwrap();
    assert_eq!(summaries.len(), done.nodes.len());
    assert!(
        summaries
            .iter()
            .zip(&done.nodes)
            .all(|(told, node)| told["seq"] == node.at.0 && told["summary"] == node.text.as_str())
    );
    // A compaction that changed nothing is not announced.
    std::fs::remove_file(file("after")).unwrap();
    scene.compact(&hooked(vec![keep("after", false), sh("exit 2", true)]));
    assert!(!file("after").exists());
}

#[test]
fn focus_is_kept_beside_the_summaries_and_is_never_said() {
    let focus = "zanzibar pomegranate";
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    for model in [false, true] {
        let scene = Scene::of(24);
        let mut options = hooked(vec![sh(r#"echo '{"focus":"and quince"}'"#, true)]);
        let heard = Arc::clone(&told);
        if model {
            let own = with(&preset("balanced"), move |task| {
                heard.lock().unwrap().push(format!("{}\n{}", task.system, task.prompt));
                written("")
            });
            options.compactor = Compactor { hooks: options.compactor.hooks, ..own };
        }
        let done = scene.compact(&CompactOptions { focus: Some(focus.to_owned()), ..options });
        assert_eq!(done.outcome, CompactionResult::Compacted);
        let both = format!("{focus}\nand quince");
        for (_, made) in scene.made() {
            assert_eq!(made.focus.as_deref(), Some(both.as_str()));
        }
        let (_, step) = scene.steps().pop().unwrap();
        assert_eq!(step.compaction.unwrap().focus.as_deref(), Some(both.as_str()));
        assert_eq!(scene.messages().len(), 24 * 4, "no message was added");
        let built = scene.build(&window(24_000));
        for word in ["zanzibar", "pomegranate", "quince"] {
            assert!(!String::from_utf8_lossy(&built.draft.body).contains(word), "it is said: {word}");
        }
    }
    let told = told.lock().unwrap();
    assert!(!told.is_empty() && told.iter().all(|task| task.contains(focus) && task.contains("and quince")));
}

#[test]
fn who_comes_near_the_trigger_is_warned_before() {
    let scene = Scene::new();
    let options = under(&preset("balanced"), 32_000);
    for number in 0..60 {
        scene.turns(number..number + 1);
        if scene.build(&options).compacted.is_some() {
            break;
        }
    }
    let events = scene.events();
    let warned: Vec<(Seq, &BudgetWarned)> = events
        .iter()
        .filter_map(|event| match &event.fact {
            Some(Fact::BudgetWarned(warned)) => Some((event.seq, warned)),
            _ => None,
        })
        .collect();
    let first = scene.steps()[0].0;
    assert_eq!(scene.compactions(), 1);
    let percents: Vec<u8> = warned.iter().map(|(_, warned)| warned.percent).collect();
    assert_eq!(percents, [85], "once: {warned:?}");
    assert!(warned.iter().all(|(at, _)| *at < first), "before it is compacted");
}

#[test]
fn a_dry_run_says_what_would_be_and_records_nothing() {
    let scene = Scene::of(30);
    let head = scene.head();
    let dry = CompactOptions { dry_run: true, ..by_hand(&preset("always"), 24_000) };
    let would = scene.compact(&dry);
    assert_eq!(would.outcome, CompactionResult::WouldCompact);
    assert_eq!(
        scene.compact(&CompactOptions { sweep: true, ..dry.clone() }).outcome,
        CompactionResult::WouldCompact
    );
    assert_eq!(scene.head(), head);
    let done = scene.compact(&by_hand(&preset("always"), 24_000));
    assert_eq!((would.before, would.after, &would.rungs), (done.before, done.after, &done.rungs));
    assert_eq!(would.nodes, done.nodes, "and then it is as it said");
    // A dry run that gains nothing records nothing either.
    let head = scene.head();
    let vain = scene.compact(&CompactOptions { dry_run: true, ..by_hand(&vain(), 200_000) });
    assert_eq!(vain.outcome, CompactionResult::NothingGained);
    assert_eq!(scene.head(), head);
}

#[test]
fn a_progress_callback_can_stop_a_compaction() {
    let scene = Scene::of(30);
    let head = scene.head();
    for stop_at in 0..6 {
        let told = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&told);
        let progress = move |stage: &CompactionStage| {
            assert!(matches!(stage, CompactionStage::Summarising { done, of, .. } if done < of), "{stage:?}");
            counted.fetch_add(1, Ordering::SeqCst) < stop_at
        };
        let options =
            CompactOptions { progress: Some(Arc::new(progress)), ..by_hand(&preset("always"), 24_000) };
        assert_eq!(scene.compact(&options).outcome, CompactionResult::Interrupted, "{stop_at}");
        assert_eq!(told.load(Ordering::SeqCst), stop_at + 1, "it stops at once");
        assert_eq!(scene.head(), head, "nothing is recorded");
    }
    assert_eq!(scene.compact(&by_hand(&preset("always"), 24_000)).outcome, CompactionResult::Compacted);
}
