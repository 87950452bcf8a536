//! Every message reaches the model exactly once: as an entry of the request, or through the one summary whose range
//! contains it. The invariant is taken from Mastra's repair of its observational memory, in which the invariant had
//! been violated 2,173 times.

use crate::compacts_without_losing::compaction::scene::*;
use crate::nothing_is_lost::ledger::history::{Move, Story, step, tries};
use crate::scene::sound;
use futures_executor::block_on;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;
use std::sync::Arc;
use wunderblock::{Address, Built, CompactionResult, ContextOptions, Slice, Visibility};
use wunderblock_core::budget::Reason;
use wunderblock_core::compact::Urgency;
use wunderblock_core::event::ViewTrimmed;
use wunderblock_core::message::{Body, Message, Part};
use wunderblock_core::plan::TrimReason;
use wunderblock_core::policy::Policy;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_testkit::faults::{FaultTime, PortMethod};

const OTHER_MODEL: &str = "claude-haiku-4-5";

#[derive(Clone, Debug)]
enum Act {
    Tell(Vec<Move>),
    Turns(u64),
    Build,
    Compact,
    /// A number of minutes pass.
    Wait(i64),
    Mark(Visibility, u8),
}

fn act() -> impl Strategy<Value = Act> {
    let mark = select(vec![Visibility::Pin, Visibility::Unpin, Visibility::Hide, Visibility::Unhide]);
    prop_oneof![
        4 => prop::collection::vec(step(), 1..8).prop_map(Act::Tell),
        4 => (1..24_u64).prop_map(Act::Turns),
        8 => Just(Act::Build),
        1 => Just(Act::Compact),
        1 => (1..90_i64).prop_map(Act::Wait),
        1 => (mark, any::<u8>()).prop_map(|(mark, share)| Act::Mark(mark, share)),
    ]
}

/// Returns the messages that a request does not contain exactly once, each with its fault. A bare mark of positions
/// tells nothing.
fn uncovered(scene: &Scene, built: &Built) -> Vec<(Seq, &'static str)> {
    uncovered_of(&scene.messages(), scene, built)
}

fn uncovered_of(messages: &[(Seq, Message)], scene: &Scene, built: &Built) -> Vec<(Seq, &'static str)> {
    let is_bare = |reason| matches!(reason, Reason::Budget | Reason::Stepped | Reason::Summarised);
    let last = scene.steps().pop().map(|(_, step)| step);
    let has_no_room = last.as_ref().is_some_and(gave_up_summaries);
    let trim = last.map(|step| step.trim).unwrap_or_default();
    let report = &built.draft.report;
    let mut wrong = Vec::new();
    for (seq, message) in messages {
        let seq = *seq;
        let raw = report.entries.iter().filter(|line| line.seq == Some(seq)).count();
        let nodes = trim.nodes.iter().filter(|node| (node.from..=node.to).contains(&seq)).count();
        let mut runs = report.left_out.iter().filter(|run| (run.from_seq..=run.to_seq).contains(&seq));
        let is_listed = runs.any(|run| !is_bare(run.reason) && !run.handle.is_empty());
        let what = match (raw, nodes) {
            (2.., _) => "it stands twice",
            (_, 2..) => "two summaries tell of it",
            // No provider accepts thinking without its signature, or a second result of a call, so no request lacks them;
            // nor does a request lack a reply that failed, which is never sent.
            (0, 0) if is_thinking(message) || is_second(messages, seq) => continue,
            (0, 0) if !message.standing.is_sendable() => continue,
            (0, 0) if has_no_room => continue,
            (0, 0) if !is_listed => "nothing tells of it",
            _ => continue,
        };
        wrong.push((seq, what));
    }
    wrong
}

fn is_thinking(message: &Message) -> bool {
    message.parts.iter().all(|part| matches!(part, Part::Thinking { .. }))
}

/// Returns whether a step had to give up its summaries, because the newest exchange and the protected entries leave no
/// room for one. It happens in windows of a few thousand tokens.
fn gave_up_summaries(step: &ViewTrimmed) -> bool {
    step.reason == TrimReason::OverBudget && step.trim.nodes.is_empty()
}

