//! Forgetting for good: content, and everything that was made from it.
//!
//! What was erased does not come back by another import: the ledger keeps its coordinates (the session's own id, the
//! records' own ids, ranges of bytes), and no content or hash of it.

use crate::echo::{Hit, Wanted, beginning};
use crate::engine::{Engine, unexpected};
use crate::error::Error;
use crate::import::nameless;
use crate::index::{DocKey, Header, without};
use crate::record::pack;
use crate::session::Session;
use crate::store::{
    Answer, Erasure, Marked, PackedSegment, Query, SourceInfo, SourceNo, SourceSpan, StreamInfo, Stretch,
    Write, Written, codec,
};
use std::collections::{BTreeMap, BTreeSet};
use wunderblock_core::event::{ContentErased, Event, Fact, NewEvent, Source};
use wunderblock_core::id::{EventId, Handle, StreamId};
use wunderblock_core::message::Body;
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::units::{Bytes, Seq};

/// The receipt of an erasure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Events that lost their content.
    pub events: u64,
    /// Bodies removed because nothing else held them.
    pub blobs: u64,
    /// Bytes of imported sources overwritten.
    pub source_bytes: Bytes,
    /// Where the receipt stands in the session.
    pub receipt: Option<Seq>,
    /// Sessions of sub-agents that were left.
    pub children: Vec<StreamId>,
    /// Sessions that share records with it and were left.
    pub copies: Vec<StreamId>,
}

/// What goes with a session that is erased whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Along {
    /// The sessions of its sub-agents.
    pub children: bool,
    /// Sessions that went on from it under other ids, and copies of it.
    pub copies: bool,
}

/// What one stream loses.
struct Loss {
    stream: StreamId,
    seqs: BTreeSet<Seq>,
    /// By what records without ids are found from now on, where they stand.
    places: Vec<(i64, Seq)>,
}

/// What is erased, and what of it the imported files hold.
#[derive(Default)]
struct Range {
    spans: Vec<SourceSpan>,
    /// Ids of records.
    records: BTreeSet<String>,
    /// Beginnings of texts.
    beginnings: Vec<String>,
}

impl Session {
    /// Erases the content of a range of positions, and all that was made from it: bodies nothing else holds, the raw
    /// records in every source of the session, recalled copies, foreign summaries, index entries. Positions, times and
    /// kinds stay, and a receipt is appended. A fork shares its history, so what is erased is erased in all of them.
    ///
    /// # Errors
    /// When there is no such session, or the ledger cannot be written.
    pub async fn erase(&self, from: Seq, to: Seq, reason: Option<&str>) -> Result<Erased, Error> {
        let info = self.info().await?;
        let (from, to) = (from.max(Seq(1)), to.min(info.head));
        if from > to {
            return Err(Error::Address(format!("the session has positions 1 to {}", info.head)));
        }
        let streams = self.engine.streams("", u64::from(u32::MAX)).await?;
        let own = own_streams(&self.id, &streams);
        let mut range = self.range(from, to).await?;
        let wanted = Wanted {
            sessions: BTreeSet::from([native(&self.id).to_owned()]),
            whole: false,
            records: range.records.clone(),
            beginnings: std::mem::take(&mut range.beginnings),
        };
        let mut erasures: BTreeSet<Erasure> = BTreeSet::new();
        for source in self.engine.sources_of(&own).await? {
            for hit in self.engine.hits(source, wanted.clone()).await? {
                range.spans.push(hit.span);
                erasures.insert(Erasure { session: hit.session, record: Some(hit.record) });
            }
        }
        let session = native(&self.id);
        erasures.extend(
            range
                .records
                .iter()
                .map(|record| Erasure { session: session.to_owned(), record: Some(record.clone()) }),
        );
        let raw = (range.spans, erasures.into_iter().collect());
        let erased = self.forget((from, to), reason, (&streams, &own), raw).await?;
        self.engine.scrubbed().await?;
        Ok(erased)
    }

