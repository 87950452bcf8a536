//! Several lanes, processes and branches, and erased content.

use crate::reduces_without_lying::reduce::scene::*;
use futures_executor::block_on;
use wunderblock_core::event::Fact;
use wunderblock_core::units::Seq;

#[test]
fn each_lane_goes_on_as_it_began() {
    let scene = Scene::new();
    for number in 0..4 {
        scene.turn(number);
    }
    // The first lane has shown everything before anything was shortened.
    let main = scene.build(&under(&off()));
    let reviewer = scene.build(&of("reviewer", under(&fold())));
    assert_eq!(scene.standing().len(), 4);
    assert!(reviewer.draft.body.len() < main.draft.body.len() / 2);
    let again = scene.build(&under(&fold()));
    assert!(goes_on(&main, &again));
    assert_eq!(results(&again), results(&main), "what a lane has shown it goes on showing");
    // New results are shortened in both lanes, by each lane's policy.
    scene.turn(4);
    let (main, reviewer) = (scene.build(&under(&fold())), scene.build(&of("reviewer", under(&fold()))));
    assert_eq!(results(&main)[4], results(&reviewer)[4]);
    let targets: Vec<Seq> = scene.standing().iter().map(|(_, reduced, _)| reduced.target).collect();
    assert_eq!(targets.len(), 6, "{targets:?}");
    // A later lane that does not reduce shows new results unchanged.
    let late = scene.build(&of("late", under(&off())));
    assert_eq!(results(&late)[..4], results(&main)[..4]);
    assert!(results(&late)[4].len() > results(&main)[4].len());
    assert_eq!(scene.replay_all(), 6);
}

#[test]
fn a_branch_goes_on_from_what_its_parent_showed() {
    let scene = Scene::new();
    for number in 0..3 {
        scene.turn(number);
    }
    let parent = scene.build(&under(&fold()));
    let fork = scene.fork("branch", parent.recorded.unwrap());
    let goes = build(&fork, &under(&fold()));
    assert_eq!(results(&goes), results(&parent));
    assert!(goes_on(&parent, &goes));
    // A branch from before the request makes its own reduction, with the same result.
    let turn = scene.events().into_iter().rfind(|event| matches!(event.fact, Some(Fact::MessageAppended(_))));
    let early = scene.fork("early", turn.unwrap().seq);
    assert_eq!(results(&build(&early, &under(&fold()))), results(&parent));
    assert_eq!(scene.standing().len(), 3, "the parent has no part in it");
}

#[test]
fn of_two_that_do_the_same_one_counts() {
    let scene = Scene::new();
    for number in 0..6 {
        scene.turn(number);
    }
    let engines: Vec<_> = (0..4).map(|_| scene.other()).collect();
    std::thread::scope(|threads| {
        for (index, engine) in engines.iter().enumerate() {
            let session = engine.session_by_id(scene.session.id().clone());
            threads.spawn(move || {
                // Some builders share a lane, and some do not.
                let lane = format!("lane-{}", index % 2);
                block_on(session.context(of(&lane, under(&fold())))).unwrap()
            });
        }
    });
    let standing = scene.standing();
    let mut targets: Vec<_> =
        standing.iter().map(|(_, reduced, _)| (&reduced.lane, reduced.target)).collect();
    targets.sort_unstable();
    targets.dedup();
    assert_eq!((targets.len(), standing.len()), (12, 12), "each of six texts once in each of two lanes");
    // Two builders of the same request in one lane produce that request only once.
    assert!((2..=4).contains(&scene.replay_all()));
}

#[test]
fn of_two_on_record_the_first_counts() {
    let scene = Scene::new();
    let at = scene.turn(0);
    let built = block_on(scene.session.explain(under(&fold()))).unwrap();
    let first = scene.build(&of("one", under(&fold())));
    let (_, reduced, _) = scene.standing().remove(0);
    let other = wunderblock_core::event::ContentReduced { text: "something else".into(), ..reduced };
    assert_eq!(other.target, at);
    scene.add(vec![Fact::ContentReduced(Box::new(other))]);
    let second = scene.build(&of("two", under(&fold())));
    assert_eq!(results(&second), results(&first));
    assert_eq!(results(&second), results(&built));
}

#[test]
fn what_is_erased_is_shown_in_no_form() {
    let scene = Scene::new();
    let seqs: Vec<Seq> = (0..4).map(|number| scene.turn(number)).collect();
    let before = scene.build(&under(&fold()));
    block_on(scene.session.erase(seqs[1], seqs[1], None)).unwrap();
    let after = scene.build(&under(&fold()));
    assert!(!String::from_utf8_lossy(&after.draft.body).contains("peer-1"));
    assert!(String::from_utf8_lossy(&before.draft.body).contains("peer-1"));
    let left = scene.standing();
    assert!(
        left.len() == 3 && left.iter().all(|(.., text)| !text.contains("peer-1")),
        "the shorter text, too"
    );
    assert!(block_on(scene.session.replay(before.recorded)).unwrap().erased);
    assert!(block_on(scene.session.replay(after.recorded)).is_ok());
    scene.turn(4);
    assert!(goes_on(&after, &scene.build(&under(&fold()))));
}

#[test]
fn a_shorter_text_that_is_erased_gives_its_place_back() {
    let scene = Scene::new();
    for number in 0..2 {
        scene.turn(number);
    }
    scene.build(&under(&fold()));
    let (at, ..) = scene.standing().remove(0);
    block_on(scene.session.erase(at, at, None)).unwrap();
    let after = scene.build(&under(&fold()));
    assert_eq!(results(&after)[0], output(0, 120), "nothing of the text itself was erased");
    assert_ne!(results(&after)[1], output(1, 120));
    scene.turn(2);
    let next = scene.build(&under(&fold()));
    assert!(goes_on(&after, &next));
    assert_eq!(results(&next)[0], output(0, 120), "it has been shown");
}
