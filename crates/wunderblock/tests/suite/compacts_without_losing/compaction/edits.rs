//! Summaries are written again, dissolved, or made from a range. Nothing else changes, and nothing is lost.

use crate::compacts_without_losing::compaction::scene::*;
use futures_executor::block_on;
use std::sync::Arc;
use wunderblock::{CompactOptions, Compacted, CompactionResult, EditError, Error, SummaryEdit};
use wunderblock_core::decision::PlacedSummary;
use wunderblock_core::id::LaneId;
use wunderblock_core::message::Role;
use wunderblock_core::policy::Policy;
use wunderblock_core::units::Seq;

const WINDOW: u64 = 48_000;

/// A policy that makes summaries of ten messages each, without summaries of summaries.
fn chain() -> Arc<Policy> {
    policy(
        "extends = \"always\"\n[protect]\nmessages = 8\n[split]\nat = \"exchange\"\n[[step]]\ndo = \"summarise\"\n\
         all = true\nchunk = 3_000\n[summary]\ntarget = 400\nshare = 0.3\nat_least = 64\n",
    )
}

fn edit(scene: &Scene, edit: SummaryEdit) -> Result<Compacted, Error> {
    block_on(scene.session.compact(&asked(edit)))
}

fn asked(edit: SummaryEdit) -> CompactOptions {
    CompactOptions { edit: Some(edit), ..by_hand(&chain(), WINDOW) }
}

/// Creates a session whose older part is in a chain of summaries.
fn summarised() -> (Scene, Vec<PlacedSummary>) {
    let scene = Scene::of(20);
    scene.build(&window(WINDOW));
    let done = scene.compact(&by_hand(&chain(), WINDOW));
    assert_eq!(done.outcome, CompactionResult::Compacted);
    let nodes = scene.trim().nodes;
    assert!(nodes.len() >= 4, "{nodes:?}");
    (scene, nodes)
}

fn refusal(scene: &Scene, wanted: SummaryEdit) -> EditError {
    let head = scene.head();
    let refused = edit(scene, wanted);
    assert_eq!(scene.head(), head, "nothing is recorded");
    match refused {
        Err(Error::Edit(why)) => why,
        other => panic!("{other:?}"),
    }
}

/// Returns the ranges of the summaries shown, in order.
fn ranges(scene: &Scene) -> Vec<(Seq, Seq)> {
    scene.trim().nodes.iter().map(|placed| (placed.from, placed.to)).collect()
}

#[test]
fn one_summary_is_written_again_and_no_other_changes() {
    let (scene, nodes) = summarised();
    let old = scene.made();
    let wanted =
        CompactOptions { focus: Some("step_7".to_owned()), ..asked(SummaryEdit::Rewrite(nodes[1].at)) };
    let done = scene.compact(&wanted);
    assert_eq!(done.outcome, CompactionResult::Compacted);
    let now = scene.trim().nodes;
    assert_eq!(ranges(&scene), nodes.iter().map(|node| (node.from, node.to)).collect::<Vec<_>>());
    for (index, (before, after)) in nodes.iter().zip(&now).enumerate() {
        assert_eq!(before.at == after.at, index != 1, "only the second is another");
    }
    let made = scene.made();
    let (_, fresh) = made.iter().find(|(at, _)| *at == now[1].at).unwrap();
    assert_eq!(fresh.focus.as_deref(), Some("step_7"));
    assert_eq!(made.len(), old.len() + 1, "the earlier one stays in the ledger");
    let built = scene.build(&window(WINDOW));
    assert_eq!(scene.unreachable(&built), []);
    scene.is_whole();
    block_on(scene.session.lane(LaneId::main()).undo()).unwrap();
    assert_eq!(scene.trim().nodes, nodes, "it can be undone as any compaction");
}

#[test]
fn what_a_dissolved_summary_was_made_from_is_shown_again() {
    for which in [0, 1, 3] {
        let (scene, nodes) = summarised();
        let which = if which == 3 { nodes.len() - 1 } else { which };
        let (from, to) = (nodes[which].from, nodes[which].to);
        assert_eq!(
            edit(&scene, SummaryEdit::Dissolve(nodes[which].at)).unwrap().outcome,
            CompactionResult::Compacted
        );
        let mut left: Vec<_> = nodes.iter().map(|node| (node.from, node.to)).collect();
        left.remove(which);
        assert_eq!(ranges(&scene), left);
        let built = scene.build(&window(WINDOW));
        let shown = Shown::of(&built.draft.body);
        for (seq, message) in scene.messages().iter().filter(|(seq, _)| (from..=to).contains(seq)) {
            let said = message.parts.iter().flat_map(wunderblock_core::message::Part::bodies);
            let is_said =
                said.filter_map(|body| body.inline()).all(|text| shown.says(text) || text.starts_with('{'));
            assert!(is_said, "{seq} is shown word for word again");
        }
        assert_eq!(scene.unreachable(&built), []);
        scene.is_whole();
        // New turns follow the dissolved range, and the next compaction summarises it again.
        scene.turns(20..24);
        let next = scene.build(&window(WINDOW));
        assert!(goes_on(&built, &next));
        assert_eq!(scene.compact(&by_hand(&chain(), WINDOW)).outcome, CompactionResult::Compacted);
        assert_eq!(scene.unreachable(&scene.build(&window(WINDOW))), []);
        scene.is_whole();
    }
}

