//! Cases about scopes: filters compare them whole, a folder's streams follow its project, and nothing outside a reach is
//! known.

use super::sources::{Place, after, ending, extending, import, owner, taking};
use super::tenant::{TestTenant, answered, body, handle, happened, holding, stream_id};
use futures_executor::block_on;
use wunderblock_core::id::{EventId, Handle, Scope, StreamId};
use wunderblock_core::message::Role;
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_store::codec::record_key;
use wunderblock_store::{
    Answer, BYTES, BodyCount, DerivedTable, Epoch, EventFilter, EventUsage, Facets, Marked, Opening,
    PackedEvent, Query, QuerySubject, Reach, ReadOrder, ScopeLimit, SessionFacets, SourceBy, SourceFilter,
    SourceNo, StoreError, StreamFilter, StreamKind, StreamNo, Write, Written,
};

/// Kind of the control event in each stream.
const KIND: &str = "view.trimmed";

/// Opens a stream with a scope of user, project, agent, session and run; an empty text leaves one out.
fn open(scene: &TestTenant<'_>, id: &str, parts: [&str; 5]) {
    let [user, project, agent, session, run] =
        parts.map(|part| Some(part.to_owned()).filter(|part| !part.is_empty()));
    let mut write = scene.opening(id, Opening::New { parent: None });
    if let Write::Open { scope, .. } = &mut write {
        *scope = Scope { user, project, folder: None, agent, session, run };
    }
    scene.commit(write);
}

/// A part of a scope is compared whole: no user is taken for one whose name begins in the same way.
pub(super) fn scopes_are_compared_whole(scene: &TestTenant<'_>) {
    open(scene, "1", ["ann", "p", "codex", "", "r1"]);
    open(scene, "2", ["anna", "p/q", "codex-x", "1", "r1"]);
    open(scene, "3", ["an", "P", "pi", "2", "r"]);
    open(scene, "4", ["", "", "", "", ""]);
    let text = |part: &str| Some(part.to_owned());
    let none = StreamFilter::default;
    let list = |filter| scene.streams_of(Query::Streams { tenant: scene.tenant.no, filter, limit: 9 });
    let table: [(StreamFilter, &[&str]); 12] = [
        (StreamFilter { user: text("ann"), ..none() }, &["1"]),
        (StreamFilter { user: text("a"), ..none() }, &[]),
        (StreamFilter { user: text("%"), ..none() }, &[]),
        (StreamFilter { user: text(""), ..none() }, &[]),
        (StreamFilter { agent: text("codex"), ..none() }, &["1"]),
        (StreamFilter { session: Some(stream_id("1")), ..none() }, &["2", "1"]),
        (StreamFilter { session: Some(stream_id("2")), ..none() }, &["3", "2"]),
        (StreamFilter { run: text("r1"), ..none() }, &["2", "1"]),
        (StreamFilter { places: vec!["p".to_owned()], ..none() }, &["1"]),
        (StreamFilter { places: vec!["P".to_owned(), "p/q".to_owned()], ..none() }, &["3", "2"]),
        (StreamFilter { user: text("ann"), run: text("r"), ..none() }, &[]),
        (StreamFilter { user: text("anna"), agent: text("codex-x"), run: text("r1"), ..none() }, &["2"]),
    ];
    for (filter, expected) in table {
        let shown = format!("{filter:?}");
        assert_eq!(list(filter), expected, "{shown}");
    }
    let within = |limits: &[ScopeLimit]| {
        let reach = limits.iter().cloned().fold(Reach::tenant(), Reach::and);
        let query = scene.beginning("", 9);
        scene.streams_of(Query::Within { reach, query: Box::new(query) })
    };
    let (user, project) = (|name| ScopeLimit::User(text(name)), |name| ScopeLimit::Project(text(name)));
    assert_eq!(within(&[]), ["4", "3", "2", "1"]);
    assert_eq!(within(&[user("ann")]), ["1"]);
    assert_eq!(within(&[project("p")]), ["1"]);
    assert_eq!(within(&[user("ann"), project("p")]), ["1"]);
    assert_eq!(within(&[user("ann"), project("p/q")]), [""; 0]);
    assert_eq!(within(&[user("ann"), user("anna")]), [""; 0], "nobody is two users");
    assert_eq!(within(&[user("")]), [""; 0]);
    assert_eq!(within(&[ScopeLimit::User(None)]), ["4"], "no user is not any user");
    assert_eq!(within(&[ScopeLimit::Project(None)]), ["4"]);
    let agent = |name| ScopeLimit::Agent(text(name));
    assert_eq!(within(&[agent("codex")]), ["1"]);
    assert_eq!(within(&[agent("codex"), user("anna")]), [""; 0]);
    assert_eq!(within(&[ScopeLimit::Agent(None)]), ["4"]);
}

