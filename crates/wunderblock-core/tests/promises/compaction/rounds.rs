//! Setup for the promises of compaction: a lane that is compacted repeatedly.

use crate::simulated::history::{History, Step, new_history, step};
use crate::simulated::lane::{STREAM, decide, fixed, show, view_of};
use crate::simulated::policies::policies;
use proptest::prelude::*;
use proptest::sample::select;
use wunderblock_core::budget::Budget;
use wunderblock_core::compact::guard::Guard;
use wunderblock_core::compact::task::tasks;
use wunderblock_core::compact::{Ladder, NextStep, Proposal, SummaryJob, Urgency};
use wunderblock_core::event::{Event, Fact, SessionCompacted, ViewTrimmed};
use wunderblock_core::id::LaneId;
use wunderblock_core::message::Body;
use wunderblock_core::plan::{PlanInput, TrimReason, weigh};
use wunderblock_core::policy::Policy;
use wunderblock_core::render::RenderedRequest;
use wunderblock_core::units::{Cost, Seq, Tokens};
use wunderblock_core::view::View;

/// Answer of a summariser.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    Short,
    /// A text of about the length that the policy wants.
    AsWanted,
    /// A text as long as what it replaces.
    AsLong,
    Empty,
    Blank,
    None,
}

/// Summariser whose answer depends only on the job, so that the same job always gets the same answer.
#[derive(Clone, Debug)]
pub(crate) struct Scribe(pub(crate) Vec<Answer>);

impl Scribe {
    fn write(&self, job: &SummaryJob) -> Option<String> {
        let index = (job.from.0 + 3 * job.to.0 + 7 * u64::from(job.level)) as usize % self.0.len();
        let words = |tokens: Tokens| {
            let mut text = format!("What happened from {} to {}.", job.from, job.to);
            while (text.len() as u64) < tokens.0 * 3 {
                text.push_str(" And then something was done to crates/core/src/lib.rs.");
            }
            text
        };
        match self.0[index] {
            Answer::Short => Some(format!("It went on from {} to {}.", job.from, job.to)),
            Answer::AsWanted => Some(words(job.target)),
            Answer::AsLong => Some(words(job.tokens)),
            Answer::Empty => Some(String::new()),
            Answer::Blank => Some(" \n\t".to_owned()),
            Answer::None => None,
        }
    }
}

pub(crate) fn scribe() -> impl Strategy<Value = Scribe> {
    let answer = prop_oneof![
        6 => Just(Answer::Short),
        6 => Just(Answer::AsWanted),
        1 => Just(Answer::AsLong),
        1 => Just(Answer::Empty),
        1 => Just(Answer::Blank),
        1 => Just(Answer::None),
    ];
    prop::collection::vec(answer, 1..6).prop_map(Scribe)
}

/// A round of a history: its steps, and how the lane is compacted after them.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    pub(crate) steps: Vec<Step>,
    pub(crate) policy: Policy,
    pub(crate) level: Urgency,
    pub(crate) scribe: Scribe,
    /// Whether a request is built before the compaction, for which the plan may take a step.
    pub(crate) builds: bool,
}

pub(crate) fn round(most: usize) -> impl Strategy<Value = Round> {
    let level = select(vec![Urgency::Soft, Urgency::Hard, Urgency::Overflow, Urgency::Cold, Urgency::Manual]);
    (prop::collection::vec(step(), 1..most), policies(), level, scribe(), any::<bool>())
        .prop_map(|(steps, policy, level, scribe, builds)| Round { steps, policy, level, scribe, builds })
}

pub(crate) fn rounds() -> impl Strategy<Value = Vec<Round>> {
    prop::collection::vec(round(20), 1..5)
}

/// A climb, with its guard and the number of times that texts were requested.
pub(crate) struct Climbed {
    pub(crate) proposal: Proposal,
    pub(crate) guard: Guard,
    /// Number of times that texts were requested.
    pub(crate) asked: usize,
}

