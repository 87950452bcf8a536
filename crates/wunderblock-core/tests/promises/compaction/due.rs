//! Tests of when a lane is due for compaction, how important a message is, and where tasks begin and end.

use crate::simulated::history::{config, new_history, result, steps};
use crate::simulated::lane::view_of;
use crate::simulated::policies::plain_stub;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::HashSet;
use wunderblock_core::compact::due::ConversationState;
use wunderblock_core::compact::importance::{DECISIONS, ERRORS, importance};
use wunderblock_core::compact::task::{TaskSource, tasks};
use wunderblock_core::compact::{LaneMeasurement, TaskMark, TaskState, Urgency, due};
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_core::policy::{self, Boundary, FractionBase, Optional, Permille, Policy, Triggers};
use wunderblock_core::ports::NoBodies;
use wunderblock_core::units::{Millis, Seq, Tokens};

fn bounds() -> impl Strategy<Value = policy::TriggerLevel> {
    let some = |most: u64| prop::option::weighted(0.3, 0..most);
    let fraction = prop::option::weighted(0.6, 1..=1_000u16);
    (fraction, some(20_000), some(5_000), some(50), some(100), some(100)).prop_map(
        |(fraction, tokens, free, messages, age_s, cache_s)| policy::TriggerLevel {
            fraction: fraction.map(Permille),
            tokens: tokens.map(Tokens),
            unsummarised: None,
            free: free.map(Tokens),
            messages,
            age_s,
            cache_s,
        },
    )
}

fn triggered() -> impl Strategy<Value = Policy> {
    let boundary = select(vec![Boundary::Exchange, Boundary::Turn, Boundary::Task]);
    let of = select(vec![FractionBase::Budget, FractionBase::Window]);
    let regrow = prop_oneof![Just(0u16), 1..=1_000u16];
    (bounds(), bounds(), of, boundary, regrow, 0..60u64).prop_map(
        |(soft, hard, of, boundary, regrow, cooldown_s)| {
            let mut policy = policy::Policy {
                trigger: Triggers {
                    soft,
                    hard,
                    of,
                    boundary,
                    down_to: Optional::UNSET,
                    cold: Optional::UNSET,
                    idle: Optional::UNSET,
                    regrow: Permille(regrow),
                },
                steps: vec![plain_stub(0)],
                ..Policy::never()
            };
            policy.limits.cooldown_s = cooldown_s;
            policy
        },
    )
}

fn measured() -> impl Strategy<Value = LaneMeasurement> {
    let stands = select(vec![
        ConversationState::InCall,
        ConversationState::InTurn,
        ConversationState::BetweenTurns,
        ConversationState::BetweenTasks,
    ]);
    let sizes = (0..20_000u64, 1..20_000u64, 0..4_000u64);
    let last = prop::option::of(0..20_000u64);
    let times = (0..200_000i64, prop::option::of(0..200_000i64));
    (sizes, (any::<bool>(), prop::bool::weighted(0.1)), 0..100u64, times, last, stands).prop_map(
        |((tokens, limit, reserve), (overflows, refused), messages, (age, cache), last, stands)| {
            LaneMeasurement {
                tokens: Tokens(tokens),
                limit: Tokens(limit),
                window: Tokens(limit + reserve),
                overflows,
                refused,
                messages,
                age: Millis(age),
                cache_left: cache.map(Millis),
                first: false,
                cache_lost: false,
                unsummarised: Tokens::ZERO,
                unprepared: Tokens::ZERO,
                after_last: last.map(Tokens),
                stands,
            }
        },
    )
}

