//! What a delegate is shown of its parent's conversation.

use super::definition::AgentDefinition;
use std::fmt;

/// Way in which the context of a delegate begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContextMode {
    /// The definition's system text, the instructions unless it leaves them out, and the brief.
    #[default]
    Fresh,
    /// The parent's request, byte for byte, and the brief. The delegate keeps the parent's model, tools and system text.
    Fork,
    /// As fresh, with chosen entries of the parent's conversation.
    Slice,
    /// As fresh, with a summary of the parent's conversation.
    Summary,
}

impl ContextMode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Fresh, Self::Fork, Self::Slice, Self::Summary];

    /// Returns the name of the mode.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Fork => "fork",
            Self::Slice => "slice",
            Self::Summary => "summary",
        }
    }
}

/// Reason why a delegate cannot be a fork of its parent: its definition asks for something else than the parent has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForkObstacle {
    /// Another model: the delegate's, and the parent's.
    Model(Box<str>, Box<str>),
    /// Other tools, in words.
    Tools(Box<str>),
    /// A system text of its own.
    System,
    /// No instructions, although the parent may have some.
    Instructions,
}

impl fmt::Display for ForkObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(own, parent) => write!(f, "its model is {own}, the parent's is {parent}"),
            Self::Tools(tools) => write!(f, "its tools are {tools}"),
            Self::System => f.write_str("it has a system text of its own"),
            Self::Instructions => f.write_str("it leaves the instructions out"),
        }
    }
}

/// Returns the reasons why a delegate with this definition and model cannot be a fork of a parent with another model. A
/// delegate without a definition is a copy of its parent.
#[must_use]
pub fn fork_obstacles(definition: Option<&AgentDefinition>, model: &str, parent: &str) -> Vec<ForkObstacle> {
    let mut obstacles = Vec::new();
    if model != parent {
        obstacles.push(ForkObstacle::Model(model.into(), parent.into()));
    }
    let Some(definition) = definition else { return obstacles };
    let tools = definition.tools.describe();
    if tools != "all tools" {
        obstacles.push(ForkObstacle::Tools(tools.into()));
    }
    if !definition.prompt.trim().is_empty() {
        obstacles.push(ForkObstacle::System);
    }
    if definition.omits_instructions {
        obstacles.push(ForkObstacle::Instructions);
    }
    obstacles
}
