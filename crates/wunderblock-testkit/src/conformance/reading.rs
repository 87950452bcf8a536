//! Cases about events by range, position, mark and lane, about lists of streams and tenants, and about forks.

use super::derived::tally;
use super::tenant::{TestTenant, answered, happened, happened_in, placed, said, seqs, stream_id, texts};
use wunderblock_core::id::{LaneId, Scope};
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
use wunderblock_store::{
    Answer, EventFilter, EventMark, EventUsage, Facets, Marked, Opening, PackedEvent, Query, ReadOrder,
    SessionFacets, StoreError, StreamFilter, StreamKind, StreamNo, Stretch, TenantNo, Write,
};

/// Opens three streams: `a` (1 to 6), `b` (forked from `a` at 4; 5 to 7), and `c` (forked from `b` at 6; 7 and 8).
fn three_levels(scene: &TestTenant<'_>) {
    scene.told("a", &["a1", "a2", "a3", "a4", "a5", "a6"]);
    scene.fork("b", "a", 4);
    scene.tell("b", &["b5", "b6", "b7"]);
    scene.fork("c", "b", 6);
    scene.tell("c", &["c7", "c8"]);
}

/// A fork reads as one stream: its parent's events up to the fork, then its own.
pub(super) fn a_fork_reads_through(scene: &TestTenant<'_>) {
    three_levels(scene);
    assert_eq!(texts(&scene.all("c")), ["a1", "a2", "a3", "a4", "b5", "b6", "c7", "c8"]);
    assert_eq!(texts(&scene.all("b")), ["a1", "a2", "a3", "a4", "b5", "b6", "b7"]);
    assert_eq!(texts(&scene.all("a")), ["a1", "a2", "a3", "a4", "a5", "a6"]);
    assert_eq!(seqs(&scene.all("c")), [1, 2, 3, 4, 5, 6, 7, 8]);
    let numbers = [scene.info("a").no, scene.info("b").no, scene.info("c").no];
    let holders: Vec<_> = scene.at("c", &[4, 5, 7]).iter().map(|event| event.stream).collect();
    assert_eq!(holders, numbers);
    let stretch = |no: usize, id: &str, from, to| Stretch {
        no: *numbers.get(no).unwrap(),
        stream: stream_id(id),
        from: Seq(from),
        to: Seq(to),
    };
    let lineage = scene.ask(Query::Lineage { tenant: scene.tenant.no, stream: stream_id("c") });
    assert_eq!(
        lineage,
        Answer::Lineage(vec![stretch(2, "c", 7, 8), stretch(1, "b", 5, 6), stretch(0, "a", 1, 4)])
    );
    let info = scene.info("c");
    assert_eq!((info.head, info.fork, info.messages), (Seq(8), Some((stream_id("b"), Seq(6))), 8));
    assert_eq!(info.text, Bytes(16));
    let between = Query::Events {
        tenant: scene.tenant.no,
        stream: stream_id("c"),
        from: Seq(3),
        to: Seq(7),
        order: ReadOrder::Descending,
        limit: 4,
        text: Bytes(100),
        counts: false,
        filter: EventFilter::default(),
    };
    assert_eq!(texts(&scene.events_of(between)), ["c7", "b6", "b5", "a4"]);
}

