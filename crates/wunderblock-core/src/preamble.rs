//! The preamble: what stands before the conversation, as a lane has it.
//!
//! Safety, system text, instructions, tools, skills, pinned memory and resources come from outside the ledger. What a
//! lane sends of them is recorded as `preamble.changed` when it changes, and only then, so that the beginning of the
//! request stays what it was until an event says otherwise.

use crate::authority::{Authority, Level};
use crate::id::LaneId;
use crate::instruction::{Finding, LoadReason};
use crate::message::Body;
use crate::request::CachePoint;
use crate::section::Section;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// One text of the preamble, with all that is to be known of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Where it stands.
    pub section: Section,
    /// What it is called: a path, a skill's or resource's name.
    pub name: Box<str>,
    /// What it weighs. Made from `section` and `level` alone.
    pub authority: Authority,
    /// Of an instruction file: where it stands in the hierarchy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// Why it is here.
    pub reason: LoadReason,
    /// BLAKE3 of the source's bytes, hexadecimal.
    pub digest: Box<str>,
    /// What is shown.
    pub text: Body,
    /// Only so many bytes of the text are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Bytes>,
    /// What is not shown, and read on demand by its handle: a skill's or a resource's body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
}

impl Block {
    /// A text that is not an instruction file.
    #[must_use]
    pub fn new(section: Section, name: &str, (digest, text): (&str, Body)) -> Self {
        Self {
            section,
            name: name.into(),
            authority: Authority::of(section),
            level: None,
            reason: LoadReason::Given,
            digest: digest.into(),
            text,
            cut: None,
            body: None,
        }
    }

    /// The text of an instruction file.
    #[must_use]
    pub fn instruction(name: &str, level: Level, reason: LoadReason, (digest, text): (&str, Body)) -> Self {
        Self {
            authority: level.authority(),
            level: Some(level),
            reason,
            ..Self::new(Section::Instructions, name, (digest, text))
        }
    }

    /// The same text, with a body that is read on demand.
    #[must_use]
    pub fn with_body(self, body: Body) -> Self {
        Self { body: Some(body), ..self }
    }

    /// Whether two blocks put the same into a request.
    #[must_use]
    pub fn shows_the_same(&self, other: &Self) -> bool {
        self.section == other.section
            && self.name == other.name
            && self.authority == other.authority
            && self.text == other.text
            && self.cut == other.cut
    }
}

/// A tool, as a lane declares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolBlock {
    /// Its name.
    pub name: Box<str>,
    /// The JSON of the whole [`crate::request::Tool`].
    pub definition: Body,
    /// Only its name is in the request.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deferred: bool,
}

/// An ignore file as it was when the session began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IgnoreFile {
    /// Where it is, relative to the project's root.
    pub path: Box<str>,
    /// What it says.
    pub text: Body,
}

/// What stands before the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preamble {
    /// Texts, by section, in the order of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
    /// Tools, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolBlock>,
    /// Ignore rules, frozen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<IgnoreFile>,
    /// What was refused, left out, or could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Where to cache up to. The end of the request comes beside these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cache: Vec<CachePoint>,
}

impl Preamble {
    /// All bodies, in order.
    pub fn bodies(&self) -> impl Iterator<Item = &Body> {
        let blocks = self.blocks.iter().flat_map(|block| std::iter::once(&block.text).chain(&block.body));
        let tools = self.tools.iter().map(|tool| &tool.definition);
        blocks.chain(tools).chain(self.ignore.iter().map(|file| &file.text))
    }

    /// All bodies, to be moved into blobs or back; in the order of [`Preamble::bodies`].
    pub fn bodies_mut(&mut self) -> impl Iterator<Item = &mut Body> {
        let blocks =
            self.blocks.iter_mut().flat_map(|block| std::iter::once(&mut block.text).chain(&mut block.body));
        let tools = self.tools.iter_mut().map(|tool| &mut tool.definition);
        blocks.chain(tools).chain(self.ignore.iter_mut().map(|file| &mut file.text))
    }

    /// The bodies a request shows.
    pub fn shown(&self) -> impl Iterator<Item = &Body> {
        let blocks = self.blocks.iter().map(|block| &block.text);
        let tools = self.tools.iter().filter(|tool| !tool.deferred).map(|tool| &tool.definition);
        blocks.chain(tools)
    }
}

/// One thing that is not as it was before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Where.
    pub section: Section,
    /// Which text or tool.
    pub name: Box<str>,
    /// How.
    pub how: How,
}

/// How something has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// It was not there before.
    Added,
    /// It is not there any more.
    Removed,
    /// It says something else.
    Altered,
    /// It stands at another place: what was said at the tail now stands before the conversation.
    Moved,
}

/// See [`crate::event::Fact::PreambleChanged`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreambleChanged {
    /// Which consumer's view.
    pub lane: LaneId,
    /// What stands before the conversation from here on.
    pub preamble: Preamble,
    /// What is not as it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}
