//! What a stretch of a session holds that its people would miss: their words, rules, decisions, files, errors.

use super::cue::Cue;
use super::glean::{Sentence, glean};
use crate::summarize::task::Material;
use wunderblock_core::stub;
use wunderblock_core::units::Seq;

/// Bytes of a text that are told of.
const HEAD: usize = 240;

/// One thing somebody would miss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    /// Where it stands.
    pub at: Seq,
    /// What it says, on one line, secrets taken out.
    pub text: String,
}

/// What a stretch holds that its people would miss.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notable {
    /// What the user said.
    pub user_words: Vec<Noted>,
    /// Sentences of the user that rule something out, demand or prefer it.
    pub rules: Vec<Noted>,
    /// What was decided, by either.
    pub decisions: Vec<Noted>,
    /// Files that were made, changed or removed.
    pub files: Vec<Noted>,
    /// What went wrong.
    pub errors: Vec<Noted>,
}

/// What is notable in a stretch.
pub(crate) fn notable(material: &Material<'_>) -> Notable {
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
