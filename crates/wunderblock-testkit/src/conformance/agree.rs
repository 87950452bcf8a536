//! Two stores are told the same and asked the same.

use super::scene::{body, handle, stream_id};
use futures_executor::block_on;
use wunderblock::store::codec::pack;
use wunderblock::store::{
    Answer, BodyCount, Mark, Marked, Opening, Order, PackedEvent, PackedSegment, Query, Reach, SourceBy,
    SourceNo, SourceSpan, Storage, StoreError, StreamInfo, TenantNo, Write, Written,
};
use wunderblock_core::id::EventId;
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};

/// How many streams, and how many sources, a script knows of.
const STREAMS: u8 = 5;
const KINDS: [&str; 2] = ["usage.measured", "view.trimmed"];

/// One step of a script, in numbers small enough to hit each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Opens a stream, as a fork if `of` is another one.
    Open {
        /// Which.
        stream: u8,
        /// Forked from.
        of: u8,
        /// After which position.
        at: u8,
    },
    /// Appends events in one write.
    Append {
        /// To which stream.
        stream: u8,
        /// For each event: its id, and a number its content follows from.
        events: Vec<(u8, u8)>,
        /// Where the head should be.
        expect: Option<u8>,
    },
    /// Counts the next events of a stream.
    Tally {
        /// Which.
        stream: u8,
        /// The first position counted; sometimes not the next.
        from: u8,
        /// How many.
        count: u8,
    },
    /// Stores what was counted of a body.
    Count {
        /// Which.
        body: u8,
        /// With the second tokenizer's count.
        both: bool,
    },
    /// Stores a segment that covers a stream up to its head, in place of the newest one or beside it.
    Segment {
        /// Which stream.
        stream: u8,
        /// In place of the newest.
        replace: bool,
    },
    /// Stores a new revision of a source.
    Import {
        /// Which source.
        source: u8,
        /// How many bytes are those of the revision before, at most.
        shared: u8,
        /// The lengths of the new chunks.
        chunks: Vec<u8>,
        /// Whether it is ended.
        end: bool,
    },
    /// Erases events, and bytes of a source.
    Erase {
        /// Which stream.
        stream: u8,
        /// Which positions.
        seqs: Vec<u8>,
        /// Which source (and, from its higher bits, which revision), from where, how many bytes.
        span: Option<(u8, u8, u8)>,
    },
    /// Claims work, or holds on to it.
    Claim {
        /// Which.
        key: u8,
        /// Who.
        holder: u8,
        /// What the time is, and when the claim ends.
        times: (u8, u8),
    },
    /// Gives work back.
    Release {
        /// Which.
        key: u8,
        /// Who.
        holder: u8,
    },
    /// Drops what is derived.
    Drop,
    /// Does several steps in one commit.
    Together(Vec<Step>),
}

impl Step {
    /// Reads a step out of any number, so that whatever makes numbers makes scripts.
    #[must_use]
    pub fn from_word(word: u64) -> Self {
        let [what, a, b, c, d, e, f, g] = word.to_le_bytes();
        match what % 22 {
            0..=3 => Self::Open { stream: a, of: b, at: c % 12 },
            4..=9 => Self::Append {
                stream: a,
                events: [(b, c), (d, e), (f, g)].into_iter().take(1 + usize::from(what / 20 % 3)).collect(),
                expect: (what > 230).then_some(g % 8),
            },
            10 | 11 => Self::Tally { stream: a, from: b % 16, count: c % 8 },
            12 => Self::Count { body: a, both: b % 2 == 0 },
            13 => Self::Segment { stream: a, replace: b % 3 == 0 },
            14 | 15 => {
                Self::Import { source: a, shared: b % 48, chunks: vec![c % 32, d % 32], end: e % 4 != 0 }
            }
            16 => Self::Erase { stream: a, seqs: vec![b % 12, c % 12], span: Some((d, e % 64, f % 32)) },
            17 => Self::Erase { stream: a, seqs: vec![b % 12], span: None },
            18 if a % 4 == 0 => Self::Drop,
            19 => Self::Claim { key: a, holder: b, times: (c, d) },
            20 => Self::Release { key: a, holder: b },
            _ => Self::Together(vec![
                Self::Append { stream: a, events: vec![(b, c)], expect: None },
                Self::Append { stream: d, events: vec![(e, f)], expect: Some(g % 8) },
            ]),
        }
    }
}

