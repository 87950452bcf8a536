//! Helpers for the cases: a tenant with streams, events and bodies.

use futures_executor::block_on;
use wunderblock_core::id::{EventId, Handle, LaneId, Scope, StreamId};
use wunderblock_core::message::Role;
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_store::codec::{checksum, pack, record_key};
use wunderblock_store::{
    Answer, Appended, Basis, Commit, DerivedTable, Erasure, EventFilter, EventMark, Facets, HandleTarget,
    LostEvent, Marked, Opening, PackedBlob, PackedEvent, Query, ReadOrder, SegmentReach, SourceNo,
    SourceSpan, Storage, StoreError, StoredEvent, StreamFilter, StreamInfo, StreamKind, TallyRow, Tenant,
    Write, Written,
};

/// Extracts the content of an answer; panics if the answer has another form.
macro_rules! answered {
    ($answer:expr, $form:pat => $content:expr) => {
        match $answer {
            $form => $content,
            other => panic!("`{}` was expected, and answered was {other:?}", stringify!($form)),
        }
    };
}
pub(super) use answered;

/// Parses a stream id; panics if the text is not a valid id.
pub(super) fn stream_id(text: &str) -> StreamId {
    StreamId::new(text).unwrap()
}

/// A plain message with this text at time 1000, from a record with the same id.
pub(super) fn said(id: &str, text: &str) -> PackedEvent {
    let digest = *blake3::hash(id.as_bytes()).as_bytes();
    PackedEvent {
        id: EventId::new(id).unwrap(),
        at: Millis(1000),
        kind: "message.appended",
        mark: EventMark::Plain,
        origin: None,
        payload: text.as_bytes().to_vec(),
        content: *blake3::hash(text.as_bytes()).as_bytes(),
        salt: std::array::from_fn(|place| digest[place]),
        blobs: Vec::new(),
        text: Bytes(text.len() as u64),
        checksum: checksum(&[text.as_bytes()]),
        facets: Facets {
            role: Some(Role::Assistant),
            tool: Some("Read".into()),
            path: Some("/f".into()),
            ..Facets::default()
        },
        records: vec![record_key(id)],
    }
}

/// A control event.
pub(super) fn happened(id: &str, kind: &'static str, text: &str) -> PackedEvent {
    PackedEvent { kind, mark: EventMark::Control, facets: Facets::default(), ..said(id, text) }
}

/// A control event that belongs to a lane.
pub(super) fn happened_in(lane: &str, id: &str, kind: &'static str) -> PackedEvent {
    let facets = Facets { lane: Some(LaneId::new(lane).unwrap()), ..Facets::default() };
    PackedEvent { facets, ..happened(id, kind, "") }
}

/// A message that contains bodies.
pub(super) fn holding(id: &str, bodies: &[&str]) -> PackedEvent {
    PackedEvent { blobs: bodies.iter().map(|text| body(text)).collect(), ..said(id, &bodies.join("\n")) }
}

/// A body. The handle of a body is the same for every tenant, so that isolation cannot result from different keys.
pub(super) fn body(text: &str) -> PackedBlob {
    let hash = *blake3::hash(text.as_bytes()).as_bytes();
    PackedBlob { handle: handle(text), hash, bytes: Bytes(text.len() as u64), data: pack(text.as_bytes()) }
}

/// The handle of a body or of a name.
pub(super) fn handle(text: &str) -> Handle {
    let hash = blake3::hash(text.as_bytes());
    Handle(u64::from_be_bytes(std::array::from_fn(|place| hash.as_bytes()[place])))
}

/// A store and one tenant in it. Methods of the tenant panic if the store returns an answer of the wrong form.
pub(super) struct TestTenant<'a> {
    pub(super) store: &'a dyn Storage,
    pub(super) tenant: Tenant,
}

impl<'a> TestTenant<'a> {
    pub(super) fn new(store: &'a dyn Storage) -> Self {
        Self::of(store, "local")
    }

    pub(super) fn of(store: &'a dyn Storage, name: &str) -> Self {
        let key = *blake3::hash(name.as_bytes()).as_bytes();
        let written =
            block_on(store.commit(Commit::raw(vec![Write::Tenant { name: name.to_owned(), key }]))).unwrap();
        answered!(written.as_slice(), [Written::Tenant(tenant)] => Self { store, tenant: *tenant })
    }

    pub(super) fn try_commit(&self, writes: Vec<Write>) -> Result<Vec<Written>, StoreError> {
        self.commit_on(Basis::Raw, writes)
    }

    /// Commits writes that were made from something.
    pub(super) fn commit_on(&self, basis: Basis, writes: Vec<Write>) -> Result<Vec<Written>, StoreError> {
        let count = writes.len();
        let written = block_on(self.store.commit(Commit { basis, writes }))?;
        assert_eq!(written.len(), count, "as many answers as writes");
        Ok(written)
    }

