//! Forgetting for good: content, and everything that was made from it.

use crate::echo::beginning;
use crate::engine::{Engine, unexpected};
use crate::error::Error;
use crate::index::{DocKey, Header, without};
use crate::record::pack;
use crate::session::Session;
use crate::store::{
    Answer, Marked, Named, PackedSegment, Query, SourceNo, SourceSpan, StreamInfo, Stretch, Write, Written,
};
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::event::{ContentErased, Event, Fact, NewEvent, Source};
use wunderblock_core::id::{EventId, Handle, StreamId};
use wunderblock_core::message::Body;
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::units::{Bytes, Seq};

/// The receipt of an erasure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Events that lost their content.
    pub events: u64,
    /// Bodies removed because nothing else held them.
    pub blobs: u64,
    /// Bytes of imported sources overwritten.
    pub source_bytes: Bytes,
    /// Where the receipt stands in the session.
    pub receipt: Option<Seq>,
}

/// What one stream loses.
struct Loss {
    stream: StreamId,
    seqs: BTreeSet<Seq>,
    spans: Vec<SourceSpan>,
}

impl Session {
    /// Erases the content of a range of positions, and all that was made from it: bodies nothing else holds, the raw
    /// records of the imported source, recalled copies, foreign summaries, index entries. Positions, times and kinds
    /// stay, and a receipt is appended. A fork shares its history, so what is erased is erased in all of them.
    ///
    /// # Errors
    /// When there is no such session, or the ledger cannot be written.
    pub async fn erase(&self, from: Seq, to: Seq, reason: Option<&str>) -> Result<Erased, Error> {
        let erased = self.forget((from, to), reason, &BTreeSet::new()).await?;
        self.engine.scrubbed().await?;
        Ok(erased)
    }

    /// Erases a range; sources in `whole` are wiped whole by whoever asks, and not looked through.
    async fn forget(
        &self,
        (from, to): (Seq, Seq),
        reason: Option<&str>,
        whole: &BTreeSet<SourceNo>,
    ) -> Result<Erased, Error> {
        let info = self.info().await?;
        let (from, to) = (from.max(Seq(1)), to.min(info.head));
        if from > to {
            return Err(Error::Address(format!("the session has positions 1 to {}", info.head)));
        }
        let mut losses = self.losses(from, to).await?;
        self.echoed((from, to), &mut losses, whole).await?;
        let mut writes = self.engine.unindexed(&losses).await?;
        let swaps = writes.len();
        for loss in &losses {
            writes.push(Write::Erase {
                tenant: self.engine.tenant.no,
                stream: loss.stream.clone(),
                seqs: loss.seqs.iter().copied().collect(),
                spans: loss.spans.clone(),
            });
        }
        let mut erased = Erased::default();
        for written in self.engine.storage.commit(writes).await?.into_iter().skip(swaps) {
            if let Written::Erased { events, blobs, source_bytes } = written {
                erased.events += events;
                erased.blobs += blobs;
                erased.source_bytes += source_bytes;
            }
        }
        let fact = Fact::ContentErased(ContentErased {
            from_seq: from,
            to_seq: to,
            events: erased.events,
            blobs: erased.blobs,
            source_bytes: erased.source_bytes,
            reason: reason.map(Into::into),
        });
        let id = EventId::new(format!("content.erased@{}:{from}-{to}", info.head.next()))?;
        let event = NewEvent { id, at: self.engine.now(), source: Source::Engine, fact };
        let events = pack(&self.engine.tenant.key, vec![event])?;
        let append = Write::Append {
            tenant: self.engine.tenant.no,
            stream: self.id.clone(),
            expect_head: None,
            events,
        };
        if let Some(Written::Appended(done)) = self.engine.storage.commit(vec![append]).await?.pop() {
            erased.receipt = done.first().map(|one| one.seq);
        }
        Ok(erased)
    }

