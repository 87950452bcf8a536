//! Definitions of slash commands and skills: texts that a person or a model calls by name.

use super::definition::{Definition, Layer, Origin};
use super::tools::ToolRules;
use std::collections::BTreeMap;

/// Kind of a text that is called by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommandKind {
    /// A file with one text.
    Command,
    /// A folder with a `SKILL.md`.
    Skill,
}

impl CommandKind {
    /// Returns the name of the kind.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Skill => "skill",
        }
    }
}

/// Definition of a slash command or a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandDefinition {
    /// Name without the slash: `NAME`, `FOLDER:NAME`, or `PLUGIN:FOLDER:NAME`, as the product forms it.
    pub name: Box<str>,
    /// Kind of the text.
    pub kind: CommandKind,
    /// Purpose, on one line.
    pub description: Box<str>,
    /// Text with placeholders for the arguments.
    pub prompt: Box<str>,
    /// Arguments that are expected, in words for a person.
    pub argument_hint: Option<Box<str>>,
    /// Names of the arguments, in order.
    pub arguments: Vec<Box<str>>,
    /// Model as written: an alias, an id or `inherit`; `None` if the definition names none.
    pub model: Option<Box<str>>,
    /// Effort of reasoning as written.
    pub effort: Option<Box<str>>,
    /// Tools that need no permission while the command runs (`allow`), and tools that may not be used (`deny`).
    pub tools: ToolRules,
    /// Whether a person may call it.
    pub for_user: bool,
    /// Whether a model may call it by itself.
    pub for_model: bool,
    /// Type of the delegate that carries it out; `None` if the agent itself does.
    pub agent: Option<Box<str>>,
    /// Other known fields, as written, in the order of their names.
    pub fields: BTreeMap<Box<str>, Box<str>>,
    /// Preference of the place among several places of the same layer and folder: a higher one overrides a lower one.
    pub preference: u32,
    /// Place of the definition.
    pub origin: Origin,
}

impl CommandDefinition {
    /// Creates a definition without settings, which a person and a model may call.
    #[must_use]
    pub fn new(kind: CommandKind, name: &str, prompt: &str, origin: Origin) -> Self {
        Self {
            name: name.into(),
            kind,
            description: Box::default(),
            prompt: prompt.into(),
            argument_hint: None,
            arguments: Vec::new(),
            model: None,
            effort: None,
            tools: ToolRules::default(),
            for_user: true,
            for_model: true,
            agent: None,
            fields: BTreeMap::new(),
            preference: 0,
            origin,
        }
    }

    /// Returns who may call the definition, in words.
    #[must_use]
    pub const fn callers(&self) -> &'static str {
        match (self.for_user, self.for_model) {
            (true, true) => "user, model",
            (true, false) => "user",
            (false, true) => "model",
            (false, false) => "nobody",
        }
    }
}

impl Definition for CommandDefinition {
    type Rank = (bool, bool, Layer, u32, u32);

    fn name(&self) -> &str {
        &self.name
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns whether the layer is policy, whether the kind overrides the other, the layer, the closeness of the folder and the preference of the
    /// place. In Claude Code, a skill overrides a command, and a person's own definitions override those of the project,
    /// the reverse of agents. In other products, a command overrides a skill.
    fn rank(&self) -> Self::Rank {
        let is_claude = &*self.origin.product == "claude-code";
        let (layer, closeness) = self.origin.rank();
        let layer = match layer {
            Layer::User if is_claude => Layer::Project,
            Layer::Project if is_claude => Layer::User,
            other => other,
        };
        let is_policy = layer == Layer::Policy;
        (is_policy, (self.kind == CommandKind::Skill) == is_claude, layer, closeness, self.preference)
    }
}
