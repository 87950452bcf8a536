//! C-03, C-04: `doctor` detects an invalid summary graph.

use crate::nothing_is_lost::graph::scene::{Scene, lane, node, user};
use wunderblock_core::decision::{PlacedSummary, Trim, TrimReason};
use wunderblock_core::event::{Fact, SessionCompacted, ViewTrimmed};
use wunderblock_core::units::Seq;

fn scene() -> (Scene, [Seq; 2]) {
    let scene = Scene::new();
    let seqs = scene.add((0..6).map(|turn| user(&turn.to_string())).collect());
    let leaves = [(0, 2), (3, 5)].map(|(from, to)| scene.compacted(node((seqs[from], seqs[to]), "leaf")));
    scene.catch_up();
    (scene, leaves)
}

#[test]
fn a_graph_that_is_one_is_well() {
    let (scene, leaves) = scene();
    scene.condensed(&leaves, "both");
    scene.compacted(SessionCompacted::new(Seq(1), Seq(4), "claude-code"));
    scene.shows("main", &leaves);
    scene.catch_up();
    assert_eq!(scene.problems(), [""; 0]);
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table of cases, or one story")]
fn each_damage_is_named() {
    let condensed = |sources: &[u64], level, (from, to): (u64, u64)| SessionCompacted {
        level,
        sources: sources.iter().map(|seq| Seq(*seq)).collect(),
        ..node((Seq(from), Seq(to)), "made by hand")
    };
    let table: Vec<(SessionCompacted, &[&str])> = vec![
        (condensed(&[8, 9], 1, (2, 7)), &[]),
        (
            condensed(&[8, 9], 2, (2, 7)),
            &["levels count up from the events: s position 10: it has level 2, but its sources give level 1"],
        ),
        (
            condensed(&[8, 9], 0, (2, 7)),
            &["levels count up from the events: s position 10: it has level 0, but its sources give level 1"],
        ),
        (
            condensed(&[], 1, (2, 7)),
            &[
                "levels count up from the events: s position 10: it has level 1, and was made from no summaries",
            ],
        ),
        (
            condensed(&[8, 5], 1, (2, 7)),
            &[
                "what a summary was made from is there: s position 10: there is no earlier summary at position 5",
            ],
        ),
        (
            condensed(&[8, 10], 1, (2, 7)),
            &[
                "what a summary was made from is there: s position 10: there is no earlier summary at position 10",
            ],
        ),
        (
            condensed(&[9], 1, (2, 7)),
            &[
                "what a summary was made from adds up to it: s position 10: the summary at 9 begins at 5, not 2: it leaves a gap",
            ],
        ),
        (
            condensed(&[8], 1, (2, 7)),
            &[
                "what a summary was made from adds up to it: s position 10: it covers positions up to 7, its sources up to 4",
            ],
        ),
        (
            condensed(&[8, 8, 9], 1, (2, 7)),
            &[
                "what a summary was made from adds up to it: s position 10: the summary at 8 begins at 2, not 5: it overlaps",
            ],
        ),
        (
            condensed(&[], 0, (3, 10)),
            &["summaries stand for what came before them: s position 10: it covers 3–10"],
        ),
        (
            condensed(&[], 0, (4, 3)),
            &["summaries stand for what came before them: s position 10: it covers 4–3"],
        ),
        (
            condensed(&[], 0, (0, 3)),
            &["summaries stand for what came before them: s position 10: it covers 0–3"],
        ),
        (
            SessionCompacted { tokens_after: None, ..node((Seq(1), Seq(2)), "x") },
            &["summaries say what they save: s position 10: its tokens are not recorded"],
        ),
        // A lane may begin with another lane's summaries.
        (SessionCompacted { lane: Some(lane("side")), ..condensed(&[8, 9], 1, (2, 7)) }, &[]),
    ];
    for (damaged, says) in table {
        let (scene, leaves) = scene();
        assert_eq!(leaves, [Seq(8), Seq(9)]);
        assert_eq!(scene.compacted(damaged), Seq(10));
        scene.catch_up();
        assert_eq!(scene.problems(), says);
    }
}

#[test]
fn a_view_of_summaries_that_are_not_there_is_named() {
    let (scene, leaves) = scene();
    let placed = |at, from, to| PlacedSummary { at: Seq(at), from: Seq(from), to: Seq(to) };
    for (nodes, problems) in [
        (vec![placed(leaves[0].0, 2, 4), placed(leaves[1].0, 5, 7)], 0),
        (vec![placed(leaves[0].0, 2, 3)], 1),
        (vec![placed(3, 2, 4)], 2),
    ] {
        let trim = Trim { nodes, ..Trim::default() };
        let (lane, reason) = (lane("main"), TrimReason::Compacted);
        scene.one(Fact::ViewTrimmed(ViewTrimmed { lane, trim, reason, target: None, compaction: None }));
        scene.catch_up();
        let found = scene.problems();
        assert_eq!(found.len(), problems, "{found:?}");
        assert!(
            found.iter().all(|one| one.starts_with("views show summaries that are there: ")),
            "{found:?}"
        );
    }
}