    /// Erases a whole session with all its branches, and the file it was imported from where that holds nothing else.
    ///
    /// # Errors
    /// As [`Session::erase`].
    pub async fn erase_all(&self, reason: Option<&str>) -> Result<Erased, Error> {
        let streams = self.engine.streams("", u64::from(u32::MAX)).await?;
        let family = family(&self.id, &streams);
        let mut sum = Erased::default();
        let (mut sources, mut shared) = (BTreeSet::new(), BTreeSet::new());
        for info in &streams {
            if family.contains(&info.id) { sources.extend(info.source) } else { shared.extend(info.source) }
        }
        let whole: BTreeSet<SourceNo> = sources.difference(&shared).copied().collect();
        for info in streams.into_iter().filter(|info| family.contains(&info.id)) {
            let erased = self.engine.session(info.id).forget((Seq(1), info.head), reason, &whole).await?;
            sum.events += erased.events;
            sum.blobs += erased.blobs;
            sum.source_bytes += erased.source_bytes;
            sum.receipt = erased.receipt;
        }
        for source in whole {
            let info = self.engine.source_info(source).await?;
            let spans = (1..=info.revision.saturating_add(1))
                .map(|revision| SourceSpan { source: info.handle, revision, offset: 0, len: u64::MAX })
                .collect();
            let write = Write::Erase {
                tenant: self.engine.tenant.no,
                stream: self.id.clone(),
                seqs: Vec::new(),
                spans,
            };
            if let Some(Written::Erased { source_bytes, .. }) =
                self.engine.storage.commit(vec![write]).await?.pop()
            {
                sum.source_bytes += source_bytes;
            }
        }
        self.engine.scrubbed().await?;
        Ok(sum)
    }

    /// Adds the records of imported files that say once more what is lost, and that no event points at.
    async fn echoed(
        &self,
        (from, to): (Seq, Seq),
        losses: &mut [Loss],
        whole: &BTreeSet<SourceNo>,
    ) -> Result<(), Error> {
        let Some(first) = losses.first_mut() else { return Ok(()) };
        let mut sources = BTreeSet::new();
        for handle in first.spans.iter().map(|span| span.source).collect::<BTreeSet<Handle>>() {
            let named = self.engine.one(Query::Resolve { tenant: self.engine.tenant.no, handle }).await?;
            if let Answer::Named(Some(Named::Source(no))) = named {
                sources.insert(no);
            }
        }
        sources.retain(|no| !whole.contains(no));
        if sources.is_empty() {
            return Ok(());
        }
        let mut beginnings = Vec::new();
        let mut next = from;
        while next <= to {
            let events = self.events(next, to, (512, Bytes(8 << 20))).await?;
            let Some(last) = events.last().map(|event| event.seq) else { break };
            let facts: Vec<&Fact> = events.iter().filter_map(|event| event.fact.as_ref()).collect();
            let bodies = || facts.iter().flat_map(|fact| fact.bodies());
            let texts = self.engine.texts(bodies().filter_map(Body::handle).collect::<Vec<_>>()).await?;
            let text = |body: &'_ Body| match body {
                Body::Inline(text) => beginning(text),
                Body::Blob { blob, .. } => texts.text(*blob).and_then(beginning),
            };
            beginnings.extend(bodies().filter_map(text));
            next = last.next();
        }
        beginnings.sort_unstable();
        beginnings.dedup();
        if beginnings.is_empty() {
            return Ok(());
        }
        for no in sources {
            let source = self.engine.source_info(no).await?;
            first.spans.extend(self.engine.echoes(source, &beginnings).await?);
        }
        Ok(())
    }

    /// What every stream loses: the range itself, and what was made from it here and in forks.
    async fn losses(&self, from: Seq, to: Seq) -> Result<Vec<Loss>, Error> {
        let own = self.engine.stretches(&self.id).await?;
        let holders: BTreeSet<&StreamId> =
            own.iter().filter(|part| part.from <= to && from <= part.to).map(|part| &part.stream).collect();
        let mut losses = vec![Loss { stream: self.id.clone(), seqs: BTreeSet::new(), spans: Vec::new() }];
        for info in self.engine.streams("", u64::from(u32::MAX)).await? {
            let line = self.engine.stretches(&info.id).await?;
            let shares =
                line.iter().any(|part| holders.contains(&part.stream) && part.from <= to && from <= part.to);
            if info.id != self.id && shares && !own.iter().any(|part| part.stream == info.id) {
                losses.push(Loss { stream: info.id, seqs: BTreeSet::new(), spans: Vec::new() });
            }
        }
        for loss in &mut losses {
            self.engine.made_from(loss, (from, to)).await?;
        }
        let mut next = from;
        while next <= to {
            let events = self.events(next, to, (2_048, Bytes(i64::MAX.unsigned_abs()))).await?;
            let Some(last) = events.last().map(|event| event.seq) else { break };
            let Some(first) = losses.first_mut() else { break };
            for event in events {
                note(first, &event);
            }
            next = last.next();
        }
        losses.retain(|loss| !loss.seqs.is_empty());
        Ok(losses)
    }
}