/// A fork at a position before its parent's own fork continues the grandparent. A fork at the head or at 0 has no
/// events of its own.
pub(super) fn forks_at_their_edges(scene: &TestTenant<'_>) {
    three_levels(scene);
    scene.fork("below", "b", 2);
    scene.tell("below", &["x3"]);
    assert_eq!(texts(&scene.all("below")), ["a1", "a2", "x3"]);
    let holders = |id: &str| -> Vec<_> {
        let query = Query::Lineage { tenant: scene.tenant.no, stream: stream_id(id) };
        let list = answered!(scene.ask(query), Answer::Lineage(list) => list);
        list.iter().map(|part| (part.stream.as_str().to_owned(), part.from.0, part.to.0)).collect()
    };
    assert_eq!(holders("below"), [("below".to_owned(), 3, 3), ("a".to_owned(), 1, 2)]);
    assert_eq!(scene.info("below").fork, Some((stream_id("b"), Seq(2))));
    let at_head = scene.fork("at head", "a", 6);
    assert_eq!((at_head.head, at_head.messages, at_head.text), (Seq(6), 6, Bytes(12)));
    assert_eq!(scene.all("at head"), scene.all("a"));
    assert_eq!(holders("at head"), [("at head".to_owned(), 7, 6), ("a".to_owned(), 1, 6)]);
    let at_start = scene.fork("at start", "a", 0);
    assert_eq!((at_start.head, at_start.messages, at_start.text), (Seq(0), 0, Bytes(0)));
    assert_eq!(scene.tell("at start", &["y1"]), [1]);
    assert_eq!(texts(&scene.all("at start")), ["y1"]);
    scene.tell("a", &["a7"]);
    assert_eq!(scene.info("at head").head, Seq(6), "what a parent goes on to say is not the fork's");
    assert_eq!(scene.all("at head").len(), 6);
    tally(scene, "a", &[1, 2, 3, 4, 5, 6, 7].map(|seq| (seq, seq)));
    tally(scene, "below", &[(3, 100)]);
    tally(scene, "at start", &[(1, 100)]);
    let sums = |id: &str, seqs: &[u64]| -> Vec<_> {
        let rows = scene.tallies(id, seqs);
        rows.iter().map(|row| (row.messages, row.text.0, row.tokens.map(|sum| sum.0))).collect()
    };
    assert_eq!(sums("below", &[2, 3]), [(2, 4, Some(3)), (3, 6, Some(103))]);
    assert_eq!(sums("at start", &[0, 1]), [(0, 0, Some(0)), (1, 2, Some(100))]);
    assert_eq!(sums("at head", &[5, 6, 9]), [(5, 10, Some(15)), (6, 12, Some(21)), (6, 12, Some(21))]);
}

/// In a fork, ids of the shared history are taken; ids that the parent appended later are not.
pub(super) fn ids_count_through_a_fork(scene: &TestTenant<'_>) {
    three_levels(scene);
    let again =
        vec![said("a 2", "a2"), said("b 5", "b5"), said("c 8", "c8"), said("b 7", "b7"), said("a 5", "new")];
    assert_eq!(
        scene.try_append("c", again),
        Ok(vec![placed(2, true), placed(5, true), placed(8, true), placed(9, false), placed(10, false)])
    );
    let conflict = scene.try_append("c", vec![said("a 2", "other")]);
    assert_eq!(conflict, Err(StoreError::Conflict { id: said("a 2", "").id, seq: Seq(2) }));
    let parent = scene.try_append("a", vec![said("c 8", "the fork's id")]).unwrap();
    assert_eq!(parent, [placed(7, false)]);
}

/// Ranges are cut by number of events and by text length, from either end.
pub(super) fn ranges_have_limits(scene: &TestTenant<'_>) {
    scene.told("s", &["1", "22", "333", "4444", "55555"]);
    let query = |from, to, order, limit, text| Query::Events {
        tenant: scene.tenant.no,
        stream: stream_id("s"),
        from: Seq(from),
        to: Seq(to),
        order,
        limit,
        text: Bytes(text),
        counts: false,
        filter: EventFilter::default(),
    };
    let (up, down) = (ReadOrder::Ascending, ReadOrder::Descending);
    let cases: [(Query, &[u64]); 14] = [
        (query(1, 5, up, 9, 99), &[1, 2, 3, 4, 5]),
        (query(1, 5, down, 9, 99), &[5, 4, 3, 2, 1]),
        (query(0, u64::MAX >> 1, up, 2, 99), &[1, 2]),
        (query(2, 99, down, 2, 99), &[5, 4]),
        (query(2, 4, up, 0, 99), &[]),
        (query(4, 2, up, 9, 99), &[]),
        (query(6, 9, down, 9, 99), &[]),
        (query(3, 3, down, 9, 99), &[3]),
        (query(1, 5, up, 9, 0), &[1]),
        (query(1, 5, up, 9, 2), &[1, 2]),
        (query(1, 5, up, 9, 3), &[1, 2, 3]),
        (query(1, 5, down, 9, 5), &[5, 4]),
        (query(1, 5, down, 9, 4), &[5]),
        (query(1, 5, down, 2, 12), &[5, 4]),
    ];
    for (query, expected) in cases {
        assert_eq!(seqs(&scene.events_of(query.clone())), expected, "{query:?}");
    }
    let empty = [happened("e1", "a", ""), happened("e2", "b", ""), said("e3", "x")];
    scene.append("s", empty.to_vec());
    assert_eq!(seqs(&scene.events_of(query(6, 8, up, 9, 0))), [6, 7, 8], "empty texts exceed nothing");
}