    /// Erases a whole session with all its branches, and its records in every file it was read from.
    ///
    /// # Errors
    /// As [`Session::erase`].
    pub async fn erase_all(&self, reason: Option<&str>, along: Along) -> Result<Erased, Error> {
        let streams = self.engine.streams("", u64::from(u32::MAX)).await?;
        let mut own = own_streams(&self.id, &streams);
        let (children, copies) = loop {
            let before = own.len();
            let children = relatives(&own, &streams, is_child);
            let copies = relatives(&own, &streams, is_copy);
            own.extend(children.iter().filter(|_| along.children).cloned());
            own.extend(copies.iter().filter(|_| along.copies).cloned());
            if own.len() == before {
                break (children, copies);
            }
        };
        let sessions: BTreeSet<String> = own.iter().map(|id| native(id).to_owned()).collect();
        let (mut spans, mut erasures) = self.engine.records_of(&own, &sessions).await?;
        let mut sum = Erased::default();
        for info in streams.iter().filter(|info| own.contains(&info.id)) {
            let base = info.fork.as_ref().filter(|(parent, _)| !own.contains(parent));
            let from = base.map_or(Seq(1), |(_, base)| base.next());
            if from > info.head {
                continue;
            }
            let session = self.engine.session(info.id.clone());
            // What a live agent said has no file; its ids must not come back by one either.
            let live = session.range(from, info.head).await?.records.into_iter();
            let name = native(&info.id).to_owned();
            erasures.extend(live.map(|record| Erasure { session: name.clone(), record: Some(record) }));
            let raw = (std::mem::take(&mut spans), std::mem::take(&mut erasures).into_iter().collect());
            let erased = session.forget((from, info.head), reason, (&streams, &own), raw).await?;
            sum.events += erased.events;
            sum.blobs += erased.blobs;
            sum.source_bytes += erased.source_bytes;
            sum.receipt = erased.receipt;
        }
        self.engine.scrubbed().await?;
        sum.children = children.into_iter().collect();
        sum.copies = copies.into_iter().collect();
        Ok(sum)
    }

    /// Erases a range of positions and what is given of imported files.
    async fn forget(
        &self,
        (from, to): (Seq, Seq),
        reason: Option<&str>,
        (streams, own): (&[StreamInfo], &BTreeSet<StreamId>),
        (spans, erasures): (Vec<SourceSpan>, Vec<Erasure>),
    ) -> Result<Erased, Error> {
        let tenant = self.engine.tenant.no;
        // Records of events are found twice: by the event, and by their ids.
        let spans: BTreeSet<SourceSpan> = spans.into_iter().collect();
        let spans: Vec<SourceSpan> = spans.into_iter().collect();
        let losses = self.losses((from, to), streams).await?;
        let mut writes = self.engine.unindexed(&losses).await?;
        writes.extend(self.engine.unshared(&spans, own).await?);
        let mut raw = Some((spans, erasures));
        for Loss { stream, seqs, places } in losses {
            let (spans, erasures) = raw.take().unwrap_or_default();
            let seqs = seqs.into_iter().collect();
            writes.push(Write::Erase { tenant, stream: stream.clone(), seqs, spans, erasures });
            writes.push(Write::Records { tenant, stream, records: places });
        }
        if let Some((spans, erasures)) = raw {
            let stream = self.id.clone();
            writes.push(Write::Erase { tenant, stream, seqs: Vec::new(), spans, erasures });
        }
        let mut erased = Erased::default();
        for written in self.engine.storage.commit(writes).await? {
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
        let head = self.info().await?.head;
        let id = EventId::new(format!("content.erased@{}:{from}-{to}", head.next()))?;
        let event = NewEvent { id, at: self.engine.now(), source: Source::Engine, fact };
        let events = pack(&self.engine.tenant.key, vec![event])?;
        let append = Write::Append { tenant, stream: self.id.clone(), expect_head: None, events };
        if let Some(Written::Appended(done)) = self.engine.storage.commit(vec![append]).await?.pop() {
            erased.receipt = done.first().map(|one| one.seq);
        }
        Ok(erased)
    }

    /// Where the events of a range came from, and what their texts begin with.
    async fn range(&self, from: Seq, to: Seq) -> Result<Range, Error> {
        let mut range = Range::default();
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
            range.beginnings.extend(bodies().filter_map(text));
            for event in &events {
                if let Source::Import { source, revision, offset, len } = event.source {
                    range.spans.push(SourceSpan { source, revision, offset, len });
                }
                if !matches!(event.source, Source::Engine) && !stays(event) {
                    range.records.insert(record_of(&event.id));
                }
            }
            next = last.next();
        }
        range.beginnings.sort_unstable();
        range.beginnings.dedup();
        Ok(range)
    }