/// A session, what it forked from, and all that forked from any of them.
fn family(id: &StreamId, streams: &[StreamInfo]) -> BTreeSet<StreamId> {
    let parents: BTreeMap<&StreamId, &StreamId> =
        streams.iter().filter_map(|info| Some((&info.id, &info.fork.as_ref()?.0))).collect();
    let root = |id| std::iter::successors(Some(id), |id| parents.get(id).copied()).last();
    let own = root(id);
    streams.iter().map(|info| &info.id).filter(|id| root(id) == own).cloned().collect()
}

/// Notes an event of the range. What opens a stream, steers a view or measures says nothing of the content and stays.
fn note(loss: &mut Loss, event: &Event) {
    let stays = matches!(
        event.fact,
        None | Some(
            Fact::SessionForked(_) | Fact::ContentErased(_) | Fact::ViewTrimmed(_) | Fact::SessionOpened(_)
        )
    );
    if let Source::Import { source, revision, offset, len } = event.source {
        loss.spans.push(SourceSpan { source, revision, offset, len });
    }
    if !stays {
        loss.seqs.insert(event.seq);
    }
}

impl Engine {
    pub(crate) async fn stretches(&self, stream: &StreamId) -> Result<Vec<Stretch>, Error> {
        match self.one(Query::Lineage { tenant: self.tenant.no, stream: stream.clone() }).await? {
            Answer::Lineage(stretches) => Ok(stretches),
            _ => Err(unexpected()),
        }
    }

    /// Events outside the range that carry something of it: recalled copies, requests that recalled it, summaries.
    async fn made_from(&self, loss: &mut Loss, (from, to): (Seq, Seq)) -> Result<(), Error> {
        let inside = |seq: Seq| from <= seq && seq <= to;
        for kind in ["context.injected", "session.compacted", "content.reduced"] {
            let query = Query::Marked {
                tenant: self.tenant.no,
                stream: loss.stream.clone(),
                what: Marked::Kind(kind),
                to: Seq(i64::MAX.unsigned_abs()),
                limit: u64::from(u32::MAX),
            };
            let Answer::Events(rows) = self.one(query).await? else { return Err(unexpected()) };
            for row in rows {
                let carries = match self.event(&loss.stream, &row)?.fact {
                    Some(Fact::ContextInjected(injected)) => {
                        injected.items.iter().any(|item| inside(item.from_seq))
                    }
                    Some(Fact::ContextBuilt(built)) => {
                        built.plan.inject.iter().any(|item| inside(item.from_seq))
                    }
                    Some(Fact::SessionCompacted(made)) => {
                        made.summary.is_some() && made.from_seq <= to && from <= made.to_seq
                    }
                    Some(Fact::ContentReduced(reduced)) => inside(reduced.target),
                    _ => false,
                };
                if carries {
                    let event = self.event(&loss.stream, &row)?;
                    note(loss, &event);
                }
            }
        }
        Ok(())
    }

    /// The writes that take what is lost out of the text index.
    async fn unindexed(&self, losses: &[Loss]) -> Result<Vec<Write>, Error> {
        let mut gone: BTreeSet<(u32, u64)> = BTreeSet::new();
        for loss in losses {
            let line = self.stretches(&loss.stream).await?;
            for seq in &loss.seqs {
                let holder = line.iter().find(|part| part.from <= *seq && *seq <= part.to);
                gone.extend(holder.map(|part| (part.no.0, seq.0)));
            }
        }
        let Answer::Segments(segments) = self.one(Query::Segments { tenant: self.tenant.no }).await? else {
            return Err(unexpected());
        };
        let damaged = |error: crate::index::SegmentError| {
            Error::Store(crate::store::StoreError::Damaged(format!(
                "the text index: {error}; `doctor --rebuild` makes it anew"
            )))
        };
        let is_gone = |key: DocKey| gone.contains(&(key.stream, key.seq));
        let mut writes = Vec::new();
        for info in segments {
            let header = Header::decode(&info.header).map_err(damaged)?;
            if !header.docs().any(is_gone) {
                continue;
            }
            let segment = self.segment(info.id, info.header.clone()).await?;
            let rest = without(&segment, is_gone).map_err(damaged)?;
            let docs = Header::decode(&rest.header).map_err(damaged)?.len() as u64;
            let packed = PackedSegment { docs, header: rest.header, blocks: rest.blocks };
            writes.push(Write::Segment {
                tenant: self.tenant.no,
                segment: (docs > 0).then_some(packed),
                replaces: vec![info.id],
                indexed: Vec::new(),
            });
        }
        Ok(writes)
    }
}
