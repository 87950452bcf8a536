//! A question, with what a search needs to know about it.

use super::ground::Ground;
use super::hit::SearchCut;
use super::meaning::Meaning;
use super::options::{SearchOptions, SearchOrder};
use crate::ledger::engine::Engine;
use wunderblock_embed::Table;
use wunderblock_index::{ParsedQuery as Words, Question};

/// A question, and what it is asked for.
pub(super) struct Task<'a> {
    pub(super) engine: &'a Engine,
    pub(super) question: &'a Question,
    /// Whether the question is one word: a name or a literal.
    pub(super) is_word: bool,
    /// Meaning of the question, if it is to be compared and a model knows its words.
    pub(super) meaning: Option<Meaning<'a>>,
    /// Reason why vectors of another model than the table are not compared, although they should be.
    pub(super) degraded: Option<SearchCut>,
    pub(super) options: &'a SearchOptions,
}

impl<'a> Task<'a> {
    pub(super) fn new(
        engine: &'a Engine,
        text: &str,
        question: &'a Question,
        options: &'a SearchOptions,
        ground: &Ground,
    ) -> Self {
        let is_word = text.split_whitespace().nth(1).is_none();
        let is_ranked = options.order == SearchOrder::Ranked && !options.brief;
        let compares = options.meaning && is_ranked && !is_word;
        let asked = || -> Vec<&str> {
            // What is excluded is not what is meant.
            text.split_whitespace().filter(|word| options.free_text || !word.starts_with('-')).collect()
        };
        let mut task = Self { engine, question, is_word, meaning: None, degraded: None, options };
        if compares {
            let text = asked().join(" ");
            let (other, degraded) = ground.ask_embedder(engine, &text, &options.deadline);
            let table = Table::embedded().vector(&text);
            task.degraded = degraded;
            task.meaning = (table.is_some() || other.is_some()).then_some(Meaning { table, other });
        }
        task
    }

    /// Returns the words to look for.
    pub(super) fn words(&self) -> &'a Words {
        self.question.query()
    }
}
