//! Cases about commits, positions and event ids.

use super::tenant::{TestTenant, happened, holding, placed, said, seqs, stream_id, texts};
use futures_executor::block_on;
use wunderblock_core::id::Scope;
use wunderblock_core::units::{Bytes, Millis, Seq};
use wunderblock_store::codec::{VERSION, commitment};
use wunderblock_store::{
    Answer, DerivedTable, EventMark, Opening, PackedEvent, Query, StoreError, StreamKind, Write, Written,
};

/// If one write of a commit is refused, no write of the commit is stored.
pub(super) fn a_commit_is_all_or_nothing(scene: &TestTenant<'_>) {
    scene.told("there", &["one"]);
    let before = (scene.info("there"), scene.all("there"));
    let writes = vec![
        Write::Tenant { name: "new tenant".to_owned(), key: [1; 32] },
        scene.opening("new", Opening::New { parent: None }),
        scene.appending("new", vec![holding("n1", &["a body"])]),
        scene.appending("there", vec![said("t2", "two"), happened("t3", "session.closed", "")]),
        scene.appending("there", vec![said("there 1", "another text")]),
    ];
    let refused = scene.try_commit(writes);
    assert_eq!(refused, Err(StoreError::Conflict { id: said("there 1", "").id, seq: Seq(1) }));
    assert_eq!((scene.info("there"), scene.all("there")), before);
    assert_eq!(scene.find("new"), None);
    assert_eq!(scene.blobs(&["a body"]), [None]);
    assert_eq!(scene.ask(Query::Tenant { name: "new tenant".to_owned() }), Answer::Tenant(None));
    assert_eq!(scene.append("there", vec![said("t2", "other words than before")]), [2]);
}

/// Answers have the order of the writes or queries, and later writes of a commit see the earlier ones.
pub(super) fn answers_keep_the_order(scene: &TestTenant<'_>) {
    let written = scene
        .try_commit(vec![
            scene.opening("s", Opening::New { parent: None }),
            scene.appending("s", vec![said("1", "one"), said("2", "two")]),
            scene.opening("f", Opening::Fork { parent: stream_id("s"), at_seq: Seq(1) }),
            scene.appending("f", vec![said("3", "three"), said("1", "one")]),
        ])
        .unwrap();
    assert!(matches!(written.first(), Some(Written::Stream(info, true)) if info.head == Seq(0)));
    assert_eq!(written.get(1), Some(&Written::Appended(vec![placed(1, false), placed(2, false)])));
    assert!(matches!(written.get(2), Some(Written::Stream(info, true)) if info.head == Seq(1)));
    assert_eq!(written.get(3), Some(&Written::Appended(vec![placed(2, false), placed(1, true)])));
    let tenant = scene.tenant.no;
    let queries = vec![
        Query::Stream { tenant, of: StreamKind::Session, stream: stream_id("f") },
        Query::Tenant { name: "local".to_owned() },
        Query::Stream { tenant, of: StreamKind::Session, stream: stream_id("none") },
    ];
    let answers = block_on(scene.store.query(queries)).unwrap();
    assert_eq!(
        answers,
        [
            Answer::Stream(Some(Box::new(scene.info("f")))),
            Answer::Tenant(Some(scene.tenant)),
            Answer::Stream(None)
        ]
    );
}

/// Empty lists of writes, events and queries get empty answers.
pub(super) fn empty_batches(scene: &TestTenant<'_>) {
    assert_eq!(scene.try_commit(Vec::new()), Ok(Vec::new()));
    assert_eq!(block_on(scene.store.query(Vec::new())), Ok(Vec::new()));
    scene.open("s");
    assert_eq!(scene.append("s", Vec::new()), [0; 0]);
    assert_eq!(scene.info("s").head, Seq(0));
    assert_eq!(scene.all("s"), []);
}

/// A tenant is created once and keeps its first key.
pub(super) fn a_tenant_keeps_its_key(scene: &TestTenant<'_>) {
    let again = scene.commit(Write::Tenant { name: "local".to_owned(), key: [7; 32] });
    assert_eq!(again, Written::Tenant(scene.tenant));
    assert_ne!(TestTenant::of(scene.store, "other").tenant.no, scene.tenant.no);
}

/// Opening a stream again in the same way changes nothing, and opening it in a different way is refused.
pub(super) fn opening_twice(scene: &TestTenant<'_>) {
    scene.told("s", &["one", "two"]);
    let forked = scene.fork("f", "s", 2);
    let info = scene.info("s");
    let again = scene.commit(scene.opening("s", Opening::New { parent: None }));
    assert_eq!(again, Written::Stream(Box::new(info.clone()), false));
    let fork = |of: &str, at| scene.opening("f", Opening::Fork { parent: stream_id(of), at_seq: Seq(at) });
    assert_eq!(scene.commit(fork("s", 2)), Written::Stream(Box::new(forked), false));
    assert_eq!(scene.try_commit(vec![fork("s", 1)]), Err(StoreError::StreamExists(stream_id("f"))));
    assert_eq!(
        scene.try_commit(vec![scene.opening("f", Opening::New { parent: None })]),
        Err(StoreError::StreamExists(stream_id("f")))
    );
    let gone = scene.opening("g", Opening::Fork { parent: stream_id("gone"), at_seq: Seq(1) });
    assert_eq!(scene.try_commit(vec![gone]), Err(StoreError::NoStream(stream_id("gone"))));
    let ahead = scene.opening("g", Opening::Fork { parent: stream_id("s"), at_seq: Seq(3) });
    assert_eq!(
        scene.try_commit(vec![ahead]),
        Err(StoreError::HeadMoved { expected: Seq(3), actual: Seq(2) })
    );
    assert_eq!((scene.info("s"), scene.find("g")), (info, None));
}

