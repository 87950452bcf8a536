//! Definitions of delegates: the agents that an agent may hand work to.

use super::tools::ToolRules;
use std::collections::BTreeMap;

/// Layer of the sources of definitions, from the weakest to the strongest. If two layers define the same name, the
/// stronger layer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Part of this program.
    BuiltIn,
    /// An installed plugin.
    Plugin,
    /// The person's own files, for all projects.
    User,
    /// Files of the project. The folder closest to the working folder counts.
    Project,
    /// Given for this call.
    Flag,
    /// Policy of the machine or the organisation.
    Policy,
}

impl Layer {
    /// All layers, from the weakest to the strongest.
    pub const ALL: [Self; 6] =
        [Self::BuiltIn, Self::Plugin, Self::User, Self::Project, Self::Flag, Self::Policy];

    /// Returns the name of the layer.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::Plugin => "plugin",
            Self::User => "user",
            Self::Project => "project",
            Self::Flag => "flag",
            Self::Policy => "policy",
        }
    }

    /// Returns whether other people than the user, the project and the operator wrote the definitions of the layer.
    /// Such definitions may not set hooks, permissions or MCP servers.
    #[must_use]
    pub const fn is_third_party(self) -> bool {
        matches!(self, Self::Plugin)
    }
}

/// Place of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Layer of the source.
    pub layer: Layer,
    /// Number of folders between the working folder and the folder of a project's definition; 0 in other layers.
    pub distance: u32,
    /// Product in whose format the definition is written, for example `claude-code`.
    pub product: Box<str>,
    /// Path of the file, or the name of another place.
    pub place: Box<str>,
}

impl Origin {
    /// Returns the rank of the origin: a higher rank overrides a lower one.
    #[must_use]
    pub const fn rank(&self) -> (Layer, u32) {
        (self.layer, u32::MAX - self.distance)
    }
}

/// Definition with a name, of which the one with the highest rank is in force.
pub trait Definition {
    /// Order of the definitions of one name: a higher rank overrides a lower one.
    type Rank: Ord;

    /// Returns the name by which the definition is asked for.
    fn name(&self) -> &str;

    /// Returns the place of the definition.
    fn origin(&self) -> &Origin;

    /// Returns the rank of the definition.
    fn rank(&self) -> Self::Rank;
}

/// Definition of a delegate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentDefinition {
    /// Name by which the delegate is asked for: `NAME`, or `PLUGIN:FOLDER:NAME` for a plugin.
    pub name: Box<str>,
    /// When to use the delegate, on one line.
    pub description: Box<str>,
    /// System prompt.
    pub prompt: Box<str>,
    /// Model as written: an alias, an id or `inherit`; `None` if the definition names none.
    pub model: Option<Box<str>>,
    /// Effort of reasoning as written.
    pub effort: Option<Box<str>>,
    /// Tools that the delegate may use.
    pub tools: ToolRules,
    /// MCP servers without which the delegate is not offered.
    pub requires: Vec<Box<str>>,
    /// Permissions of the delegate, as written: pattern or mode, and decision. In some products the last one that matches
    /// counts, so their order is kept. They are data for the program that runs the delegate.
    pub permissions: Vec<(Box<str>, Box<str>)>,
    /// Whether the delegate gets no instruction files.
    pub omits_instructions: bool,
    /// Whether the main agent is not told of the delegate.
    pub hidden: bool,
    /// Whether the delegate may not be used. A definition that says so also takes weaker ones out of use.
    pub disabled: bool,
    /// Rule of the product's own settings that denies the delegate, as written.
    pub denied: Option<Box<str>>,
    /// Maximum number of turns.
    pub max_turns: Option<u32>,
    /// Other known fields, as written, in the order of their names.
    pub fields: BTreeMap<Box<str>, Box<str>>,
    /// Place of the definition.
    pub origin: Origin,
}

impl Definition for AgentDefinition {
    type Rank = (Layer, u32);

    fn name(&self) -> &str {
        &self.name
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }

    fn rank(&self) -> Self::Rank {
        self.origin.rank()
    }
}

impl AgentDefinition {
    /// Creates a definition without settings.
    #[must_use]
    pub fn new(name: &str, description: &str, prompt: &str, origin: Origin) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            prompt: prompt.into(),
            model: None,
            effort: None,
            tools: ToolRules::default(),
            requires: Vec::new(),
            permissions: Vec::new(),
            omits_instructions: false,
            hidden: false,
            disabled: false,
            denied: None,
            max_turns: None,
            fields: BTreeMap::new(),
            origin,
        }
    }

    /// Returns the model that the definition asks for: the model as written, or `inherit`.
    #[must_use]
    pub fn asked_model(&self) -> &str {
        self.model.as_deref().unwrap_or("inherit")
    }
}
