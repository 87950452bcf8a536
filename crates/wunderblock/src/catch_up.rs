//! The background's work: exact counts and the text index, in order, a batch at a time, restartable at any point.
//!
//! Nothing here is needed for an answer to be right: until it is done, counts are estimates that say so and search
//! scans what is left. Each batch is one transaction, so a crash loses at most the work of one.

use crate::engine::{Engine, unexpected};
use crate::error::Error;
use crate::gauge::count_body;
use crate::index::{DocKey, Segment, SegmentBuilder, SegmentMeta, merge, propose_merges};
use crate::limits::{CATCH_UP_BYTES, CATCH_UP_EVENTS, CATCH_UP_RETRIES};
use crate::parallel;
use crate::redact::Redactor;
use crate::store::{
    Answer, BodyCount, PackedSegment, Query, Reach, StoreError, StoredEvent, StreamInfo, StreamNo, Write,
};
use crate::tokens::Counted;
use std::collections::HashMap;
use std::ops::ControlFlow;
use wunderblock_core::event::Fact;
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Body, MediaForm, Message, Part};
use wunderblock_core::units::{Seq, Tokens};

/// How far the background has come, for a progress bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Events done.
    pub done: u64,
    /// Events in all.
    pub total: u64,
}

/// Events read for the background.
pub(crate) struct Spoken {
    pub(crate) documents: Vec<(DocKey, Vec<String>)>,
    pub(crate) last: Option<Seq>,
}

/// Events that one thread works on at a time.
const SHARE: usize = 64;

/// One event's share of a batch.
struct Work {
    seq: Seq,
    fact: Option<Fact>,
}

/// What became of it.
#[derive(Default)]
struct Done {
    tokens: u64,
    counts: Vec<(Handle, BodyCount)>,
    texts: Vec<String>,
    spoken: bool,
}

impl Engine {
    /// Counts and indexes whatever is waiting. `progress` is told after each batch.
    ///
    /// # Errors
    /// When the ledger cannot be used. What was done stays done.
    pub async fn catch_up(&self, progress: &mut dyn FnMut(Progress)) -> Result<(), Error> {
        // Another process may be at the same work. What it did first stands, and the rest is looked at anew.
        for _ in 0..CATCH_UP_RETRIES {
            if self.catch_up_once(progress).await?.is_continue() {
                break;
            }
        }
        self.merge_segments().await
    }

    async fn catch_up_once(&self, progress: &mut dyn FnMut(Progress)) -> Result<ControlFlow<()>, Error> {
        let query = Query::Behind { tenant: self.tenant.no, limit: u64::from(u32::MAX) };
        let Answer::Streams(mut behind) = self.one(query).await? else { return Err(unexpected()) };
        let open = |info: &StreamInfo| info.head.0 - info.counted.min(info.indexed).0;
        let total = behind.iter().map(open).sum();
        let mut done = 0;
        let mut batch = Batch::default();
        for info in &mut behind {
            let mut from = info.counted.min(info.indexed).next();
            while from <= info.head {
                let room = CATCH_UP_EVENTS.saturating_sub(batch.docs.len() as u64).max(1);
                let rows = self.page(info, from, (room, CATCH_UP_BYTES)).await?;
                let Some(last) = rows.last().map(|row| row.seq) else { break };
                done += rows.len() as u64;
                self.work_through(info, rows, &mut batch).await?;
                from = last.next();
                if batch.is_full() {
                    if self.store(std::mem::take(&mut batch)).await?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                    progress(Progress { done, total });
                }
            }
        }
        let stored = self.store(batch).await?;
        progress(Progress { done: total, total });
        Ok(stored)
    }

    async fn work_through(
        &self,
        info: &mut StreamInfo,
        rows: Vec<StoredEvent>,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let mut works = Vec::with_capacity(rows.len());
        for row in &rows {
            works.push(Work { seq: row.seq, fact: self.event(&info.id, row)?.fact });
        }
        let handles: Vec<Handle> = works
            .iter()
            .filter_map(|work| work.fact.as_ref())
            .flat_map(|fact| fact.bodies().into_iter().filter_map(Body::handle).collect::<Vec<_>>())
            .collect();
        let packed = self.packed(&handles).await?;
        let shares: Vec<&[Work]> = works.chunks(SHARE).collect();
        let done = parallel::map(shares, |share| {
            share.iter().map(|work| self.do_one(work, &packed)).collect::<Result<Vec<Done>, Error>>()
        })?;
        let mut tokens = Vec::new();
        for (work, done) in works.into_iter().zip(done.into_iter().flatten()) {
            if work.seq > info.counted {
                tokens.push((work.seq, Tokens(done.tokens)));
                batch.counts.extend(done.counts);
            }
            if work.seq > info.indexed {
                if done.spoken {
                    let key = DocKey { stream: info.no.0, seq: work.seq.0 };
                    batch.docs.push((key, done.texts));
                }
                let reach = Reach { stream: info.no, after: info.indexed, through: work.seq };
                batch.indexed.entry(info.no).or_insert(reach).through = work.seq;
                info.indexed = work.seq;
            }
        }
        batch.tallies.push((info.id.clone(), tokens));
        Ok(())
    }