/// Tells both stores a script, and compares after each step what they answered and what they hold.
///
/// # Panics
/// At the first difference.
pub fn agree(a: &dyn Storage, b: &dyn Storage, script: &[Step]) {
    let tenants = Told::both(a, b, vec![tenant("left"), tenant("right")]).unwrap();
    let [Written::Tenant(left), Written::Tenant(right)] = tenants.as_slice() else {
        panic!("tenants were asked for, and answered was {tenants:?}");
    };
    let told = Told { a, b, tenants: [left.no, right.no] };
    for (number, step) in script.iter().enumerate() {
        // Most happens in one tenant; the other shows whether it is left alone.
        let tenant = if number % 5 == 4 { right.no } else { left.no };
        let writes = told.writes(tenant, step);
        let _ = Told::both(a, b, writes);
        told.compare(step);
    }
}

/// Counts of an event's bodies come in any order.
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

fn stream_name(number: u8) -> String {
    format!("stream {}", number % STREAMS)
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

/// An event that a stream's id and a number determine.
fn event(id: u8, content: u8) -> PackedEvent {
    let (id, content) = (id % 24, content % 32);
    // Most repeat their id's content, some contradict it.
    let content = if content < 28 { id } else { content };
    let mark = match content % 6 {
        0 => Mark::UserTurn,
        1 => Mark::System,
        2 => Mark::Control,
        _ => Mark::Plain,
    };
    let control = KINDS.get(usize::from(content / 6 % 2)).copied().unwrap_or_default();
    let text = format!("content {content}").repeat(usize::from(content % 4));
    PackedEvent {
        id: EventId::new(format!("id {id}")).unwrap(),
        at: Millis(i64::from(content) * 7 % 50),
        kind: if mark == Mark::Control { control } else { "message.appended" },
        mark,
        origin: (content % 5 == 0).then(|| vec![content]),
        payload: text.clone().into_bytes(),
        content: *blake3::hash(&[content]).as_bytes(),
        salt: [id; 16],
        blobs: (0..content % 3).map(|which| body(&body_name(content.wrapping_add(which)))).collect(),
        text: Bytes(text.len() as u64),
    }
}

fn body_name(number: u8) -> String {
    format!("body {}", number % 4)
}

/// Two stores that have been told the same, and the tenants in them.
struct Told<'a> {
    a: &'a dyn Storage,
    b: &'a dyn Storage,
    tenants: [TenantNo; 2],
}