fn level(policy: &Policy, measure: &LaneMeasurement) -> Option<Urgency> {
    due(policy, measure).map(|due| due.level)
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn the_soft_level_waits_for_its_boundary(policy in triggered(), measure in measured()) {
        if level(&policy, &measure) == Some(Urgency::Soft) {
            let least = match policy.trigger.boundary {
                Boundary::Exchange => ConversationState::InTurn,
                Boundary::Turn => ConversationState::BetweenTurns,
                Boundary::Task => ConversationState::BetweenTasks,
            };
            prop_assert!(measure.stands >= least && measure.stands != ConversationState::InCall);
            let cool = measure.age >= Millis(policy.limits.cooldown_s as i64 * 1_000);
            prop_assert!(measure.after_last.is_none() || cool, "within the cool-down");
        }
        let calm = LaneMeasurement { stands: ConversationState::BetweenTasks, after_last: None, ..measure };
        prop_assert!(due(&policy, &calm).is_some() || due(&policy, &measure).is_none());
    }

    #[test]
    fn it_fires_again_only_when_it_has_regrown(policy in triggered(), measure in measured()) {
        let whole = match policy.trigger.of {
            FractionBase::Budget => measure.limit,
            FractionBase::Window => measure.window,
        };
        let least = policy.trigger.regrow.of(whole);
        if let Some(after) = measure.after_last
            && least > Tokens::ZERO
            && measure.tokens <= after + least
        {
            let expected = (measure.overflows || measure.refused).then_some(Urgency::Overflow);
            prop_assert_eq!(level(&policy, &measure), expected);
        }
    }

    #[test]
    fn a_first_request_is_cold_wherever_it_is_due(policy in triggered(), measure in measured(), cold in 0..1_000u16) {
        let mut policy = policy;
        policy.trigger.cold = Optional::new(Permille(cold));
        let found = level(&policy, &LaneMeasurement { first: true, ..measure });
        prop_assert_eq!(found.is_some(), level(&policy, &measure).is_some());
        let is_cold = cold > 0 && !measure.refused;
        prop_assert!(found.is_none_or(|found| (found == Urgency::Cold) == is_cold));
    }

    #[test]
    fn a_policy_without_steps_is_never_due_and_without_triggers_only_on_overflow(policy in triggered(), measure in measured()) {
        let off = Policy { steps: Vec::new(), ..policy.clone() };
        prop_assert_eq!(due(&off, &measure), None);
        let by_hand = Policy { trigger: Triggers::default(), ..policy };
        prop_assert_eq!(level(&by_hand, &measure), (measure.overflows || measure.refused).then_some(Urgency::Overflow));
    }

    #[test]
    fn more_tokens_are_never_less_due(policy in triggered(), measure in measured(), more in 0..20_000u64) {
        let larger = LaneMeasurement { tokens: measure.tokens + Tokens(more), ..measure };
        prop_assert!(level(&policy, &measure) <= level(&policy, &larger));
    }

    #[test]
    fn what_fires_is_what_the_policy_says(policy in triggered(), measure in measured()) {
        let fires = |bounds: &policy::TriggerLevel| {
            let whole = match policy.trigger.of {
                FractionBase::Budget => measure.limit,
                FractionBase::Window => measure.window,
            };
            let free = measure.window.saturating_sub(measure.tokens);
            let over = |age: u64| measure.age.0 > age as i64 * 1_000;
            let ends = |within: u64| measure.cache_left.is_some_and(|left| left.0 <= within as i64 * 1_000);
            let part_of = |part: Permille, whole: Tokens| Tokens(whole.0 * u64::from(part.0) / 1_000);
            // If no request can reach a fraction of the window, it is taken as a fraction of the limit.
            let at = |part: Permille| match part_of(part, whole) {
                at if at > measure.limit => part_of(part, measure.limit),
                at => at,
            };
            bounds.fraction.is_some_and(|part| measure.tokens >= at(part))
                || bounds.tokens.is_some_and(|most| measure.tokens > most)
                || bounds.free.is_some_and(|least| free < least)
                || bounds.messages.is_some_and(|most| measure.messages > most)
                || bounds.age_s.is_some_and(over)
                || bounds.cache_s.is_some_and(ends)
        };
        let measure = LaneMeasurement { overflows: false, refused: false, after_last: None, stands: ConversationState::BetweenTasks, ..measure };
        let expected = if fires(&policy.trigger.hard) {
            Some(Urgency::Hard)
        } else {
            fires(&policy.trigger.soft).then_some(Urgency::Soft)
        };
        prop_assert_eq!(level(&policy, &measure), expected);
    }

}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn tasks_lie_side_by_side_from_the_frontier_to_the_head(
        steps in steps(30), marks in prop::collection::vec((any::<u8>(), any::<bool>(), 0..3u8), 0..12)
    ) {
        let mut history = new_history();
        for step in &steps {
            history.play(step);
        }
        let view = view_of(&history.events);
        let head = view.head();
        let mut marks: Vec<TaskMark> = marks.into_iter().map(|(share, ends, by)| TaskMark {
            at: Seq(1 + head.0 * u64::from(share) / 256),
            ends,
            title: (!ends).then(|| format!("task {share}").into()),
            by: [TaskSource::Event, TaskSource::Todo, TaskSource::Rule][usize::from(by)],
        }).collect();
        marks.sort_by_key(|mark| mark.at);
        for marks in [marks, Vec::new()] {
            let tasks = tasks(&view, &marks, &history.wax);
            let mut next = Seq(2);
            for task in &tasks {
                prop_assert_eq!(task.from, next);
                prop_assert!(task.to >= task.from);
                next = task.to.next();
            }
            prop_assert_eq!(next, head.next().max(Seq(2)));
            let strongest = marks.iter().map(|mark| mark.by).min().unwrap_or(TaskSource::Rule);
            prop_assert!(tasks.iter().all(|task| task.by == strongest));
            let active = tasks.iter().filter(|task| task.state == TaskState::Active);
            prop_assert!(active.clone().count() <= 1 && active.into_iter().all(|task| task.to == head));
        }
    }
}