/// The streams of a folder get the project that it has now. Other folders, and projects that were named, do not change.
pub(super) fn a_folder_gets_its_project(scene: &TestTenant<'_>) {
    for (id, project, folder) in [
        ("1", "/g", Some("/g")),
        ("2", "/g/src", Some("/g/src")),
        ("3", "/gg", Some("/gg")),
        ("4", "/g", None),
    ] {
        let mut write = scene.opening(id, Opening::New { parent: None });
        if let Write::Open { scope, .. } = &mut write {
            (scope.project, scope.folder) = (Some(project.to_owned()), folder.map(str::to_owned));
        }
        scene.commit(write);
    }
    let other = TestTenant::of(scene.store, "other");
    let mut write = other.opening("1", Opening::New { parent: None });
    if let Write::Open { scope, .. } = &mut write {
        (scope.project, scope.folder) = (Some("/g".to_owned()), Some("/g".to_owned()));
    }
    other.commit(write);
    let folders = vec!["/g".to_owned(), "/g/src".to_owned()];
    let (folder, project) = ("/g".to_owned(), "host/g".to_owned());
    let write = Write::Project { tenant: scene.tenant.no, folders, folder, project };
    assert_eq!(scene.commit(write.clone()), Written::Done);
    assert_eq!(scene.commit(write), Written::Done);
    let place = |scene: &TestTenant<'_>, id: &str| {
        let Scope { project, folder, .. } = scene.info(id).scope;
        (project.unwrap_or_default(), folder.unwrap_or_default())
    };
    let pair = |project: &str, folder: &str| (project.to_owned(), folder.to_owned());
    assert_eq!(place(scene, "1"), pair("host/g", "/g"));
    assert_eq!(place(scene, "2"), pair("host/g", "/g"));
    assert_eq!(place(scene, "3"), pair("/gg", "/gg"));
    assert_eq!(place(scene, "4"), pair("/g", ""));
    assert_eq!(place(&other, "1"), pair("/g", "/g"), "another tenant's");
}

/// What a query can be about.
struct Subject {
    id: StreamId,
    no: StreamNo,
    /// Text of a body.
    body: &'static str,
    source: Place,
    key: &'static str,
}

/// Every query that names something, about one subject.
fn about(scene: &TestTenant<'_>, one: &Subject) -> Vec<Query> {
    let (tenant, of, limit) = (scene.tenant.no, StreamKind::Session, 9);
    let (stream, (source, revision)) = (|| one.id.clone(), one.source);
    let (seqs, filter) = (vec![Seq(1), Seq(2)], EventFilter::default());
    let names = [one.id.as_str(), one.body, one.key];
    let names = names.into_iter().map(handle).chain([handle(&format!("{} 1", one.key))]);
    let named = names.flat_map(|handle| {
        [
            Query::Resolve { tenant, of, handle },
            Query::Handles { tenant, of, first: handle, last: handle, limit },
        ]
    });
    let mut queries: Vec<Query> = named.collect();
    let id = |number: u8| format!("{} {number}", one.id);
    queries.extend([
        Query::Stream { tenant, of, stream: stream() },
        Query::StreamsByNo { tenant, streams: vec![one.no] },
        Query::Passing { tenant, streams: Some(vec![one.no]), filter: filter.clone() },
        Query::Lineage { tenant, stream: stream() },
        Query::Events {
            tenant,
            stream: stream(),
            from: Seq(1),
            to: Seq(9),
            order: ReadOrder::Ascending,
            limit,
            text: Bytes(1 << 20),
            counts: true,
            filter: filter.clone(),
        },
        Query::At { tenant, stream: stream(), seqs: seqs.clone(), filter },
        Query::Marked { tenant, stream: stream(), what: Marked::Kind(KIND), to: Seq(9), limit },
        Query::Tallies { tenant, stream: stream(), seqs },
        Query::Ids { tenant, stream: stream(), ids: vec![EventId::new(id(1)).unwrap()] },
        Query::Lost { since: Epoch { tenant, no: 0 }, stream: stream(), from: Seq(1), to: Seq(9) },
        Query::SourcesOf { tenant, stream: stream() },
        Query::Records { tenant, records: vec![record_key(&id(1))] },
        Query::Blobs { tenant, handles: vec![handle(one.body)] },
        Query::Counts { tenant, handles: vec![handle(one.body)] },
        Query::Holders { tenant, of, handle: handle(one.body), limit },
        Query::Source { tenant, by: SourceBy::Key(one.key.to_owned()), revision: None },
        Query::Source { tenant, by: SourceBy::No(source), revision: Some(revision) },
        Query::ReadFrom { tenant, source, revision: None },
        Query::Chunks { source, revision, from: 0, to: 99, limit },
    ]);
    queries
}