/// Returns whether a message holds only results of calls that have an earlier result.
fn is_second(messages: &[(Seq, Message)], seq: Seq) -> bool {
    let call = |part: &Part| match part {
        Part::ToolResult { call, .. } => Some(format!("{call:?}")),
        _ => None,
    };
    let parts = |before: bool| {
        let own = messages.iter().filter(move |(at, _)| if before { *at < seq } else { *at == seq });
        own.flat_map(|(_, message)| &message.parts).map(call)
    };
    let earlier: BTreeSet<Option<String>> = parts(true).filter(Option::is_some).collect();
    parts(false).all(|call| earlier.contains(&call))
}

fn perform(
    scene: &Scene,
    story: &mut Story,
    said: &mut u64,
    policy: &Arc<Policy>,
    (window, act): (u64, &Act),
) {
    match act {
        Act::Tell(moves) => {
            let events: Vec<_> = moves.iter().flat_map(|step| story.tell(step)).collect();
            block_on(scene.session.append(events)).unwrap();
        }
        Act::Turns(count) => {
            scene.turns(*said..*said + count);
            *said += count;
        }
        Act::Build => {
            let Some(built) = scene.build_or_none(&under(policy, window)) else { return };
            sound(&built);
            let done = built.compacted.as_ref().map(|done| (&done.outcome, &done.due, &done.rungs));
            assert_eq!(uncovered(scene, &built), [], "{} in {window}: {done:?}", policy.name);
        }
        Act::Compact => drop(block_on(scene.session.compact(&by_hand(policy, window)))),
        Act::Wait(minutes) => scene.wait(minutes * 60_000),
        Act::Mark(mark, share) => {
            let at = Seq(1 + scene.head().0 * u64::from(*share) / 256);
            drop(block_on(mark.set(&scene.session, at)));
        }
    }
}

fn windows() -> impl Strategy<Value = u64> {
    select(vec![16_000_u64, 32_000, 64_000, 200_000, 1_000_000])
}

fn names(keeps: impl Fn(&str) -> bool) -> impl Strategy<Value = String> {
    let all = policies().names().filter(|name| preset(name).covers() && keeps(name));
    select(all.map(ToOwned::to_owned).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(tries(16))]

    /// Plays random sessions in any window, with idle times, pins and hides.
    #[test]
    fn every_message_reaches_the_model_exactly_once(
        window in windows(),
        name in names(|_| true),
        acts in prop::collection::vec(act(), 4..24),
    ) {
        let (scene, mut story, mut said) = (Scene::new(), Story::default(), 0);
        let policy = preset(&name);
        scene.user("Let us begin.");
        for act in acts.iter().chain([&Act::Build]) {
            perform(&scene, &mut story, &mut said, &policy, (window, act));
        }
        prop_assert_eq!(scene.problems(), [""; 0]);
    }
}

/// Lets a session of each policy grow turn by turn, to at least twice the window and by at most 80 turns, and checks
/// every request.
fn grows_turn_by_turn(window: u64) {
    for policy in active().filter(|policy| policy.covers()) {
        let (scene, mut told) = (Scene::new(), Vec::new());
        let turns: u64 = window / 250;
        for round in 0..turns.min(80) {
            let messages = turn(round);
            let seqs = scene.add(messages.iter().cloned().map(said).collect());
            told.extend(seqs.into_iter().zip(messages));
            let built = scene.build(&under(&policy, window));
            assert_eq!(uncovered_of(&told, &scene, &built), [], "{} in {window}, round {round}", policy.name);
        }
        assert_eq!(scene.messages().len(), told.len(), "{} in {window}", policy.name);
        scene.is_whole();
    }
}

/// A session that grows turn by turn leaves nothing behind a bare mark, in a window that it fills.
#[test]
fn a_session_that_grows_turn_by_turn_leaves_nothing_out() {
    grows_turn_by_turn(4_000);
}

#[test]
#[ignore = "takes minutes: .ci/full runs it, and so does --ignored"]
fn a_session_that_grows_in_larger_windows_leaves_nothing_out() {
    [8_000, 32_000].into_iter().for_each(grows_turn_by_turn);
}