    pub(super) fn commit(&self, write: Write) -> Written {
        self.try_commit(vec![write]).unwrap().remove(0)
    }

    pub(super) fn ask(&self, query: Query) -> Answer {
        let mut answers = block_on(self.store.query(vec![query])).unwrap();
        assert_eq!(answers.len(), 1, "as many answers as queries");
        answers.remove(0)
    }

    pub(super) fn opening(&self, id: &str, opening: Opening) -> Write {
        Write::Open {
            tenant: self.tenant.no,
            kind: StreamKind::Session,
            stream: stream_id(id),
            handle: handle(id),
            opening,
            scope: Scope::default(),
            at: Millis(500),
        }
    }

    pub(super) fn open(&self, id: &str) -> StreamInfo {
        self.opened(self.opening(id, Opening::New { parent: None }))
    }

    pub(super) fn fork(&self, id: &str, parent: &str, at_seq: u64) -> StreamInfo {
        self.opened(self.opening(id, Opening::Fork { parent: stream_id(parent), at_seq: Seq(at_seq) }))
    }

    fn opened(&self, write: Write) -> StreamInfo {
        answered!(self.commit(write), Written::Stream(info, true) => *info)
    }

    pub(super) fn appending(&self, id: &str, events: Vec<PackedEvent>) -> Write {
        Write::Append { tenant: self.tenant.no, stream: stream_id(id), expect_head: None, events }
    }

    /// Append that requires the head to be at a given position.
    pub(super) fn appending_at(&self, id: &str, head: u64, events: Vec<PackedEvent>) -> Write {
        let expect_head = Some(Seq(head));
        Write::Append { tenant: self.tenant.no, stream: stream_id(id), expect_head, events }
    }

    pub(super) fn try_append(&self, id: &str, events: Vec<PackedEvent>) -> Result<Vec<Appended>, StoreError> {
        answered!(
            self.try_commit(vec![self.appending(id, events)])?.remove(0),
            Written::Appended(appended) => Ok(appended)
        )
    }

    /// Appends events that must all be new, and returns their positions.
    pub(super) fn append(&self, id: &str, events: Vec<PackedEvent>) -> Vec<u64> {
        let appended = self.try_append(id, events).unwrap();
        assert!(appended.iter().all(|one| !one.duplicate), "all are new: {appended:?}");
        appended.into_iter().map(|one| one.seq.0).collect()
    }

    /// Opens a stream and appends events to it.
    pub(super) fn open_with(&self, id: &str, events: Vec<PackedEvent>) {
        self.open(id);
        self.append(id, events);
    }

    /// Opens a stream and appends texts to it as messages. The ids of the messages consist of the stream's id and a
    /// number that starts at 1.
    pub(super) fn told(&self, id: &str, texts: &[&str]) -> StreamInfo {
        self.open(id);
        self.tell(id, texts);
        self.info(id)
    }

    /// Appends texts as messages, with numbers that continue from the head.
    pub(super) fn tell(&self, id: &str, texts: &[&str]) -> Vec<u64> {
        let head = self.info(id).head.0;
        let event = |(text, seq): (&&str, u64)| said(&format!("{id} {seq}"), text);
        self.append(id, texts.iter().zip(head + 1..).map(event).collect())
    }

    pub(super) fn find(&self, id: &str) -> Option<StreamInfo> {
        answered!(
            self.ask(Query::Stream { tenant: self.tenant.no, of: StreamKind::Session, stream: stream_id(id) }),
            Answer::Stream(info) => info.map(|info| *info)
        )
    }

    pub(super) fn info(&self, id: &str) -> StreamInfo {
        self.find(id).unwrap()
    }

    pub(super) fn events_of(&self, query: Query) -> Vec<StoredEvent> {
        answered!(self.ask(query), Answer::Events(events) => events)
    }

    /// Returns all events of a stream, oldest first.
    pub(super) fn all(&self, id: &str) -> Vec<StoredEvent> {
        self.events_of(self.range(id, 1, u64::MAX >> 1))
    }

    pub(super) fn range(&self, id: &str, from: u64, to: u64) -> Query {
        Query::Events {
            tenant: self.tenant.no,
            stream: stream_id(id),
            from: Seq(from),
            to: Seq(to),
            order: ReadOrder::Ascending,
            limit: 1 << 40,
            text: Bytes(1 << 40),
            counts: false,
            filter: EventFilter::default(),
        }
    }

    pub(super) fn at(&self, id: &str, seqs: &[u64]) -> Vec<StoredEvent> {
        let seqs = seqs.iter().copied().map(Seq).collect();
        self.events_of(Query::At {
            tenant: self.tenant.no,
            stream: stream_id(id),
            seqs,
            filter: EventFilter::default(),
        })
    }