impl Told<'_> {
    fn both(a: &dyn Storage, b: &dyn Storage, writes: Vec<Write>) -> Result<Vec<Written>, StoreError> {
        let (from_a, from_b) = (block_on(a.commit(writes.clone())), block_on(b.commit(writes.clone())));
        // Where a head is said to be differs with what was looked at first.
        let moved = |result: &Result<_, StoreError>| matches!(result, Err(StoreError::HeadMoved { .. }));
        if !(moved(&from_a) && moved(&from_b)) {
            assert_eq!(from_a, from_b, "both did {writes:#?}");
        }
        from_a
    }

    fn ask(&self, queries: Vec<Query>) -> Vec<Answer> {
        let from_a = block_on(self.a.query(queries.clone())).map(sorted).unwrap();
        let from_b = block_on(self.b.query(queries.clone())).map(sorted).unwrap();
        for ((query, from_a), from_b) in queries.iter().zip(&from_a).zip(&from_b) {
            assert_eq!(from_a, from_b, "both were asked {query:?}");
        }
        from_a
    }

    fn writes(&self, tenant: TenantNo, step: &Step) -> Vec<Write> {
        match step {
            Step::Open { stream, of, at } => vec![open(tenant, *stream, *of, *at)],
            Step::Append { stream, events, expect } => vec![Write::Append {
                tenant,
                stream: stream_id(&stream_name(*stream)),
                expect_head: expect.map(|seq| Seq(u64::from(seq))),
                events: events.iter().map(|(id, content)| event(*id, *content)).collect(),
            }],
            Step::Tally { stream, from, count } => {
                let seqs = u64::from(*from)..u64::from(*from) + u64::from(*count);
                let tokens = seqs.map(|seq| (Seq(seq), Tokens(seq * 3))).collect();
                vec![Write::Tallies { tenant, stream: stream_id(&stream_name(*stream)), tokens }]
            }
            Step::Count { body, both } => {
                let number = u32::from(*body % 4);
                let count =
                    BodyCount { o200k: number, cl100k: both.then_some(number), ..BodyCount::default() };
                vec![Write::Counts { tenant, counts: vec![(handle(&body_name(*body)), count)] }]
            }
            Step::Segment { stream, replace } => self.segment(tenant, *stream, *replace),
            Step::Import { source, shared, chunks, end } => {
                self.import(tenant, *source, u64::from(*shared), (chunks, *end))
            }
            Step::Erase { stream, seqs, span } => vec![Write::Erase {
                tenant,
                stream: stream_id(&stream_name(*stream)),
                seqs: seqs.iter().map(|seq| Seq(u64::from(*seq))).collect(),
                spans: span
                    .iter()
                    .map(|(source, from, len)| SourceSpan {
                        source: handle(&source_name(*source)),
                        revision: u32::from(*source / 8 % 4),
                        offset: u64::from(*from),
                        len: u64::from(*len),
                    })
                    .collect(),
            }],
            Step::Claim { key, holder, times: (now, until) } => vec![Write::Claim {
                tenant,
                key: work_name(*key),
                holder: worker_name(*holder),
                now: Millis(i64::from(*now)),
                until: Millis(i64::from(*until)),
            }],
            Step::Release { key, holder } => {
                vec![Write::Release { tenant, key: work_name(*key), holder: worker_name(*holder) }]
            }
            Step::Drop => vec![Write::DropDerived { tenant }],
            Step::Together(steps) => steps.iter().flat_map(|step| self.writes(tenant, step)).collect(),
        }
    }

    fn segment(&self, tenant: TenantNo, stream: u8, replace: bool) -> Vec<Write> {
        let stream = stream_id(&stream_name(stream));
        let answers = self.ask(vec![Query::Stream { tenant, stream }, Query::Segments { tenant }]);
        let [Answer::Stream(info), Answer::Segments(segments)] = answers.as_slice() else {
            return Vec::new();
        };
        let info = info.as_deref().into_iter();
        let reach = |info: &StreamInfo| Reach { stream: info.no, after: info.indexed, through: info.head };
        let indexed: Vec<Reach> = info.map(reach).collect();
        let replaces = segments.iter().take(usize::from(replace)).map(|info| info.id).collect();
        let header = format!("{indexed:?}").into_bytes();
        let blocks = vec![header.clone(), vec![1], vec![2]];
        let segment = Some(PackedSegment { docs: 1, header: header.clone(), blocks });
        vec![Write::Segment { tenant, segment, replaces, indexed }]
    }

    /// A revision whose numbers are whatever the script says, in the order an importer keeps.
    fn import(&self, tenant: TenantNo, source: u8, shared: u64, (lens, end): (&[u8], bool)) -> Vec<Write> {
        let key = source_name(source);
        let by = SourceBy::Key(key.clone());
        let known = match self.ask(vec![Query::Source { tenant, by }]).pop() {
            Some(Answer::Source(info)) => info,
            _ => None,
        };
        let shared = known.as_ref().map_or(0, |info| shared.min(info.len));
        let begin = Write::Source {
            tenant,
            handle: handle(&key),
            key,
            format: "jsonl".to_owned(),
            shared,
            at: Millis(0),
        };
        // A first revision begins before its number is known; its chunks come with a later step.
        let Some(no) = known.map(|info| info.no) else { return vec![begin] };
        let mut writes = vec![begin];
        let mut offset = shared;
        for len in lens.iter().copied().filter(|len| *len > 0) {
            let data = pack(&vec![b'a' + len % 26; usize::from(len)]);
            writes.push(Write::Chunk { source: no, offset, len: u64::from(len), data });
            offset += u64::from(len);
        }
        if end {
            writes.push(Write::SourceEnd { source: no, len: offset, hash: *blake3::hash(lens).as_bytes() });
        }
        writes
    }

    fn compare(&self, step: &Step) {
        for tenant in self.tenants {
            let mut queries = Vec::new();
            let streams = (0..STREAMS).map(|number| stream_id(&stream_name(number)));
            let known = self.ask(streams.map(|stream| Query::Stream { tenant, stream }).collect());
            for (number, known) in (0..).zip(known) {
                if known != Answer::Stream(None) {
                    queries.extend(stream_queries(tenant, number));
                }
            }
            queries.extend(tenant_queries(tenant));
            let answers = self.ask(queries);
            let segments: Vec<u64> = answers
                .iter()
                .filter_map(|answer| match answer {
                    Answer::Segments(list) => Some(list.iter().map(|info| info.id)),
                    _ => None,
                })
                .flatten()
                .collect();
            let wanted = segments.iter().flat_map(|id| [(*id, 2), (*id, 0), (*id, 3)]).collect();
            let mut queries = vec![Query::Blocks { tenant, wanted }];
            queries.extend(segments.iter().map(|segment| Query::SegmentBlocks { tenant, segment: *segment }));
            queries.extend((1..=4).map(SourceNo).flat_map(|source| {
                [(0, 200, 99), (7, 21, 99), (0, 200, 1)].map(|(from, to, limit)| Query::Chunks {
                    source,
                    from,
                    to,
                    limit,
                })
            }));
            let answers = self.ask(queries);
            assert!(!answers.is_empty(), "after {step:?}");
        }
    }
}