/// Positions have no gaps, even after refused or repeated events, and every field is returned unchanged.
pub(super) fn positions_have_no_gaps(scene: &TestTenant<'_>) {
    scene.open("s");
    assert_eq!(scene.append("s", vec![said("a", "A"), said("b", "B")]), [1, 2]);
    let mixed =
        scene.try_append("s", vec![said("b", "B"), said("c", "C"), said("a", "A"), said("d", "D")]).unwrap();
    assert_eq!(mixed, [placed(2, true), placed(3, false), placed(1, true), placed(4, false)]);
    assert!(scene.try_append("s", vec![said("e", "E"), said("a", "not A")]).is_err());
    let event = PackedEvent {
        at: Millis(-5),
        origin: Some(vec![0, 255, 7]),
        payload: vec![0, 159, 146, 150],
        ..happened("e", "usage.measured", "E")
    };
    assert_eq!(scene.append("s", vec![event.clone()]), [5]);
    let all = scene.all("s");
    assert_eq!(seqs(&all), [1, 2, 3, 4, 5]);
    assert_eq!(texts(all.get(..4).unwrap()), ["A", "B", "C", "D"]);
    let last = all.last().unwrap();
    assert_eq!((last.stream, &last.id, last.at), (scene.info("s").no, &event.id, event.at));
    assert_eq!((last.kind.as_str(), last.version), ("usage.measured", VERSION));
    assert_eq!((&last.origin, &last.payload), (&event.origin, &Some(event.payload)));
    assert_eq!(last.proof, Some((event.salt, commitment(&event.salt, &event.content))));
}

/// An id belongs to one content: appending the same content again is a duplicate, and other content is a conflict.
/// Salts do not matter.
pub(super) fn an_id_identifies_one_content(scene: &TestTenant<'_>) {
    scene.open("s");
    let twice =
        scene.try_append("s", vec![said("a", "A"), PackedEvent { salt: [9; 16], ..said("a", "A") }]).unwrap();
    assert_eq!(twice, [placed(1, false), placed(1, true)]);
    let conflict = |seq| Err(StoreError::Conflict { id: said("x", "").id, seq: Seq(seq) });
    assert_eq!(scene.try_append("s", vec![said("x", "X"), said("x", "Y")]), conflict(2));
    assert_eq!(scene.append("s", vec![said("b", "B"), said("x", "Y")]), [2, 3]);
    assert_eq!(scene.try_append("s", vec![said("x", "X")]), conflict(3));
    scene.open("t");
    assert_eq!(scene.append("t", vec![said("x", "X")]), [1], "ids are unique in a stream, not in the tenant");
    assert_eq!(texts(&scene.all("s")), ["A", "B", "Y"]);
    let bodies = scene
        .try_append("s", vec![PackedEvent { content: said("a", "A").content, ..holding("a", &["new"]) }]);
    assert!(bodies.is_ok_and(|done| done.iter().all(|one| one.duplicate)));
    assert_eq!(scene.blobs(&["new"]), [None], "nothing of a repeated event is written");
}

/// Events are refused if the head is not where the caller expects it.
pub(super) fn a_moved_head_is_noticed(scene: &TestTenant<'_>) {
    scene.told("s", &["one"]);
    let append = |expected, id: &str| scene.appending_at("s", expected, vec![said(id, id)]);
    for expected in [0, 2] {
        let refused = scene.try_commit(vec![append(expected, "x")]);
        assert_eq!(refused, Err(StoreError::HeadMoved { expected: Seq(expected), actual: Seq(1) }));
    }
    assert!(scene.try_commit(vec![append(1, "x"), append(2, "y")]).is_ok());
    assert_eq!(texts(&scene.all("s")), ["one", "x", "y"]);
    let nowhere = scene.try_append("nowhere", vec![said("x", "x")]);
    assert_eq!(nowhere, Err(StoreError::NoStream(stream_id("nowhere"))));
    scene.fork("f", "s", 2);
    let on_fork = scene.appending_at("f", 2, vec![said("z", "z")]);
    assert!(scene.try_commit(vec![on_fork]).is_ok(), "a fork's head is where it forked");
}

