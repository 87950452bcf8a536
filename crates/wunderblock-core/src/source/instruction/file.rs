//! Instruction files and their pieces.

use crate::source::authority::InstructionLevel;
use serde::{Deserialize, Serialize};

/// Reason why a file was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadReason {
    /// The file applies wherever the session works.
    SessionStart,
    /// This path in the file's directory was touched.
    Nested(Box<str>),
    /// This path was touched, and one of the file's patterns matches it.
    PathRule(Box<str>),
    /// The file is imported by this other file.
    Import(Box<str>),
    /// The scan of the project found the file.
    Scan,
    /// The caller handed the file in.
    Given,
}

impl LoadReason {
    /// Returns the reason in words.
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

/// Mode of a named block: what files later in the hierarchy may do with the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Later files may replace the block or add to it. A later definition with this mode replaces the earlier one.
    #[default]
    Override,
    /// Later files may only add to the block. A later definition with this mode adds to the earlier one.
    Append,
    /// Later files may not change the block. A later definition with this mode replaces the earlier one permanently.
    Locked,
}

impl Mode {
    /// Returns the word used in a block's line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Override => "override",
            Self::Append => "append",
            Self::Locked => "locked",
        }
    }
}

/// An instruction file after reading: comments and the front matter of rules have been removed, and its imports have
/// been resolved into separate files that precede it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFile {
    /// Path of the file: relative to the project's root inside the project, absolute elsewhere.
    pub path: Box<str>,
    /// Level of the file in the hierarchy.
    pub level: InstructionLevel,
    /// Reason why the file was read.
    pub reason: LoadReason,
    /// BLAKE3 hash of the file's bytes, hexadecimal.
    pub digest: Box<str>,
    /// Text of the file in pieces, in order.
    pub pieces: Vec<FileSegment>,
}

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSegment {
    /// Name and mode of the block; `None` for plain text.
    pub block: Option<(Box<str>, Mode)>,
    /// Text of the piece.
    pub text: String,
    /// Line at which the piece begins, counted from 1.
    pub line: u64,
}
