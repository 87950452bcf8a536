//! Terms of a word or a phrase in a query.

use crate::passages::lists;
use crate::searching::term::Term;
use crate::words::{Lexeme, cut, pairs, stem};

/// Words that a query asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordForm {
    /// Words as written, except for their plurals.
    Written,
    /// All words with the same stem. Words that say nothing about a subject are left out.
    Stem,
}

/// Terms of a text in a query.
#[derive(Default)]
pub(crate) struct AskedTerms {
    pub(crate) pieces: Vec<Term>,
    /// Whole terms of identifiers.
    pub(crate) wholes: Vec<Term>,
}

impl AskedTerms {
    pub(crate) fn of(text: &str, form: WordForm) -> Self {
        let mut terms = Self::default();
        let text = match form {
            WordForm::Written => text.into(),
            WordForm::Stem => lists::without_chinese_stop_words(text),
        };
        cut(&text, |part| match part {
            Lexeme::Piece(word) => terms.add_piece(word, form),
            Lexeme::Whole(word) => stem(word, &mut |term: &[u8]| terms.wholes.push(Term::exact(term))),
            Lexeme::Run(run) => {
                let last = pairs(run, &mut |pair: &[u8]| terms.pieces.push(Term::exact(pair)));
                if last.len() == run.len() {
                    terms.pieces.push(Term::prefix(last.as_bytes()));
                }
            }
        });
        terms
    }

    fn add_piece(&mut self, word: &[u8], form: WordForm) {
        match form {
            WordForm::Written => stem(word, &mut |term: &[u8]| self.pieces.push(Term::exact(term))),
            WordForm::Stem if lists::is_stop_word(word) => {}
            WordForm::Stem => stem(word, &mut |term: &[u8]| self.pieces.push(Term::stem(term))),
        }
    }
}