/// Every query that lists something.
fn lists(scene: &TestTenant<'_>) -> Vec<Query> {
    let (tenant, of, limit, kinds) = (scene.tenant.no, StreamKind::Session, 99, vec![KIND]);
    vec![
        Query::Streams { tenant, filter: StreamFilter::default(), limit },
        Query::Behind { tenant, of, tables: DerivedTable::ALL.to_vec(), limit },
        Query::OfKinds { tenant, of, kinds: kinds.clone(), since: None },
        Query::PlacesOfKinds { tenant, of, kinds },
        Query::Usage { tenant, filter: StreamFilter::default() },
        Query::Unsettled { tenant, of, limit },
        Query::Sources { tenant, filter: SourceFilter::default() },
        Query::Handles { tenant, of, first: Handle(0), last: Handle(u64::MAX >> 1), limit },
    ]
}

/// Adds a stream with everything that a query can ask for.
fn fill(scene: &TestTenant<'_>, id: &'static str, scope: [&str; 5], key: &'static str) -> Subject {
    open(scene, id, scope);
    let body = ["body of own", "body of other"][usize::from(id != "own")];
    let turn = Facets { role: Some(Role::User), ..Facets::default() };
    let usage = EventUsage { key: "k".into(), input: Tokens(5), ..EventUsage::default() };
    let used = SessionFacets { usage: Some(usage), ..SessionFacets::default() };
    scene.append(
        id,
        vec![
            PackedEvent { facets: turn, ..holding(&format!("{id} 1"), &[body, "body of both"]) },
            happened(&format!("{id} 2"), KIND, ""),
            PackedEvent {
                facets: Facets { session: Some(Box::new(used)), ..Facets::default() },
                ..happened(&format!("{id} 3"), "usage.measured", "")
            },
        ],
    );
    let count = BodyCount { o200k: 3, ..BodyCount::default() };
    scene.commit(Write::Counts { tenant: scene.tenant.no, counts: vec![(handle(body), count)] });
    let source = import(scene, key, &["the bytes of ", id]);
    scene.commit(scene.linking(id, source.0, source.1));
    Subject { id: stream_id(id), no: scene.info(id).no, body, source, key }
}

type Asked = Result<Vec<Answer>, StoreError>;

fn ask(scene: &TestTenant<'_>, query: Query) -> Asked {
    block_on(scene.store.query(vec![query]))
}

