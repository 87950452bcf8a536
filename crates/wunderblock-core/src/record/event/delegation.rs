//! Facts about work that an agent hands to others.

use crate::id::{CallId, StreamId};
use crate::record::message::Body;
use crate::units::Tokens;
use serde::{Deserialize, Serialize};

/// Fields of [`Fact::SubagentSpawned`](super::Fact::SubagentSpawned).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubagentSpawned {
    /// Session of the sub-agent.
    pub session: StreamId,
    /// Call of a tool by which the parent started the sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// Type of the sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Box<str>>,
    /// Model that was asked for, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Box<str>>,
    /// Task of the sub-agent, unless the arguments of the call contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Body>,
    /// How the sub-agent's context was made: `fresh`, `fork`, `slice` or `summary`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Box<str>>,
}

impl SubagentSpawned {
    /// Creates the start of a sub-agent of which only the session is known.
    #[must_use]
    pub const fn new(session: StreamId) -> Self {
        Self { session, call: None, agent: None, model: None, prompt: None, mode: None }
    }
}

/// How the work of a sub-agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubagentOutcome {
    /// The sub-agent finished its work.
    Done,
    /// An error ended the work.
    Failed,
    /// The user or the parent ended the work.
    Stopped,
}

/// Fields of [`Fact::SubagentReturned`](super::Fact::SubagentReturned).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubagentReturned {
    /// Session of the sub-agent.
    pub session: StreamId,
    /// Call of a tool by which the parent started the sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// How the work ended.
    pub outcome: SubagentOutcome,
    /// Result of the work, unless the result of the call contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Body>,
    /// Model that did the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Box<str>>,
    /// Tokens that the work took, as reported by the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// Duration of the work in milliseconds, as reported by the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub millis: Option<u64>,
}

impl SubagentReturned {
    /// Creates the end of a sub-agent's work of which nothing else is known.
    #[must_use]
    pub const fn new(session: StreamId, outcome: SubagentOutcome) -> Self {
        Self { session, call: None, outcome, result: None, model: None, tokens: None, millis: None }
    }
}

/// Fields of [`Fact::RouteChosen`](super::Fact::RouteChosen). See [`crate::delegate::route`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteChosen {
    /// Type of the delegate.
    pub agent: Box<str>,
    /// Id of the parent's model.
    pub parent: Box<str>,
    /// Value of the rule that decided, as written.
    pub asked: Box<str>,
    /// All rules, strongest first.
    pub layers: Vec<RouteLayer>,
    /// Id of the chosen model.
    pub chosen: Box<str>,
    /// Name of the rule that decided.
    pub why: Box<str>,
    /// Remarks, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Box<str>>,
}

/// A rule of a recorded route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteLayer {
    /// Name of the rule.
    pub rule: Box<str>,
    /// Value of the rule, as written; `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Box<str>>,
    /// Outcome of the rule, in words.
    pub outcome: Box<str>,
}
