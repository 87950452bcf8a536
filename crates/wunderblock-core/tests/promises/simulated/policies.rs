//! Random policies, and policies of common shapes.

use proptest::prelude::*;
use proptest::sample::select;
use wunderblock_core::policy::{
    Action, CutPoint, Division, DropOrder, Optional, Permille, Policy, Protect, Severity, Split, Summary,
    Triggers,
};
use wunderblock_core::units::{Bytes, Tokens};

/// Minimum that a step must save. All steps with the same name have the same minimum, so that a record of steps can
/// be checked by name.
type Gain = (Permille, Tokens);

fn gain() -> impl Strategy<Value = Gain> {
    let part = prop_oneof![3 => Just(0u16), 1 => 1..200u16, 1 => 200..999u16];
    let least = prop_oneof![3 => Just(0u64), 1 => 1..2_000u64];
    (part, least).prop_map(|(part, least)| (Permille(part), Tokens(least)))
}

pub(crate) fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        1 => curate(),
        2 => (prop_oneof![2 => Just(1u64), 1 => 1..5_000u64], gain()).prop_map(|(min, (min_gain, min_tokens))| {
            Action::Dedupe { min_bytes: Bytes(min), min_gain, min_tokens }
        }),
        1 => (0..6u64, select(vec![0u64, 500, 20_000]), select(vec![0u64, 50, 200]), any::<[bool; 2]>(), gain())
            .prop_map(|(keep, tokens, over, [arguments, as_needed], (min_gain, min_tokens))| Action::Stub {
                keep,
                keep_tokens: Tokens(tokens),
                over: Tokens(over),
                arguments,
                as_needed,
                min_gain,
                min_tokens
            }),
        1 => (1..1_000u64, 0..1_000u64, 0..=1_000u16, 0..4u64, gain()).prop_map(
            |(over, to, head, keep, (min_gain, min_tokens))| Action::Shrink {
                over: Tokens(over),
                to: Tokens(to * over / 1_000),
                head: Permille(head),
                keep,
                min_gain,
                min_tokens
            }
        ),
        2 => summarise(),
        2 => (2..4u64, 2..4u64, (0..4u32, select(vec![0u64, 0, 400, 3_000])), select(vec![0u16, 0, 50, 300]), gain()).prop_map(
            |(leaves, nodes, (most, chunk), above, (min_gain, min_tokens))| Action::Condense {
                leaves,
                nodes,
                chunk: Optional::new(Tokens(chunk)),
                most: Optional::new(most),
                above: Permille(above),
                above_tokens: Optional::new(Tokens(u64::from(above) * 7)),
                min_gain,
                min_tokens
            }
        ),
        1 => (select(vec![DropOrder::Age, DropOrder::Importance]), select(vec![0u64, 0, 3, 10, 50]), gain())
            .prop_map(|(by, keep, (min_gain, min_tokens))| Action::Drop { by, keep: Optional::new(keep), min_gain, min_tokens }),
    ]
}

fn curate() -> impl Strategy<Value = Action> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (prop::option::of(0..3u64), flags, gain()).prop_map(|(thinking_after, flags, gain)| Action::Curate {
        thinking_after,
        invalid_runs: flags.0,
        placeholder: flags.1,
        repeated: flags.2,
        min_gain: gain.0,
        min_tokens: gain.1,
    })
}

