//! Texts that are kept as bytes of a source, with a message in their place: the output of a command that is too
//! long for a message or is not UTF-8, and a record of a transcript that is too long to be parsed.
//!
//! No body holds these texts and the index does not contain them, so a search reads them window by window.

mod windows;

pub(crate) use windows::{AROUND, Window, masked, shown_part};

use crate::base::deadline::Deadline;
use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::originals::copy_source;
use crate::ledger::reading::query_batch::QueryBatch;
use crate::ledger::recording::output::{OUTPUT_KEYS, RESULT};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use windows::{WINDOW, Windows};
use wunderblock_core::id::Handle;
use wunderblock_core::units::Seq;
use wunderblock_store::{Answer, BYTES, Query, SourceFilter, SourceInfo, SourceSpan, StoreError, StreamNo};

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

/// Texts that are kept as bytes, by the places of the messages that name them.
pub(crate) type KeptTexts = BTreeMap<(StreamNo, Seq), KeptText>;

/// Place in a text that is kept as bytes. It is printed and serialised as an address, for [`crate::Recall::read`].
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
    pub(crate) const fn place(&self, from: u64, to: u64) -> BytePlace {
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
        around: usize,
        deadline: &Deadline,
        each: &mut (dyn FnMut(Window) -> Result<ControlFlow<()>, Error> + Send),
    ) -> Result<ControlFlow<()>, Error> {
        let (mut windows, mut at) = (Windows::new(self.from, around), self.from);
        loop {
            let _turn = deadline.turn().await;
            let end = self.to.min(at.saturating_add(WINDOW as u64));
            if copy_source(engine, &self.source, at, end, &mut windows.rest).await? < end.saturating_sub(at) {
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

/// Returns the outputs of the tenant that are kept as bytes.
pub(crate) async fn kept_outputs(engine: &Engine) -> Result<KeptTexts, Error> {
    let tenant = engine.tenant.no;
    let filter = SourceFilter { prefix: OUTPUT_KEYS.to_owned(), older: true, ..SourceFilter::default() };
    let mut outputs = engine.ask(Query::Sources { tenant, filter }, Answer::sources).await?;
    outputs.retain(|info| info.revision.format == BYTES);
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
    Ok(texts)
}
