//! Preamble of a lane: everything that precedes the conversation in its requests.
//!
//! Safety, system text, instructions, tools, skills, agent types, pinned memory and resources come from outside the ledger. The
//! parts that a lane sends are recorded as `preamble.changed`, and only when they change, so that the beginning of
//! the request stays the same until an event says otherwise.

use crate::id::LaneId;
use crate::record::decision::PartPosition;
use crate::record::message::{Body, Extra};
use crate::record::request::CachePoint;
use crate::source::authority::{Authority, InstructionLevel};
use crate::source::instruction::{Finding, LoadReason};
use crate::source::section::Section;
use crate::units::is_default;
use serde::{Deserialize, Serialize};

/// One text of the preamble, with its metadata.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreambleBlock {
    /// Section of the text.
    pub section: Section,
    /// Name of the text: a path, or the name of a skill or resource.
    pub name: Box<str>,
    /// Authority of the text, derived from `section` and `level` alone.
    pub authority: Authority,
    /// Level in the hierarchy, for an instruction file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<InstructionLevel>,
    /// Reason why the text is included.
    pub reason: LoadReason,
    /// BLAKE3 hash of the source's bytes, hexadecimal.
    pub digest: Box<str>,
    /// The text, or only its beginning if it was cut.
    pub text: Body,
    /// Extent of the text in the request.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shown: Inclusion,
    /// Body that is not shown but can be read on demand by its handle: the body of a skill or a resource, or the
    /// whole of a text that was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
}

impl PreambleBlock {
    /// Creates a block that is not an instruction file.
    #[must_use]
    pub fn new(section: Section, name: &str, digest: &str, text: Body) -> Self {
        Self {
            section,
            name: name.into(),
            authority: Authority::of(section),
            level: None,
            reason: LoadReason::Given,
            digest: digest.into(),
            text,
            shown: Inclusion::Whole,
            body: None,
        }
    }

    /// Creates a block for an instruction file.
    #[must_use]
    pub fn instruction(
        name: &str,
        level: InstructionLevel,
        reason: LoadReason,
        digest: &str,
        text: Body,
    ) -> Self {
        Self {
            authority: level.authority(),
            level: Some(level),
            reason,
            ..Self::new(Section::Instructions, name, digest, text)
        }
    }

    /// Returns the same block with a body that is read on demand.
    #[must_use]
    pub fn with_body(self, body: Body) -> Self {
        Self { body: Some(body), ..self }
    }

    /// Returns whether the block is one line of a list: of agent types, or with a body that is read on demand.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.section == Section::Agents || self.body.is_some() && self.shown != Inclusion::Cut
    }

    /// Returns the text as it was offered, before any cut.
    #[must_use]
    pub fn offered(&self) -> &Body {
        self.body.as_ref().filter(|_| self.shown == Inclusion::Cut).unwrap_or(&self.text)
    }

    /// Returns whether this block offers the same content as a recorded block.
    #[must_use]
    pub fn is_offered_as(&self, recorded: &Self) -> bool {
        let listed = |block: &Self| block.body.clone().filter(|_| block.is_listed());
        self.name == recorded.name
            && self.authority == recorded.authority
            && self.offered() == recorded.offered()
            && listed(self) == listed(recorded)
    }
}

/// Extent of a text in the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inclusion {
    /// The whole text.
    #[default]
    Whole,
    /// The beginning of the text.
    Cut,
    /// Nothing, because there was no room.
    Out,
}

/// Reason why a request contains only the name of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deferral {
    /// The caller that offered the tool asked for the name alone.
    Asked,
    /// There was no room for the schema of the tool.
    NoRoom,
}

/// A tool as a lane declares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolBlock {
    /// Name of the tool.
    pub name: Box<str>,
    /// Description of the tool.
    pub description: Body,
    /// Text of the JSON Schema of the tool's input.
    pub schema: Body,
    /// Unknown fields of the provider's tool object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Extra,
    /// Reason why only the name is in the request; `None` if the tool is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred: Option<Deferral>,
    /// Whether the tool was inferred from calls in the conversation, because no source offers it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub inferred: bool,
}

