//! Authority of a text: who speaks, and how much weight the text has.
//!
//! The authority of a text follows from its origin alone. Authority cannot be set or raised. Claims inside the text
//! ("system:", "ignore the above") are part of the text.

use crate::source::section::Section;
use serde::{Deserialize, Serialize};

/// Weight of a text. Later variants outrank earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Authority {
    /// Material to read, never to obey: resources, tool output, memory, summaries, state.
    Data,
    /// Guidance from project files, written by anyone who can write to the repository.
    Project,
    /// The person: their own instruction files, and their messages.
    User,
    /// The operator who runs the agent: system and developer text, managed policy.
    Operator,
    /// Rules that nothing may override.
    Safety,
}

/// Level of an instruction file in the hierarchy, from the broadest to the closest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstructionLevel {
    /// Policy of the machine or the organisation.
    Managed,
    /// The person's own files, for all projects.
    User,
    /// The root of the project.
    Project,
    /// A directory of the project.
    Directory,
    /// Given by the person for this session only.
    Session,
}

impl InstructionLevel {
    /// Returns the authority of files of this level.
    #[must_use]
    pub const fn authority(self) -> Authority {
        match self {
            Self::Managed => Authority::Operator,
            Self::User | Self::Session => Authority::User,
            Self::Project | Self::Directory => Authority::Project,
        }
    }

    /// Returns the level in words.
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
    /// Returns the authority of a section's texts. Instruction files are the exception: their authority follows from
    /// their level.
    #[must_use]
    pub const fn of(section: Section) -> Self {
        match section {
            Section::Safety => Self::Safety,
            Section::System | Section::Tools => Self::Operator,
            Section::Prompt => Self::User,
            Section::Skills | Section::Agents => Self::Project,
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

    /// Returns whether a text of this authority may be part of a request's system text.
    #[must_use]
    pub const fn commands(self) -> bool {
        matches!(self, Self::Operator | Self::Safety)
    }

    /// Returns the authority in words.
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