/// A caller that did not receive the answer may append the same events again, wherever the head is now. If some of
/// the events are missing or differ, the store reports that the head has moved.
pub(super) fn a_lost_answer_is_asked_for_again(scene: &TestTenant<'_>) {
    scene.told("s", &["one"]);
    let append = |stream: &str, events| scene.try_commit(vec![scene.appending_at(stream, 1, events)]);
    let both = || vec![said("x", "X"), said("y", "Y")];
    let placed = |duplicate| Ok(vec![Written::Appended(vec![placed(2, duplicate), placed(3, duplicate)])]);
    assert_eq!(append("s", both()), placed(false));
    assert_eq!(append("s", both()), placed(true));
    scene.tell("s", &["later"]);
    assert_eq!(append("s", both()), placed(true));
    scene.fork("f", "s", 3);
    scene.tell("f", &["on the fork"]);
    assert_eq!(append("f", both()), placed(true));
    let moved = Err(StoreError::HeadMoved { expected: Seq(1), actual: Seq(4) });
    for events in [
        vec![said("x", "X"), said("z", "Z")],
        vec![said("x", "not X"), said("y", "Y")],
        vec![said("z", "Z")],
        Vec::new(),
    ] {
        assert_eq!(append("s", events), moved);
    }
    assert_eq!(texts(&scene.all("s")), ["one", "X", "Y", "later"]);
}

/// The facts about a stream are derived from the events appended to it.
pub(super) fn a_stream_knows_what_it_holds(scene: &TestTenant<'_>) {
    let empty = scene.open("s");
    assert_eq!((empty.head, empty.opened_at, empty.updated_at), (Seq(0), Millis(500), Millis(500)));
    assert_eq!((empty.messages, empty.text, empty.first_user), (0, Bytes(0), None));
    let at = |at, event: PackedEvent| PackedEvent { at: Millis(at), ..event };
    let user = |id| PackedEvent { mark: EventMark::UserTurn, ..said(id, "user") };
    scene.append("s", vec![at(600, happened("1", "session.opened", "")), at(800, said("2", "hello"))]);
    scene
        .append("s", vec![at(700, user("3")), user("4"), at(100, happened("5", "session.compacted", "sum"))]);
    let info = scene.info("s");
    assert_eq!((info.head, info.first_user, info.messages), (Seq(5), Some(Seq(3)), 3));
    assert_eq!(info.text, Bytes(5 + 4 + 4 + 3), "texts of all events count");
    assert_eq!(info.updated_at, Millis(1000), "a clock that goes back does not make a stream older");
    assert_eq!((info.reach(DerivedTable::Counts), info.reach(DerivedTable::Words)), (Seq(0), Seq(0)));
    assert_eq!((info.id, info.scope, info.source), (stream_id("s"), Scope::default(), None));
    assert_eq!((empty.said, info.said, info.unfinished), (Seq(0), Seq(4), false), "the newest of the talk");
    let fork = scene.fork("f", "s", 3);
    assert_eq!(fork.said, Seq(3), "a fork begins where its parent spoke");
    scene.append("f", vec![happened("x", "kind", "no talk")]);
    assert_eq!(scene.info("f").said, Seq(3));
    let child = scene.commit(scene.opening("c", Opening::New { parent: Some(stream_id("not here yet")) }));
    assert!(matches!(child, Written::Stream(info, true) if info.parent == Some(stream_id("not here yet"))));
}

/// Ids in many scripts, with every special character of query languages, and of the maximum length.
pub(super) fn hostile_ids(scene: &TestTenant<'_>) {
    let long = "é".repeat(wunderblock_core::id::MAX_ID_BYTES / 2);
    let ids = [
        "'; DROP TABLE events; --",
        "100%",
        "a_b",
        "日本語 🦀",
        "\u{202e}rtl",
        "\"quoted\"",
        "*?[a]",
        "e\u{301}",
        "é",
        &long,
    ];
    for id in ids {
        scene.open(id);
        scene.append(id, vec![said(id, id)]);
    }
    for id in ids {
        assert_eq!(texts(&scene.all(id)), [id]);
        assert_eq!(scene.all(id).first().unwrap().id.as_str(), id);
        let streams = scene.streams_of(scene.beginning(id, 100));
        let expected: Vec<&str> = ids.iter().copied().filter(|other| other.starts_with(id)).rev().collect();
        assert_eq!(streams, expected, "prefix {id}");
    }
}

/// Ten thousand events fit in one commit.
pub(super) fn a_large_batch(scene: &TestTenant<'_>) {
    scene.open("s");
    let event = |n: u32| said(&format!("e{n}"), &format!("text {n}"));
    let placed = scene.append("s", (1..=10_000).map(event).collect());
    assert!(placed.iter().copied().eq(1..=10_000));
    let info = scene.info("s");
    assert_eq!((info.head, info.messages), (Seq(10_000), 10_000));
    assert_eq!(texts(&scene.at("s", &[1, 5_000, 10_000])), ["text 1", "text 5000", "text 10000"]);
    assert_eq!(scene.all("s").len(), 10_000);
    let again = scene.try_append("s", (1..=10_000).map(event).collect()).unwrap();
    assert!(again.iter().all(|one| one.duplicate));
}
