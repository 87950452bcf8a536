//! C-30: the lineage of nodes points in the right direction, for every name of a node.

use crate::nothing_is_lost::graph::scene::{Scene, lane, node, user};
use futures_executor::block_on;
use std::ops::ControlFlow;
use wunderblock::{GrepOptions, Match};
use wunderblock_core::event::{Fact, SessionCompacted};
use wunderblock_core::message::Body;
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::units::{Bytes, Seq, Tokens};

/// Creates twelve turns, four leaves of three turns each, two condensed nodes of two leaves each, and a root over
/// both nodes.
fn layered() -> (Scene, Vec<Seq>) {
    let scene = Scene::new();
    let seqs = scene.add((0..12).map(|turn| user(&format!("turn {turn} says so"))).collect());
    let leaves: Vec<Seq> = seqs
        .chunks(3)
        .enumerate()
        .map(|(leaf, turns)| {
            scene.compacted(node((turns[0], turns[2]), &format!("\n  leaf {leaf}\nsaid by {turns:?}")))
        })
        .collect();
    let lower = [scene.condensed(&leaves[..2], "first half"), scene.condensed(&leaves[2..], "second half")];
    let root = scene.condensed(&lower, "all of it");
    let all = leaves.into_iter().chain(lower).chain([root]).collect();
    (scene, all)
}

#[test]
fn a_condensed_node_leads_to_its_sources() {
    let (scene, all) = layered();
    scene.catch_up();
    let root = scene.describe(&scene.at(&all[6].to_string())).unwrap();
    assert_eq!((root.node.level, root.node.from, root.node.to, root.node.messages), (2, Seq(2), Seq(13), 12));
    assert_eq!((root.text.as_deref(), root.node.parents.len()), (Some("all of it"), 0));
    let below: Vec<_> = root.subtree.iter().map(|it| (it.depth, it.seq, it.from.0, it.to.0)).collect();
    let at = |index: usize| all[index];
    assert_eq!(
        below,
        [
            (1, at(4), 2, 7),
            (2, at(0), 2, 4),
            (2, at(1), 5, 7),
            (1, at(5), 8, 13),
            (2, at(2), 8, 10),
            (2, at(3), 11, 13)
        ]
    );
    let leaf = scene.describe(&scene.at(&all[1].to_string())).unwrap();
    assert!(leaf.subtree.is_empty(), "what a leaf was part of is not beneath it");
    assert_eq!((leaf.node.parents.as_slice(), leaf.node.title.as_str()), (&all[4..5], "leaf 1"));
    assert_eq!(leaf.expand.pages, Some(1));
    let said: u64 = (3..6)
        .map(|turn| crate::nothing_is_lost::graph::scene::tokens(&format!("turn {turn} says so")))
        .sum();
    assert_eq!(leaf.expand.tokens, Some(Tokens(said)));
}

#[test]
fn a_node_goes_by_each_of_its_names() {
    let scene = Scene::new();
    let seqs = scene.add(vec![user("one"), user("two"), user("three")]);
    let text = "a summary that is long enough to be kept by itself. ".repeat(20);
    let older = scene.compacted(node((seqs[0], seqs[1]), "older"));
    let made = scene.compacted(node((seqs[0], seqs[1]), &text));
    let handle = scene.nodes().last().unwrap().handle.unwrap().to_string();
    for name in [scene.at(&made.to_string()), scene.at("2-3"), handle] {
        assert_eq!(scene.describe(&name).unwrap().node.seq, made, "{name}");
    }
    scene.shows("main", &[older]);
    assert_eq!(scene.describe(&scene.at("2-3")).unwrap().node.seq, older, "the one in the view is meant");
    for (name, says) in [
        ("3-4", "no summary covers exactly positions 3 to 4; part of it is covered by wb:"),
        ("4", "no summary covers position 4"),
        ("77", "the session has positions 1 to 7"),
    ] {
        let error = scene.describe(&scene.at(name)).unwrap_err().to_string();
        assert!(error.contains(says), "{name}: {error}");
    }
    assert!(scene.describe("wb:0000000000000001").is_err());
}

#[test]
fn what_stands_in_the_view_is_told_per_lane() {
    let (scene, all) = layered();
    let shown =
        || -> Vec<Seq> { scene.nodes().into_iter().filter(|node| node.shown).map(|node| node.seq).collect() };
    assert_eq!(shown(), []);
    scene.shows("main", &all[..4]);
    assert_eq!(shown(), &all[..4]);
    for _ in 0..40 {
        scene.shows("other", &[]);
    }
    assert_eq!(shown(), &all[..4], "another lane's steps are its own");
    scene.shows("main", &all[6..]);
    assert_eq!(shown(), &all[6..]);
    let side = SessionCompacted { lane: Some(lane("side")), ..node((Seq(2), Seq(3)), "side") };
    let side = scene.compacted(side);
    let of = |name: &str| -> Vec<Seq> {
        let nodes = block_on(scene.session.nodes(Some(&lane(name)))).unwrap();
        nodes.into_iter().map(|node| node.seq).collect()
    };
    assert_eq!((of("side"), of("main"), of("none")), (vec![side], all, vec![]));
}