/// Events at given positions are returned in the order of the query; missing positions are left out.
pub(super) fn events_at_positions(scene: &TestTenant<'_>) {
    three_levels(scene);
    assert_eq!(texts(&scene.at("c", &[8, 1, 5, 5, 0, 9, 77])), ["c8", "a1", "b5", "b5"]);
    assert_eq!(scene.at("c", &[]), []);
    scene.knows_nothing_of("nowhere");
}

/// System messages, user turns and control events are found by mark, newest first, through forks.
pub(super) fn marked_events(scene: &TestTenant<'_>) {
    scene.open("s");
    let system = |id: &str| PackedEvent { mark: EventMark::System, ..said(id, id) };
    scene.append("s", vec![system("y1"), said("m2", "m"), happened("k3", "view.trimmed", ""), system("y4")]);
    scene.append("s", vec![happened("k5", "usage.measured", ""), happened("k6", "view.trimmed", "")]);
    scene.fork("f", "s", 5);
    scene.append("f", vec![happened("k6", "view.trimmed", "f"), system("y7"), said("m8", "m")]);
    let marked = |stream: &str, what, to, limit| seqs(&scene.marked(stream, what, to, limit));
    let user = |id: &str| PackedEvent { mark: EventMark::UserTurn, ..said(id, id) };
    scene.open("u");
    scene.append("u", vec![user("1"), said("2", "m"), user("3"), said("4", "m")]);
    assert_eq!(marked("u", Marked::UserTurn, 99, 1), [3]);
    assert_eq!(marked("u", Marked::UserTurn, 2, 99), [1]);
    let trimmed = || Marked::Kind("view.trimmed");
    assert_eq!(marked("s", Marked::System, 99, 99), [4, 1]);
    assert_eq!(marked("s", trimmed(), 99, 99), [6, 3]);
    assert_eq!(marked("f", Marked::System, 99, 99), [7, 4, 1]);
    assert_eq!(marked("f", Marked::System, 6, 1), [4]);
    assert_eq!(marked("f", trimmed(), 99, 99), [6, 3]);
    assert_eq!(marked("f", trimmed(), 5, 99), [3]);
    assert_eq!(marked("f", Marked::Kind("usage.measured"), 99, 99), [5]);
    assert_eq!(
        marked("f", Marked::Kind("message.appended"), 99, 99),
        [0; 0],
        "messages are not control events"
    );
    assert_eq!(marked("f", Marked::System, 99, 0), [0; 0]);
    assert_eq!(marked("f", Marked::System, 0, 99), [0; 0]);
}

/// Control events are found by lane, and the newest event of every lane is found in one query, through forks.
pub(super) fn events_of_lanes(scene: &TestTenant<'_>) {
    scene.open("s");
    let lane = |name: &str| LaneId::new(name).unwrap();
    let (built, trimmed) = ("context.built", "view.trimmed");
    scene.append("s", vec![happened_in("b", "1", built), said("2", "m"), happened_in("a", "3", built)]);
    scene.append(
        "s",
        vec![happened_in("b", "4", trimmed), happened("5", built, ""), happened_in("b", "6", built)],
    );
    scene.fork("f", "s", 5);
    scene.append("f", vec![happened_in("a", "f6", built), happened_in("c", "f7", built)]);
    let marked = |stream: &str, what, to, limit| seqs(&scene.marked(stream, what, to, limit));
    let of = |name: &str| Marked::OfLane(built, lane(name));
    assert_eq!(marked("s", of("b"), 99, 99), [6, 1]);
    assert_eq!(marked("s", of("b"), 99, 1), [6]);
    assert_eq!(marked("s", of("b"), 5, 99), [1]);
    assert_eq!(marked("f", of("b"), 99, 99), [1]);
    assert_eq!(marked("f", of("a"), 99, 99), [6, 3]);
    assert_eq!(marked("s", of("d"), 99, 99), [0; 0]);
    assert_eq!(marked("s", Marked::OfLane(trimmed, lane("b")), 99, 99), [4]);
    assert_eq!(marked("s", Marked::EachLane(built), 99, 99), [6, 3]);
    assert_eq!(marked("s", Marked::EachLane(built), 99, 1), [6]);
    assert_eq!(marked("s", Marked::EachLane(built), 2, 99), [1]);
    assert_eq!(marked("f", Marked::EachLane(built), 99, 99), [7, 6, 1]);
    assert_eq!(marked("f", Marked::EachLane(trimmed), 99, 99), [4]);
    assert_eq!(marked("f", Marked::EachLane("session.compacted"), 99, 99), [0; 0]);
    let lanes = |stream: &str| -> Vec<_> {
        scene.marked(stream, Marked::EachLane(built), 99, 99).into_iter().map(|event| event.lane).collect()
    };
    assert_eq!(lanes("f"), [Some(lane("c")), Some(lane("a")), Some(lane("b"))]);
}