    /// What every stream loses: the range itself, and what was made from it here and in forks.
    async fn losses(&self, (from, to): (Seq, Seq), streams: &[StreamInfo]) -> Result<Vec<Loss>, Error> {
        let lines: BTreeMap<&StreamId, Vec<(&StreamId, Seq, Seq)>> =
            streams.iter().map(|info| (&info.id, lineage(info, streams))).collect();
        let within = |part: &(&StreamId, Seq, Seq)| part.1 <= to && from <= part.2;
        let own = lines.get(&self.id).cloned().unwrap_or_default();
        let holders: BTreeSet<&StreamId> =
            own.iter().filter(|part| within(part)).map(|part| part.0).collect();
        let loss = |id: &StreamId| Loss { stream: id.clone(), seqs: BTreeSet::new(), places: Vec::new() };
        let mut losses = vec![loss(&self.id)];
        for (id, line) in &lines {
            let shares = line.iter().any(|part| holders.contains(part.0) && within(part));
            if **id != self.id && shares && !own.iter().any(|part| part.0 == *id) {
                losses.push(loss(id));
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
            let gone = || events.iter().filter(|event| !stays(event));
            first.seqs.extend(gone().map(|event| event.seq));
            first.places.extend(gone().filter_map(|event| Some((erased_place(event)?, event.seq))));
            next = last.next();
        }
        losses.retain(|loss| !loss.seqs.is_empty());
        Ok(losses)
    }
}

/// The session's own name: without the number of a branch and the mark of a copy.
pub(crate) fn native(id: &StreamId) -> &str {
    let root = id.as_str().split('~').next().filter(|root| !root.is_empty()).unwrap_or(id.as_str());
    root.split('@').next().filter(|root| !root.is_empty()).unwrap_or(root)
}

/// A record's own id: its events after the first have a number behind it.
fn record_of(id: &EventId) -> String {
    let id = id.as_str();
    id.rsplit_once('#')
        .filter(|(_, number)| number.parse::<u32>().is_ok())
        .map_or(id, |(id, _)| id)
        .to_owned()
}

/// By what a copy of a file without ids finds the session that a record of it was erased from.
fn erased_place(event: &Event) -> Option<i64> {
    let Source::Import { offset, len, .. } = event.source else { return None };
    (event.id.as_str() == nameless(offset)).then(|| codec::erased_key(offset, len))
}

/// A session and its branches: `ID`, `ID~2`, `ID~3` and so on, as far as they forked from each other.
fn own_streams(id: &StreamId, streams: &[StreamInfo]) -> BTreeSet<StreamId> {
    let root = |id: &StreamId| id.as_str().split('~').next().map(ToOwned::to_owned);
    let ours: Vec<&StreamInfo> = streams.iter().filter(|info| root(&info.id) == root(id)).collect();
    let mut own = BTreeSet::from([id.clone()]);
    loop {
        let before = own.len();
        for info in &ours {
            let Some((parent, _)) = &info.fork else { continue };
            if own.contains(&info.id) && root(parent) == root(id) {
                own.insert(parent.clone());
            } else if own.contains(parent) {
                own.insert(info.id.clone());
            }
        }
        if own.len() == before {
            return own;
        }
    }
}

fn relatives(
    own: &BTreeSet<StreamId>,
    streams: &[StreamInfo],
    is_one: impl Fn(&StreamInfo, &StreamId) -> bool,
) -> BTreeSet<StreamId> {
    let others = streams.iter().filter(|info| !own.contains(&info.id));
    others.filter(|info| own.iter().any(|id| is_one(info, id))).map(|info| info.id.clone()).collect()
}

fn is_child(info: &StreamInfo, of: &StreamId) -> bool {
    info.parent.as_ref() == Some(of)
}

/// A session that went on from another under its own id, or one that an earlier version made of a copied file.
fn is_copy(info: &StreamInfo, of: &StreamId) -> bool {
    let forked = info.fork.as_ref().is_some_and(|(parent, _)| parent == of);
    forked || (native(&info.id) == native(of) && info.id.as_str().contains('@'))
}

/// The streams that hold the positions of one, itself first, each with the positions it holds.
fn lineage<'s>(info: &'s StreamInfo, streams: &'s [StreamInfo]) -> Vec<(&'s StreamId, Seq, Seq)> {
    let mut line = Vec::new();
    let (mut at, mut to) = (info, info.head);
    loop {
        let base = at.fork.as_ref().map_or(Seq::START, |(_, base)| *base);
        if base < to || line.is_empty() {
            line.push((&at.id, base.next(), to));
        }
        to = to.min(base);
        let parent = at.fork.as_ref().and_then(|(parent, _)| streams.iter().find(|info| info.id == *parent));
        match parent {
            Some(parent) if line.len() <= streams.len() => at = parent,
            _ => return line,
        }
    }
}