/// Explains the first request of each policy on a session of this many turns.
fn first_request_in(windows: &[u64], turns: u64) {
    let scene = Scene::of(turns);
    for (number, policy) in active().filter(|policy| policy.covers()).enumerate() {
        // A short session is explained in one window for each policy.
        let all = turns > 100;
        let of_policy = |at: usize| all || at == number % windows.len();
        for window in windows.iter().enumerate().filter(|(at, _)| of_policy(*at)).map(|(_, window)| window) {
            let options = ContextOptions { lane: None, ..under(&policy, *window) };
            let built = scene.explain(&options);
            let bare = |reason| matches!(reason, Reason::Budget | Reason::Stepped);
            let bare = built.draft.report.left_out.iter().find(|run| bare(run.reason));
            assert_eq!(bare, None, "{} in {window}", policy.name);
        }
    }
}

/// A lane that begins on a session longer than its window leaves nothing behind a bare mark.
#[test]
fn a_first_request_of_a_long_session_leaves_nothing_out() {
    first_request_in(&[4_000, 24_000], 60);
}

#[test]
#[ignore = "takes minutes: .ci/full runs it, and so does --ignored"]
fn a_first_request_of_a_longer_session_leaves_nothing_out() {
    first_request_in(&[4_000, 16_000, 64_000, 1_000_000], 240);
}

/// Summaries made ahead can become part of another summary in the compaction with which they take effect. What they
/// say is in it.
#[test]
fn what_is_made_ahead_can_be_condensed_at_once() {
    let steps = "[[step]]\ndo = \"summarise\"\nahead = true\nchunk = 2_000\n[[step]]\ndo = \"condense\"\nleaves = 2\nnodes = 2\n";
    let (scene, policy) = (Scene::new(), policy(&format!("extends = \"observations\"\n{steps}")));
    for round in 0..400 {
        scene.turns(round..round + 1);
        scene.build(&under(&policy, 32_000));
        let made = scene.made();
        let Some((at, node)) = made.iter().find(|(_, node)| node.level > 0) else { continue };
        let first = made.iter().filter(|(seq, _)| node.sources.contains(seq));
        let early = first.clone().filter(|(seq, _)| *seq < scene.steps().last().unwrap().0).count();
        assert!(early > 1, "{early} were made ahead");
        let handle = node.summary.as_ref().and_then(Body::handle).expect("a long text");
        let address = Address { handle, range: None };
        let read = block_on(scene.session.engine().recall().read(address, &Slice::All)).unwrap();
        let summary = String::from_utf8(read.bytes).unwrap();
        for (seq, source) in first {
            let place = (source.from_seq.0..=source.to_seq.0).any(|seq| summary.contains(&format!("#{seq}")));
            assert!(place, "#{at} says nothing of #{seq}: {summary}");
        }
        return;
    }
    panic!("nothing was condensed");
}

/// Chunks are summarised as they fill, without changing a request. When the request reaches the level of the policy,
/// all summaries of chunks take effect in one step.
#[test]
fn what_is_made_ahead_takes_effect_together_at_the_level() {
    let (scene, policy) = (Scene::new(), preset("observations"));
    let mut before: Option<Built> = None;
    let mut ahead = 0;
    for round in 0..400 {
        scene.turns(round..round + 1);
        let built = scene.build(&under(&policy, 64_000));
        let outcome = built.compacted.as_ref().map(|done| (done.outcome.clone(), done.due.level));
        match &outcome {
            Some((CompactionResult::Prepared, Urgency::Ahead)) => ahead += 1,
            Some((CompactionResult::Compacted, Urgency::Soft)) => {
                let (step, trim) = (scene.steps().last().unwrap().0, scene.trim());
                let early = trim.nodes.iter().filter(|node| node.at < step).count();
                assert!(ahead >= 2 && early >= 2, "{ahead} made ahead, {early} of {:?}", trim.nodes);
                let made = scene.made();
                let of = |at: Seq| &made.iter().find(|(seq, _)| *seq == at).unwrap().1;
                assert!(trim.nodes.iter().all(|node| of(node.at).sources.is_empty()));
                return;
            }
            Some(other) => panic!("{other:?}"),
            None => {}
        }
        if let Some(before) = &before {
            assert!(goes_on(before, &built), "round {round}: {outcome:?}");
        }
        before = Some(built);
    }
    panic!("the level was never reached");
}