/// Streams are listed by prefix, those with the newest event first.
pub(super) fn streams_by_prefix(scene: &TestTenant<'_>) {
    for (id, at) in [("ab1", 30), ("ab2", 10), ("AB3", 40), ("ac", 20), ("ab4", 30), ("b", 50)] {
        scene.open(id);
        scene.append(id, vec![PackedEvent { at: Millis(1000 + at), ..said("1", id) }]);
    }
    let list = |prefix: &str, limit| scene.streams_of(scene.beginning(prefix, limit));
    assert_eq!(list("", 99), ["b", "AB3", "ab4", "ab1", "ac", "ab2"]);
    assert_eq!(list("ab", 99), ["ab4", "ab1", "ab2"]);
    assert_eq!(list("a", 2), ["ab4", "ab1"]);
    assert_eq!(list("a_", 9), [""; 0]);
    assert_eq!(list("%", 9), [""; 0]);
    assert_eq!(list("ab1x", 9), [""; 0]);
    assert_eq!(list("", 0), [""; 0]);
    let no = |id: &str| scene.info(id).no;
    let by_no = |tenant, streams| scene.streams_of(Query::StreamsByNo { tenant, streams });
    let asked = vec![no("b"), StreamNo(99_999), no("AB3"), no("b")];
    assert_eq!(by_no(scene.tenant.no, asked), ["b", "AB3", "b"]);
    assert_eq!(by_no(scene.tenant.no, Vec::new()), [""; 0]);
    assert_eq!(by_no(TenantNo(scene.tenant.no.0 + 1), vec![no("b")]), [""; 0]);
}

/// Streams are listed by scope and by the time of their latest event.
pub(super) fn streams_by_scope(scene: &TestTenant<'_>) {
    let open = |id: &str, project: &str, agent: Option<&str>, at: i64| {
        let scope = Scope {
            user: Some("u".into()),
            project: Some(project.into()),
            folder: Some(format!("/{project}")),
            agent: agent.map(Into::into),
            session: Some(id.into()),
            run: Some("r".into()),
        };
        let mut write = scene.opening(id, Opening::New { parent: None });
        if let Write::Open { scope: of, at: time, .. } = &mut write {
            (*of, *time) = (scope.clone(), Millis(at));
        }
        scene.commit(write);
        assert_eq!(scene.info(id).scope, scope);
    };
    open("a1", "one", Some("codex"), 10);
    open("a2", "one", Some("claude"), 20);
    open("a3", "two", Some("codex"), 30);
    open("b1", "one", None, 40);
    let list = |prefix: &str, project: Option<&str>, agent: Option<&str>, since: Option<i64>| {
        let filter = StreamFilter {
            prefix: prefix.to_owned(),
            projects: project.map(Into::into).into_iter().collect(),
            agent: agent.map(Into::into),
            since: since.map(Millis),
            ..StreamFilter::default()
        };
        scene.streams_of(Query::Streams { tenant: scene.tenant.no, filter, limit: 9 })
    };
    assert_eq!(list("", None, None, None), ["b1", "a3", "a2", "a1"]);
    assert_eq!(list("", Some("one"), None, None), ["b1", "a2", "a1"]);
    assert_eq!(list("", None, Some("codex"), None), ["a3", "a1"]);
    assert_eq!(list("a", Some("one"), Some("codex"), None), ["a1"]);
    assert_eq!(list("b", Some("one"), Some("codex"), None), [""; 0]);
    assert_eq!(list("", Some("on"), None, None), [""; 0], "a project is named in full");
    assert_eq!(list("", None, None, Some(30)), ["b1", "a3"], "the time itself belongs to it");
    scene.tell("a1", &["later"]);
    assert_eq!(list("", None, None, Some(31)), ["a1", "b1"], "what counts is the newest message");
    scene.append("a2", vec![PackedEvent { at: Millis(9000), ..happened("x", "context.built", "") }]);
    assert_eq!(list("", None, None, Some(31)), ["a1", "b1"], "a request is not a message");
}

