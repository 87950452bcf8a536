//! Texts that refer to sessions: their forms, without the ledger.

use super::error::FindError;
use std::path::Path;
use wunderblock::holds_sessions;
use wunderblock_core::units::Seq;

/// Positions that a place names: the first and the last.
pub type Positions = Option<(Seq, Seq)>;

/// A place in a session, such as `ID#12-80`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place<'t> {
    /// Text before the `#`.
    pub(crate) session: &'t str,
    /// First and last position.
    pub(crate) range: (Seq, Seq),
}

/// A path, and the conversation that it selects, such as `chat.md#12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileReference<'t> {
    /// Path of the file, or any other text.
    pub(crate) file: &'t str,
    /// Text after the `#`.
    pub(crate) wanted: Option<&'t str>,
}

/// Parses `12` or `12-80`.
#[must_use]
pub fn range(text: &str) -> Option<(u64, u64)> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    match (from.trim().parse(), to.trim().parse()) {
        (Ok(from), Ok(to)) if from <= to => Some((from, to)),
        _ => None,
    }
}

/// Splits `SESSION#12` or `SESSION#12-80`.
pub(crate) fn split_place(text: &str) -> Option<Place<'_>> {
    let (session, place) = text.rsplit_once('#')?;
    // `FILE#12` is the twelfth conversation of a file.
    let is_file = Path::new(session).is_file();
    let (from, to) = range(place).filter(|_| !is_file)?;
    Some(Place { session, range: (Seq(from), Seq(to)) })
}

/// Returns whether a text is a place in a session: `SESSION#12-80`, provided that no file has this name or contains
/// conversations.
#[must_use]
pub fn is_place(text: &str) -> bool {
    split_place(text).is_some() && !Path::new(text).exists()
}

/// Splits a path from the conversation it selects. An existing file with a `#` in its name is not split.
pub(crate) fn split_file(text: &str) -> FileReference<'_> {
    match text.rsplit_once('#') {
        Some((file, wanted)) if !Path::new(text).exists() && Path::new(file).is_file() => {
            FileReference { file, wanted: Some(wanted) }
        }
        _ => FileReference { file: text, wanted: None },
    }
}

/// A separator or a leading dot makes a text a path.
pub(crate) fn is_path(text: &str) -> bool {
    text.starts_with('.') || text.contains(std::path::is_separator)
}

/// Returns whether a text ends like the name of a transcript file.
pub(crate) fn has_ending(text: &str) -> bool {
    let ending = Path::new(text).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| matches!(ending, "jsonl" | "json" | "md" | "ndjson"))
}

/// Returns whether a path may contain many transcripts: a folder, a database or an export.
#[must_use]
pub fn holds_many(path: &Path) -> bool {
    path.is_dir() || holds_sessions(path)
}

/// Returns whether a path is a file, or a session in a database or in an export.
///
/// # Errors
/// Fails for a pipe or a device, because opening it may block forever.
pub fn is_transcript(path: &Path) -> Result<bool, FindError> {
    let Ok(meta) = path.metadata() else { return Ok(path.parent().is_some_and(holds_sessions)) };
    if meta.is_file() {
        return Ok(true);
    }
    if meta.is_dir() { Ok(false) } else { Err(FindError::Special(path.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_a_session_and_a_range() {
        let place = |session, from, to| Some(Place { session, range: (Seq(from), Seq(to)) });
        assert_eq!(split_place("3f9c#12"), place("3f9c", 12, 12));
        assert_eq!(split_place("a#b#12 - 80"), place("a#b", 12, 80));
        for text in ["3f9c", "3f9c#", "3f9c#80-12", "3f9c#-1", "3f9c#12-"] {
            assert_eq!(split_place(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_after_a_file_selects_a_conversation() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("chat.md");
        std::fs::write(&file, "").unwrap();
        let file = file.to_string_lossy();
        let text = format!("{file}#12");
        assert_eq!(split_file(&text), FileReference { file: &file, wanted: Some("12") });
        assert_eq!(split_place(&text), None);
        assert_eq!(split_file("3f9c#12"), FileReference { file: "3f9c#12", wanted: None });
    }
}
