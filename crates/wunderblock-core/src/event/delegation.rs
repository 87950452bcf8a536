//! Facts about work that an agent hands to others.

use crate::id::StreamId;
use serde::{Deserialize, Serialize};

/// Fields of [`Fact::SubagentSpawned`](super::Fact::SubagentSpawned).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubagentSpawned {
    /// Session of the sub-agent.
    pub session: StreamId,
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