/// Sub-agents are found by the sessions that started them.
pub(super) fn sub_agents_are_found_by_their_parents(scene: &TestTenant<'_>) {
    for (name, parent) in
        [("p", None), ("q", None), ("p1", Some("p")), ("q1", Some("q")), ("p1a", Some("p1"))]
    {
        scene.commit(scene.opening(name, Opening::New { parent: parent.map(stream_id) }));
    }
    let of = |parents: &[&str], prefix: &str| {
        let filter = StreamFilter {
            prefix: prefix.to_owned(),
            parents: parents.iter().map(|name| stream_id(name)).collect(),
            ..StreamFilter::default()
        };
        let mut found = scene.streams_of(Query::Streams { tenant: scene.tenant.no, filter, limit: 9 });
        found.sort();
        found
    };
    assert_eq!(of(&["p"], ""), ["p1"]);
    assert_eq!(of(&["p", "q"], ""), ["p1", "q1"]);
    assert_eq!(of(&["p", "q", "p1"], "p"), ["p1", "p1a"]);
    assert_eq!(of(&["p1a", "none"], ""), [""; 0]);
}

/// A project is named by its folder, by a folder above it, or by its name.
pub(super) fn sessions_of_a_project_are_found(scene: &TestTenant<'_>) {
    for (id, project) in [
        ("1", "/home/ann/garden"),
        ("2", "/home/ann/garden/pond"),
        ("3", "/home/ann/gardens"),
        ("4", "plain"),
    ] {
        let mut write = scene.opening(id, Opening::New { parent: None });
        if let Write::Open { scope, .. } = &mut write {
            scope.project = Some(project.to_owned());
        }
        scene.commit(write);
    }
    scene.open("5");
    let list = |projects: &[&str]| {
        let projects = projects.iter().map(|project| (*project).to_owned()).collect();
        let filter = StreamFilter { projects, ..StreamFilter::default() };
        scene.streams_of(Query::Streams { tenant: scene.tenant.no, filter, limit: 9 })
    };
    assert_eq!(list(&["/home/ann/garden"]), ["2", "1"]);
    assert_eq!(list(&["/home/ann"]), ["3", "2", "1"]);
    assert_eq!(list(&["garden"]), ["1"]);
    assert_eq!(list(&["garden", "plain"]), ["4", "1"]);
    assert_eq!(list(&["garde"]), [""; 0]);
    assert_eq!(list(&["ann/garden"]), [""; 0], "a path is given from its root");
    assert_eq!(list(&["%", "_"]), [""; 0], "no sign has a special meaning");
}

