//! The user's own messages stay in view, within a share reserved for them.

use crate::compacts_without_losing::compaction::scene::*;
use std::sync::Arc;
use wunderblock_core::budget::Treatment;
use wunderblock_core::message::{Message, Role};
use wunderblock_core::policy::Policy;
use wunderblock_core::units::Seq;

const WINDOW: u64 = 24_000;

fn sharing(share: &str) -> Arc<Policy> {
    policy(&format!("extends = \"balanced\"\n[protect]\nuser_share = {share}\n"))
}

/// Returns the indexes of the user turns that a request shows word for word after twelve compactions, and the number
/// of turns.
fn shown(share: &str) -> (Vec<usize>, usize) {
    let scene = Scene::new();
    let options = under(&sharing(share), WINDOW);
    let mut turns = vec![scene.user("R-1000: write a parser for dates, in Rust, without macros.")];
    for number in 0.. {
        turns.push(scene.user(&format!("R-{}: now the next part.", 1_001 + number)));
        scene
            .add((0..8).map(|line| said(Message::text(Role::Assistant, prose(number * 8 + line)))).collect());
        scene.build(&options);
        if scene.compactions() >= 12 {
            break;
        }
    }
    // A pasted turn that does not fit is skipped, but the turns before it are kept.
    turns.push(scene.user(&format!("R-9000: {}", "pasted words of a log ".repeat(600))));
    turns.push(scene.user("R-9001: go on."));
    scene.add((0..60).map(|line| said(Message::text(Role::Assistant, prose(line)))).collect());
    let built = scene.build(&options);
    assert_eq!(scene.unreachable(&built), []);
    let whole = |seq: &Seq| {
        let mut entries = built.draft.report.entries.iter();
        entries.any(|entry| entry.seq == Some(*seq) && entry.treatment == Treatment::Verbatim)
    };
    let count = turns.len();
    (turns.iter().enumerate().filter(|(_, seq)| whole(seq)).map(|(index, _)| index).collect(), count)
}

fn prose(number: u64) -> String {
    format!("Part {number} of the work: {}", "it goes on as was said. ".repeat(24))
}

#[test]
fn the_first_request_and_the_newest_turns_stay_word_for_word() {
    let (without, _) = shown("0.0");
    let (with, count) = shown("0.1");
    assert!(with.len() > without.len() + 10, "{with:?}, without {without:?}");
    assert_eq!((with[0], with[with.len() - 1]), (0, count - 1), "the first and the newest");
    assert!(!with.contains(&(count - 2)), "what was pasted has no room");
    let newest: Vec<usize> = with[1..].iter().copied().filter(|turn| *turn < count - 2).collect();
    assert_eq!(newest.last(), Some(&(count - 3)));
    assert!(newest.windows(2).all(|two| two[1] == two[0] + 1), "without a gap: {newest:?}");
}
