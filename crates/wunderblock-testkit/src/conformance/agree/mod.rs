//! Sends the same writes and queries to two stores and compares their answers.

mod queries;

use crate::conformance::records::{Author, authors};
use crate::conformance::sources::{after, owner, packed};
use crate::conformance::tenant::{body, handle, stream_id};
use futures_executor::block_on;
use wunderblock_core::id::{EventId, LaneId, Scope, StreamId};
use wunderblock_core::message::Role;
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
use wunderblock_store::codec::record_key;
use wunderblock_store::{
    Answer, Begin, BodyCount, Commit, DerivedTable, Epoch, Erasure, EventFilter, EventMark, EventUsage,
    Facets, Gone, Marked, Opening, PackedEvent, PackedSegment, Query, Reach, ReadOrder, ScopeLimit,
    SegmentInfo, SegmentReach, Selected, SessionFacets, SourceBy, SourceFilter, SourceInfo, SourceNo,
    SourceSpan, Storage, StoreError, StreamFilter, StreamInfo, StreamKind, StreamNo, TenantNo, Write,
    Written,
};

/// Number of streams that a script uses. A small number of names makes steps collide.
/// Kind of all streams.
const OF: StreamKind = StreamKind::Session;
const STREAMS: u8 = 5;
const KINDS: [&str; 2] = ["usage.measured", "view.trimmed"];

/// Runs a script against both stores, and compares their answers and their content after each step. Each number is a
/// step, so any source of numbers is a source of scripts.
///
/// # Panics
/// Panics at the first difference.
pub fn agree(a: &dyn Storage, b: &dyn Storage, script: &[u64]) {
    let tenants = StorePair::both(a, b, vec![tenant("left"), tenant("right")]).unwrap();
    let [Written::Tenant(left), Written::Tenant(right)] = tenants.as_slice() else {
        panic!("tenants were asked for, and answered was {tenants:?}");
    };
    let told = StorePair { a, b, tenants: [left.no, right.no] };
    for (number, step) in script.iter().enumerate() {
        // Four of five steps write to one tenant; the other tenant shows whether these writes leave it untouched.
        let tenant = if number % 5 == 4 { right.no } else { left.no };
        let writes = told.writes(tenant, *step);
        let _ = StorePair::both(a, b, writes);
        told.compare(*step);
    }
}

/// Sorts the counts of each event's bodies, because the port does not define their order.
fn sorted(mut answers: Vec<Answer>) -> Vec<Answer> {
    for answer in &mut answers {
        if let Answer::Events(events) = answer {
            for event in events {
                event.counts.sort_by_key(|(handle, _)| *handle);
            }
        }
    }
    answers
}

fn tenant(name: &str) -> Write {
    Write::Tenant { name: name.to_owned(), key: [3; 32] }
}

fn stream(number: u8) -> StreamId {
    stream_id(&format!("stream {}", number % STREAMS))
}

fn source_name(number: u8) -> String {
    format!("/source {}", number % 2)
}

fn work_name(number: u8) -> String {
    format!("work {}", number % 2)
}

fn worker_name(number: u8) -> String {
    format!("worker {}", number % 3)
}

/// Builds an event whose fields depend only on the given id and content number.
fn event(id: u8, content: u8) -> PackedEvent {
    let (id, content) = (id % 24, content % 32);
    // Most events have the content that belongs to their id; some have other content.
    let content = if content < 28 { id } else { content };
    let mark = match content % 6 {
        0 => EventMark::UserTurn,
        1 => EventMark::System,
        2 => EventMark::Control,
        _ => EventMark::Plain,
    };
    let control = KINDS.get(usize::from(content / 6 % 2)).copied().unwrap_or_default();
    let text = format!("content {content}").repeat(usize::from(content % 4));
    PackedEvent {
        id: EventId::new(format!("id {id}")).unwrap(),
        at: Millis(i64::from(content) * 7 % 50),
        kind: if mark == EventMark::Control { control } else { "message.appended" },
        mark,
        origin: (content % 5 == 0).then(|| vec![content]),
        payload: text.clone().into_bytes(),
        content: *blake3::hash(&[content]).as_bytes(),
        salt: [id; 16],
        blobs: (0..content % 3).map(|which| body(&body_name(content.wrapping_add(which)))).collect(),
        text: Bytes(text.len() as u64),
        checksum: i64::from(content),
        facets: Facets {
            role: (content % 6 > 1).then_some(match content % 5 {
                1 => Role::Tool,
                2 => Role::User,
                _ => Role::Assistant,
            }),
            authors: (content % 4 > 1).then(|| authors(content)),
            tool: (content % 7 > 3).then(|| format!("tool {}", content % 2).into()),
            path: (content % 7 > 4).then(|| format!("/a/file {}", content % 3).into()),
            lane: (mark == EventMark::Control && content % 4 > 0).then(|| lane(content % 4)),
            begins: content.is_multiple_of(11),
            session: content.is_multiple_of(3).then(|| Box::new(session_facets(content))),
        },
        records: (0..content % 3)
            .map(|which| record_key(&record_name(content.wrapping_add(which))))
            .collect(),
    }
}

