//! The languages that can be outlined, and their grammars.

/// A language whose sources can be outlined by their syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceLanguage {
    Rust,
    Python,
    JavaScript,
    TypeScript,
    Tsx,
    Go,
    Java,
    C,
    Cpp,
    CSharp,
    Ruby,
    Php,
    Bash,
}

impl SourceLanguage {
    /// All languages, in the order that decides between equal guesses.
    pub(super) const ALL: [Self; 13] = [
        Self::Rust,
        Self::Python,
        Self::Go,
        Self::C,
        Self::JavaScript,
        Self::TypeScript,
        Self::Tsx,
        Self::Java,
        Self::CSharp,
        Self::Cpp,
        Self::Ruby,
        Self::Php,
        Self::Bash,
    ];

    /// Returns the grammar of the language, if it was compiled in.
    #[cfg(feature = "syntax")]
    pub(crate) fn grammar(self) -> Option<tree_sitter::Language> {
        match self {
            #[cfg(feature = "rust")]
            Self::Rust => Some(tree_sitter_rust::LANGUAGE.into()),
            #[cfg(feature = "python")]
            Self::Python => Some(tree_sitter_python::LANGUAGE.into()),
            #[cfg(feature = "javascript")]
            Self::JavaScript => Some(tree_sitter_javascript::LANGUAGE.into()),
            #[cfg(feature = "typescript")]
            Self::TypeScript => Some(tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()),
            #[cfg(feature = "typescript")]
            Self::Tsx => Some(tree_sitter_typescript::LANGUAGE_TSX.into()),
            #[cfg(feature = "go")]
            Self::Go => Some(tree_sitter_go::LANGUAGE.into()),
            #[cfg(feature = "java")]
            Self::Java => Some(tree_sitter_java::LANGUAGE.into()),
            #[cfg(feature = "c")]
            Self::C => Some(tree_sitter_c::LANGUAGE.into()),
            #[cfg(feature = "cpp")]
            Self::Cpp => Some(tree_sitter_cpp::LANGUAGE.into()),
            #[cfg(feature = "c-sharp")]
            Self::CSharp => Some(tree_sitter_c_sharp::LANGUAGE.into()),
            #[cfg(feature = "ruby")]
            Self::Ruby => Some(tree_sitter_ruby::LANGUAGE.into()),
            #[cfg(feature = "php")]
            Self::Php => Some(tree_sitter_php::LANGUAGE_PHP.into()),
            #[cfg(feature = "bash")]
            Self::Bash => Some(tree_sitter_bash::LANGUAGE.into()),
            #[allow(unreachable_patterns)]
            _ => None,
        }
    }

    /// Returns the text to put before a source so that its grammar can parse it. A part of a PHP file has no opening
    /// tag, and the grammar would take such a part for the text of a page.
    #[cfg(feature = "syntax")]
    pub(super) fn opening(self, text: &str) -> &'static str {
        if self == Self::Php && !text.contains("<?") { "<?php\n" } else { "" }
    }

    /// Returns the position of the language in tables with one entry per language.
    pub(super) fn index(self) -> usize {
        self as usize
    }
}
