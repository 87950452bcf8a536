//! Addresses of content: a handle, with a range of positions if it names a session, or with a place in its text.

use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::limits::MAX_CANDIDATES;
use std::fmt;
use std::str::FromStr;
use wunderblock_core::id::{Handle, HandlePrefix, StreamId};
use wunderblock_core::units::Seq;
use wunderblock_store::{Answer, Query, StreamKind};

/// Address of content: a handle, and a range of positions if the handle names a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Handle of a session, a body or an imported file.
    pub handle: Handle,
    /// First and last position, both included. `None` addresses the whole content.
    pub range: Option<(Seq, Seq)>,
}

/// Part of the content to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Slice {
    /// The whole content.
    #[default]
    All,
    /// Range of lines, counted from 1, including both ends.
    Lines(u64, u64),
    /// Range of bytes, counted from 0, excluding the end. In a text, the range is widened to whole characters.
    Bytes(u64, u64),
    /// Value in a JSON text, verbatim, except that a whole string is returned unescaped. Paths have the form
    /// `$.a[0].b`, `/a/0/b` or `a[0].b`; items have the form `$.a[2..9]` and members the form `$.a{2..9}`, counted
    /// from 0 and including both ends; bytes of a string have the form `$.a#B0-64`.
    JsonPath(String),
    /// Lines that match a pattern, each prefixed with its number and a colon.
    Grep {
        /// Pattern to find.
        pattern: String,
        /// Whether the pattern is a regular expression.
        regex: bool,
    },
    /// Page sized for a model, counted from 1.
    Page(u64),
}

impl Address {
    /// Returns the address of one event of a session.
    pub(crate) fn of_event(engine: &Engine, session: &StreamId, seq: Seq) -> Self {
        Self { handle: engine.stream_handle(session), range: Some((seq, seq)) }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.range {
            None => self.handle.fmt(f),
            Some((from, to)) => f.write_str(&self.handle.range(from, to)),
        }
    }
}

impl FromStr for Address {
    type Err = Error;

    /// Parses a complete handle and an optional range of positions. [`Address::find`] also accepts the short handles
    /// and the places that marks print.
    fn from_str(text: &str) -> Result<Self, Error> {
        let (handle, place) = split(text);
        let range = place.map(positions).transpose()?;
        Ok(Self { handle: handle.parse()?, range })
    }
}

impl Address {
    /// Resolves an address as marks, reports and people write it. A handle is given by at least its first 8 digits,
    /// for example `wb:3f9c1a7b`. A `#` introduces positions of a session (`12-80`), lines (`L120-181`, from 1),
    /// bytes (`B100-200`, from 0, end excluded), or a path into JSON (`$.items[13..198]`). Returns the address and
    /// the part of its content.
    ///
    /// # Errors
    /// Returns an error if the address is invalid, or if its prefix matches no handle or several handles. If several
    /// handles match, the error lists them.
    pub fn find<'a>(engine: &'a Engine, text: &'a str) -> BoxFuture<'a, (Address, Slice)> {
        Box::pin(async move {
            let (handle, place) = split(text);
            let handle = find_handle(engine, handle).await?;
            Ok(match place {
                None => (Address { handle, range: None }, Slice::All),
                Some(place) if place.starts_with(|c: char| c.is_ascii_digit()) => {
                    (Address { handle, range: Some(positions(place)?) }, Slice::All)
                }
                Some(place) => (Address { handle, range: None }, place.parse()?),
            })
        })
    }
}

async fn find_handle(engine: &Engine, text: &str) -> Result<Handle, Error> {
    let HandlePrefix { first, last } = text.parse::<HandlePrefix>()?;
    if first == last {
        return Ok(first);
    }
    let query = Query::Handles {
        tenant: engine.tenant.no,
        of: StreamKind::Session,
        first,
        last,
        limit: MAX_CANDIDATES + 1,
    };
    match engine.ask(query, Answer::handles).await?.as_slice() {
        [] => Err(Error::NoHandle(text.to_owned())),
        [handle] => Ok(*handle),
        several => Err(Error::AmbiguousHandle { prefix: text.to_owned(), matches: several.to_vec() }),
    }
}

/// Splits an address at its first `#` into the handle and the place.
fn split(text: &str) -> (&str, Option<&str>) {
    text.split_once('#').map_or((text, None), |(handle, place)| (handle, Some(place)))
}

pub(crate) fn positions(range: &str) -> Result<(Seq, Seq), Error> {
    let (from, to) = numbers(range).ok_or_else(|| {
        Error::Address(format!(
            "invalid place `#{range}`: expected #12-80 (positions), #L120-181 (lines), #B100-200 (bytes) or \
             #$.items[13..198]"
        ))
    })?;
    Ok((Seq(from), Seq(to)))
}

/// Parses `12` or `12-80`. Returns `None` if the numbers are invalid or in descending order.
fn numbers(range: &str) -> Option<(u64, u64)> {
    let (from, to) = range.split_once('-').unwrap_or((range, range));
    let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
    (from <= to).then_some((from, to))
}

impl FromStr for Slice {
    type Err = Error;

    /// Parses a place in a text: `L120-181`, `B100-200`, `$.items[13..198]`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let place = text.strip_prefix('#').unwrap_or(text);
        if place.starts_with('$') {
            return Ok(Self::JsonPath(place.to_owned()));
        }
        let lines = place.strip_prefix('L').and_then(numbers).filter(|(from, _)| *from > 0);
        let bytes = || place.strip_prefix('B').and_then(numbers);
        match lines {
            Some((from, to)) => Ok(Self::Lines(from, to)),
            None => bytes().map(|(from, to)| Self::Bytes(from, to)).ok_or_else(|| {
                Error::Address(format!(
                    "invalid place `{text}`: expected L120-181 (lines), B100-200 (bytes) or $.items[13..198]"
                ))
            }),
        }
    }
}