/// A session has the title and the tags that were given last, the model of its latest reply, and the usage of each
/// reply once, until the events that say so are erased.
pub(super) fn sessions_are_described(scene: &TestTenant<'_>) {
    scene.open("s");
    let says = |id: &str, facets: SessionFacets| {
        let kind = if facets.usage.is_some() { "usage.measured" } else { "session.described" };
        let facets = Facets { session: Some(Box::new(facets)), ..Facets::default() };
        PackedEvent { facets, ..happened(id, kind, "") }
    };
    let tags = |tags: &[&str]| Some(tags.iter().map(|tag| Box::from(*tag)).collect());
    let used = |key: &str, input: u64| SessionFacets {
        model: Some(format!("model {key}").into()),
        usage: Some(EventUsage { key: key.into(), input: Tokens(input), ..EventUsage::default() }),
        ..SessionFacets::default()
    };
    scene.append(
        "s",
        vec![
            says(
                "1",
                SessionFacets {
                    title: Some("first".into()),
                    branch: Some("main".into()),
                    ..SessionFacets::default()
                },
            ),
            says("2", SessionFacets { tags: tags(&["a", "\"b\""]), ..SessionFacets::default() }),
            says("3", used("m1", 5)),
            says("4", used("m1", 7)),
            says("5", used("m2", 1)),
        ],
    );
    let info = scene.info("s");
    assert_eq!(
        (info.title.as_deref(), info.branch.as_deref(), info.model.as_deref()),
        (Some("first"), Some("main"), Some("model m2"))
    );
    assert_eq!(info.tags, ["a", "\"b\""].map(Box::from));
    let usage = |tag: &str| {
        let filter = StreamFilter { tags: vec![tag.to_owned()], ..StreamFilter::default() };
        let Answer::Usage(rows) = scene.ask(Query::Usage { tenant: scene.tenant.no, filter }) else {
            panic!("no usage")
        };
        rows.iter().map(|row| (row.seq, row.usage.input)).collect::<Vec<_>>()
    };
    assert_eq!(
        usage("\"b\""),
        [(Seq(4), Tokens(7)), (Seq(5), Tokens(1))],
        "a later report replaces an earlier one"
    );
    assert_eq!(usage("b"), []);
    scene.append(
        "s",
        vec![says(
            "6",
            SessionFacets { title: Some("".into()), tags: tags(&["c"]), ..SessionFacets::default() },
        )],
    );
    assert_eq!((scene.info("s").title, scene.info("s").tags.len()), (None, 1));
    scene.erase("s", &[5], Vec::new());
    assert_eq!(usage("c"), [(Seq(4), Tokens(7))]);
    scene.erase("s", &[6], Vec::new());
    assert!(scene.info("s").tags.is_empty());
}

/// Control events of given kinds are found in all streams of the tenant, and no message is.
pub(super) fn kinds_are_found_in_all_streams(scene: &TestTenant<'_>) {
    for id in ["a", "b"] {
        scene.open(id);
        let measured = happened(&format!("{id} 2"), "usage.measured", "");
        let trimmed = happened(&format!("{id} 3"), "view.trimmed", "");
        let trimmed = PackedEvent { at: Millis(measured.at.0 + 10), ..trimmed };
        scene.append(id, vec![said(&format!("{id} 1"), "usage.measured"), measured, trimmed]);
    }
    let other = TestTenant::of(scene.store, "another tenant");
    other.open("a");
    other.append("a", vec![happened("1", "view.trimmed", "")]);
    let found = |kinds: &[&'static str], since: Option<i64>| {
        let (kinds, since) = (kinds.to_vec(), since.map(Millis));
        let events = scene.events_of(Query::OfKinds {
            tenant: scene.tenant.no,
            of: StreamKind::Session,
            kinds,
            since,
        });
        events.iter().map(|event| event.id.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found(&["usage.measured"], None), ["a 2", "b 2"]);
    assert_eq!(found(&["view.trimmed", "usage.measured"], None), ["a 2", "a 3", "b 2", "b 3"]);
    assert_eq!(found(&["view.trimmed", "usage.measured"], Some(1_010)), ["a 3", "b 3"]);
    assert_eq!(found(&["view.trimmed"], Some(1_011)), [""; 0]);
    assert_eq!(found(&["message.appended"], None), [""; 0]);
    let (tenant, kinds) = (scene.tenant.no, vec!["view.trimmed", "usage.measured", "message.appended"]);
    let places = [("a", 2), ("a", 3), ("b", 2), ("b", 3)].map(|(id, seq)| (scene.info(id).no, Seq(seq)));
    assert_eq!(
        scene.ask(Query::PlacesOfKinds { tenant, of: StreamKind::Session, kinds }),
        Answer::Holders(places.to_vec())
    );
    scene.fork("c", "a", 3);
    assert_eq!(
        found(&["usage.measured"], None),
        ["a 2", "b 2"],
        "a fork does not repeat its parent's events"
    );
}

/// Tenants are listed in the order in which they were created.
pub(super) fn tenants_are_listed(scene: &TestTenant<'_>) {
    TestTenant::of(scene.store, "second name, first");
    for name in ["b", "a", "b"] {
        TestTenant::of(scene.store, name);
    }
    let names = ["local", "second name, first", "b", "a"].map(str::to_owned).to_vec();
    assert_eq!(scene.ask(Query::Tenants), Answer::Tenants(names));
}