/// Outside a reach, nothing is known: an answer is the one about something that never was. Inside, all is as before.
pub(super) fn nothing_outside_a_reach_is_known(scene: &TestTenant<'_>) {
    let own = fill(scene, "own", ["ann", "p", "", "", ""], "/own");
    let others = [
        fill(scene, "user", ["anna", "p", "", "", ""], "/user"),
        fill(scene, "project", ["ann", "q", "", "", ""], "/project"),
        fill(scene, "nobody", ["", "", "", "", ""], "/nobody"),
    ];
    let text = |part: &str| Some(part.to_owned());
    let reach = Reach::tenant().and(ScopeLimit::User(text("ann"))).and(ScopeLimit::Project(text("p")));
    let within = |query: &Query| Query::Within { reach: reach.clone(), query: Box::new(query.clone()) };
    let never = Subject {
        id: stream_id("never"),
        no: StreamNo(u32::MAX),
        body: "body of nothing",
        source: (SourceNo(i64::MAX), 1),
        key: "/never",
    };
    for query in about(scene, &own) {
        let known = ask(scene, query.clone());
        assert_eq!(ask(scene, within(&query)), known, "{query:?}");
        let unknown = about(scene, &never)
            .into_iter()
            .find(|other| std::mem::discriminant(other) == std::mem::discriminant(&query));
        assert_ne!(Some(known), unknown.map(|query| ask(scene, query)), "a control: {query:?}");
    }
    for other in &others {
        for (query, unknown) in about(scene, other).into_iter().zip(about(scene, &never)) {
            let expected = ask(scene, unknown).map_err(|error| match error {
                StoreError::NoStream(_) => StoreError::NoStream(other.id.clone()),
                error => error,
            });
            assert_ne!(ask(scene, query.clone()), expected, "a control: {query:?}");
            assert_eq!(ask(scene, within(&query)), expected, "{query:?}");
        }
    }
    // A body that two scopes share is read, and only its own holder is named.
    let handles = vec![handle("body of both")];
    let blobs = scene.ask(within(&Query::Blobs { tenant: scene.tenant.no, handles }));
    assert_eq!(blobs, Answer::Blobs(vec![Some(body("body of both"))]));
    let of = StreamKind::Session;
    let holders = Query::Holders { tenant: scene.tenant.no, of, handle: handle("body of both"), limit: 1 };
    assert_eq!(scene.ask(within(&holders)), Answer::Holders(vec![(own.no, Seq(1))]));
    // A list has as many entries as its limit allows, all of them in reach.
    for query in lists(scene) {
        let shown = |answer: &Answer| format!("{answer:?}");
        let (all, seen) = (shown(&scene.ask(query.clone())), shown(&scene.ask(within(&query))));
        assert_ne!(all, seen, "{query:?}");
        for other in &others {
            let marks = [format!("{:?}", other.no), format!("\"{}\"", other.id), other.key.to_owned()];
            let handles =
                [other.id.as_str(), other.body, other.key].map(|name| format!("{:?}", handle(name)));
            for mark in marks.iter().chain(&handles) {
                assert!(!seen.contains(mark), "{mark} in the answer to {query:?}: {seen}");
            }
        }
    }
    assert_eq!(scene.ask(within(&Query::Tenants)), Answer::Tenants(Vec::new()));
    let none = reach.within(&Reach::tenant().and(ScopeLimit::User(text("anna"))));
    let query = Query::Within { reach: none.clone(), query: Box::new(scene.beginning("", 9)) };
    assert_eq!(scene.streams_of(query), [""; 0]);
    let nested = Query::Within {
        reach: none,
        query: Box::new(Query::Within { reach: Reach::tenant(), query: Box::new(scene.beginning("", 9)) }),
    };
    assert_eq!(scene.streams_of(nested), [""; 0], "no query widens the reach around it");
}

/// An imported file is read as bytes, so all of its sessions must be in reach; of a kept text, one holder.
pub(super) fn sources_are_seen_by_all_or_by_each_reader(scene: &TestTenant<'_>) {
    open(scene, "ann", ["ann", "p", "", "", ""]);
    open(scene, "bob", ["bob", "p", "", "", ""]);
    let export = import(scene, "/export", &["of both"]);
    let alone = import(scene, "/alone", &["of ann"]);
    let unread = import(scene, "/unread", &["of nobody"]);
    let kept = {
        let write = match taking(scene, "output/1", after("output/1", 0), owner("me", 100)) {
            Write::Source { tenant, key, handle, begin, owner, now, takes_over, .. } => {
                Write::Source { tenant, key, handle, format: BYTES.to_owned(), begin, owner, now, takes_over }
            }
            other => other,
        };
        let place = answered!(scene.commit(write), Written::Source(no, revision) => (no, revision));
        scene.try_commit(vec![extending(place, "me", 0, &["kept"]), ending(place, "me")]).unwrap();
        place
    };
    for (id, source) in [("ann", export), ("bob", export), ("ann", alone), ("ann", kept), ("bob", kept)] {
        scene.commit(scene.linking(id, source.0, source.1));
    }
    let sees = |user: &str, (source, revision): Place| {
        let reach = Reach::tenant().and(ScopeLimit::User(Some(user.to_owned())));
        let chunks = Query::Chunks { source, revision, from: 0, to: 99, limit: 9 };
        assert_eq!(chunks.subject(), QuerySubject::Source(source));
        let found = scene.ask(Query::Within { reach: reach.clone(), query: Box::new(chunks) });
        let info = Query::Source { tenant: scene.tenant.no, by: SourceBy::No(source), revision: None };
        let info = scene.ask(Query::Within { reach, query: Box::new(info) });
        let (is_read, is_found) = (found != Answer::Chunks(Vec::new()), info != Answer::Source(None));
        assert_eq!(is_read, is_found);
        is_read
    };
    for (source, expected) in
        [(export, [false, false]), (alone, [true, false]), (unread, [false, false]), (kept, [true, true])]
    {
        assert_eq!(["ann", "bob"].map(|user| sees(user, source)), expected, "{source:?}");
    }
}