/// A log that is too long is archived: the newest pieces stay, a catalogue replaces the others, and nothing is
/// covered twice.
#[test]
fn the_oldest_pieces_become_a_catalogue() {
    let (scene, policy) = (Scene::new(), preset("observations"));
    for round in 0..400 {
        scene.turns(round * 4..round * 4 + 4);
        let built = scene.build(&under(&policy, 16_000));
        let nodes = built.compacted.iter().flat_map(|done| &done.nodes);
        let Some(catalogue) = nodes.into_iter().find(|node| node.level > 0) else { continue };
        assert!(scene.trim().nodes.iter().any(|node| node.at == catalogue.at), "it stands");
        let text = &catalogue.text;
        assert!(text.lines().all(|line| line.starts_with("- #") && line.chars().count() <= 240), "{text}");
        let ranges: Vec<(u64, u64)> = text
            .lines()
            .map(|line| {
                let (from, to) = line["- #".len()..].split(' ').next().unwrap().split_once('–').unwrap();
                (from.parse().unwrap(), to.parse().unwrap())
            })
            .collect();
        assert_eq!(ranges.first().unwrap().0, catalogue.from.0);
        assert_eq!(ranges.last().unwrap().1, catalogue.to.0);
        assert!(ranges.windows(2).all(|two| two[0].1 + 1 == two[1].0), "{ranges:?}");
        assert!(catalogue.after <= Tokens(2_300), "with its fence");
        scene.is_whole();
        return;
    }
    panic!("the log never grew too long");
}

/// A lane whose cache is lost anyway, because minutes have passed or another model is used, is compacted at a size at
/// which it would otherwise just grow.
#[test]
fn a_lane_whose_cache_is_lost_is_made_shorter() {
    let policy = policy(
        "extends = \"observations\"\n[trigger]\nidle = 0.46\n[trigger.soft]\nfraction = 0.9\nunsummarised = 900_000",
    );
    let due_after = |minutes: i64, model: &str| {
        let scene = Scene::new();
        let mut turns = 1;
        scene.turns(0..1);
        while scene.build(&under(&policy, 32_000)).draft.report.total_tokens < Tokens(15_000) {
            scene.turns(turns..turns + 1);
            turns += 1;
        }
        scene.wait(minutes * 60_000);
        scene.turns(turns..turns + 1);
        let built = scene.build(&ContextOptions { model: Some(model.to_owned()), ..under(&policy, 32_000) });
        built.compacted.filter(|done| done.outcome == CompactionResult::Compacted).map(|done| done.due.why)
    };
    assert_eq!(due_after(1, MODEL), None);
    for (minutes, model) in [(6, MODEL), (1, OTHER_MODEL)] {
        let why = due_after(minutes, model).unwrap();
        assert!(why.starts_with("the provider's cache is lost"), "{why}");
    }
}

/// A fault while a chunk is being summarised ahead leaves either the whole summary or nothing of it, and the next
/// request is complete.
#[test]
fn what_breaks_off_while_a_chunk_is_made_leaves_nothing_behind() {
    for when in [FaultTime::Before, FaultTime::After] {
        for nth in 1..=4 {
            let (scene, policy) = (Scene::of(40), preset("observations"));
            let messages = scene.messages();
            scene.faults.fail(
                PortMethod::Commit,
                nth,
                when,
                wunderblock::store::StoreError::Io("gone".to_owned()),
            );
            drop(block_on(scene.session.context(under(&policy, 64_000))));
            scene.faults.clear();
            scene.wait(wunderblock::COMPACTION_LEASE + 1);
            let built = scene.build(&under(&policy, 64_000));
            assert_eq!(uncovered(&scene, &built), [], "{when:?} {nth}");
            assert_eq!(scene.messages(), messages);
            scene.is_whole();
        }
    }
}
