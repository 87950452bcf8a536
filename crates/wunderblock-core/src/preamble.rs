//! The preamble: what stands before the conversation, as a lane has it.
//!
//! Safety, system text, instructions, tools, skills, pinned memory and resources come from outside the ledger. What a
//! lane sends of them is recorded as `preamble.changed` when it changes, and only then, so that the beginning of the
//! request stays what it was until an event says otherwise.

use crate::authority::{Authority, InstructionLevel};
use crate::id::LaneId;
use crate::instruction::{Finding, LoadReason};
use crate::message::{Body, Extra};
use crate::request::CachePoint;
use crate::section::Section;
use crate::units::is_default;
use serde::{Deserialize, Serialize};

/// One text of the preamble, with all that is to be known of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreambleBlock {
    /// Where it stands.
    pub section: Section,
    /// What it is called: a path, a skill's or resource's name.
    pub name: Box<str>,
    /// What it weighs. Made from `section` and `level` alone.
    pub authority: Authority,
    /// Of an instruction file: where it stands in the hierarchy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<InstructionLevel>,
    /// Why it is here.
    pub reason: LoadReason,
    /// BLAKE3 of the source's bytes, hexadecimal.
    pub digest: Box<str>,
    /// What it says; of a text that was cut, what is left of it.
    pub text: Body,
    /// How much of it is in the request.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shown: Inclusion,
    /// What is not shown, and read on demand by its handle: a skill's or a resource's body, the whole of a cut text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
}

impl PreambleBlock {
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
            shown: Inclusion::Whole,
            body: None,
        }
    }

    /// The text of an instruction file.
    #[must_use]
    pub fn instruction(
        name: &str,
        level: InstructionLevel,
        reason: LoadReason,
        (digest, text): (&str, Body),
    ) -> Self {
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

    /// Whether it is one line of a list: its body is read on demand.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.body.is_some() && self.shown != Inclusion::Cut
    }

    /// The text as it was offered, before it was cut.
    #[must_use]
    pub fn offered(&self) -> &Body {
        self.body.as_ref().filter(|_| self.shown == Inclusion::Cut).unwrap_or(&self.text)
    }

    /// Whether a source offers now what it offered when the other was recorded.
    #[must_use]
    pub fn is_offered_as(&self, recorded: &Self) -> bool {
        let listed = |block: &Self| block.body.clone().filter(|_| block.is_listed());
        self.name == recorded.name
            && self.authority == recorded.authority
            && self.offered() == recorded.offered()
            && listed(self) == listed(recorded)
    }
}

/// How much of a text is in the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inclusion {
    /// All of it.
    #[default]
    Whole,
    /// Its beginning.
    Cut,
    /// Nothing: there was no room.
    Out,
}

/// Why only a tool's name is in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deferral {
    /// Whoever offered it wanted it so.
    Asked,
    /// There was no room for its schema.
    NoRoom,
}

/// A tool, as a lane declares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolBlock {
    /// Its name.
    pub name: Box<str>,
    /// What it does.
    pub description: Body,
    /// The text of the JSON Schema of its input.
    pub schema: Body,
    /// Unknown fields of the provider's tool object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Extra,
    /// Only its name is in the request, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred: Option<Deferral>,
    /// Nobody offered it: it stands here because the conversation calls it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub inferred: bool,
}

impl ToolBlock {
    /// Whether a source offers now what it offered when the other was recorded.
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
    pub blocks: Vec<PreambleBlock>,
    /// Tools, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolBlock>,
    /// Ignore rules, frozen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<IgnoreFile>,
    /// The instruction files a scan of the project found when the lane's first preamble was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scanned: Vec<Box<str>>,
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
        let tools = self.tools.iter().flat_map(|tool| [&tool.description, &tool.schema]);
        blocks.chain(tools).chain(self.ignore.iter().map(|file| &file.text))
    }

    /// All bodies, to be moved into blobs or back; in the order of [`Preamble::bodies`].
    pub fn bodies_mut(&mut self) -> impl Iterator<Item = &mut Body> {
        let blocks =
            self.blocks.iter_mut().flat_map(|block| std::iter::once(&mut block.text).chain(&mut block.body));
        let tools = self.tools.iter_mut().flat_map(|tool| [&mut tool.description, &mut tool.schema]);
        blocks.chain(tools).chain(self.ignore.iter_mut().map(|file| &mut file.text))
    }

    /// The bodies a request shows.
    pub fn shown(&self) -> impl Iterator<Item = &Body> {
        let blocks =
            self.blocks.iter().filter(|block| block.shown != Inclusion::Out).map(|block| &block.text);
        let tools = self.tools.iter().filter(|tool| tool.deferred.is_none());
        blocks.chain(tools.flat_map(|tool| [&tool.description, &tool.schema]))
    }
}

/// One thing that is not as it was before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreambleChange {
    /// Where.
    pub section: Section,
    /// Which text or tool.
    pub name: Box<str>,
    /// How.
    pub how: ChangeKind,
}

/// How something has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It was not there before.
    Added,
    /// It is not there any more.
    Removed,
    /// It says something else.
    Altered,
    /// It stands at another place: what was said at the tail now stands before the conversation.
    Moved,
}

impl ChangeKind {
    /// In words.
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

/// See [`crate::event::Fact::PreambleChanged`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreambleChanged {
    /// Which consumer's view.
    pub lane: LaneId,
    /// What stands before the conversation from here on.
    pub preamble: Preamble,
    /// What is not as it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PreambleChange>,
    /// What of the tail it takes in: from here on the copies there are not shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takes_in: Vec<Section>,
}