fn open(tenant: TenantNo, stream: u8, of: u8, at: u8) -> Write {
    let (id, parent) = (stream_name(stream), stream_name(of));
    let opening = if of.is_multiple_of(2) || id == parent {
        Opening::New { parent: None }
    } else {
        Opening::Fork { parent: stream_id(&parent), at_seq: Seq(u64::from(at)) }
    };
    Write::Open {
        tenant,
        handle: handle(&id),
        stream: stream_id(&id),
        opening,
        scope: vec![at],
        source: None,
        at: Millis(i64::from(at)),
    }
}

fn stream_queries(tenant: TenantNo, number: u8) -> Vec<Query> {
    let stream = || stream_id(&stream_name(number));
    let seqs = || (0..=20).map(Seq).collect::<Vec<_>>();
    let events = |(from, to), order, limit, text| Query::Events {
        tenant,
        stream: stream(),
        from: Seq(from),
        to: Seq(to),
        order,
        limit,
        text: Bytes(text),
        counts: text > 20,
    };
    let marked = |what, to, limit| Query::Marked { tenant, stream: stream(), what, to: Seq(to), limit };
    let mut queries = vec![
        Query::Lineage { tenant, stream: stream() },
        events((1, 99), Order::Ascending, 99, 1 << 20),
        events((2, 9), Order::Descending, 4, 25),
        events((0, 5), Order::Ascending, 3, 12),
        Query::At { tenant, stream: stream(), seqs: seqs() },
        marked(Marked::System, 99, 99),
        marked(Marked::System, 5, 2),
        Query::Tallies { tenant, stream: stream(), seqs: seqs() },
        Query::Resolve { tenant, handle: handle(&stream_name(number)) },
    ];
    queries.extend(KINDS.map(|kind| marked(Marked::Kind(kind), 7, 99)));
    queries
}

fn tenant_queries(tenant: TenantNo) -> Vec<Query> {
    let bodies = || (0..4).map(|number| handle(&body_name(number))).collect::<Vec<_>>();
    let mut queries = vec![
        Query::Tenant { name: "left".to_owned() },
        Query::Streams { tenant, prefix: "stream".to_owned(), limit: 99 },
        Query::Streams { tenant, prefix: "stream 1".to_owned(), limit: 99 },
        Query::Streams { tenant, prefix: String::new(), limit: 2 },
        Query::Behind { tenant, limit: 99 },
        Query::Blobs { tenant, handles: bodies() },
        Query::Counts { tenant, handles: bodies() },
        Query::Segments { tenant },
    ];
    queries.extend((0..2).map(|number| Query::Lease { tenant, key: work_name(number) }));
    queries.extend(bodies().into_iter().map(|handle| Query::Resolve { tenant, handle }));
    queries.extend(bodies().into_iter().map(|handle| Query::Holders { tenant, handle, limit: 3 }));
    for number in 0..2 {
        queries.push(Query::Source { tenant, by: SourceBy::Key(source_name(number)) });
        queries.push(Query::Resolve { tenant, handle: handle(&source_name(number)) });
    }
    queries.extend((1..=4).map(|no| Query::Source { tenant, by: SourceBy::No(SourceNo(no)) }));
    queries
}