/// Calls `then` with the plan input for a view, without hits.
pub(crate) fn with_ask<T>(
    history: &History,
    view: &View,
    budget: Budget,
    then: impl FnOnce(PlanInput<'_>) -> T,
) -> T {
    let fixed = fixed(history, view);
    then(PlanInput {
        view,
        stream: STREAM,
        budget,
        costs: &history.wax,
        bodies: &history.wax,
        fixed: &fixed,
        must: &history.input.state,
        hits: &[],
        recall: Tokens(0),
        transcript: Tokens(u64::MAX),
        floor: Seq::START,
    })
}

pub(crate) fn weight(history: &History, view: &View, budget: Budget) -> Cost {
    with_ask(history, view, budget, |ask| weigh(&ask))
}

/// Runs the policy's steps on a view, and records nothing.
pub(crate) fn climb(
    history: &History,
    view: &View,
    budget: Budget,
    (policy, level): (&Policy, Urgency),
    scribe: &Scribe,
) -> Climbed {
    let tasks = tasks(view, &[], &history.wax);
    with_ask(history, view, budget, |ask| {
        let mut ladder = Ladder::new(policy, ask, level, &tasks);
        let guard = ladder.guard().clone();
        let (mut asked, mut made) = (0, 0);
        loop {
            match ladder.climb() {
                NextStep::Done(proposal) => return Climbed { proposal: *proposal, guard, asked },
                NextStep::Summarise(jobs) => {
                    asked += 1;
                    assert!(asked <= 10_000, "it asks for ever");
                    let texts: Vec<_> = jobs.iter().map(|job| scribe.write(job).map(Body::from)).collect();
                    let first = made;
                    made += texts.len();
                    ladder.take(texts, first);
                }
            }
        }
    })
}

/// Records a proposal as an engine does, and returns its events.
pub(crate) fn publish(history: &mut History, proposal: &Proposal) -> Vec<Event> {
    let Some(trim) = proposal.trim.clone() else { return Vec::new() };
    assert_eq!(history.head(), proposal.head, "it is for another head");
    let lane = LaneId::main();
    let from = history.events.len();
    let trimmed = ViewTrimmed {
        lane: lane.clone(),
        trim,
        reason: TrimReason::Compacted,
        target: None,
        compaction: None,
    };
    let mut facts = vec![(proposal.head.next(), Fact::ViewTrimmed(trimmed))];
    for node in &proposal.nodes {
        let text = node.text.inline().unwrap().to_owned();
        let summary = Some(history.wax.keep(text, node.job.from.0.is_multiple_of(2)));
        let (job, lane) = (&node.job, Some(lane.clone()));
        let (level, sources) = (job.level, job.sources.clone());
        let made = SessionCompacted {
            lane,
            summary,
            level,
            sources,
            ..SessionCompacted::new(job.from, job.to, "scribe")
        };
        facts.push((node.at, Fact::SessionCompacted(Box::new(made))));
    }
    for (at, reduced) in &proposal.reduced {
        facts.push((*at, Fact::ContentReduced(Box::new(reduced.clone()))));
    }
    facts.sort_by_key(|(at, _)| *at);
    for (at, fact) in facts {
        assert_eq!(history.append(fact), at, "an event has another position than the trim says");
    }
    history.events[from..].to_vec()
}

/// A compaction, with the state before and after it.
pub(crate) struct Stage<'a> {
    pub(crate) history: &'a History,
    pub(crate) before: &'a View,
    pub(crate) after: &'a View,
    /// Number of events before the compaction.
    pub(crate) upto: usize,
    pub(crate) round: &'a Round,
    pub(crate) climbed: &'a Climbed,
    pub(crate) budget: Budget,
    pub(crate) old: RenderedRequest,
    pub(crate) new: RenderedRequest,
}

/// Plays rounds, and calls `look` with each compaction, whether or not it changed anything.
pub(crate) fn play(rounds: &[Round], budget: Budget, mut look: impl FnMut(&Stage<'_>)) {
    let mut history = new_history();
    let mut view = view_of(&history.events);
    for round in rounds {
        let from = history.events.len();
        for step in &round.steps {
            history.play(step);
        }
        for event in &history.events[from..] {
            view.apply(event);
        }
        if round.builds
            && let Ok(decided) = decide(&history, &view, budget, &[])
        {
            for event in history.record(&decided) {
                view.apply(&event);
            }
            let event = history.built(decided.plan, budget);
            view.apply(&event);
        }
        compact(&mut history, &mut view, budget, round, &mut look);
    }
}

/// Compacts a lane once.
pub(crate) fn compact(
    history: &mut History,
    view: &mut View,
    budget: Budget,
    round: &Round,
    look: &mut impl FnMut(&Stage<'_>),
) {
    let before = view.clone();
    let climbed = climb(history, view, budget, (&round.policy, round.level), &round.scribe);
    let upto = history.events.len();
    let old = show(history, view);
    for event in publish(history, &climbed.proposal) {
        view.apply(&event);
    }
    let new = show(history, view);
    let climbed = &climbed;
    look(&Stage { history, before: &before, after: view, upto, round, climbed, budget, old, new });
}
