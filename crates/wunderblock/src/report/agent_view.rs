//! What an agent had in view, as data.

use super::visibility::EntryReport;
use crate::agent_view::{AgentBoundary, AgentFound, AgentPlace, AgentView};
use serde::Serialize;

/// What an agent had in view at a position.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AgentViewReport {
    /// The session.
    pub session: String,
    /// The position.
    pub at: u64,
    /// The agent's compactions up to there.
    pub compactions: Vec<BoundaryReport>,
    /// The first position it saw word for word.
    pub from: u64,
    /// Messages from there on.
    pub messages: u64,
    /// What the user said before, and the agent keeps word for word.
    pub kept: Vec<u64>,
    /// What was found, where something was looked for.
    pub found: Option<AgentFoundReport>,
}

/// A compaction that an agent recorded.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct BoundaryReport {
    /// Where it is recorded.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// The agent, by the name of its format.
    pub agent: Box<str>,
    /// What set it off.
    pub trigger: Option<Box<str>>,
    /// The first position that was compacted away.
    pub from_seq: u64,
    /// The last.
    pub to_seq: u64,
    /// How many messages those are.
    pub messages: u64,
    /// Tokens of the context before, as the agent counted.
    pub tokens_before: Option<u64>,
    /// What its summary said.
    pub summary: Option<String>,
}

/// What was found in an agent's view.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AgentFoundReport {
    /// How many messages have it.
    pub count: usize,
    /// How many of them were in view.
    pub in_view: usize,
    /// The best places.
    pub places: Vec<AgentPlaceReport>,
}

/// Where a text was in an agent's view.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AgentPlaceReport {
    /// The entry.
    pub entry: EntryReport,
    /// The text with what stands around it.
    pub text: String,
    /// Where the compaction is recorded that took it out of view.
    pub compacted_at: Option<u64>,
    /// The nearest line of the summary in view.
    pub said_instead: Option<String>,
}

impl AgentViewReport {
    /// The report of a view, and of what was found in it.
    #[must_use]
    pub fn new(session: &str, view: &AgentView, found: Option<&AgentFound>) -> Self {
        Self {
            session: session.to_owned(),
            at: view.at.0,
            compactions: view.boundaries.iter().map(BoundaryReport::new).collect(),
            from: view.from.0,
            messages: view.messages,
            kept: view.kept.iter().map(|seq| seq.0).collect(),
            found: found.map(|found| AgentFoundReport {
                count: found.count,
                in_view: found.in_view,
                places: found.best.iter().map(AgentPlaceReport::new).collect(),
            }),
        }
    }
}

impl BoundaryReport {
    fn new(boundary: &AgentBoundary) -> Self {
        Self {
            seq: boundary.seq.0,
            at: boundary.at.0,
            agent: boundary.agent.clone(),
            trigger: boundary.trigger.clone(),
            from_seq: boundary.from.0,
            to_seq: boundary.to.0,
            messages: boundary.messages,
            tokens_before: boundary.tokens_before.map(|tokens| tokens.0),
            summary: boundary.summary.clone(),
        }
    }
}

impl AgentPlaceReport {
    fn new(place: &AgentPlace) -> Self {
        Self {
            entry: EntryReport::new(&place.entry),
            text: place.line.clone(),
            compacted_at: place.compacted_at.map(|seq| seq.0),
            said_instead: place.said_instead.clone(),
        }
    }
}