#[test]
fn boundaries_of_other_programs_are_described() {
    let scene = Scene::new();
    scene.add(vec![user("one"), user("two")]);
    let bare = scene.compacted(SessionCompacted::new(Seq(2), Seq(3), "claude-code"));
    let found = scene.describe(&scene.at(&bare.to_string())).unwrap();
    assert_eq!((found.node.lane, found.text, found.node.shown), (None, None, false));
    assert_eq!((&*found.node.producer, found.node.title.as_str()), ("claude-code", ""));
    let page =
        scene.expand(&scene.at(&bare.to_string()), &wunderblock::summary_graph::Expand::default()).unwrap();
    assert_eq!(page.text, "#2 user\none\n\n#3 user\ntwo\n");
}

#[test]
fn a_fork_has_the_nodes_it_shares() {
    let (scene, all) = layered();
    let fork = scene.fork("f", all[3]);
    scene.add_to(&fork, vec![user("elsewhere")]);
    let nodes = block_on(fork.nodes(None)).unwrap();
    assert_eq!(nodes.iter().map(|node| node.seq).collect::<Vec<_>>(), &all[..4]);
    assert!(nodes.iter().all(|node| node.parents.is_empty()), "what was made later is not the fork's");
    let found = scene.describe(&nodes[0].address).unwrap();
    assert_eq!(found.node.address, nodes[0].address);
    assert!(!found.node.address.starts_with(&scene.handle()));
}

#[test]
fn circles_and_missing_sources_end_somewhere() {
    let scene = Scene::new();
    scene.add((0..4).map(|turn| user(&turn.to_string())).collect());
    let circle = |sources: &[u64], text: &str| SessionCompacted {
        level: 1,
        sources: sources.iter().map(|seq| Seq(*seq)).collect(),
        ..node((Seq(2), Seq(5)), text)
    };
    let first = scene.compacted(circle(&[7], "first"));
    let second = scene.compacted(circle(&[6, 7, 99], "second"));
    assert_eq!((first, second), (Seq(6), Seq(7)));
    let found = scene.describe(&scene.at("6")).unwrap();
    assert_eq!(found.subtree.iter().map(|it| it.seq).collect::<Vec<_>>(), [second]);
    let page = scene.expand(&scene.at("7"), &wunderblock::summary_graph::Expand::default()).unwrap();
    assert!(
        page.text.contains("#99 summary\n⟨its text is not in the ledger, or was erased⟩"),
        "{}",
        page.text
    );
}

#[test]
fn erased_nodes_say_so() {
    let scene = Scene::new();
    scene.add(vec![user("secret"), user("two")]);
    let made = scene
        .compacted(SessionCompacted { summary: Some(Body::from("a secret")), ..node((Seq(2), Seq(3)), "") });
    block_on(scene.session.erase(Seq(2), Seq(2), None)).unwrap();
    assert_eq!(scene.nodes(), []);
    let error = scene.describe(&scene.at(&made.to_string())).unwrap_err().to_string();
    assert_eq!(error, format!("erased: the summary at position {made}"));
    let page = scene.expand(&scene.at("2-3"), &wunderblock::summary_graph::Expand::default()).unwrap();
    assert_eq!(page.text, "#2 erased\n⟨erased⟩\n\n#3 user\ntwo\n");
    assert_eq!(scene.query(&scene.at("2-3"), "secret").matches, Some(0));
}

#[test]
fn the_items_of_a_node_are_found_by_nobody_and_erased_with_it() {
    let scene = Scene::new();
    scene.add(vec![user("one"), user("two")]);
    let items = Some(Body::from("a needle ".repeat(100)));
    let made = scene.compacted(SessionCompacted { items, ..node((Seq(2), Seq(3)), "the needle") });
    let mut lines = Vec::new();
    let mut note = |found: Match| {
        lines.push(found.text);
        ControlFlow::Continue(())
    };
    block_on(scene.engine.recall().grep("needle", &GrepOptions::default(), &mut note)).unwrap();
    assert_eq!(lines, ["the needle"]);
    let read = || block_on(scene.session.events(made, made, 1, Bytes(1 << 20))).unwrap();
    let events = read();
    let Some(Fact::SessionCompacted(node)) = &events[0].fact else { panic!("{events:?}") };
    let items = node.items.as_ref().unwrap();
    assert!(block_on(scene.engine.bodies(&events)).unwrap().of(items).is_some());
    block_on(scene.session.erase(Seq(2), Seq(2), None)).unwrap();
    assert_eq!(read()[0].fact, None);
    assert!(block_on(scene.engine.bodies(&events)).unwrap().of(items).is_none());
}
