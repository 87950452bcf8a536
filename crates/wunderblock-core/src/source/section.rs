//! Sections of a request, ordered from those that never change to those that change every turn.

use serde::{Deserialize, Serialize};

/// A section of a request. The order of the variants is the order of volatility, the most stable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// Rules that nothing may override.
    Safety,
    /// System and developer messages.
    System,
    /// Instruction files.
    Instructions,
    /// Tool schemas.
    Tools,
    /// Skill metadata.
    Skills,
    /// Types of delegates.
    Agents,
    /// Memory that is always present.
    PinnedMemory,
    /// Listed or pinned resources.
    Resources,
    /// Summary nodes and the marks of what was left out.
    Summaries,
    /// The conversation.
    Transcript,
    /// Plan, todo and execution state, as stated by the caller.
    State,
    /// Work log: the state of the work, as the session shows it.
    Work,
    /// Bodies and memories that were brought back.
    Recall,
    /// The user's newest turn.
    Prompt,
}

impl Section {
    /// All sections, in order.
    pub const ALL: [Self; 14] = [
        Self::Safety,
        Self::System,
        Self::Instructions,
        Self::Tools,
        Self::Skills,
        Self::Agents,
        Self::PinnedMemory,
        Self::Resources,
        Self::Summaries,
        Self::Transcript,
        Self::State,
        Self::Work,
        Self::Recall,
        Self::Prompt,
    ];

    /// Sections whose texts can enter at the tail, in the order in which they enter.
    pub const TAIL: [Self; 5] = [Self::Instructions, Self::Agents, Self::State, Self::Work, Self::Recall];

    /// Returns the name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Safety => "safety",
            Self::System => "system",
            Self::Instructions => "instructions",
            Self::Tools => "tools",
            Self::Skills => "skills",
            Self::Agents => "agents",
            Self::PinnedMemory => "pinned_memory",
            Self::Resources => "resources",
            Self::Summaries => "summaries",
            Self::Transcript => "transcript",
            Self::State => "state",
            Self::Work => "work",
            Self::Recall => "recall",
            Self::Prompt => "prompt",
        }
    }
}