    async fn packed(&self, handles: &[Handle]) -> Result<HashMap<Handle, Vec<u8>>, Error> {
        let query = Query::Blobs { tenant: self.tenant.no, handles: handles.to_vec() };
        let Answer::Blobs(blobs) = self.one(query).await? else { return Err(unexpected()) };
        Ok(blobs.into_iter().flatten().map(|blob| (blob.handle, blob.data)).collect())
    }

    fn do_one(&self, work: &Work, packed: &HashMap<Handle, Vec<u8>>) -> Result<Done, Error> {
        let mut done = Done::default();
        let Some(Fact::MessageAppended(said)) = &work.fact else {
            return self.others(work, packed, done);
        };
        done.spoken = true;
        for part in &said.message.parts {
            for (part, body) in leaves(part) {
                if is_data(part) {
                    continue;
                }
                let text = match body {
                    Body::Inline(text) => {
                        done.tokens += u64::from(Counted::of(text).o200k);
                        text.clone()
                    }
                    Body::Blob { blob, .. } => {
                        let Some(data) = packed.get(blob) else { continue };
                        let text = crate::store::codec::unpack_text(data)?;
                        let count = count_body(&text);
                        done.tokens += u64::from(count.o200k);
                        done.counts.push((*blob, count));
                        text
                    }
                };
                if is_searched(part) {
                    done.texts.push(redact(&self.config.redactor, &self.tenant.key, text));
                }
            }
        }
        Ok(done)
    }

    /// Facts that are no messages but hold bodies: those are counted, not searched.
    fn others(&self, work: &Work, packed: &HashMap<Handle, Vec<u8>>, mut done: Done) -> Result<Done, Error> {
        for body in work.fact.as_ref().map(Fact::bodies).unwrap_or_default() {
            if let Body::Blob { blob, .. } = body
                && let Some(data) = packed.get(blob)
            {
                done.counts.push((*blob, count_body(&crate::store::codec::unpack_text(data)?)));
            }
        }
        Ok(done)
    }

    /// Breaks off if another process has indexed some of it meanwhile.
    async fn store(&self, batch: Batch) -> Result<ControlFlow<()>, Error> {
        if batch.indexed.is_empty() && batch.tallies.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        let tenant = self.tenant.no;
        let mut writes = vec![Write::Counts { tenant, counts: batch.counts }];
        for (stream, tokens) in batch.tallies {
            writes.push(Write::Tallies { tenant, stream, tokens });
        }
        self.storage.commit(writes).await?;
        let indexed: Vec<Reach> = batch.indexed.into_values().collect();
        if indexed.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        let segment = if batch.docs.is_empty() { None } else { Some(packed_segment(&build(&batch.docs)?)?) };
        let write = Write::Segment { tenant, segment, replaces: Vec::new(), indexed };
        match self.storage.commit(vec![write]).await {
            Ok(_) => Ok(ControlFlow::Continue(())),
            Err(StoreError::HeadMoved { .. }) => Ok(ControlFlow::Break(())),
            Err(error) => Err(error.into()),
        }
    }

    async fn merge_segments(&self) -> Result<(), Error> {
        loop {
            let Answer::Segments(mut infos) = self.one(Query::Segments { tenant: self.tenant.no }).await?
            else {
                return Err(unexpected());
            };
            infos.reverse();
            let metas: Vec<SegmentMeta> = infos
                .iter()
                .map(|info| SegmentMeta {
                    id: info.id,
                    docs: usize::try_from(info.docs).unwrap_or(usize::MAX),
                    bytes: usize::try_from(info.bytes.0).unwrap_or(usize::MAX),
                })
                .collect();
            let jobs = propose_merges(&metas);
            if jobs.is_empty() {
                return Ok(());
            }
            for job in jobs {
                let mut parts = Vec::with_capacity(job.ids.len());
                for id in &job.ids {
                    let header = infos.iter().find(|info| info.id == *id).map(|info| info.header.clone());
                    parts.push(self.segment(*id, header.unwrap_or_default()).await?);
                }
                let merged = merge(&parts).map_err(damaged)?;
                self.swap(Some(&merged), job.ids).await?;
            }
        }
    }

    /// A whole segment.
    pub(crate) async fn segment(&self, id: u64, header: Vec<u8>) -> Result<Segment, Error> {
        let query = Query::SegmentBlocks { tenant: self.tenant.no, segment: id };
        let Answer::Blocks(blocks) = self.one(query).await? else { return Err(unexpected()) };
        Ok(Segment { header, blocks: blocks.into_iter().flatten().collect() })
    }