#[test]
fn importance_is_the_seeds_formula_exactly() {
    // Scores in tenths: errors 8, decisions 6, tools 4, repetition −5; clamped to the range from 0 to 10.
    let table = [
        ((false, false, false), 0, 0),
        ((true, false, false), 8, 3),
        ((false, true, false), 6, 1),
        ((false, false, true), 4, 0),
        ((true, true, false), 10, 9),
        ((true, false, true), 10, 7),
        ((false, true, true), 10, 5),
        ((true, true, true), 10, 10),
    ];
    for ((error, decision, tool), first, again) in table {
        for (wrong, chosen) in ERRORS.iter().flat_map(|wrong| DECISIONS.iter().map(move |word| (wrong, word)))
        {
            let mut text = "一二三 four ".to_owned();
            if error {
                text.push_str(&wrong.to_uppercase());
            }
            if decision {
                text.push_str(&chosen.to_uppercase());
            }
            let said =
                if tool { result("c", vec![Part::text(text)]) } else { Message::text(Role::Assistant, text) };
            let mut seen = HashSet::new();
            assert_eq!(importance(&said, &NoBodies, &mut seen), first, "{said:?}");
            assert_eq!(importance(&said, &NoBodies, &mut seen), again, "again: {said:?}");
        }
    }
}

#[test]
fn words_split_differently_into_parts_are_not_a_repetition() {
    let mut seen = HashSet::new();
    let one = Message::new(Role::User, vec![Part::text("error a"), Part::text("b")]);
    let other = Message::new(Role::User, vec![Part::text("error "), Part::text("ab")]);
    assert_eq!(importance(&one, &NoBodies, &mut seen), 8);
    assert_eq!(importance(&other, &NoBodies, &mut seen), 8);
}

#[test]
fn event_marks_take_precedence_over_the_todo_list_and_the_todo_list_over_the_rule() {
    let mut history = new_history();
    for turn in 0..4 {
        history.say(Message::text(Role::User, format!("do {turn}")));
    }
    history.say(Message::text(Role::User, "Continue!"));
    let view = view_of(&history.events);
    let ranges = |marks: &[TaskMark]| -> Vec<(u64, u64)> {
        tasks(&view, marks, &NoBodies).iter().map(|task| (task.from.0, task.to.0)).collect()
    };
    let mark = |at, ends, by| TaskMark { at: Seq(at), ends, title: None, by };
    assert_eq!(ranges(&[]), [(2, 2), (3, 3), (4, 4), (5, 6)]);
    let todo = mark(4, false, TaskSource::Todo);
    assert_eq!(ranges(std::slice::from_ref(&todo)), [(2, 3), (4, 6)]);
    assert_eq!(ranges(&[mark(3, true, TaskSource::Event), todo]), [(2, 3), (4, 6)]);
    assert_eq!(
        ranges(&[mark(2, false, TaskSource::Rule), mark(5, true, TaskSource::Event)]),
        [(2, 5), (6, 6)]
    );
}
