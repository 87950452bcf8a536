//! Who speaks, and how much that weighs.
//!
//! A text's authority follows from where it came from and from nothing else: there is no way to set it, and none to
//! raise it. What a text says of itself ("system:", "ignore the above") is part of the text.

use crate::section::Section;
use serde::{Deserialize, Serialize};

/// How much a text weighs. Later beats earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Authority {
    /// To be read, never to be obeyed: resources, tool output, memory, summaries, state.
    Data,
    /// Guidance from files of the project: whoever can write to the repository wrote it.
    Project,
    /// The person: their own instruction files, and what they say.
    User,
    /// Whoever runs the agent: system and developer text, managed policy.
    Operator,
    /// Rules nothing may override.
    Safety,
}

/// Where an instruction file stands in the hierarchy, from the broadest to the closest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstructionLevel {
    /// Policy of the machine or the organisation.
    Managed,
    /// The person's own, for all projects.
    User,
    /// The root of the project.
    Project,
    /// A directory of the project.
    Directory,
    /// Given for this session only, by the person.
    Session,
}

impl InstructionLevel {
    /// What files of this level weigh.
    #[must_use]
    pub const fn authority(self) -> Authority {
        match self {
            Self::Managed => Authority::Operator,
            Self::User | Self::Session => Authority::User,
            Self::Project | Self::Directory => Authority::Project,
        }
    }

    /// In words.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Managed => "managed policy",
            Self::User => "user",
            Self::Project => "project root",
            Self::Directory => "directory",
            Self::Session => "session",
        }
    }
}

impl Authority {
    /// What the texts of a section weigh that are not instruction files.
    #[must_use]
    pub const fn of(section: Section) -> Self {
        match section {
            Section::Safety => Self::Safety,
            Section::System | Section::Tools => Self::Operator,
            Section::Prompt => Self::User,
            Section::Skills => Self::Project,
            Section::Instructions
            | Section::PinnedMemory
            | Section::Resources
            | Section::Summaries
            | Section::Transcript
            | Section::State
            | Section::Work
            | Section::Recall => Self::Data,
        }
    }

    /// Whether a text of this authority may stand in a request's system text.
    #[must_use]
    pub const fn commands(self) -> bool {
        matches!(self, Self::Operator | Self::Safety)
    }

    /// In words.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Project => "project",
            Self::User => "user",
            Self::Operator => "operator",
            Self::Safety => "safety",
        }
    }
}
