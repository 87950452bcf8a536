//! The roles of the nodes of a syntax tree in an outline. One table serves all grammars: a name that several of them
//! use means the same in each.

use crate::word_list::WordList;

/// The role of a node in an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeRole {
    /// Nothing by itself; what is in it may be.
    None,
    Import,
    /// Something with members that stays open: a class, an implementation, a module.
    Container,
    /// A type given as a whole: a structure, an alias.
    Type,
    /// A member of a container or type.
    Field,
    Constant,
    Function,
    /// A function without a name, which counts where it is not inside another.
    Anonymous,
    Macro,
    /// What stands before a definition: an attribute, a decorator.
    Annotation,
    /// A list or table that may be data.
    Literal,
    Comment,
}

/// The roles, and the lists of the names by which the grammars call what has them.
static NAMES: [(NodeRole, WordList); 11] = [
    (NodeRole::Import, WordList::new("node import")),
    (NodeRole::Container, WordList::new("node container")),
    (NodeRole::Type, WordList::new("node type")),
    (NodeRole::Field, WordList::new("node field")),
    (NodeRole::Constant, WordList::new("node constant")),
    (NodeRole::Function, WordList::new("node function")),
    (NodeRole::Anonymous, WordList::new("node anonymous")),
    (NodeRole::Macro, WordList::new("node macro")),
    (NodeRole::Annotation, WordList::new("node annotation")),
    (NodeRole::Literal, WordList::new("node literal")),
    (NodeRole::Comment, WordList::new("node comment")),
];

/// The role of a node by its name in the grammar.
pub(super) fn role_of(kind: &str) -> NodeRole {
    NAMES.iter().find(|(_, names)| names.has(kind)).map_or(NodeRole::None, |(role, _)| *role)
}

/// Whether a leaf is a value, or goes between values.
pub(super) fn is_value(kind: &str, named: bool) -> bool {
    !named
        || [
            "string", "number", "integer", "float", "char", "literal", "content", "escape", "fragment",
            "comment",
        ]
        .iter()
        .any(|part| kind.contains(part))
        || matches!(kind, "true" | "false" | "null" | "nil" | "none" | "null_literal" | "boolean")
}