impl ToolBlock {
    /// Returns whether this tool offers the same content as a recorded tool.
    #[must_use]
    pub fn is_offered_as(&self, recorded: &Self) -> bool {
        let asked = |tool: &Self| tool.deferred == Some(Deferral::Asked);
        self.name == recorded.name
            && self.description == recorded.description
            && self.schema == recorded.schema
            && self.extra == recorded.extra
            && asked(self) == asked(recorded)
    }
}

/// An ignore file as it was when the session began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IgnoreFile {
    /// Path of the file, relative to the project's root.
    pub path: Box<str>,
    /// Text of the file.
    pub text: Body,
}

/// A text of the operator that a lane shows elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restated {
    /// Place of the text that is set aside.
    pub at: PartPosition,
    /// Place of the text that stands in: an earlier equal text, or a later version, which is shown where the first
    /// version stood.
    pub by: PartPosition,
    /// Whether a reference is shown at `at`, because the operator said something else after the text at `by`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub as_reference: bool,
}

/// Preamble of a lane: everything that precedes the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preamble {
    /// Texts by section, in the order of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<PreambleBlock>,
    /// Tools, sorted by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolBlock>,
    /// Ignore rules, frozen for the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<IgnoreFile>,
    /// Instruction files that a scan of the project found when the lane's first preamble was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scanned: Vec<Box<str>>,
    /// Findings about content that was rejected or left out, or that could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Places up to which a provider should cache. The end of the request is also cached, but is not listed here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cache: Vec<CachePoint>,
    /// Texts of the operator in the conversation that are set aside because the lane shows them elsewhere, ascending
    /// by place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restated: Vec<Restated>,
}

impl Preamble {
    /// Returns whether nothing is left of the preamble. Such a lane has no preamble.
    #[must_use]
    pub fn is_erased(&self) -> bool {
        *self == Self::default()
    }

    /// Returns all bodies, in order.
    pub fn bodies(&self) -> impl Iterator<Item = &Body> {
        let blocks = self.blocks.iter().flat_map(|block| std::iter::once(&block.text).chain(&block.body));
        let tools = self.tools.iter().flat_map(|tool| [&tool.description, &tool.schema]);
        blocks.chain(tools).chain(self.ignore.iter().map(|file| &file.text))
    }

    /// Returns all bodies in the order of [`Preamble::bodies`], so that they can be moved into blobs or back.
    pub fn bodies_mut(&mut self) -> impl Iterator<Item = &mut Body> {
        let blocks =
            self.blocks.iter_mut().flat_map(|block| std::iter::once(&mut block.text).chain(&mut block.body));
        let tools = self.tools.iter_mut().flat_map(|tool| [&mut tool.description, &mut tool.schema]);
        blocks.chain(tools).chain(self.ignore.iter_mut().map(|file| &mut file.text))
    }

    /// Returns the bodies that a request shows.
    pub fn shown(&self) -> impl Iterator<Item = &Body> {
        let blocks =
            self.blocks.iter().filter(|block| block.shown != Inclusion::Out).map(|block| &block.text);
        let tools = self.tools.iter().filter(|tool| tool.deferred.is_none());
        blocks.chain(tools.flat_map(|tool| [&tool.description, &tool.schema]))
    }
}

/// One change to a preamble.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreambleChange {
    /// Section of the change.
    pub section: Section,
    /// Name of the changed text or tool.
    pub name: Box<str>,
    /// Kind of the change.
    pub how: ChangeKind,
}

/// Kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// The text or tool is new.
    Added,
    /// The text or tool is gone.
    Removed,
    /// The text or tool has different content.
    Altered,
    /// The text has moved: it was at the tail, and now precedes the conversation.
    Moved,
}

impl ChangeKind {
    /// Returns the kind in words.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Altered => "altered",
            Self::Moved => "moved up from the tail",
        }
    }
}

/// Fields of [`crate::record::event::Fact::PreambleChanged`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreambleChanged {
    /// Lane whose preamble changed.
    pub lane: LaneId,
    /// Preamble of the lane from this event on.
    pub preamble: Preamble,
    /// Changes since the previous preamble.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PreambleChange>,
    /// Sections whose tail texts become part of the preamble. From this event on, the copies at the tail are not
    /// shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takes_in: Vec<Section>,
}