    /// Checks that every query that reads from a stream reports the stream as unknown.
    pub(super) fn knows_nothing_of(&self, id: &str) {
        let (tenant, stream) = (self.tenant.no, || stream_id(id));
        let (to, limit) = (Seq(9), 9);
        let queries = [
            Query::Lineage { tenant, stream: stream() },
            self.range(id, 1, 9),
            Query::At { tenant, stream: stream(), seqs: vec![Seq(1)], filter: EventFilter::default() },
            Query::Marked { tenant, stream: stream(), what: Marked::System, to, limit },
            Query::Tallies { tenant, stream: stream(), seqs: vec![Seq(1)] },
        ];
        for query in queries {
            let answer = block_on(self.store.query(vec![query.clone()]));
            assert_eq!(answer, Err(StoreError::NoStream(stream())), "{query:?}");
        }
        assert_eq!(self.find(id), None);
    }

    pub(super) fn blobs(&self, texts: &[&str]) -> Vec<Option<PackedBlob>> {
        let handles = texts.iter().map(|text| handle(text)).collect();
        answered!(self.ask(Query::Blobs { tenant: self.tenant.no, handles }), Answer::Blobs(blobs) => blobs)
    }

    pub(super) fn tallies(&self, id: &str, seqs: &[u64]) -> Vec<TallyRow> {
        let seqs = seqs.iter().copied().map(Seq).collect();
        answered!(
            self.ask(Query::Tallies { tenant: self.tenant.no, stream: stream_id(id), seqs }),
            Answer::Tallies(rows) => rows
        )
    }

    pub(super) fn erasing(
        &self,
        id: &str,
        seqs: &[u64],
        spans: Vec<SourceSpan>,
        erasures: Vec<Erasure>,
    ) -> Write {
        let events = seqs.iter().map(|seq| LostEvent::new(Seq(*seq))).collect();
        Write::Erase { tenant: self.tenant.no, stream: stream_id(id), events, spans, erasures }
    }

    /// Erases content, and returns the numbers of erased events, bodies and source bytes.
    pub(super) fn erase(&self, id: &str, seqs: &[u64], spans: Vec<SourceSpan>) -> (u64, u64, u64) {
        answered!(
            self.commit(self.erasing(id, seqs, spans, Vec::new())),
            Written::Erased { events, blobs, source_bytes } => (events, blobs, source_bytes.0)
        )
    }

    /// Write that links a stream to a revision of a source.
    pub(super) fn linking(&self, id: &str, source: SourceNo, revision: u32) -> Write {
        Write::Link { tenant: self.tenant.no, stream: stream_id(id), source, revision }
    }

    /// Returns the target of a handle.
    pub(super) fn named(&self, text: &str) -> Option<HandleTarget> {
        let query = Query::Resolve { tenant: self.tenant.no, of: StreamKind::Session, handle: handle(text) };
        answered!(self.ask(query), Answer::Named(target) => target)
    }

    /// Returns marked events up to a position, newest first.
    pub(super) fn marked(&self, id: &str, what: Marked, to: u64, limit: u64) -> Vec<StoredEvent> {
        let (tenant, stream) = (self.tenant.no, stream_id(id));
        self.events_of(Query::Marked { tenant, stream, what, to: Seq(to), limit })
    }

    /// Extends the index of each stream from its current end to the given position.
    pub(super) fn reaches(&self, to: &[(&str, u64)]) -> Vec<SegmentReach> {
        let reach = |(id, through): &(&str, u64)| {
            let info = self.info(id);
            SegmentReach { stream: info.no, after: info.reach(DerivedTable::Words), through: Seq(*through) }
        };
        to.iter().map(reach).collect()
    }

    /// Query for streams whose ids start with a prefix.
    pub(super) fn beginning(&self, prefix: &str, limit: u64) -> Query {
        let filter = StreamFilter { prefix: prefix.to_owned(), ..StreamFilter::default() };
        Query::Streams { tenant: self.tenant.no, filter, limit }
    }

    pub(super) fn streams_of(&self, query: Query) -> Vec<String> {
        answered!(
            self.ask(query),
            Answer::Streams(infos) => infos.iter().map(|info| info.id.as_str().to_owned()).collect()
        )
    }
}

/// A range of bytes in one revision of a source.
pub(super) fn span(source: &str, revision: u32, offset: u64, len: u64) -> SourceSpan {
    SourceSpan { source: handle(source), revision, offset, len }
}

/// Answer of an append: the event's position, and whether it was a duplicate.
pub(super) fn placed(seq: u64, duplicate: bool) -> Appended {
    if duplicate { Appended::known(Seq(seq), false) } else { Appended::written(Seq(seq)) }
}

/// The positions of events.
pub(super) fn seqs(events: &[StoredEvent]) -> Vec<u64> {
    events.iter().map(|event| event.seq.0).collect()
}

/// The payloads of events as text; `-` for an erased payload.
pub(super) fn texts(events: &[StoredEvent]) -> Vec<String> {
    let text = |event: &StoredEvent| match &event.payload {
        Some(payload) => String::from_utf8_lossy(payload).into_owned(),
        None => "-".to_owned(),
    };
    events.iter().map(text).collect()
}
