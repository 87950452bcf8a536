//! The roles of the nodes of a syntax tree in an outline. One table serves all grammars: a name that several of them
//! use means the same in each.

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

/// The names by which the grammars call what has a role.
const NAMES: [(NodeRole, &[&str]); 11] = [
    (
        NodeRole::Import,
        &[
            "use_declaration",
            "extern_crate_declaration",
            "import_statement",
            "import_from_statement",
            "future_import_statement",
            "import_declaration",
            "package_clause",
            "package_declaration",
            "preproc_include",
            "using_directive",
            "using_declaration",
            "namespace_use_declaration",
            "file_scoped_namespace_declaration",
            "alias_declaration",
        ],
    ),
    (
        NodeRole::Container,
        &[
            "impl_item",
            "trait_item",
            "mod_item",
            "foreign_mod_item",
            "class_definition",
            "class_declaration",
            "abstract_class_declaration",
            "internal_module",
            "module",
            "interface_declaration",
            "class_specifier",
            "struct_specifier",
            "union_specifier",
            "struct_declaration",
            "record_declaration",
            "enum_declaration",
            "annotation_type_declaration",
            "trait_declaration",
            "namespace_definition",
            "namespace_declaration",
            "linkage_specification",
            "class",
            "singleton_class",
        ],
    ),
    (
        NodeRole::Type,
        &[
            "struct_item",
            "enum_item",
            "union_item",
            "type_item",
            "type_alias_declaration",
            "type_declaration",
            "type_definition",
            "enum_specifier",
            "delegate_declaration",
            "concept_definition",
        ],
    ),
    (
        NodeRole::Field,
        &[
            "field_declaration",
            "enum_variant",
            "public_field_definition",
            "field_definition",
            "property_signature",
            "method_signature",
            "property_declaration",
            "enum_member_declaration",
            "enumerator",
            "enum_assignment",
            "constant_declaration",
            "enum_constant",
            "event_field_declaration",
            "function_signature_item",
            "abstract_method_signature",
            "associated_type",
            "index_signature",
            "call_signature",
            "construct_signature",
            "access_specifier",
            "function_signature",
            "enum_case",
            "use_declaration_list",
            "annotation_type_element_declaration",
        ],
    ),
    (
        NodeRole::Constant,
        &[
            "const_item",
            "static_item",
            "lexical_declaration",
            "variable_declaration",
            "const_declaration",
            "var_declaration",
            "declaration",
            "preproc_def",
            "preproc_function_def",
            "assignment",
            "global_statement",
            "variable_assignment",
            "declaration_command",
        ],
    ),
    (
        NodeRole::Function,
        &[
            "function_item",
            "function_definition",
            "function_declaration",
            "generator_function_declaration",
            "method_definition",
            "method_declaration",
            "constructor_declaration",
            "destructor_declaration",
            "operator_declaration",
            "conversion_operator_declaration",
            "local_function_statement",
            "method",
            "singleton_method",
            "compact_constructor_declaration",
        ],
    ),
    (
        NodeRole::Anonymous,
        &["arrow_function", "function_expression", "generator_function", "func_literal", "do_block"],
    ),
    (NodeRole::Macro, &["macro_definition"]),
    (
        NodeRole::Annotation,
        &[
            "attribute_item",
            "inner_attribute_item",
            "decorator",
            "attribute_list",
            "preproc_if",
            "preproc_ifdef",
            "template_declaration",
        ],
    ),
    (
        NodeRole::Literal,
        &[
            "array_expression",
            "array",
            "list",
            "tuple",
            "tuple_expression",
            "initializer_list",
            "array_initializer",
            "array_creation_expression",
            "literal_value",
            "token_tree",
            "set",
            "initializer_expression",
            "collection_expression",
            "string_literal",
            "string",
            "template_string",
            "raw_string_literal",
            "encapsed_string",
            "heredoc_body",
        ],
    ),
    (NodeRole::Comment, &["comment", "line_comment", "block_comment"]),
];

/// The role of a node by its name in the grammar.
pub(super) fn role_of(kind: &str) -> NodeRole {
    NAMES.iter().find(|(_, names)| names.contains(&kind)).map_or(NodeRole::None, |(role, _)| *role)
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
