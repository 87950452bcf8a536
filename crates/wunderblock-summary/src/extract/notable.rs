//! Content that people would miss from a stretch: the user's words, rules, decisions, files and errors.

use super::glean::{Sentence, glean};
use super::language::cue::Cue;
use crate::task::Material;
use wunderblock_core::stub;
use wunderblock_core::units::Seq;

/// Maximum number of bytes kept of a text.
const HEAD: usize = 240;

/// A piece of content that people would miss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    /// Position of the content in the session.
    pub at: Seq,
    /// The content on one line, without secrets.
    pub text: String,
}

/// Content that people would miss from a stretch, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notable {
    /// Messages of the user.
    pub user_words: Vec<Noted>,
    /// Sentences in which the user prohibits, demands or prefers something.
    pub rules: Vec<Noted>,
    /// Decisions made by the user or the model.
    pub decisions: Vec<Noted>,
    /// Files that were created, changed or removed.
    pub files: Vec<Noted>,
    /// Errors that occurred.
    pub errors: Vec<Noted>,
}

/// Returns the notable content of a stretch.
pub fn notable(material: &Material<'_>) -> Notable {
    let found = glean(material);
    let sentence = |said: &Sentence| noted(said.at, &said.text);
    let by_user = found.sentences(Cue::Constraint).iter().filter(|said| said.by_user);
    Notable {
        user_words: found.users.iter().map(|said| noted(said.at, &said.text)).collect(),
        rules: by_user.map(sentence).collect(),
        decisions: found.sentences(Cue::Decision).iter().map(sentence).collect(),
        files: found
            .files
            .iter()
            .filter(|file| file.is_changed())
            .map(|file| noted(file.last_changed, &file.path))
            .collect(),
        errors: found.troubles.iter().map(|trouble| noted(trouble.at, &trouble.line)).collect(),
    }
}

fn noted(at: Seq, text: &str) -> Noted {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let head = stub::head(&line, HEAD);
    let more = if head.len() < line.len() { "…" } else { "" };
    Noted { at, text: format!("{head}{more}") }
}
