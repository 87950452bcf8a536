//! What a search is asked for.

use super::ground::Ground;
use super::hit::SearchCut;
use super::meaning::Meaning;
use crate::base::deadline::Deadline;
use crate::ledger::engine::Engine;
use crate::recall::catch_up::SEARCHED;
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_embed::Table;
use wunderblock_index::{ParsedQuery as Words, Question};
use wunderblock_store::{EventFilter, StreamFilter, StreamKind};

/// Where a search looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchIn {
    /// Sessions and documents.
    #[default]
    Everything,
    /// Only sessions.
    Sessions,
    /// Only documents that a person added.
    Documents,
}

impl SearchIn {
    /// Returns the kinds of the streams that are searched.
    pub(crate) const fn kinds(self) -> &'static [StreamKind] {
        match self {
            Self::Everything => &SEARCHED,
            Self::Sessions => &[StreamKind::Session],
            Self::Documents => &[StreamKind::Document],
        }
    }
}

/// Order of hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchOrder {
    /// Best hits first.
    Ranked,
    /// Newest first.
    Newest,
}

/// Options of a search.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Whether to search sessions, documents, or both, if `session` is `None`.
    pub within: SearchIn,
    /// Session to search, including the events before its fork. `None` searches all sessions of the tenant.
    pub session: Option<StreamId>,
    /// Session to leave out, if `session` is `None`: with its branches and sub-agents, and the sessions that it continues.
    pub except: Option<StreamId>,
    /// Position of a session before which its own events are searched, together with those that it shares with the
    /// sessions that it continues. Its later events are left out.
    pub before: Option<(StreamId, Seq)>,
    /// Order of the hits: best first or newest first.
    pub order: SearchOrder,
    /// Maximum number of hits.
    pub limit: usize,
    /// Maximum number of tokens (o200k) of the texts of all hits together. A hit that does not fit is passed over, and
    /// later ones may fit.
    pub tokens: Option<Tokens>,
    /// Whether the query is plain text, in which there are no operators and every word is optional.
    pub free_text: bool,
    /// Whether to return no hits if more messages wait for the index than a search scans quickly.
    pub brief: bool,
    /// Sessions to search, if `session` is `None`. Documents must pass the filter, too.
    pub sessions: StreamFilter,
    /// Filter for the messages.
    pub events: EventFilter,
    /// Whether to leave out texts that are kept as bytes: outputs of commands that are too long for a message, and
    /// records that are too long to be parsed. A brief search leaves them out, too.
    pub messages_only: bool,
    /// Whether to compare the meaning of texts, too. A brief search, one for a single word and one for the newest never
    /// do.
    pub meaning: bool,
    /// Time at which the search is given up.
    pub deadline: Deadline,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            within: SearchIn::default(),
            session: None,
            except: None,
            before: None,
            order: SearchOrder::Ranked,
            limit: 10,
            tokens: None,
            free_text: false,
            brief: false,
            sessions: StreamFilter::default(),
            events: EventFilter::default(),
            messages_only: false,
            meaning: true,
            deadline: Deadline::default(),
        }
    }
}

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