fn summarise() -> impl Strategy<Value = Action> {
    let share = select(vec![(0u16, 0u16), (0, 0), (400, 150), (100, 100)]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let chunk = select(vec![0u64, 1, 300, 2_000, 12_000, 100_000]);
    let oldest = prop_oneof![3 => Just(1_000u16), 1 => 1..=1_000u16];
    (select(vec![Division::Length, Division::Task]), chunk, share, oldest, flags, gain()).prop_map(
        |(by, chunk, share, oldest, (all, anchored, as_needed), (min_gain, min_tokens))| Action::Summarise {
            by,
            chunk: Optional::new(Tokens(chunk)),
            anchored,
            as_needed,
            chunk_share: Optional::new(Permille(share.0)),
            chunk_least: Optional::new(Permille(share.1)),
            oldest: Permille(oldest),
            all,
            ahead: false,
            catalogue: all && anchored,
            min_gain,
            min_tokens,
        },
    )
}

fn protect() -> impl Strategy<Value = Protect> {
    let counts = (select(vec![0u64, 0, 1, 3]), select(vec![0u64, 0, 2, 5, 10]), select(vec![0u64, 0, 1, 2]));
    let tokens = (select(vec![0u64, 0, 500, 5_000]), select(vec![0u64, 0, 500, 5_000]));
    let parts = (select(vec![0u16, 0, 300]), select(vec![0u16, 0, 25, 150]), any::<bool>(), any::<bool>());
    let parts = (parts, select(vec![0u16, 0, 50, 200]));
    (counts, tokens, parts).prop_map(
        |(counts, tokens, ((history, window, bounded, to_newest_user), share))| Protect {
            first: counts.0,
            messages: counts.1,
            turns: counts.2,
            tokens: Tokens(tokens.0),
            history: Permille(history),
            window: Permille(window),
            at_least: Tokens(if bounded { 1_000 } else { 0 }),
            at_most: Optional::new(Tokens(if bounded { 3_000 } else { 0 })),
            at_most_share: Optional::new(Permille(if bounded { 500 } else { 0 })),
            to_newest_user,
            user_tokens: Tokens(tokens.1),
            user_share: Permille(share),
            rules_share: Permille(share / 3),
            work_share: Permille(0),
            ..Protect::default()
        },
    )
}

fn random() -> impl Strategy<Value = Policy> {
    let split = (select(vec![CutPoint::User, CutPoint::Exchange]), any::<bool>(), any::<bool>());
    let summary = (1..3_000u64, 1..999u16, 0..2_000u64);
    (prop::collection::vec(action(), 1..6), protect(), split, summary, 0..700u16).prop_map(
        |(steps, protect, split, summary, down_to)| {
            let target = Tokens(summary.0);
            Policy {
                name: "random".into(),
                trigger: Triggers { down_to: Optional::new(Permille(down_to)), ..Triggers::default() },
                protect,
                split: Split { at: split.0, forward: split.1, two_summaries: split.2 },
                steps: same_gains(steps),
                summary: Summary {
                    target,
                    share: Permille(summary.1),
                    at_least: Tokens(summary.2).min(target),
                    ..Summary::default()
                },
                ..Policy::never()
            }
        },
    )
}

/// Returns the steps, giving all steps with the same name the minimum of the first one.
fn same_gains(mut steps: Vec<Action>) -> Vec<Action> {
    let gains: Vec<(&'static str, Gain)> =
        steps.iter().map(|action| (action.name(), action.gain())).collect();
    for action in &mut steps {
        let gain = gains.iter().find(|(name, _)| *name == action.name()).unwrap().1;
        match action {
            Action::Curate { min_gain, min_tokens, .. }
            | Action::Dedupe { min_gain, min_tokens, .. }
            | Action::Stub { min_gain, min_tokens, .. }
            | Action::Shrink { min_gain, min_tokens, .. }
            | Action::Summarise { min_gain, min_tokens, .. }
            | Action::Condense { min_gain, min_tokens, .. }
            | Action::Archive { min_gain, min_tokens, .. }
            | Action::Drop { min_gain, min_tokens, .. } => (*min_gain, *min_tokens) = gain,
        }
    }
    steps
}

pub(crate) fn plain_summarise(chunk: Tokens) -> Action {
    Action::Summarise {
        by: Division::Length,
        chunk: Optional::new(chunk),
        anchored: false,
        as_needed: false,
        chunk_share: Optional::UNSET,
        chunk_least: Optional::UNSET,
        oldest: Permille::ONE,
        all: true,
        ahead: false,
        catalogue: false,
        min_gain: Permille::ZERO,
        min_tokens: Tokens::ZERO,
    }
}

pub(crate) fn plain_stub(keep: u64) -> Action {
    Action::Stub {
        keep,
        keep_tokens: Tokens::ZERO,
        over: Tokens(50),
        arguments: false,
        as_needed: false,
        min_gain: Permille::ZERO,
        min_tokens: Tokens::ZERO,
    }
}

pub(crate) fn plain_dedupe() -> Action {
    Action::Dedupe { min_bytes: Bytes(512), min_gain: Permille::ZERO, min_tokens: Tokens::ZERO }
}

pub(crate) fn plain_drop(by: DropOrder, keep: u64) -> Action {
    Action::Drop { by, keep: Optional::new(keep), min_gain: Permille::ZERO, min_tokens: Tokens::ZERO }
}

pub(crate) fn plain_condense(fan: u64, chunk: Tokens) -> Action {
    Action::Condense {
        leaves: fan,
        nodes: fan,
        chunk: Optional::new(chunk),
        most: Optional::UNSET,
        above: Permille::ZERO,
        above_tokens: Optional::UNSET,
        min_gain: Permille::ZERO,
        min_tokens: Tokens::ZERO,
    }
}

pub(crate) fn plain_shrink() -> Action {
    Action::Shrink {
        over: Tokens(200),
        to: Tokens(100),
        head: Permille(667),
        keep: 0,
        min_gain: Permille::ZERO,
        min_tokens: Tokens::ZERO,
    }
}

pub(crate) fn plain_curate() -> Action {
    Action::Curate {
        thinking_after: Some(1),
        invalid_runs: true,
        placeholder: true,
        repeated: true,
        min_gain: Permille::ZERO,
        min_tokens: Tokens::ZERO,
    }
}

pub(crate) fn policy(steps: Vec<Action>, protect: Protect, split: Split) -> Policy {
    Policy { name: "shape".into(), protect, split, steps, ..Policy::never() }
}

/// Returns policies of common shapes: cheapest first, one summary, task by task, first in first out.
fn shapes() -> Vec<Policy> {
    let none = Protect::default;
    let user = Split::default();
    let exchange = Split { at: CutPoint::Exchange, ..user };
    let mut by_task = plain_summarise(Tokens::ZERO);
    if let Action::Summarise { by, .. } = &mut by_task {
        *by = Division::Task;
    }
    let whole = || plain_summarise(Tokens::ZERO);
    vec![
        policy(
            vec![
                plain_dedupe(),
                plain_stub(4),
                plain_summarise(Tokens(3_000)),
                plain_condense(3, Tokens(3_000)),
            ],
            Protect { window: Permille(150), messages: 4, user_tokens: Tokens(1_000), ..none() },
            Split { two_summaries: true, ..user },
        ),
        policy(vec![plain_stub(3), whole()], Protect { messages: 5, ..none() }, exchange),
        policy(
            vec![plain_curate(), whole()],
            Protect { history: Permille(300), ..none() },
            Split { forward: true, ..user },
        ),
        policy(vec![plain_stub(5)], none(), user),
        policy(vec![plain_drop(DropOrder::Age, 10)], none(), user),
        policy(vec![plain_drop(DropOrder::Importance, 0)], Protect { messages: 10, ..none() }, user),
        policy(vec![whole()], Protect { user_tokens: Tokens(2_000), ..none() }, user),
        policy(
            vec![plain_summarise(Tokens(1_000)), plain_condense(2, Tokens(1_000))],
            Protect { messages: 6, to_newest_user: true, ..none() },
            exchange,
        ),
        policy(vec![by_task], Protect { messages: 3, ..none() }, exchange),
        policy(
            vec![plain_shrink(), whole(), plain_drop(DropOrder::Importance, 0)],
            Protect { turns: 2, ..none() },
            user,
        ),
        policy(vec![plain_stub(0), whole()], Protect { first: 3, messages: 3, ..none() }, exchange),
    ]
}

/// Generates policies that can be used.
pub(crate) fn policies() -> impl Strategy<Value = Policy> {
    let usable = |policy: &Policy| policy.faults().iter().all(|fault| fault.severity == Severity::Warning);
    prop_oneof![3 => random(), 1 => select(shapes())].prop_filter("a policy with faults", usable)
}
