//! A session with nodes, written as events.

use futures_executor::block_on;
use std::sync::Arc;
use wunderblock::store::{Answer, Commit, Opening, Query, Storage, StreamKind, Write};
use wunderblock::summary_graph::{Described, Expand, Expanded, PageItem};
use wunderblock::{Address, Config, Engine, Error, Session};
use wunderblock_core::decision::{PlacedSummary, Trim, TrimReason};
use wunderblock_core::event::{
    Event, EventSource, Fact, MessageAppended, NewEvent, SessionCompacted, ViewTrimmed,
};
use wunderblock_core::id::{EventId, LaneId, StreamId};
use wunderblock_core::message::{Body, Message, Part, Role};
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
use wunderblock_testkit::backdoor::put;
use wunderblock_testkit::memory::MemoryStorage;

pub(crate) struct Scene {
    pub(crate) engine: Engine,
    pub(crate) session: Session,
    storage: Arc<MemoryStorage>,
    written: std::cell::Cell<u64>,
}

pub(crate) fn lane(name: &str) -> LaneId {
    LaneId::new(name).unwrap()
}

pub(crate) fn said(role: Role, parts: Vec<Part>) -> Fact {
    Fact::MessageAppended(MessageAppended { message: Message::new(role, parts) })
}

pub(crate) fn user(text: &str) -> Fact {
    said(Role::User, vec![Part::text(text)])
}

/// Returns a node of lane `main`, with its tokens.
pub(crate) fn node((from, to): (Seq, Seq), text: &str) -> SessionCompacted {
    SessionCompacted {
        lane: Some(LaneId::main()),
        summary: Some(Body::from(text)),
        tokens_before: Some(Tokens(900)),
        tokens_after: Some(Tokens(90)),
        ..SessionCompacted::new(from, to, "extractive")
    }
}

impl Scene {
    pub(crate) fn new() -> Self {
        let config = Config { clock: Arc::new(|| Millis(1_800_000_000_000)), ..Config::default() };
        let storage = Arc::new(MemoryStorage::new());
        let engine = block_on(Engine::on(storage.clone(), true, config)).unwrap();
        let session = engine.session_by_id(StreamId::new("s").unwrap());
        Self { engine, session, storage, written: std::cell::Cell::new(0) }
    }

    pub(crate) fn add(&self, facts: Vec<Fact>) -> Vec<Seq> {
        self.add_to(&self.session, facts)
    }

    pub(crate) fn add_to(&self, session: &Session, facts: Vec<Fact>) -> Vec<Seq> {
        let event = |fact| {
            self.written.set(self.written.get() + 1);
            let id = EventId::new(format!("e{}", self.written.get())).unwrap();
            NewEvent { id, at: Millis(1_700_000_000_000), source: EventSource::Live, fact }
        };
        let is_open = facts.iter().all(Fact::is_open);
        let events = facts.into_iter().map(event).collect();
        if !is_open {
            return put(self.storage.as_ref(), "local", session.id(), events);
        }
        block_on(session.append(events)).unwrap().into_iter().map(|one| one.seq).collect()
    }

    /// Creates a session that branches off after a position of the scene's session.
    pub(crate) fn fork(&self, id: &str, at_seq: Seq) -> Session {
        let tenant = block_on(self.storage.query(vec![Query::Tenant { name: "local".to_owned() }])).unwrap();
        let Some(Answer::Tenant(Some(tenant))) = tenant.first() else { panic!("{tenant:?}") };
        let stream = StreamId::new(id).unwrap();
        let open = Write::Open {
            tenant: tenant.no,
            kind: StreamKind::Session,
            handle: wunderblock::store::codec::name_handle(&tenant.key, "stream", id),
            stream: stream.clone(),
            opening: Opening::Fork { parent: self.session.id().clone(), at_seq },
            scope: Default::default(),
            at: Millis(0),
        };
        block_on(self.storage.commit(Commit::raw(vec![open]))).unwrap();
        self.engine.session_by_id(stream)
    }

    pub(crate) fn one(&self, fact: Fact) -> Seq {
        self.add(vec![fact])[0]
    }

    pub(crate) fn compacted(&self, node: SessionCompacted) -> Seq {
        self.one(Fact::SessionCompacted(Box::new(node)))
    }

    /// Records a node over other nodes.
    pub(crate) fn condensed(&self, sources: &[Seq], text: &str) -> Seq {
        let nodes = self.nodes();
        let mine: Vec<_> = nodes.iter().filter(|node| sources.contains(&node.seq)).collect();
        let range =
            (mine.iter().map(|it| it.from).min().unwrap(), mine.iter().map(|it| it.to).max().unwrap());
        let level = mine.iter().map(|it| it.level).max().unwrap() + 1;
        self.compacted(SessionCompacted { level, sources: sources.to_vec(), ..node(range, text) })
    }