    /// Puts a segment in the place of others.
    pub(crate) async fn swap(&self, segment: Option<&Segment>, replaces: Vec<u64>) -> Result<(), Error> {
        let segment = segment.map(packed_segment).transpose()?;
        let write = Write::Segment { tenant: self.tenant.no, segment, replaces, indexed: Vec::new() };
        match self.storage.commit(vec![write]).await {
            Ok(_) | Err(StoreError::HeadMoved { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Events of a stream as the index sees them.
    pub(crate) async fn spoken(&self, info: &StreamInfo, from: Seq, limit: u64) -> Result<Spoken, Error> {
        let rows = self.page(info, from, (limit, CATCH_UP_BYTES)).await?;
        let mut spoken = Spoken { documents: Vec::new(), last: rows.last().map(|row| row.seq) };
        let facts = rows.iter().map(|row| self.event(&info.id, row).map(|event| (event.seq, event.fact)));
        let facts: Vec<_> = facts.collect::<Result<_, _>>()?;
        let handles: Vec<Handle> = facts
            .iter()
            .filter_map(|(_, fact)| fact.as_ref())
            .flat_map(|fact| fact.bodies().into_iter().filter_map(Body::handle).collect::<Vec<_>>())
            .collect();
        let texts = self.texts(handles).await?;
        for (seq, fact) in facts {
            if let Some(Fact::MessageAppended(said)) = fact {
                let key = DocKey { stream: info.no.0, seq: seq.0 };
                spoken.documents.push((key, self.redacted(&said.message, &texts)));
            }
        }
        Ok(spoken)
    }

    /// What of a message is searched, without its secrets.
    pub(crate) fn redacted(&self, message: &Message, texts: &crate::build::load::Texts) -> Vec<String> {
        use wunderblock_core::ports::Bodies;
        let bodies = message.parts.iter().flat_map(leaves).filter(|(part, _)| is_searched(part));
        bodies
            .filter_map(|(_, body)| match body {
                Body::Inline(text) => Some(text.clone()),
                Body::Blob { blob, .. } => texts.text(*blob).map(ToOwned::to_owned),
            })
            .map(|text| redact(&self.config.redactor, &self.tenant.key, text))
            .collect()
    }
}

fn redact(redactor: &Redactor, key: &[u8; 32], text: String) -> String {
    match redactor.redact_keyed(key, &text).text {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(redacted) => redacted,
    }
}

/// The parts that hold bodies themselves.
pub(crate) fn leaves(part: &Part) -> Vec<(&Part, &Body)> {
    match part {
        Part::ToolResult { content, .. } => content.iter().flat_map(leaves).collect(),
        Part::Text { text: body, .. }
        | Part::Thinking { text: body, .. }
        | Part::ToolCall { input: body, .. }
        | Part::Media { body, .. }
        | Part::Opaque { raw: body, .. } => vec![(part, body)],
    }
}

/// Whether people would look for words of it.
fn is_searched(part: &Part) -> bool {
    !matches!(part, Part::Media { .. })
}

/// A medium's own data is never counted: it is no text of a request, and the same letters elsewhere may be.
pub(crate) fn is_data(part: &Part) -> bool {
    matches!(part, Part::Media { form: MediaForm::Base64, .. })
}

#[derive(Default)]
struct Batch {
    counts: Vec<(Handle, BodyCount)>,
    tallies: Vec<(wunderblock_core::id::StreamId, Vec<(Seq, Tokens)>)>,
    docs: Vec<(DocKey, Vec<String>)>,
    indexed: HashMap<StreamNo, Reach>,
}

impl Batch {
    fn is_full(&self) -> bool {
        let texts: usize = self.docs.iter().flat_map(|(_, texts)| texts).map(String::len).sum();
        self.docs.len() as u64 >= CATCH_UP_EVENTS || texts as u64 >= CATCH_UP_BYTES.0
    }
}

fn build(docs: &[(DocKey, Vec<String>)]) -> Result<Segment, Error> {
    let mut builder = SegmentBuilder::new();
    for (key, texts) in docs {
        builder.add(*key, texts.iter().map(String::as_str)).map_err(damaged)?;
    }
    builder.finish().map_err(damaged)
}

fn packed_segment(segment: &Segment) -> Result<PackedSegment, Error> {
    let header = crate::index::Header::decode(&segment.header).map_err(damaged)?;
    Ok(PackedSegment {
        docs: header.len() as u64,
        header: segment.header.clone(),
        blocks: segment.blocks.clone(),
    })
}

fn damaged(error: crate::index::SegmentError) -> Error {
    Error::Store(StoreError::Damaged(format!("the text index: {error}; `doctor --rebuild` makes it anew")))
}