/// What an event says about its session: with some content a title, tags, a model or usage.
fn session_facets(content: u8) -> SessionFacets {
    SessionFacets {
        title: (content % 5 < 2).then(|| "title ".repeat(usize::from(content % 5)).into()),
        tags: content
            .is_multiple_of(4)
            .then(|| (0..content % 3).map(|tag| format!("tag {tag}").into()).collect()),
        branch: content.is_multiple_of(7).then(|| format!("branch {}", content % 2).into()),
        model: content.is_multiple_of(2).then(|| format!("model {}", content % 5).into()),
        usage: (content % 2 == 1).then(|| EventUsage {
            key: format!("reply {}", content % 3).into(),
            model: None,
            input: Tokens(u64::from(content)),
            output: Tokens(1),
            ..EventUsage::default()
        }),
    }
}

fn lane(number: u8) -> LaneId {
    LaneId::new(format!("lane {number}")).unwrap()
}

fn record_name(number: u8) -> String {
    format!("record {}", number % 6)
}

fn session_name(number: u8) -> String {
    format!("session {}", number % 2)
}

fn body_name(number: u8) -> String {
    format!("body {}", number % 4)
}

/// Two stores that received the same writes, and the two tenants that both stores contain.
struct StorePair<'a> {
    a: &'a dyn Storage,
    b: &'a dyn Storage,
    tenants: [TenantNo; 2],
}

