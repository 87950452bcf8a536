//! Why settings cannot be changed.

use std::path::PathBuf;

/// A file of settings that cannot be changed, and the reason. The file stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot change `{}`: {problem}", path.display())]
pub struct SettingsError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub problem: SettingsProblem,
}

/// The reason why settings cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsProblem {
    /// The file is not UTF-8.
    #[error("the file is not UTF-8")]
    NotText,
    /// The file is not valid in its format.
    #[error("line {line}: {reason}; fix the file and try again")]
    Invalid {
        /// Line of the error, from 1.
        line: usize,
        /// The parser's message.
        reason: String,
    },
    /// A value has another type than the agent expects.
    #[error("line {line}: `{key}` must be {expected}; fix the file and try again")]
    Type {
        /// Line of the value, from 1.
        line: usize,
        /// Key of the value, with dots between its parts. `settings` for the whole file.
        key: String,
        /// Expected type.
        expected: &'static str,
    },
    /// A key occurs more than once, so that an edit of it has no effect.
    #[error("`{key}` cannot be changed, because the file contains it twice; remove one and try again")]
    Repeated {
        /// The key, or the one that contains it.
        key: String,
    },
    /// An entry, or a file, has our name and somebody else's content.
    #[error("`{key}` exists and was not added by this program; rename or remove it and try again")]
    Taken {
        /// Key of the entry, or name of the file.
        key: String,
    },
}