/// What opens a stream, steers a view or measures says nothing of the content and stays.
fn stays(event: &Event) -> bool {
    matches!(
        event.fact,
        None | Some(
            Fact::SessionForked(_) | Fact::ContentErased(_) | Fact::ViewTrimmed(_) | Fact::SessionOpened(_)
        )
    )
}

impl Engine {
    pub(crate) async fn stretches(&self, stream: &StreamId) -> Result<Vec<Stretch>, Error> {
        match self.one(Query::Lineage { tenant: self.tenant.no, stream: stream.clone() }).await? {
            Answer::Lineage(stretches) => Ok(stretches),
            _ => Err(unexpected()),
        }
    }

    /// The revisions that streams were read from, each once.
    async fn sources_of(&self, streams: &BTreeSet<StreamId>) -> Result<Vec<SourceInfo>, Error> {
        let mut found: BTreeMap<(SourceNo, u32), SourceInfo> = BTreeMap::new();
        for stream in streams {
            let query = Query::SourcesOf { tenant: self.tenant.no, stream: stream.clone() };
            let Answer::Sources(sources) = self.one(query).await? else { return Err(unexpected()) };
            found.extend(sources.into_iter().map(|source| ((source.no, source.revision.no), source)));
        }
        Ok(found.into_values().collect())
    }

    /// The bytes that sessions have in the files they were read from (all of a file that holds nothing else, else their
    /// records), and their records: what comes to a file later is new, and not erased.
    async fn records_of(
        &self,
        streams: &BTreeSet<StreamId>,
        sessions: &BTreeSet<String>,
    ) -> Result<(Vec<SourceSpan>, BTreeSet<Erasure>), Error> {
        let (mut spans, mut erasures) = (Vec::new(), BTreeSet::new());
        for source in self.sources_of(streams).await? {
            let (no, revision) = (source.no, source.revision.no);
            let alone = self.readers_of(no, revision).await?.iter().all(|stream| streams.contains(stream));
            if alone {
                spans.push(SourceSpan { source: source.handle, revision, offset: 0, len: u64::MAX });
            }
            let wanted = Wanted { sessions: sessions.clone(), whole: true, ..Wanted::default() };
            for Hit { span, session, record } in self.hits(source, wanted).await? {
                spans.extend(Some(span).filter(|_| !alone));
                erasures.insert(Erasure { session, record: Some(record) });
            }
        }
        Ok((spans, erasures))
    }

    /// The streams that were read from a revision.
    pub(crate) async fn readers_of(&self, source: SourceNo, revision: u32) -> Result<Vec<StreamId>, Error> {
        let query = Query::ReadFrom { tenant: self.tenant.no, source, revision: Some(revision) };
        let Answer::Streams(streams) = self.one(query).await? else { return Err(unexpected()) };
        Ok(streams.into_iter().map(|info| info.id).collect())
    }

    /// Revisions of format 1 that were rewritten share the bytes they begin alike with: they get bytes of their own
    /// where they belong to somebody else.
    async fn unshared(&self, spans: &[SourceSpan], own: &BTreeSet<StreamId>) -> Result<Vec<Write>, Error> {
        let mut writes = Vec::new();
        for handle in spans.iter().map(|span| span.source).collect::<BTreeSet<Handle>>() {
            let named = self.one(Query::Resolve { tenant: self.tenant.no, handle }).await?;
            let Answer::Named(Some(crate::store::Named::Source(source, None))) = named else { continue };
            let newest = self.source_info(source, None).await?.revision.no;
            let mut before = 0;
            for revision in 1..=newest {
                let info = self.source_info(source, Some(revision)).await?.revision;
                if info.shared > 0 && info.shared < before {
                    let readers = self.readers_of(source, revision).await?;
                    let earlier = self.readers_of(source, revision - 1).await?;
                    let foreign = |streams: &[StreamId]| streams.iter().any(|stream| !own.contains(stream));
                    if foreign(&readers) || foreign(&earlier) {
                        writes.push(Write::Unshare { source, revision });
                    }
                }
                before = info.len;
            }
        }
        Ok(writes)
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
                let event = self.event(&loss.stream, &row)?;
                let carries = match &event.fact {
                    Some(Fact::ContextInjected(injected)) => {
                        injected.items.iter().any(|item| inside(item.from_seq))
                    }
                    Some(Fact::SessionCompacted(made)) => {
                        made.summary.is_some() && made.from_seq <= to && from <= made.to_seq
                    }
                    Some(Fact::ContentReduced(reduced)) => inside(reduced.target),
                    _ => false,
                };
                if carries && !stays(&event) {
                    loss.seqs.insert(event.seq);
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
