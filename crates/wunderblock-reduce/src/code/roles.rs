//! The roles that the nodes of a syntax tree have in an outline. One table serves all grammars: a node name that
//! several grammars use has the same meaning in each.

use crate::word_list::WordList;

/// The role of a node in an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeRole {
    /// No role in the outline. Nodes inside this node may have roles.
    None,
    Import,
    /// A definition whose members are outlined too: for example, a class, an implementation or a module.
    Container,
    /// A type that is defined as a whole: for example, a structure or an alias.
    Type,
    /// A member of a container or type.
    Field,
    Constant,
    Function,
    /// A function without a name. An anonymous function is ranked only outside other functions.
    Anonymous,
    Macro,
    /// Something that precedes a definition: for example, an attribute or a decorator.
    Annotation,
    /// A list or table that may be data.
    Literal,
    Comment,
}

/// The roles, each with the list of node names that have this role in the grammars.
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

/// Returns the role of a node by its name in the grammar.
pub(super) fn role_of(kind: &str) -> NodeRole {
    NAMES.iter().find(|(_, names)| names.has(kind)).map_or(NodeRole::None, |(role, _)| *role)
}

/// Returns whether a leaf is a value, or separates values.
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
