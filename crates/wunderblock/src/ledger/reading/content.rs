//! Content that an address names, which is copied piece by piece, so that a part of a large text takes little memory.

use crate::base::error::Error;
use crate::ledger::engine::Engine;
use crate::ledger::reading::originals::{copy_source, source_info};
use crate::ledger::reading::stored::read_texts;
use crate::ledger::session::Session;
use crate::limits::MAX_DOCUMENT;
use std::io::{Result as Written, Write};
use wunderblock_core::id::Handle;
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::Seq;
use wunderblock_store::{Answer, HandleTarget, Query, SourceInfo, StreamKind};

/// Content that exists.
pub(crate) enum NamedContent {
    /// A text in memory.
    Held(Vec<u8>),
    /// An imported file, or output that was kept as bytes.
    Source(SourceInfo),
    /// Events of a session as JSON lines with full texts.
    Events(Session, (Seq, Seq)),
}

impl NamedContent {
    /// Finds the content that a handle names; of a session, a range of positions.
    ///
    /// # Errors
    /// Fails if the handle is unknown, or if its text was erased.
    pub(crate) async fn find(
        engine: &Engine,
        handle: Handle,
        range: Option<(Seq, Seq)>,
    ) -> Result<Self, Error> {
        let no_handle = || Error::NoHandle(handle.to_string());
        let query = Query::Resolve { tenant: engine.tenant.no, of: StreamKind::Session, handle };
        Ok(match engine.ask(query, Answer::named).await?.ok_or_else(no_handle)? {
            HandleTarget::Blob => {
                let texts = read_texts(engine, [handle]).await?;
                Self::Held(texts.text(handle).ok_or_else(no_handle)?.as_bytes().to_vec())
            }
            HandleTarget::Stream(stream) => {
                let range = range.unwrap_or((Seq(1), Seq(i64::MAX.unsigned_abs())));
                Self::Events(engine.session_by_id(stream), range)
            }
            HandleTarget::Source(source, revision) => {
                Self::Source(source_info(engine, source, revision).await?)
            }
        })
    }

    /// Returns the length in bytes.
    ///
    /// # Errors
    /// Fails if the session has no events in the range.
    pub(crate) async fn len(&self, engine: &Engine) -> Result<u64, Error> {
        match self {
            Self::Held(bytes) => Ok(bytes.len() as u64),
            Self::Source(info) => Ok(info.revision.len),
            Self::Events(..) => {
                let mut len = 0;
                self.copy(engine, 0, u64::MAX, &mut |bytes| len += bytes.len() as u64).await?;
                if len > 0 { Ok(len) } else { Err(self.empty()) }
            }
        }
    }

    /// Returns the whole content.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read, or if the session has no events in the range.
    pub(crate) async fn whole(self, engine: &Engine) -> Result<Vec<u8>, Error> {
        let bytes = match self {
            Self::Held(bytes) => return Ok(bytes),
            _ => self.part(engine, 0, u64::MAX).await?,
        };
        if bytes.is_empty() && matches!(self, Self::Events(..)) { Err(self.empty()) } else { Ok(bytes) }
    }

    fn empty(&self) -> Error {
        let range =
            if let Self::Events(_, (from, to)) = self { format!(" {from} to {to}") } else { String::new() };
        Error::Address(format!("the session has no positions{range}"))
    }

    /// Returns a range of bytes, excluding its end.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read.
    pub(crate) async fn part(&self, engine: &Engine, from: u64, to: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.copy(engine, from, to, &mut |piece| bytes.extend_from_slice(piece)).await?;
        Ok(bytes)
    }

    /// Passes a range of bytes, excluding its end, to a function, piece by piece.
    ///
    /// # Errors
    /// Fails if the ledger cannot be read.
    pub(crate) async fn copy(
        &self,
        engine: &Engine,
        from: u64,
        to: u64,
        take: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<(), Error> {
        match self {
            Self::Held(bytes) => {
                let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                take(bytes.get(index(from)..index(to)).unwrap_or_default());
            }
            Self::Source(info) => {
                copy_source(engine, info, from, to.min(info.revision.len), &mut Window::whole(take)).await?;
            }
            Self::Events(session, (first, last)) => {
                let mut window = Window { at: 0, from, to, take };
                session.export(*first, *last, &mut window).await?;
            }
        }
        Ok(())
    }

    /// Returns whether the content is small enough to be read as a whole.
    pub(crate) const fn is_small(&self) -> bool {
        match self {
            Self::Held(_) => true,
            Self::Source(info) => info.revision.len <= MAX_DOCUMENT,
            Self::Events(..) => false,
        }
    }
}

/// Writer that passes on what is written within a range.
struct Window<'t> {
    at: u64,
    from: u64,
    to: u64,
    take: &'t mut (dyn FnMut(&[u8]) + Send),
}

impl<'t> Window<'t> {
    fn whole(take: &'t mut (dyn FnMut(&[u8]) + Send)) -> Self {
        Self { at: 0, from: 0, to: u64::MAX, take }
    }
}

impl Write for Window<'_> {
    fn write(&mut self, bytes: &[u8]) -> Written<usize> {
        let index =
            |at: u64| usize::try_from(at.saturating_sub(self.at)).unwrap_or(usize::MAX).min(bytes.len());
        let part = bytes.get(index(self.from)..index(self.to)).unwrap_or_default();
        if !part.is_empty() {
            (self.take)(part);
        }
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Written<()> {
        Ok(())
    }
}
