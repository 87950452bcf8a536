//! An instruction file as it was read, and its pieces.

use crate::authority::InstructionLevel;
use serde::{Deserialize, Serialize};

/// Why a file was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadReason {
    /// It applies wherever the session works.
    SessionStart,
    /// Something in its directory was touched: this path.
    Nested(Box<str>),
    /// A path that one of its patterns names was touched: this one.
    PathRule(Box<str>),
    /// Another file imports it: this one.
    Import(Box<str>),
    /// The scan of the project found it.
    Scan,
    /// Handed in.
    Given,
}

impl LoadReason {
    /// In words.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::SessionStart => "session start".to_owned(),
            Self::Nested(path) => format!("{path} was touched"),
            Self::PathRule(path) => format!("{path} was touched, which it has a pattern for"),
            Self::Import(by) => format!("imported by {by}"),
            Self::Scan => "found by the scan".to_owned(),
            Self::Given => "handed in".to_owned(),
        }
    }
}

/// What files later in the hierarchy may do with a named block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Replace it, or add to it. As a later definition: replaces what is there.
    #[default]
    Override,
    /// Only add to it. As a later definition: adds to what is there.
    Append,
    /// Nothing. As a later definition: replaces what is there, for good.
    Locked,
}

impl Mode {
    /// The word in a block's line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Override => "override",
            Self::Append => "append",
            Self::Locked => "locked",
        }
    }
}

/// One file, as it was read: front matter of rules and comments gone, imports resolved into files of their own before
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFile {
    /// Where it is: relative to the project's root inside it, absolute elsewhere.
    pub path: Box<str>,
    /// Where it stands.
    pub level: InstructionLevel,
    /// Why it was looked at.
    pub reason: LoadReason,
    /// BLAKE3 of its bytes, hexadecimal.
    pub digest: Box<str>,
    /// Its text, in pieces, in order.
    pub pieces: Vec<FileSegment>,
}

/// A stretch of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSegment {
    /// The block's name and mode; none for plain text.
    pub block: Option<(Box<str>, Mode)>,
    /// What it says.
    pub text: String,
    /// The line it begins at, counted from 1.
    pub line: u64,
}
