//! Reads whatever an address names as a text, page by page.

mod masked;

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::base::hint::Hint;
use crate::ledger::engine::Engine;
use crate::ledger::reading::address::{Address, Slice};
use crate::ledger::session::Session;
use crate::recall::summary_graph::Expand;
use wunderblock_core::units::Seq;
use wunderblock_store::{Answer, HandleTarget, Query, StreamKind};

/// A page, for an agent, of the text that an address names. Secrets are shown as asterisks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPage {
    /// Address of the content.
    pub address: String,
    /// Text of the page. Invalid UTF-8 is replaced.
    pub text: String,
    /// Page number, counted from 1.
    pub page: u64,
    /// Total number of pages.
    pub pages: u64,
    /// Number of matches that are not on the page, if there is a query.
    pub more: Option<u64>,
}

impl ReadPage {
    /// Reads a page of what an address or a place of the form `SESSION#12-80` names. Messages and summaries are shown
    /// as [`crate::Recall::expand`] shows them; imported files, and places within a text, as [`crate::Recall::read`]
    /// does. A query selects the best matches of the former and the matching lines of the latter.
    ///
    /// # Errors
    /// Fails if nothing has this address, if the page does not exist, or if the content was erased.
    pub fn of<'a>(engine: &'a Engine, text: &'a str, wanted: &'a Expand) -> BoxFuture<'a, Self> {
        Box::pin(async move {
            let (address, slice) = Address::of_place(engine, text).await?;
            let wanted = &Expand { masked: true, ..wanted.clone() };
            if slice == Slice::All {
                match engine.recall().expand(address, wanted).await {
                    // A range without messages, and an imported file, are not expanded.
                    Err(Error::OtherAddress { hint: Hint::Read { .. }, .. }) => {}
                    expanded => {
                        let found = expanded?;
                        let (page, pages, more) = (found.page, found.pages, found.more);
                        return Ok(Self { address: found.address, text: found.text, page, pages, more });
                    }
                }
            }
            masked::read(engine, address, &slice, wanted).await
        })
    }
}

impl Address {
    /// Resolves an address, or a place of the form `SESSION` or `SESSION#12-80` with an id or a short id.
    ///
    /// # Errors
    /// See [`Address::find`] and [`Engine::find_session`].
    pub fn of_place<'a>(engine: &'a Engine, text: &'a str) -> BoxFuture<'a, (Self, Slice)> {
        Box::pin(async move {
            if text.starts_with("wb:") {
                return Self::find(engine, text).await;
            }
            // An id may contain a `#`, so the whole text is tried first.
            let (session, range) = match (engine.find_session(text).await, text.rsplit_once('#')) {
                (Err(Error::NoSession(_)), Some((id, place))) => {
                    (engine.find_session(id).await?, Some(crate::ledger::reading::address::positions(place)?))
                }
                (found, _) => (found?, None),
            };
            Ok((Self { handle: session.info().await?.handle, range }, Slice::All))
        })
    }

    /// Returns the session and the position that an address names.
    ///
    /// # Errors
    /// Fails if the address does not name exactly one position of a session.
    pub fn entry<'a>(&'a self, engine: &'a Engine) -> BoxFuture<'a, (Session, Seq)> {
        Box::pin(async move {
            let query =
                Query::Resolve { tenant: engine.tenant.no, of: StreamKind::Session, handle: self.handle };
            match (engine.ask(query, Answer::named).await?, self.range) {
                (Some(HandleTarget::Stream(id)), Some((from, to))) if from == to => {
                    Ok((engine.session_by_id(id), from))
                }
                (Some(HandleTarget::Stream(..)), _) => Err(Error::Address(format!(
                    "{self} names several messages: give one position, such as {}#12",
                    self.handle
                ))),
                (Some(_), _) => Err(Error::Address(format!(
                    "{self} names a text: give a position of a session, such as SESSION#12"
                ))),
                (None, _) => Err(Error::NoHandle(self.handle.to_string())),
            }
        })
    }
}
