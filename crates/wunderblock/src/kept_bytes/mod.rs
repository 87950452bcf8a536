//! Texts that are kept as bytes of a source, with a message that stands for them: the output of a command that is too
//! long for a message or is not UTF-8, and a record of a transcript that is too long to be parsed.
//!
//! No body holds these texts and the index does not contain them, so a search reads them window by window.

mod windows;

pub(crate) use windows::{AROUND, Window, masked, shown_part};

use crate::deadline::Deadline;
use crate::engine::Engine;
use crate::error::Error;
use crate::future::BoxFuture;
use crate::limits::MAX_LINE;
use crate::originals::copy_source;
use crate::output::{BYTES, OUTPUT_KEYS, RESULT};
use crate::query_batch::QueryBatch;
use crate::search::{SearchOptions, SearchOrder};
use crate::store::{Answer, EventFilter, Query, SourceFilter, SourceInfo, SourceSpan, StoreError, StreamNo};
use crate::stored::decode_event;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use windows::{WINDOW, Windows};
use wunderblock_core::event::{EventSource, Fact};
use wunderblock_core::id::{Handle, StreamId};
use wunderblock_core::message::MessageOrigin;
use wunderblock_core::units::Seq;

/// Reason for which the message of a record that is too long to be parsed is not part of any request.
pub(crate) const LONG_RECORD: &str = "long record";
/// Words of that message.
pub(crate) const TOO_LONG: &str = "too long to be parsed";

/// Text that is kept as bytes.
#[derive(Clone, Debug)]
pub(crate) struct KeptText {
    pub(crate) source: SourceInfo,
    /// First byte of the text in the source, and one past its last.
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// Texts that are kept as bytes, by the places of the messages that stand for them.
pub(crate) type KeptTexts = BTreeMap<(StreamNo, Seq), KeptText>;

/// Place in a text that is kept as bytes. It is printed and serialised as an address, for [`crate::Engine::read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BytePlace {
    /// Handle of the bytes.
    pub handle: Handle,
    /// Offset of the first byte.
    pub from: u64,
    /// Offset one past the last byte.
    pub to: u64,
}

impl BytePlace {
    /// Returns the address with a short handle, for people.
    #[must_use]
    pub fn short(&self) -> String {
        format!("{}#B{}-{}", self.handle.short(), self.from, self.to)
    }
}

impl fmt::Display for BytePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#B{}-{}", self.handle, self.from, self.to)
    }
}

impl Serialize for BytePlace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl KeptText {
    /// Returns the whole text of a source.
    pub(crate) const fn whole(source: SourceInfo) -> Self {
        let to = source.revision.len;
        Self { source, from: 0, to }
    }

    /// Returns the bytes of the source that the text takes.
    pub(crate) const fn span(&self) -> SourceSpan {
        let (source, revision) = (self.source.handle, self.source.revision.no);
        SourceSpan { source, revision, offset: self.from, len: self.to.saturating_sub(self.from) }
    }

    /// Returns the place of bytes of the source.
    pub(crate) const fn place(&self, (from, to): (u64, u64)) -> BytePlace {
        BytePlace { handle: self.source.revision.handle, from, to }
    }