#[test]
fn a_summary_of_summaries_is_dissolved_into_them() {
    let (scene, nodes) = summarised();
    let (first, last) = (nodes[0], nodes[2]);
    let one = edit(&scene, SummaryEdit::Range(first.from, last.to)).unwrap();
    assert_eq!((one.outcome, one.nodes.len(), one.nodes[0].level), (CompactionResult::Compacted, 1, 1));
    assert_eq!(ranges(&scene)[0], (first.from, last.to));
    scene.is_whole();
    let at = scene.trim().nodes[0].at;
    let again = edit(&scene, SummaryEdit::Rewrite(at)).unwrap();
    assert_eq!(again.nodes[0].level, 1, "from the summaries it was made from");
    scene.is_whole();
    edit(&scene, SummaryEdit::Dissolve(scene.trim().nodes[0].at)).unwrap();
    assert_eq!(scene.trim().nodes, nodes);
    assert_eq!(scene.unreachable(&scene.build(&window(WINDOW))), []);
    scene.is_whole();
}

#[test]
fn a_range_in_the_middle_becomes_a_summary_and_what_stands_around_it_stays() {
    let scene = Scene::of(20);
    let before = scene.build(&window(WINDOW));
    let messages = scene.messages();
    let (from, to) = (messages[16].0, messages[35].0);
    let done = edit(&scene, SummaryEdit::Range(from, to)).unwrap();
    assert_eq!((done.outcome, done.nodes.len()), (CompactionResult::Compacted, 1));
    assert!(done.after < done.before);
    assert_eq!(ranges(&scene), [(from, to)]);
    let built = scene.build(&window(WINDOW));
    let (all, now) = (Shown::of(&before.draft.body), Shown::of(&built.draft.body));
    for (seq, message) in messages.iter().filter(|(_, message)| message.role == Role::User) {
        let text = message.parts[0].bodies()[0].inline().unwrap();
        assert!(all.texts.iter().any(|shown| shown == text));
        let gone = now.texts.iter().all(|shown| shown != text);
        assert_eq!(gone, (from..=to).contains(seq), "{seq}: {text}");
    }
    assert_eq!(scene.unreachable(&built), []);
    scene.is_whole();
    // The range consists of summaries and of exchanges between them, so the exchanges are first summarised
    // separately.
    let (wide, end) = (messages[4].0, messages[43].0);
    let done = edit(&scene, SummaryEdit::Range(wide, end)).unwrap();
    assert_eq!(done.nodes.iter().map(|node| node.level).collect::<Vec<_>>(), [0, 0, 1]);
    assert_eq!(ranges(&scene), [(wide, end)]);
    assert_eq!(scene.unreachable(&scene.build(&window(WINDOW))), []);
    scene.is_whole();
}

#[test]
fn what_cannot_be_done_is_refused_and_nothing_is_recorded() {
    let (scene, nodes) = summarised();
    let messages = scene.messages();
    let last = messages.last().unwrap().0;
    let at = messages[0].0;
    for wanted in [SummaryEdit::Rewrite(at), SummaryEdit::Dissolve(at)] {
        assert_eq!(refusal(&scene, wanted), EditError::NoSummary { at, lane: LaneId::main() });
    }
    let cut = refusal(&scene, SummaryEdit::Range(nodes[0].from, nodes[1].to.prev()));
    assert_eq!(cut, EditError::CutsSummary { from: nodes[1].from, to: nodes[1].to });
    let newest = refusal(&scene, SummaryEdit::Range(nodes.last().unwrap().to.next(), last));
    assert!(matches!(newest, EditError::ReachesNewest(_)), "{newest}");
    // A call without its result is not a whole exchange.
    let call = messages.iter().rev().nth(6).unwrap().0;
    let none = refusal(&scene, SummaryEdit::Range(call, call));
    assert_eq!(none, EditError::NoExchange { from: call, to: call });
    // A lane with a small window has no room for the sources of the summary.
    let small = Scene::of(60);
    small.build(&window(8_000));
    small.compact(&CompactOptions { sweep: true, ..by_hand(&chain(), 8_000) });
    let widest = small.trim().nodes.iter().copied().max_by_key(|node| node.to.0 - node.from.0).unwrap();
    let asked = CompactOptions {
        edit: Some(SummaryEdit::Dissolve(widest.at)),
        ..by_hand(&policy("extends = \"always\""), 2_600)
    };
    let compactions = small.compactions();
    let refused = block_on(small.session.compact(&asked));
    assert!(matches!(refused, Err(Error::Edit(_))), "{refused:?}");
    assert_eq!(small.compactions(), compactions);
}

#[test]
fn only_looking_at_a_change_records_nothing() {
    let (scene, nodes) = summarised();
    let head = scene.head();
    for wanted in [SummaryEdit::Rewrite(nodes[0].at), SummaryEdit::Dissolve(nodes[0].at)] {
        let done = scene.compact(&CompactOptions { dry_run: true, ..asked(wanted) });
        assert_eq!((done.outcome, scene.head()), (CompactionResult::WouldCompact, head));
    }
}