impl StorePair<'_> {
    fn both(a: &dyn Storage, b: &dyn Storage, writes: Vec<Write>) -> Result<Vec<Written>, StoreError> {
        let [from_a, from_b] = [a, b].map(|store| block_on(store.commit(Commit::raw(writes.clone()))));
        // Both stores must notice that the head has moved, but which head they report depends on what they check
        // first.
        let moved = |result: &Result<_, StoreError>| matches!(result, Err(StoreError::HeadMoved { .. }));
        if !(moved(&from_a) && moved(&from_b)) {
            assert_eq!(from_a, from_b, "both did {writes:#?}");
        }
        from_a
    }

    fn ask(&self, queries: Vec<Query>) -> Vec<Answer> {
        let from_a = block_on(self.a.query(queries.clone())).map(sorted).unwrap();
        let from_b = block_on(self.b.query(queries.clone())).map(sorted).unwrap();
        assert_eq!([from_a.len(), from_b.len()], [queries.len(); 2], "one answer to each query");
        for ((query, from_a), from_b) in queries.iter().zip(&from_a).zip(&from_b) {
            assert_eq!(from_a, from_b, "both were asked {query:?}");
        }
        for query in queries {
            let reach = Reach::tenant().and(ScopeLimit::Project(Some("project 1".to_owned())));
            let query = vec![Query::Within { reach, query: Box::new(query) }];
            let [from_a, from_b] =
                [self.a, self.b].map(|store| block_on(store.query(query.clone())).map(sorted));
            assert_eq!(from_a, from_b, "both were asked {query:?}");
        }
        from_a
    }

    /// Writes of a step: events, sources and leases with few distinct numbers, so that steps collide.
    fn writes(&self, tenant: TenantNo, step: u64) -> Vec<Write> {
        let [what, a, b, c, d, e, f, g] = step.to_le_bytes();
        let append = |number: u8, events: &[(u8, u8)], expect: Option<u8>| Write::Append {
            tenant,
            stream: stream(number),
            expect_head: expect.map(|seq| Seq(u64::from(seq))),
            events: events.iter().map(|(id, content)| event(*id, *content)).collect(),
        };
        match what % 30 {
            0..=3 => vec![open(tenant, a, b, c % 12)],
            4..=9 => {
                let events = [(b, c), (d, e), (f, g)];
                let count = 1 + usize::from(what / 20 % 3);
                vec![append(a, &events[..count], (what > 230).then_some(g % 8))]
            }
            // Usually counts the next events, but sometimes other ones.
            10 | 11 => {
                let first = u64::from(b % 16);
                let seqs = first..first + u64::from(c % 8);
                let tokens = seqs.map(|seq| (Seq(seq), Tokens(seq * 3))).collect();
                vec![Write::Tallies { tenant, stream: stream(a), tokens }]
            }
            12 => {
                let o200k = u32::from(a % 4);
                let cl100k = (b % 2 == 0).then_some(o200k);
                let count = BodyCount { o200k, cl100k, ..BodyCount::default() };
                vec![Write::Counts { tenant, counts: vec![(handle(&body_name(a)), count)] }]
            }
            13 => self.segment(tenant, a, b % 3 == 0),
            14 | 15 | 22..=28 => self.of_source(tenant, step),
            16 => {
                let erasure = (g % 2 == 0).then_some((g, f));
                vec![erase(tenant, a, &[b % 12, c % 12], Some((d, e % 64, f % 32)), erasure)]
            }
            17 => vec![erase(tenant, a, &[b % 12], None, Some((c, d)))],
            18 if a % 4 == 0 => vec![Write::DropDerived { tenant }],
            18 => {
                let authors = (1..4).map(|seq| (Seq(seq), authors(b))).collect();
                vec![Write::Authors { tenant, stream: StreamNo(u32::from(a % 4)), authors }]
            }
            19 => vec![Write::Claim {
                tenant,
                key: work_name(a),
                holder: worker_name(b),
                now: Millis(i64::from(c)),
                until: Millis(i64::from(d)),
            }],
            20 => vec![Write::Release { tenant, key: work_name(a), holder: worker_name(b) }],
            29 => {
                let records = [(b, c), (d, e)];
                let place = |(id, seq)| (record_key(&record_name(id)), Seq(u64::from(seq % 12)));
                vec![Write::Records { tenant, stream: stream(a), records: records.map(place).to_vec() }]
            }
            // Appends to two streams in one commit.
            _ => vec![append(a, &[(b, c)], None), append(d, &[(e, f)], Some(g % 8))],
        }
    }

    /// Writes a segment up to the head of a stream, in place of the latest segment or beside it.
    fn segment(&self, tenant: TenantNo, number: u8, replace: bool) -> Vec<Write> {
        let stream = stream(number);
        let answers = self.ask(vec![
            Query::Stream { tenant, of: OF, stream },
            Query::Segments { tenant, table: DerivedTable::Words },
        ]);
        let [Answer::Stream(info), Answer::Segments(segments)] = answers.as_slice() else {
            return Vec::new();
        };
        let info = info.as_deref().into_iter();
        let reach = |info: &StreamInfo| SegmentReach {
            stream: info.no,
            after: info.reach(DerivedTable::Words),
            through: info.head,
        };
        let indexed: Vec<SegmentReach> = info.map(reach).collect();
        let replaces = segments.iter().take(usize::from(replace)).map(SegmentInfo::segment).collect();
        let header = format!("{indexed:?}").into_bytes();
        let blocks = vec![header.clone(), vec![1], vec![2]];
        let segment = Some(PackedSegment { docs: 1, header: header.clone(), blocks });
        vec![Write::Segment { tenant, table: DerivedTable::Words, segment, replaces, reaches: indexed }]
    }

    fn source(&self, tenant: TenantNo, number: u8) -> Option<SourceInfo> {
        let query = Query::Source { tenant, by: SourceBy::Key(source_name(number)), revision: None };
        match self.ask(vec![query]).pop() {
            Some(Answer::Source(info)) => info.map(|info| *info),
            _ => None,
        }
    }

    /// Writes to a source that depend on the source's current state. A step that needs the number of a source writes
    /// nothing until the source exists.
    fn of_source(&self, tenant: TenantNo, step: u64) -> Vec<Write> {
        let [what, a, b, c, d, e, f, g] = step.to_le_bytes();
        let known = self.source(tenant, if matches!(what % 30, 27 | 28) { b } else { a });
        let (newest, len) = known.as_ref().map_or((0, 0), |info| (info.revision.no, info.revision.len));
        let grows = c % 2 == 0;
        let take = |off: u8, now: u8, takes_over| Write::Source {
            tenant,
            handle: handle(&source_name(a)),
            key: source_name(a),
            format: "jsonl".to_owned(),
            begin: match newest + u32::from(off) {
                revision if grows => Begin::Grow { revision, len },
                newest => after(&source_name(a), newest),
            },
            owner: owner(&worker_name(b), i64::from(now) + 90),
            now: Millis(i64::from(now)),
            takes_over,
        };
        let extend = |(source, revision), from, erased: Option<u8>| {
            let text = |len: &u8| char::from(b'a' + len % 26).to_string().repeat(usize::from(*len));
            let texts: Vec<String> = [d % 32, e % 32].iter().filter(|len| **len > 0).map(text).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let erased = erased.map(u64::from).map(|at| (at, at + 3)).into_iter().collect();
            let owner = owner(&worker_name(b), 120);
            Write::Extend { source, revision, owner, from, chunks: packed(from, &texts), erased }
        };
        let whole = |(source, revision), leaf: Option<u8>| Write::Whole {
            source,
            revision,
            token: worker_name(b),
            modified: leaf.map(i64::from),
            reader: Some(vec![b]),
            leaf: leaf.map(stream),
        };
        match (what % 30, known.map(|info| info.no)) {
            (14 | 15, source) => {
                let (revision, from) = if grows { (newest, len) } else { (newest + 1, 0) };
                let place = source.map(|source| (source, revision));
                let end = place.filter(|_| f % 4 != 0).map(|place| whole(place, None));
                let extend = place.map(|place| extend(place, from, None));
                [Some(take(0, 9, false)), extend, end].into_iter().flatten().collect()
            }
            // The caller may be wrong about the latest revision, and may claim that the owner is dead.
            (22, _) => vec![take(d.saturating_sub(250), e, f % 4 == 0)],
            (_, None) => Vec::new(),
            (23 | 24, Some(source)) => {
                let from = len + u64::from(c.saturating_sub(250));
                vec![extend((source, newest), from, (f % 4 == 0).then_some(g % 64))]
            }
            (25, Some(source)) => vec![whole((source, newest), (c % 2 == 0).then_some(d))],
            (26, Some(source)) => vec![Write::Disown { source, revision: newest, token: worker_name(b) }],
            (_, Some(source)) => {
                vec![Write::Link { tenant, stream: stream(a), source, revision: u32::from(c % 4) }]
            }
        }
    }

    fn compare(&self, step: u64) {
        for tenant in self.tenants {
            let mut queries = Vec::new();
            let streams = (0..STREAMS).map(|number| Query::Stream { tenant, of: OF, stream: stream(number) });
            let known = self.ask(streams.collect());
            for (number, known) in (0..).zip(known) {
                if known != Answer::Stream(None) {
                    queries.extend(queries::of_stream(tenant, number));
                }
            }
            queries.extend(queries::of_tenant(tenant));
            let answers = self.ask(queries);
            let segments = answers.iter().flat_map(|answer| match answer {
                Answer::Segments(list) => list.as_slice(),
                _ => &[],
            });
            let segments: Vec<u64> = segments.map(|info| info.id).collect();
            let wanted = segments.iter().flat_map(|id| [(*id, 2), (*id, 0), (*id, 3)]).collect();
            let mut queries = vec![Query::Blocks { tenant, wanted }];
            queries.extend(segments.iter().map(|segment| Query::SegmentBlocks { tenant, segment: *segment }));
            queries.extend((1..=4).map(SourceNo).flat_map(|source| {
                (1..=4).flat_map(move |revision| {
                    [(0, 200, 99), (7, 21, 99), (0, 200, 1)].map(|(from, to, limit)| Query::Chunks {
                        source,
                        revision,
                        from,
                        to,
                        limit,
                    })
                })
            }));
            let answers = self.ask(queries);
            assert!(!answers.is_empty(), "after {step:x}");
        }
    }
}

