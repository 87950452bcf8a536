//! A question as a person types it: words to look for, and cues about its answer.

use crate::ranking::cues::Cues;
use crate::searching::asked::WordForm;
use crate::searching::query::{ParsedQuery, QueryError};

/// A question, or a query with operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    query: ParsedQuery,
    pub(crate) cues: Cues,
}

impl Question {
    /// Parses a question, or a query with the operators of [`ParsedQuery::parse`]. A word without an operator is looked
    /// for in all its forms, and words that say nothing about a subject are left out if others remain: "why did the
    /// build fail" looks for `build` and `fail`.
    ///
    /// # Errors
    /// Fails as [`ParsedQuery::parse`] does.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        Self::read(text, ParsedQuery::parse_as)
    }

    /// Uses a text of any length as a question without operators. Words beyond the limits of a query are left out.
    ///
    /// # Errors
    /// Fails if the text does not contain a letter or a digit.
    pub fn from_text(text: &str) -> Result<Self, QueryError> {
        Self::read(text, ParsedQuery::from_text_as)
    }

    fn read(
        text: &str,
        parse: impl Fn(&str, WordForm) -> Result<ParsedQuery, QueryError>,
    ) -> Result<Self, QueryError> {
        let query = match parse(text, WordForm::Stem) {
            Err(QueryError::Nothing { .. } | QueryError::OnlyExcluded) => parse(text, WordForm::Written),
            query => query,
        };
        Ok(Self { query: query?, cues: Cues::of(text) })
    }

    /// Returns the words to look for: what the tail is scanned for, the blocks that are read, and the phrases.
    #[must_use]
    pub const fn query(&self) -> &ParsedQuery {
        &self.query
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let query = Question::parse(text).map(|question| question.query);
        query.map_or_else(
            |error| error.to_string(),
            |query| query.terms.iter().map(crate::searching::term::Term::shown).collect::<Vec<_>>().join(" "),
        )
    }

    #[test]
    fn a_question_looks_for_its_subject_in_all_forms() {
        for (text, expected) in [
            ("why did the build fail", "~build ~fail"),
            ("Why did the build fail?", "~build ~fail"),
            ("What's Caroline's cat called?", "~call ~carolin ~cat"),
            ("who are you?", "are who you"),
            ("where is parseConfig defined", "~config ~defin ~pars parseconfig"),
            ("+the builds", "~build the"),
            ("errors -\"the build\"", "build ~error the"),
            ("数据库为什么连接失败", "失败 据库 数据 连接 接失"),
            ("为什么", "为什 什么"),
            (
                "???",
                "`???` has nothing to search for: the index holds words; give at least one letter or digit, or use grep",
            ),
        ] {
            let sorted = |text: &str| {
                let mut words: Vec<_> = text.split(' ').map(str::to_owned).collect();
                words.sort();
                words
            };
            assert_eq!(sorted(&shown(text)), sorted(expected), "{text}");
        }
        let long = "why ".repeat(25_000) + "build";
        assert_eq!(Question::from_text(&long).unwrap().query.terms.len(), 1);
    }
}
