//! Exact search in the originals: newest first, streamed, no index between the bytes and the answer.

use crate::engine::{Engine, unexpected};
use crate::error::Error;
use crate::limits::GREP_PAGE;
use crate::store::{Answer, Order, Query, StoredEvent, codec};
use memchr::memmem;
use std::collections::HashMap;
use std::ops::ControlFlow;
use wunderblock_core::event::Fact;
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::{Body, Part, Role};
use wunderblock_core::units::{Bytes, Millis, Seq};

/// What to look for, and where.
#[derive(Clone, Debug, Default)]
pub struct GrepOptions {
    /// Only this session, with what it forked from; every session if none.
    pub session: Option<StreamId>,
    /// Take the pattern as a regular expression.
    pub regex: bool,
    /// Ignore case.
    pub ignore_case: bool,
}

/// One line that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The session that holds it.
    pub session: StreamId,
    /// The position.
    pub seq: Seq,
    /// When it happened.
    pub at: Millis,
    /// Who spoke.
    pub role: Role,
    /// The body's handle, where it has one.
    pub handle: Option<Handle>,
    /// The line in the body, counted from 1.
    pub line: u64,
    /// The line, without its end.
    pub text: String,
}

/// Text that one page holds in memory at most.
const PAGE_TEXT: Bytes = Bytes(24 << 20);

enum Pattern {
    Literal(Box<memmem::Finder<'static>>),
    Regex(regex::Regex),
}

impl Pattern {
    fn new(pattern: &str, options: &GrepOptions) -> Result<Self, Error> {
        if pattern.is_empty() {
            return Err(Error::Query("the pattern is empty, and would match every line".to_owned()));
        }
        if !options.regex && !options.ignore_case {
            return Ok(Self::Literal(Box::new(memmem::Finder::new(pattern.as_bytes()).into_owned())));
        }
        let source = if options.regex { pattern.to_owned() } else { regex::escape(pattern) };
        regex::RegexBuilder::new(&source)
            .case_insensitive(options.ignore_case)
            .multi_line(true)
            .build()
            .map(Self::Regex)
            .map_err(|error| Error::Pattern(error.to_string()))
    }

    /// The lines that match: number, and where they begin and end.
    fn lines(&self, text: &str) -> Vec<(u64, usize, usize)> {
        let mut lines = Vec::new();
        let (mut from, mut number, mut counted) = (0, 1u64, 0);
        while let Some(at) = text.get(from..).and_then(|rest| self.find(rest)).map(|at| from + at) {
            let bytes = text.as_bytes();
            let start = bytes.get(..at).and_then(|head| memchr::memrchr(b'\n', head)).map_or(0, |at| at + 1);
            let end = bytes
                .get(at..)
                .and_then(|rest| memchr::memchr(b'\n', rest))
                .map_or(text.len(), |end| at + end);
            number +=
                memchr::memchr_iter(b'\n', bytes.get(counted..start).unwrap_or_default()).count() as u64;
            counted = start;
            lines.push((number, start, end));
            if end >= text.len() {
                break;
            }
            from = end + 1;
        }
        lines
    }

    fn find(&self, text: &str) -> Option<usize> {
        match self {
            Self::Literal(finder) => finder.find(text.as_bytes()),
            Self::Regex(regex) => regex.find(text).map(|found| found.start()),
        }
    }
}

impl Engine {
    /// Looks for a pattern in the originals, newest first; `found` may say when it is enough.
    ///
    /// # Errors
    /// When the pattern is no pattern, or the ledger cannot be read.
    pub async fn grep(
        &self,
        pattern: &str,
        options: &GrepOptions,
        found: &mut (dyn FnMut(Match) -> ControlFlow<()> + Send),
    ) -> Result<(), Error> {
        let pattern = Pattern::new(pattern, options)?;
        let streams = match &options.session {
            Some(session) => vec![(session.clone(), Seq::START)],
            None => {
                let all = self.streams("", u64::from(u32::MAX)).await?;
                // What a fork shares is found with the session it is shared with.
                all.into_iter()
                    .map(|info| (info.id, info.fork.map_or(Seq::START, |(_, base)| base)))
                    .collect()
            }
        };
        for (stream, base) in streams {
            let mut to = Seq(i64::MAX.unsigned_abs());
            loop {
                let query = Query::Events {
                    tenant: self.tenant.no,
                    stream: stream.clone(),
                    from: base.next(),
                    to,
                    order: Order::Descending,
                    limit: GREP_PAGE,
                    text: PAGE_TEXT,
                    counts: false,
                };
                let rows = match self.one(query).await {
                    Err(Error::Store(crate::store::StoreError::NoStream(id))) => {
                        return Err(Error::NoSession(id.to_string()));
                    }
                    Ok(Answer::Events(rows)) => rows,
                    Ok(_) => return Err(unexpected()),
                    Err(error) => return Err(error),
                };
                let Some(last) = rows.last().map(|row| row.seq) else { break };
                if self.grep_page(&stream, &rows, &pattern, found).await?.is_break() {
                    return Ok(());
                }
                if last <= base.next() {
                    break;
                }
                to = last.prev();
            }
        }
        Ok(())
    }

