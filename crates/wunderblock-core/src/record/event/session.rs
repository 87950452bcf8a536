//! Facts about a session as a whole.

use crate::id::{Scope, StreamId};
use crate::units::Seq;
use serde::{Deserialize, Serialize};

/// Fields of [`Fact::SessionOpened`](super::Fact::SessionOpened).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOpened {
    /// Project, agent or user that the session belongs to.
    #[serde(default)]
    pub scope: Scope,
    /// Format of the source from which the session was imported, if it was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Box<str>>,
    /// Working directory of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Box<str>>,
    /// Version of the agent program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Box<str>>,
    /// Session that started this one as a sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<StreamId>,
    /// Branch of the repository in which the agent worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Box<str>>,
}

/// Fields of [`Fact::SessionForked`](super::Fact::SessionForked).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionForked {
    /// Session that the fork continues.
    pub parent: StreamId,
    /// Last position that the two sessions share. The fork's own events follow it.
    pub at_seq: Seq,
}

/// Fields of [`Fact::SessionClosed`](super::Fact::SessionClosed).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionClosed {
    /// Reason why the session ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Box<str>>,
}

/// Fields of [`Fact::SessionDescribed`](super::Fact::SessionDescribed). A field that is absent leaves what was said before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionDescribed {
    /// Title; an empty title removes the one given before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Box<str>>,
    /// All tags of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<Box<str>>>,
}
