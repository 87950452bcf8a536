//! A golden trace for each preset, consisting of the first compaction of a fixed session and its effect on each
//! message.
//!
//! The traces are computed from the published descriptions of each system ([`rules`]), and written to `traces.txt`.
//! [`differences`] compares an engine with them.

mod engine;
mod rules;
mod session;

use super::presets::here;
use engine::engine;
use rules::RULES;
use session::{ROOM, Room, Session, talk, work};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::RangeInclusive;
use wunderblock::policy::Policies;
use wunderblock_core::policy::Policy;

/// Effect of a first compaction. Every position up to the compaction is in exactly one of the sets, or in a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    /// Message after which the compaction takes place.
    pub(crate) fires_at: u64,
    /// `soft` or `hard`.
    pub(crate) level: &'static str,
    /// Start of the verbatim tail, if there is one.
    pub(crate) cut: Option<u64>,
    /// Messages that stay unchanged, in the tail or elsewhere.
    pub(crate) verbatim: BTreeSet<u64>,
    /// Ranges of summaries of events. Messages that stay verbatim may lie within these ranges.
    pub(crate) summaries: Vec<RangeInclusive<u64>>,
    /// Ranges of summaries of summaries.
    pub(crate) condensed: Vec<RangeInclusive<u64>>,
    /// Results replaced by a handle.
    pub(crate) stubbed: BTreeSet<u64>,
    /// Texts cut to their heads and tails.
    pub(crate) shrunk: BTreeSet<u64>,
    /// Messages left out.
    pub(crate) dropped: BTreeSet<u64>,
    /// Whether the trace gives only the time and place, because the preset is our own or made for tests.
    pub(crate) is_partial: bool,
}

impl Trace {
    fn soft(fires_at: u64) -> Self {
        Self {
            fires_at,
            level: "soft",
            cut: None,
            verbatim: BTreeSet::new(),
            summaries: Vec::new(),
            condensed: Vec::new(),
            stubbed: BTreeSet::new(),
            shrunk: BTreeSet::new(),
            dropped: BTreeSet::new(),
            is_partial: false,
        }
    }

    /// Keeps the user's newest request and the newest exchange, as every policy must.
    fn with_newest(mut self, session: &Session) -> Self {
        if self.is_partial {
            return self;
        }
        let exchange = session.newest_exchange(self.fires_at);
        for newest in exchange.clone().chain([session.newest_user(self.fires_at)]) {
            self.verbatim.insert(newest);
            self.dropped.remove(&newest);
        }
        for range in self.summaries.iter_mut().filter(|range| range.contains(exchange.start())) {
            *range = *range.start()..=exchange.start() - 1;
        }
        self
    }

    /// Replaces what is dropped by summaries, as policies must whose product does not drop it.
    pub(super) fn covered(mut self) -> Self {
        let mut begins = 1;
        for at in std::mem::take(&mut self.dropped) {
            match self.summaries.last_mut() {
                Some(last) if *last.end() + 1 == at => *last = *last.start()..=at,
                _ => self.summaries.push(begins..=at),
            }
            begins = at + 1;
        }
        self
    }

    /// Reduces the trace to the facts that a rule states.
    fn as_far_as(&self, rule: &Self) -> Self {
        if rule.is_partial {
            Self {
                level: self.level,
                cut: rule.cut.and(self.cut),
                is_partial: true,
                ..Self::soft(self.fires_at)
            }
        } else {
            self.clone()
        }
    }

    fn text(&self) -> String {
        let mut out = format!("{} at {}", self.level, self.fires_at);
        if let Some(cut) = self.cut {
            write!(out, ", cut at {cut}").unwrap();
        }
        let sets = [
            ("verbatim", &self.verbatim),
            ("stubbed", &self.stubbed),
            ("shrunk", &self.shrunk),
            ("dropped", &self.dropped),
        ];
        for (name, set) in sets.iter().filter(|(_, set)| !set.is_empty()) {
            write!(out, "\n    {name:<10} {}", runs(set)).unwrap();
        }
        for (name, ranges) in [("summaries", &self.summaries), ("condensed", &self.condensed)] {
            if !ranges.is_empty() {
                let ranges: Vec<String> =
                    ranges.iter().map(|range| format!("{}-{}", range.start(), range.end())).collect();
                write!(out, "\n    {name:<10} {}", ranges.join(" ")).unwrap();
            }
        }
        out
    }
}

/// Formats positions as runs: `1-3 7`.
fn runs(set: &BTreeSet<u64>) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for at in set {
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == *at => *end = *at,
            _ => runs.push((*at, *at)),
        }
    }
    let shown =
        runs.iter().map(|(from, to)| if from == to { from.to_string() } else { format!("{from}-{to}") });
    shown.collect::<Vec<_>>().join(" ")
}