/// Number of a source (which also selects the revision), first byte, and length in bytes.
type SourceBytes = (u8, u8, u8);

fn erase(
    tenant: TenantNo,
    number: u8,
    seqs: &[u8],
    bytes: Option<SourceBytes>,
    erasure: Option<(u8, u8)>,
) -> Write {
    let span = |(source, from, len): (u8, u8, u8)| SourceSpan {
        source: handle(&source_name(source)),
        revision: u32::from(source / 8 % 4),
        offset: u64::from(from),
        len: u64::from(len),
    };
    let erased = |(session, record): (u8, u8)| Erasure {
        session: session_name(session),
        what: match record % 3 {
            0 => Gone::Session,
            1 => Gone::Event(record_name(record)),
            _ => Gone::Record(record_name(record)),
        },
    };
    Write::Erase {
        tenant,
        stream: stream(number),
        events: seqs.iter().map(|seq| super::bodies::lost(*seq)).collect(),
        spans: bytes.into_iter().map(span).collect(),
        erasures: erasure.into_iter().map(erased).collect(),
    }
}

/// Opens a stream. The stream is a fork if `of` is odd and names another stream.
fn open(tenant: TenantNo, number: u8, of: u8, at: u8) -> Write {
    let (id, parent) = (stream(number), stream(of));
    let opening = if of.is_multiple_of(2) || id == parent {
        Opening::New { parent: None }
    } else {
        Opening::Fork { parent, at_seq: Seq(u64::from(at)) }
    };
    Write::Open {
        tenant,
        kind: StreamKind::Session,
        handle: handle(id.as_str()),
        stream: id,
        opening,
        scope: Scope { project: Some(format!("project {}", at % 2)), ..Scope::default() },
        at: Millis(i64::from(at)),
    }
}
