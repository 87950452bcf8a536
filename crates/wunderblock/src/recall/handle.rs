//! Handle for what was recorded: searching it, and reading what an address names.

use crate::base::apart::{apart, apart_with};
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::ledger::reading::address::{Address, Slice};
use crate::recall::grep::{GrepOptions, GrepStop, Match, grep};
use crate::recall::read::{Content, read};
use crate::recall::search::{SearchOptions, SearchResult, search};
use crate::recall::summary_graph::describe::{Described, describe};
use crate::recall::summary_graph::expand::{Expand, Expanded, expand};
use std::ops::ControlFlow;

/// What was recorded in a ledger. See [`Engine::recall`].
#[derive(Clone, Debug)]
pub struct Recall {
    engine: Engine,
}

impl Engine {
    /// Returns the handle for what was recorded: searches, and the content of addresses.
    #[must_use]
    pub fn recall(&self) -> Recall {
        Recall { engine: self.clone() }
    }
}

impl Recall {
    /// Searches the messages of the ledger.
    ///
    /// # Errors
    /// Returns an error if the query has no searchable word, or if the ledger cannot be read.
    #[must_use]
    pub fn search<'a>(&self, query: &'a str, options: &'a SearchOptions) -> BoxFuture<'a, SearchResult> {
        let (engine, query, options) = (self.engine.clone(), query.to_owned(), options.clone());
        Box::pin(apart(move || async move { search(&engine, &query, &options).await }))
    }

    /// Searches the original texts for a pattern, newest first. `found` can stop the search. Returns the place at which
    /// the search was given up, or `None` if everything was searched or `found` has stopped it.
    ///
    /// # Errors
    /// Fails if the pattern is invalid, or if the ledger cannot be read.
    #[must_use]
    pub fn grep<'a>(
        &self,
        pattern_text: &'a str,
        options: &'a GrepOptions,
        found: &'a mut (dyn FnMut(Match) -> ControlFlow<()> + Send),
    ) -> BoxFuture<'a, Option<GrepStop>> {
        let (engine, pattern, options) = (self.engine.clone(), pattern_text.to_owned(), options.clone());
        Box::pin(apart_with(found, move |teller| async move {
            grep(&engine, &pattern, &options, &mut |found| teller.seen(found)).await
        }))
    }

    /// Reads the content that a handle names. For a body or a source, returns its exact bytes. For positions of a
    /// session, returns their events with full texts, one JSON object per line.
    ///
    /// # Errors
    /// Fails if the handle is unknown, if the part does not exist, or if the content was erased.
    #[must_use]
    pub fn read<'a>(&self, address: Address, slice: &'a Slice) -> BoxFuture<'a, Content> {
        let engine = self.engine.clone();
        Box::pin(async move { read(&engine, address, slice).await })
    }

    /// Shows the content of an address: the summaries from which a summary was made, the messages of a range, or a
    /// text. Page boundaries are the same for all callers, and do not move when the session grows.
    ///
    /// # Errors
    /// Fails if the handle is unknown, if the range contains no messages, if the page does not exist, or if the page
    /// size is below [`EXPAND_LEAST`](crate::EXPAND_LEAST) or above
    /// [`EXPAND_MOST`](crate::EXPAND_MOST) tokens.
    #[must_use]
    pub fn expand<'a>(&self, address: Address, wanted: &'a Expand) -> BoxFuture<'a, Expanded> {
        let engine = self.engine.clone();
        Box::pin(async move { expand(&engine, address, wanted).await })
    }

    /// Describes a node and the nodes beneath it. A node is addressed by the position of its event in the session
    /// (`wb:SESSION#SEQ`), by the positions it covers (`wb:SESSION#FROM-TO`), or by the handle of its text.
    ///
    /// # Errors
    /// Fails if the handle is unknown or does not name a node. The error lists nearby nodes.
    #[must_use]
    pub fn describe(&self, address: Address) -> BoxFuture<'static, Described> {
        let engine = self.engine.clone();
        Box::pin(async move { describe(&engine, address).await })
    }
}
