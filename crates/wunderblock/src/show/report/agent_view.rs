//! Reports about an agent's view.

use super::visibility::EntryReport;
use crate::lanes::agent_view::{AgentBoundary, AgentFound, AgentPlace, AgentView};
use serde::Serialize;

/// View of an agent at a position.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AgentViewReport {
    /// Id of the session.
    pub session: String,
    /// Position in the session.
    pub at: u64,
    /// Compactions of the agent up to the position.
    pub compactions: Vec<BoundaryReport>,
    /// First position that the agent saw verbatim.
    pub from: u64,
    /// Number of messages from `from` onwards.
    pub messages: u64,
    /// Positions of earlier user messages that the agent keeps verbatim.
    pub kept: Vec<u64>,
    /// Result of the search, if a text was searched for.
    pub found: Option<AgentFoundReport>,
}

/// A compaction that an agent recorded.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct BoundaryReport {
    /// Position at which the compaction is recorded.
    pub seq: u64,
    /// Time of the compaction in milliseconds since 1970.
    pub at: i64,
    /// Name of the agent's transcript format.
    pub agent: Box<str>,
    /// Cause of the compaction.
    pub trigger: Option<Box<str>>,
    /// First position that was compacted away.
    pub from_seq: u64,
    /// Last position that was compacted away.
    pub to_seq: u64,
    /// Number of messages that were compacted away.
    pub messages: u64,
    /// Number of tokens in the context before the compaction, as counted by the agent.
    pub tokens_before: Option<u64>,
    /// Text of the summary.
    pub summary: Option<String>,
}

/// Result of searching an agent's view.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AgentFoundReport {
    /// Spelling that was found instead of the given one, from which it differs in upper and lower case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spelling: Option<String>,
    /// Number of messages that contain the text.
    pub count: usize,
    /// Number of the matching messages that were in view.
    pub in_view: usize,
    /// Best matches.
    pub places: Vec<AgentPlaceReport>,
}

/// A match in an agent's view.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AgentPlaceReport {
    /// Entry that contains the text.
    pub entry: EntryReport,
    /// The text with its surroundings.
    pub text: String,
    /// Position of the compaction that took the text out of view, or null if it was in view.
    pub compacted_at: Option<u64>,
    /// The summary line in view that is most similar to the text.
    pub said_instead: Option<String>,
}

impl AgentViewReport {
    /// Creates the report of a view, and of the search result if there is one.
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
                spelling: found.spelling.clone(),
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