    /// Passes the text to `each` in windows, each with at least `around` bytes of the text before and after it, until
    /// `each` breaks. Each window is read in a turn of the deadline.
    ///
    /// # Errors
    /// Fails if bytes of the text are damaged or missing.
    pub(crate) async fn each_window(
        &self,
        engine: &Engine,
        (around, deadline): (usize, &Deadline),
        each: &mut (dyn FnMut(Window) -> Result<ControlFlow<()>, Error> + Send),
    ) -> Result<ControlFlow<()>, Error> {
        let (mut windows, mut at) = (Windows::new(self.from, around), self.from);
        loop {
            let _turn = deadline.turn().await;
            let end = self.to.min(at.saturating_add(WINDOW as u64));
            if copy_source(engine, &self.source, (at, end), &mut windows.rest).await? < end.saturating_sub(at)
            {
                let why = format!("bytes {at} to {end} of `{}` are missing", self.source.key);
                return Err(Error::Store(StoreError::Damaged(why)));
            }
            at = end;
            while let Some(window) = windows.next(at == self.to) {
                if each(window)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            if at == self.to {
                return Ok(ControlFlow::Continue(()));
            }
        }
    }
}

/// Returns all texts of the tenant that are kept as bytes.
pub(crate) fn kept_texts(engine: &Engine) -> BoxFuture<'_, KeptTexts> {
    Box::pin(async move {
        let (tenant, mut batch) = (engine.tenant.no, QueryBatch::default());
        let all = SourceFilter { older: true, ..SourceFilter::default() };
        let outputs = SourceFilter { prefix: OUTPUT_KEYS.to_owned(), ..all.clone() };
        let long = SourceFilter { min_len: MAX_LINE as u64, ..all };
        let outputs = batch.ask(Query::Sources { tenant, filter: outputs }, Answer::sources);
        let long = batch.ask(Query::Sources { tenant, filter: long }, Answer::sources);
        let mut answers = engine.ask_all(batch).await?;
        let (mut outputs, mut long) = (answers.take(outputs)?, answers.take(long)?);
        outputs.retain(|info| info.revision.format == BYTES);
        long.retain(|info| info.revision.format != BYTES);
        if outputs.is_empty() && long.is_empty() {
            return Ok(KeptTexts::new());
        }
        let mut batch = QueryBatch::default();
        let readers = outputs.iter().map(|info| {
            let (source, revision) = (info.no, Some(info.revision.no));
            batch.ask(Query::ReadFrom { tenant, source, revision }, Answer::streams)
        });
        let readers: Vec<_> = readers.collect();
        let mut answers = engine.ask_all(batch).await?;
        let mut texts = KeptTexts::new();
        for (source, readers) in outputs.into_iter().zip(readers) {
            for reader in answers.take(readers)? {
                texts.insert((reader.no, RESULT), KeptText::whole(source.clone()));
            }
        }
        // Only a large file can contain a long record.
        if !long.is_empty() {
            texts.extend(long_records(engine, &long).await?);
        }
        Ok(texts)
    })
}

/// Returns the records of sources that are too long to be parsed. Their messages are found by their words.
async fn long_records(engine: &Engine, sources: &[SourceInfo]) -> Result<KeptTexts, Error> {
    let options = SearchOptions {
        order: SearchOrder::Newest,
        limit: usize::MAX,
        messages_only: true,
        ..SearchOptions::default()
    };
    let mut by_stream: BTreeMap<StreamId, Vec<Seq>> = BTreeMap::new();
    for hit in engine.search(&format!("\"{TOO_LONG}\""), &options).await?.hits {
        by_stream.entry(hit.session).or_default().push(hit.seq);
    }
    let mut texts = KeptTexts::new();
    for (stream, seqs) in by_stream {
        let (tenant, filter) = (engine.tenant.no, EventFilter::default());
        let query = Query::At { tenant, stream: stream.clone(), seqs, filter };
        for row in engine.ask(query, Answer::events).await? {
            let event = decode_event(engine, &stream, &row)?;
            let Some(Fact::MessageAppended(said)) = event.fact else { continue };
            // Anyone may quote the words, but only an import gives a message this origin.
            let is_long = said.message.standing == MessageOrigin::Aside(LONG_RECORD.into());
            let EventSource::Import { source, revision, offset, len } = event.source else { continue };
            let holds = |info: &&SourceInfo| info.handle == source && info.revision.no == revision;
            if let Some(info) = sources.iter().find(holds).filter(|_| is_long) {
                let text = KeptText { source: info.clone(), from: offset, to: offset.saturating_add(len) };
                texts.insert((row.stream, row.seq), text);
            }
        }
    }
    Ok(texts)
}