    async fn grep_page(
        &self,
        stream: &StreamId,
        rows: &[StoredEvent],
        pattern: &Pattern,
        found: &mut (dyn FnMut(Match) -> ControlFlow<()> + Send),
    ) -> Result<ControlFlow<()>, Error> {
        let mut facts = Vec::with_capacity(rows.len());
        let mut handles = Vec::new();
        for row in rows {
            let fact = self.event(stream, row)?.fact;
            handles.extend(fact.iter().flat_map(Fact::bodies).filter_map(Body::handle));
            facts.push((row, fact));
        }
        let Answer::Blobs(blobs) = self.one(Query::Blobs { tenant: self.tenant.no, handles }).await? else {
            return Err(unexpected());
        };
        let packed: HashMap<Handle, Vec<u8>> =
            blobs.into_iter().flatten().map(|blob| (blob.handle, blob.data)).collect();
        let search = |part: &[(&StoredEvent, Option<Fact>)]| -> Result<Vec<Match>, Error> {
            let mut matches = Vec::new();
            for (row, fact) in part {
                if let Some(fact) = fact {
                    event_matches((stream, row), fact, (pattern, &packed), &mut matches)?;
                }
            }
            Ok(matches)
        };
        let (newer, older) = facts.split_at(facts.len() / 2);
        let (first, second) = std::thread::scope(|scope| {
            let other = scope.spawn(|| search(older));
            (search(newer), other.join())
        });
        let second = second.map_err(|_| Error::Config("a searching thread ended early".to_owned()))?;
        for one in first?.into_iter().chain(second?) {
            if found(one).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn event_matches(
    (stream, row): (&StreamId, &StoredEvent),
    fact: &Fact,
    (pattern, packed): (&Pattern, &HashMap<Handle, Vec<u8>>),
    matches: &mut Vec<Match>,
) -> Result<(), Error> {
    let role = match fact {
        Fact::MessageAppended(said) => said.message.role,
        _ => Role::System,
    };
    let media: Vec<&Body> = match fact {
        Fact::MessageAppended(said) => said.message.parts.iter().flat_map(media_bodies).collect(),
        _ => Vec::new(),
    };
    for body in fact.bodies() {
        if media.iter().any(|other| std::ptr::eq(*other, body)) {
            continue;
        }
        let unpacked;
        let text = match body {
            Body::Inline(text) => text.as_str(),
            Body::Blob { blob, .. } => match packed.get(blob) {
                Some(data) => {
                    unpacked = codec::unpack_text(data)?;
                    unpacked.as_str()
                }
                None => continue,
            },
        };
        for (line, start, end) in pattern.lines(text) {
            matches.push(Match {
                session: stream.clone(),
                seq: row.seq,
                at: row.at,
                role,
                handle: body.handle(),
                line,
                text: text.get(start..end).unwrap_or_default().to_owned(),
            });
        }
    }
    Ok(())
}

/// Base64 is no text to look through.
fn media_bodies(part: &Part) -> Vec<&Body> {
    match part {
        Part::Media { body, .. } => vec![body],
        Part::ToolResult { content, .. } => content.iter().flat_map(media_bodies).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_whole() {
        let pattern = Pattern::new("b", &GrepOptions::default()).unwrap();
        assert_eq!(pattern.lines("a\nb\nc\nbb\n"), [(2, 2, 3), (4, 6, 8)]);
        assert_eq!(pattern.lines("b"), [(1, 0, 1)]);
        assert!(pattern.lines("xyz").is_empty());
    }

    #[test]
    fn a_pattern_that_is_none_is_an_error() {
        let regex = GrepOptions { regex: true, ..GrepOptions::default() };
        assert!(Pattern::new("(", &regex).is_err());
        assert!(Pattern::new("(foo|bar){2}", &regex).is_ok());
        assert!(Pattern::new("", &regex).is_err());
    }
}