/// Function that returns an engine's first compaction of a session under a policy.
pub(crate) type Engine<'e> = &'e dyn Fn(&Session, &Policy, Room) -> Option<Trace>;

/// Returns the expected traces, each with its preset and session.
fn expected() -> Vec<(&'static str, Session, Option<Trace>)> {
    let mut all = Vec::new();
    for (name, rule) in RULES {
        for session in [work(), talk()] {
            let trace = rule(&session, ROOM).map(|trace| trace.with_newest(&session));
            all.push((*name, session, trace));
        }
    }
    all
}

/// Returns the cases in which an engine differs from the system that a preset models.
pub(crate) fn differences(engine: Engine<'_>) -> Vec<String> {
    let policies = Policies::embedded();
    let mut differences = Vec::new();
    for (name, session, expected) in expected() {
        let found = engine(&session, &policies.preset(name).unwrap(), ROOM);
        let found = match (&found, &expected) {
            (Some(found), Some(expected)) => Some(Trace {
                // The levels differ in name only: for the engine, a request that does not fit has the more urgent
                // level.
                level: if found.level == "overflow" { expected.level } else { found.level },
                cut: expected.cut.and(found.cut),
                ..found.as_far_as(expected)
            }),
            _ => found,
        };
        if found != expected {
            let text = |trace: Option<Trace>| trace.map_or("nothing".to_owned(), |trace| trace.text());
            let (expected, found) = (text(expected), text(found));
            differences.push(format!("{name}, {}:\n  expected {expected}\n  found {found}", session.name));
        }
    }
    differences
}

/// Returns all traces as text.
fn table() -> String {
    let mut out = String::new();
    for (name, session, trace) in expected() {
        let text = trace.map_or("never".to_owned(), |trace| trace.text());
        writeln!(out, "{name}, {}\n    {text}", session.name).unwrap();
    }
    out
}

#[test]
fn the_sessions_are_as_they_were() {
    for session in [work(), talk()] {
        assert_eq!(session.len(), 200);
        assert!(session.tokens(1..=200) > ROOM.budget * 5 / 4);
        for at in session.all(session::Role::Result, 1..=200) {
            assert_eq!(session.role(at - 1), session::Role::Call);
        }
        let ends: Vec<u64> = session.tasks.iter().map(|task| *task.end()).collect();
        assert_eq!(ends.last(), Some(&200));
    }
    // Any change to these sessions changes every trace.
    assert_eq!((work().tokens(1..=200), talk().tokens(1..=200)), (125_652, 142_300));
}

#[test]
fn the_traces_are_those_written_down() {
    let path = here("tests/suite/compacts_without_losing/policies/traces.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, table()).unwrap();
        return;
    }
    assert_eq!(table(), std::fs::read_to_string(&path).unwrap());
}

#[test]
fn every_preset_has_a_trace_that_accounts_for_every_message() {
    let names: Vec<&str> = RULES.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, Policies::embedded().names().collect::<Vec<_>>());
    for (name, session, trace) in expected() {
        let Some(trace) = trace.filter(|trace| !trace.is_partial) else {
            continue;
        };
        for at in 1..=trace.fires_at {
            let sets = [&trace.verbatim, &trace.stubbed, &trace.shrunk, &trace.dropped];
            let places = sets.iter().filter(|set| set.contains(&at)).count();
            let is_summarised = trace.summaries.iter().filter(|range| range.contains(&at)).count();
            assert!(is_summarised <= 1, "{name}, {}: {at}", session.name);
            assert!(places == 1 || (places == 0 && is_summarised == 1), "{name}, {}: {at}", session.name);
        }
        for result in session.all(session::Role::Result, 1..=trace.fires_at) {
            let dropped = [result - 1, result].map(|at| trace.dropped.contains(&at));
            assert_eq!(dropped[0], dropped[1], "{name}: a call and its result at {result}");
        }
    }
}

#[test]
fn the_engine_does_what_the_presets_systems_do() {
    let differences = differences(&engine);
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

#[test]
fn a_difference_is_seen() {
    // An engine that follows the sources, and the same engine one message late.
    let rule = |policy: &Policy| RULES.iter().find(|(name, _)| **name == *policy.name).unwrap().1;
    let right = |session: &Session, policy: &Policy, room: Room| {
        rule(policy)(session, room).map(|trace| trace.with_newest(session))
    };
    assert_eq!(differences(&right), Vec::<String>::new());
    let late = |session: &Session, policy: &Policy, room: Room| {
        right(session, policy, room).map(|trace| Trace { fires_at: trace.fires_at + 1, ..trace })
    };
    let fires = expected().iter().filter(|(_, _, trace)| trace.is_some()).count();
    assert_eq!(differences(&late).len(), fires);
}
