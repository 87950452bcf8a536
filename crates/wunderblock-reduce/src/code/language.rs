//! The languages whose signs are known.

/// A language whose sources are recognised by their lines.
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

    /// Returns the position of the language in tables with one entry per language.
    pub(super) fn index(self) -> usize {
        self as usize
    }
}