    /// Records that the lane's view shows these nodes.
    pub(crate) fn shows(&self, lane: &str, nodes: &[Seq]) -> Seq {
        let all = self.nodes();
        let placed = nodes.iter().map(|at| {
            let node = all.iter().find(|node| node.seq == *at).unwrap();
            PlacedSummary { at: *at, from: node.from, to: node.to }
        });
        let trim = Trim { nodes: placed.collect(), ..Trim::default() };
        let lane = LaneId::new(lane).unwrap();
        self.one(Fact::ViewTrimmed(ViewTrimmed {
            lane,
            trim,
            reason: TrimReason::Compacted,
            target: None,
            compaction: None,
        }))
    }

    pub(crate) fn nodes(&self) -> Vec<wunderblock::summary_graph::GraphNode> {
        block_on(self.session.nodes(None)).unwrap()
    }

    pub(crate) fn handle(&self) -> String {
        block_on(self.session.info()).unwrap().handle.to_string()
    }

    /// Returns the address `#SEQ` or `#FROM-TO` in the session.
    pub(crate) fn at(&self, range: &str) -> String {
        format!("{}#{range}", self.handle())
    }

    pub(crate) fn describe(&self, address: &str) -> Result<Described, Error> {
        block_on(self.engine.recall().describe(address.parse::<Address>()?))
    }

    pub(crate) fn expand(&self, address: &str, wanted: &Expand) -> Result<Expanded, Error> {
        let page = block_on(self.engine.recall().expand(address.parse::<Address>()?, wanted))?;
        let counted = tokens(&page.text);
        assert_eq!(counted, page.tokens.0);
        assert!(counted <= wanted.page_tokens, "{counted} of {}:\n{}", wanted.page_tokens, page.text);
        for item in &page.items {
            assert_eq!(item.text.len() as u64, item.to_byte - item.from_byte);
        }
        Ok(page)
    }

    /// Returns all pages, following `next`.
    pub(crate) fn pages(&self, address: &str, wanted: &Expand) -> Vec<Expanded> {
        let mut pages = vec![self.expand(address, wanted).unwrap()];
        while let Some(next) = pages.last().unwrap().next {
            pages.push(self.expand(address, &Expand { page: Some(next), ..wanted.clone() }).unwrap());
        }
        let all = pages.len() as u64;
        assert!(pages.iter().zip(1..).all(|(page, number)| (page.page, page.pages) == (number, all)));
        assert!(self.expand(address, &Expand { page: Some(all + 1), ..wanted.clone() }).is_err());
        assert!(pages.iter().all(|page| !page.items.is_empty()), "no page is empty");
        pages
    }

    pub(crate) fn query(&self, address: &str, query: &str) -> Expanded {
        self.expand(address, &Expand { query: Some(query.to_owned()), ..Expand::default() }).unwrap()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        block_on(self.session.events(Seq(1), Seq(1 << 40), 1 << 20, Bytes(1 << 40))).unwrap()
    }

    pub(crate) fn catch_up(&self) {
        block_on(self.engine.maintenance().catch_up(&mut |_| {})).unwrap();
    }

    pub(crate) fn problems(&self) -> Vec<String> {
        let found = block_on(self.engine.maintenance().doctor(&mut |_| {})).unwrap();
        found.problems.into_iter().map(|problem| format!("{}: {}", problem.rule, problem.detail)).collect()
    }
}

/// Counts tokens with the vocabulary alone, independently of the library's counts.
pub(crate) fn tokens(text: &str) -> u64 {
    static O200K: std::sync::OnceLock<tiktoken::CoreBpe> = std::sync::OnceLock::new();
    O200K.get_or_init(tiktoken::encoding::o200k_base).count(text) as u64
}

/// Joins the items of all pages as a client would, by position and part.
pub(crate) fn joined(pages: &[Expanded]) -> Vec<(Seq, usize, String)> {
    let mut out: Vec<(Seq, usize, String)> = Vec::new();
    for item in pages.iter().flat_map(|page| &page.items) {
        let PageItem { seq, part, from_byte, text, .. } = item;
        let seq = seq.unwrap_or_default();
        match out.last_mut().filter(|(at, number, _)| (*at, *number) == (seq, *part)) {
            Some((.., sofar)) => {
                assert_eq!(sofar.len() as u64, *from_byte, "what one page ends with the next begins after");
                sofar.push_str(text);
            }
            None => {
                assert_eq!(*from_byte, 0);
                out.push((seq, *part, text.clone()));
            }
        }
    }
    out
}
