//! Checks phrases against the texts of documents.

use crate::searching::query::{Clause, ClauseRule, ParsedQuery, Phrase};
use crate::searching::request::SearchError;
use crate::storing::docs::DocKey;

/// Checks a query's phrases against texts.
pub(crate) struct Checker<'a, C> {
    /// Phrases, each with a flag: if true, the text must contain the phrase; otherwise, it must not.
    pub(crate) phrases: Vec<(&'a Phrase, bool)>,
    check: C,
}

impl<'a, C> Checker<'a, C> {
    pub(crate) fn of(query: &'a ParsedQuery, check: C) -> Self {
        let phrase = |clause: &'a Clause| {
            clause.phrase.as_ref().map(|phrase| (phrase, clause.need != ClauseRule::MustNot))
        };
        Self { phrases: query.clauses.iter().filter_map(phrase).collect(), check }
    }

    pub(crate) fn passes<E>(&mut self, doc: DocKey) -> Result<bool, SearchError<E>>
    where
        C: FnMut(DocKey, &Phrase) -> Result<bool, E>,
    {
        for (phrase, wanted) in &self.phrases {
            if (self.check)(doc, phrase).map_err(SearchError::Source)? != *wanted {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
