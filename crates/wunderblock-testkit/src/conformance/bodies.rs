//! Cases about bodies, handles, tenants and erasure.

use super::derived::{count, counted, put, segment, segments, tally};
use super::sources::{import, source};
use super::tenant::{
    TestTenant, answered, body, handle, happened, happened_in, holding, said, seqs, span, stream_id, texts,
};
use futures_executor::block_on;
use wunderblock_core::id::{EventId, Handle, LaneId};
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_store::codec::{commitment, erased_id, record_checksum, record_key};
use wunderblock_store::{
    Answer, Appended, BodyCount, DerivedTable, Erasure, EventFilter, EventMark, Gone, HandleTarget,
    LostEvent, Marked, PackedBlob, PackedEvent, Query, Rest, Selected, SourceBy, SourceFilter, Storage,
    StoreError, StreamKind, Write, Written,
};

/// A tenant stores a body once and removes it with the last event that contains it.
pub(super) fn bodies_are_stored_once(scene: &TestTenant<'_>) {
    scene.open("s");
    scene.open("t");
    scene.append("s", vec![holding("1", &["shared", "own"]), holding("2", &["shared", "shared"])]);
    scene.append("t", vec![holding("1", &["shared"])]);
    let packed_otherwise = PackedBlob { data: vec![1, 2, 3], ..body("shared") };
    scene.append("t", vec![PackedEvent { blobs: vec![packed_otherwise], ..said("2", "x") }]);
    assert_eq!(scene.blobs(&["own", "none", "shared"]), [Some(body("own")), None, Some(body("shared"))]);
    assert_eq!(scene.erase("s", &[1], Vec::new()), (1, 1, 0));
    assert_eq!(scene.blobs(&["own", "shared"]), [None, Some(body("shared"))]);
    assert_eq!(scene.erase("s", &[2], Vec::new()), (1, 0, 0));
    assert_eq!(scene.erase("t", &[1], Vec::new()), (1, 0, 0));
    assert_eq!(scene.blobs(&["shared"]), [Some(body("shared"))]);
    assert_eq!(scene.erase("t", &[2], Vec::new()), (1, 1, 0));
    assert_eq!(scene.blobs(&["shared"]), [None]);
    scene.append("t", vec![holding("3", &["shared"])]);
    assert_eq!(scene.blobs(&["shared"]), [Some(body("shared"))], "said again, it is there again");
}

/// If two bodies have the same handle, the second is refused, and nothing in its commit is stored.
pub(super) fn a_taken_handle_is_refused(scene: &TestTenant<'_>) {
    scene.open_with("s", vec![holding("1", &["first"])]);
    let second = PackedBlob { handle: handle("first"), ..body("second") };
    let event = |id: &str| PackedEvent { blobs: vec![body("third"), second.clone()], ..said(id, id) };
    let refused = scene.try_append("s", vec![said("2", "2"), event("3")]);
    assert_eq!(refused, Err(StoreError::HandleTaken(handle("first"))));
    assert_eq!(seqs(&scene.all("s")), [1]);
    assert_eq!(scene.blobs(&["first", "third"]), [Some(body("first")), None]);
    let both = vec![
        PackedBlob { handle: handle("x"), ..body("a") },
        PackedBlob { handle: handle("x"), ..body("b") },
    ];
    let refused = scene.try_append("s", vec![PackedEvent { blobs: both, ..said("4", "4") }]);
    assert_eq!(refused, Err(StoreError::HandleTaken(handle("x"))), "also inside one event");
    let other = TestTenant::of(scene.store, "other");
    other.open_with("s", vec![event("3")]);
    assert_eq!(scene.blobs(&["first"]), [Some(body("first"))]);
    assert_eq!(other.blobs(&["first"]), [Some(second)]);
}

/// A handle names a body, a stream or a source.
pub(super) fn handles_resolve(scene: &TestTenant<'_>) {
    scene.open_with("s", vec![holding("1", &["body"])]);
    let (no, _) = import(scene, "/file", &["bytes"]);
    assert_eq!(scene.named("body"), Some(HandleTarget::Blob));
    assert_eq!(scene.named("s"), Some(HandleTarget::Stream(stream_id("s"))));
    assert_eq!(scene.named("/file"), Some(HandleTarget::Source(no, None)));
    assert_eq!(scene.named("/file 1"), Some(HandleTarget::Source(no, Some(1))));
    assert_eq!(scene.named("unknown"), None);
    let all = |tenant, limit| Query::Handles {
        tenant,
        of: StreamKind::Session,
        first: Handle(0),
        last: Handle(u64::MAX >> 1),
        limit,
    };
    let within = |scene: &TestTenant<'_>, limit| answered!(scene.ask(all(scene.tenant.no, limit)), Answer::Handles(handles) => handles);
    let mut named = ["body", "s", "/file", "/file 1"].map(handle).to_vec();
    named.retain(|handle| handle.0 <= u64::MAX >> 1);
    named.sort_unstable();
    assert!(named.iter().all(|handle| within(scene, 99).contains(handle)));
    assert_eq!(within(scene, 1).len(), 1.min(named.len()));
    scene.erase("s", &[1], Vec::new());
    assert_eq!(scene.named("body"), None);
    let other = TestTenant::of(scene.store, "other");
    assert_eq!(within(&other, 99), []);
    for text in ["body", "s", "/file", "/file 1"] {
        assert_eq!(other.named(text), None, "{text}");
    }
}

/// Events that contain a body are listed by stream and position; a fork does not list events of its parent.
pub(super) fn holders_of_a_body(scene: &TestTenant<'_>) {
    scene.open_with(
        "s",
        vec![holding("1", &["body"]), said("2", "body"), holding("3", &["other", "body", "body"])],
    );
    scene.fork("f", "s", 3);
    scene.append("f", vec![holding("4", &["body"])]);
    let (s, f) = (scene.info("s").no, scene.info("f").no);
    let holders = |scene: &TestTenant<'_>, text: &str, limit| {
        let query =
            Query::Holders { tenant: scene.tenant.no, of: StreamKind::Session, handle: handle(text), limit };
        answered!(scene.ask(query), Answer::Holders(holders) => holders)
    };
    let all = [(s, Seq(1)), (s, Seq(3)), (f, Seq(4))];
    assert_eq!(holders(scene, "body", 9), all);
    assert_eq!(holders(scene, "body", u64::MAX), all);
    assert_eq!(holders(scene, "body", 2), [(s, Seq(1)), (s, Seq(3))]);
    assert_eq!(holders(scene, "other", 9), [(s, Seq(3))]);
    assert_eq!(holders(scene, "unknown", 9), []);
    assert_eq!(holders(scene, "s", 9), [], "a stream's handle does not name a body");
    scene.erase("s", &[3], Vec::new());
    assert_eq!(holders(scene, "body", 9), [(s, Seq(1)), (f, Seq(4))]);
    assert_eq!(holders(&TestTenant::of(scene.store, "two"), "body", 9), []);
}

/// The bodies of events are read by place, or as those of the user's latest turns, up to a length.
pub(super) fn bodies_of_events(scene: &TestTenant<'_>) {
    let turn = |id: &str, text: &str| PackedEvent { mark: EventMark::UserTurn, ..holding(id, &[text]) };
    scene.open_with(
        "s",
        vec![turn("1", "first turn"), holding("2", &["own", "shared"]), turn("3", "second turn")],
    );
    scene.fork("f", "s", 3);
    scene.append("f", vec![holding("4", &["shared", "late"]), said("5", "none")]);
    let read = |stream: &str, events: Selected, bytes: u64| {
        let stream = stream_id(stream);
        let query = Query::BodiesOf { tenant: scene.tenant.no, stream, events, bytes: Bytes(bytes) };
        let found = answered!(scene.ask(query), Answer::Blobs(found) => found);
        found.into_iter().map(Option::unwrap).collect::<Vec<_>>()
    };
    let at = |seqs: &[u64]| Selected::At(seqs.iter().copied().map(Seq).collect());
    let of = |texts: &[&str]| {
        let mut found: Vec<PackedBlob> = texts.iter().map(|text| body(text)).collect();
        found.sort_by_key(|body| body.handle);
        found
    };
    assert_eq!(read("s", at(&[2]), 99), of(&["own", "shared"]));
    let expected = [of(&["late", "shared"]), of(&["own"])].concat();
    assert_eq!(read("f", at(&[4, 2, 5, 9]), 99), expected, "a body is read once, also through a fork");
    assert_eq!(read("s", at(&[4]), 99), [], "what a fork adds is not in its parent");
    assert_eq!(read("f", at(&[3, 2]), 14), of(&["second turn", "own"]), "a longer body is passed over");
    let turns = |to: u64, limit| Selected::UserTurns { to: Seq(to), limit };
    assert_eq!(read("f", turns(9, 1), 99), of(&["second turn"]));
    assert_eq!(read("f", turns(2, 9), 99), of(&["first turn"]));
    assert_eq!(read("s", turns(9, 9), 99), [of(&["second turn"]), of(&["first turn"])].concat());
    scene.erase("s", &[3], Vec::new());
    assert_eq!(read("s", turns(9, 1), 99), [], "an erased turn has no body");
}

/// Creates a tenant with one item of each kind, under names that every furnished tenant uses.
fn furnished<'a>(store: &'a dyn Storage, name: &str) -> TestTenant<'a> {
    let scene = TestTenant::of(store, name);
    scene.open("s");
    let system = PackedEvent { mark: EventMark::System, ..said("2", name) };
    scene.append("s", vec![said("1", "call"), system, happened("3", "kind", name), holding("4", &["body"])]);
    count(&scene, &[("body", BodyCount { o200k: u32::from(name.len() as u8), ..BodyCount::default() })]);
    tally(&scene, "s", &[(1, 1)]);
    put(&scene, Some(segment(name, &[name])), &[], &[("s", 2)]).unwrap();
    let place = import(&scene, "/file", &[name]);
    scene.commit(scene.linking("s", place.0, place.1));
    let erasures = vec![Erasure { session: "gone".to_owned(), what: Gone::Event(name.to_owned()) }];
    scene.commit(scene.erasing("s", &[], Vec::new(), erasures));
    scene
}

/// Sends a tenant every query whose names exist in each furnished tenant, with the numbers from `by_number`.
fn everything(scene: &TestTenant<'_>, by_number: &TestTenant<'_>) -> Vec<Answer> {
    let (tenant, stream) = (scene.tenant.no, || stream_id("s"));
    let segment = segments(by_number).first().unwrap().id;
    let no = source(by_number, "/file").unwrap().no;
    let queries = vec![
        Query::Stream { tenant, of: StreamKind::Session, stream: stream() },
        scene.beginning("", 9),
        Query::Blobs { tenant, handles: vec![handle("body")] },
        Query::Counts { tenant, handles: vec![handle("body")] },
        Query::Resolve { tenant, of: StreamKind::Session, handle: handle("body") },
        Query::Holders { tenant, of: StreamKind::Session, handle: handle("body"), limit: 9 },
        Query::Resolve { tenant, of: StreamKind::Session, handle: handle("s") },
        Query::Resolve { tenant, of: StreamKind::Session, handle: handle("/file") },
        Query::Source { tenant, by: SourceBy::Key("/file".to_owned()), revision: None },
        Query::Source { tenant, by: SourceBy::No(no), revision: Some(1) },
        Query::Resolve { tenant, of: StreamKind::Session, handle: handle("/file 1") },
        Query::Sources { tenant, filter: SourceFilter::default() },
        Query::SourcesOf { tenant, stream: stream() },
        Query::ReadFrom { tenant, source: no, revision: None },
        Query::Records { tenant, records: vec![record_key("1")] },
        Query::Erasures { tenant, sessions: vec!["gone".to_owned()] },
        Query::Behind { tenant, of: StreamKind::Session, tables: DerivedTable::ALL.to_vec(), limit: 9 },
        Query::Segments { tenant, table: DerivedTable::Words },
        Query::Blocks { tenant, wanted: vec![(segment, 0)] },
        Query::SegmentBlocks { tenant, segment },
    ];
    block_on(scene.store.query(queries)).unwrap()
}

/// Sends a furnished tenant every query about its stream.
fn all_of_the_stream(scene: &TestTenant<'_>) -> Vec<Answer> {
    let (tenant, stream) = (scene.tenant.no, || stream_id("s"));
    let queries = vec![
        Query::Lineage { tenant, stream: stream() },
        scene.range("s", 1, 99),
        Query::At { tenant, stream: stream(), seqs: vec![Seq(1), Seq(4)], filter: EventFilter::default() },
        Query::Marked { tenant, stream: stream(), what: Marked::System, to: Seq(9), limit: 9 },
        Query::Marked { tenant, stream: stream(), what: Marked::Kind("kind"), to: Seq(9), limit: 9 },
        Query::Tallies { tenant, stream: stream(), seqs: vec![Seq(1), Seq(4)] },
        Query::Ids { tenant, stream: stream(), ids: vec![said("1", "").id] },
    ];
    block_on(scene.store.query(queries)).unwrap()
}

/// A tenant cannot see, change or remove anything of another tenant that uses the same names.
pub(super) fn tenants_see_only_their_own(scene: &TestTenant<'_>) {
    let bare = TestTenant::of(scene.store, "bare");
    let one = furnished(scene.store, "one");
    let two = furnished(scene.store, "two, longer");
    let before = (everything(&one, &one), all_of_the_stream(&one));
    assert_eq!(two.info("s").messages, 3, "its own four events, and no duplicates of the other's");
    assert_eq!(texts(&two.at("s", &[2])), ["two, longer"]);
    let nothing = |answer: &Answer| match answer {
        Answer::Stream(None) | Answer::Named(None) | Answer::Source(None) => true,
        Answer::Streams(found) => found.is_empty(),
        Answer::Blobs(found) => found.iter().all(Option::is_none),
        Answer::Counts(found) => found.iter().all(Option::is_none),
        Answer::Holders(found) => found.is_empty(),
        Answer::Sources(found) => found.is_empty(),
        Answer::Places(found) => found.iter().all(Vec::is_empty),
        Answer::Erasures(found) => found.is_empty(),
        Answer::Segments(found) => found.is_empty(),
        Answer::Blocks(found) => found.iter().all(Option::is_none),
        _ => false,
    };
    let seen = everything(&bare, &one);
    assert!(seen.iter().all(nothing), "a tenant without anything sees {seen:#?}");
    bare.knows_nothing_of("s");
    let tenant = two.tenant.no;
    let reaches = one.reaches(&[("s", 4)]);
    let foreign =
        Write::Segment { tenant, table: DerivedTable::Words, segment: None, replaces: Vec::new(), reaches };
    assert!(two.try_commit(vec![foreign]).is_err(), "a stream's number means nothing to another tenant");
    let source = source(&one, "/file").unwrap().no;
    two.commit(two.linking("s", source, 1));
    assert_ne!(two.info("s").source, Some((source, 1)), "nor does a source's");
    two.erase("s", &[1, 2, 3, 4], vec![span("/file", 1, 0, 99)]);
    count(&two, &[("body", BodyCount::default())]);
    two.commit(Write::DropDerived { tenant });
    assert_eq!((everything(&one, &one), all_of_the_stream(&one)), before);
    let nowhere = bare.try_append("s", vec![said("1", "1")]);
    assert_eq!(nowhere, Err(StoreError::NoStream(stream_id("s"))));
    let foreign = put(&bare, None, &[segments(&one).first().unwrap().id], &[]);
    assert!(foreign.is_err(), "nor does a segment's");
    assert_eq!((everything(&one, &one), all_of_the_stream(&one)), before);
}

/// Erasing removes the payload, salt, origin and bodies, in a fork as well, and leaves positions and sums unchanged.
pub(super) fn erasing_leaves_the_place(scene: &TestTenant<'_>) {
    scene.open("s");
    let call = PackedEvent { blobs: vec![body("input")], ..said("1", "call") };
    let system = PackedEvent { mark: EventMark::System, ..said("2", "rules") };
    scene.append("s", vec![call, system, happened("3", "kind", "detail"), said("4", "stays")]);
    count(scene, &[("input", BodyCount::default())]);
    tally(scene, "s", &[(1, 10), (2, 10), (3, 10), (4, 10)]);
    scene.fork("f", "s", 3);
    scene.append("f", vec![said("f4", "fork")]);
    scene.append("f", vec![PackedEvent { origin: Some(vec![1]), ..said("f5", "imported") }]);
    let before = (scene.info("s"), scene.tallies("s", &[1, 2, 3, 4]), scene.all("s"));
    assert_eq!(scene.erase("f", &[5], Vec::new()), (1, 0, 0));
    assert_eq!(scene.at("f", &[5]).remove(0).origin, None, "nor does it tell where a copy stood");
    assert_eq!(scene.erase("f", &[3, 1, 2, 3, 0, 99], Vec::new()), (3, 1, 0));
    assert_eq!(texts(&scene.all("f")), ["-", "-", "-", "fork", "-"]);
    assert_eq!(texts(&scene.all("s")), ["-", "-", "-", "stays"], "shared history is one");
    assert_eq!((scene.info("s"), scene.tallies("s", &[1, 2, 3, 4])), (before.0, before.1));
    for (now, then) in scene.all("s").iter().zip(&before.2).take(3) {
        let hashed = erased_id(&scene.tenant.key, &then.id);
        assert_eq!((now.seq, &now.id, now.at, &now.kind), (then.seq, &hashed, then.at, &then.kind));
        assert!(then.checksum.is_some());
        assert_eq!((&now.payload, now.proof, now.checksum), (&None, None, None));
    }
    assert_eq!(scene.blobs(&["input"]), [None]);
    assert_eq!(counted(scene, &["input"]), [None]);
    assert_eq!(texts(&scene.marked("f", Marked::System, 9, 9)), ["-"]);
    assert_eq!(texts(&scene.marked("f", Marked::Kind("kind"), 9, 9)), ["-"]);
    assert_eq!(scene.erase("f", &[1, 2], Vec::new()), (0, 0, 0), "there is nothing left to erase");
    let nowhere = scene.erasing("nowhere", &[1], Vec::new(), Vec::new());
    assert_eq!(scene.try_commit(vec![nowhere]), Err(StoreError::NoStream(stream_id("nowhere"))));
}

/// What remains of an event is what its eraser gave, in its lane; the id is hashed once.
pub(super) fn what_remains_is_stored(scene: &TestTenant<'_>) {
    let lane = |id: &str| PackedEvent { origin: Some(vec![1]), ..happened_in("lane", id, "kind") };
    scene.open_with("s", vec![lane("1"), lane("2"), lane("3")]);
    let rest = Rest { payload: b"rest".to_vec(), content: [5; 32], salt: [6; 16] };
    let events = vec![LostEvent { seq: Seq(1), rest: Some(rest) }, LostEvent::new(Seq(2))];
    let (tenant, stream) = (scene.tenant.no, stream_id("s"));
    let erase = || Write::Erase {
        tenant,
        stream: stream.clone(),
        events: events.clone(),
        spans: Vec::new(),
        erasures: Vec::new(),
    };
    for _ in 0..2 {
        scene.commit(erase());
        let all = scene.all("s");
        assert_eq!(texts(&all), ["rest", "-", ""]);
        for (event, id) in all.iter().zip(["1", "2"]) {
            let has_rest = event.payload.is_some();
            let hashed = erased_id(&scene.tenant.key, &EventId::new(id).unwrap());
            assert_eq!(
                (&event.id, event.proof),
                (&hashed, has_rest.then_some(([6; 16], commitment(&[6; 16], &[5; 32]))))
            );
            assert_eq!(event.origin, has_rest.then(|| vec![1]));
            let checksum = event
                .payload
                .as_ref()
                .map(|rest| record_checksum(rest, Some(&[1]), &hashed, event.at, &event.kind));
            assert_eq!(event.checksum, checksum);
        }
        let lanes: Vec<bool> = all.iter().map(|event| event.lane.is_some()).collect();
        assert_eq!(lanes, [true, false, true]);
        let of = Marked::OfLane("kind", LaneId::new("lane").unwrap());
        assert_eq!(seqs(&scene.marked("s", of, 9, 9)), [3, 1]);
    }
    assert_eq!(scene.try_append("s", vec![said("1", "another")]), Ok(vec![Appended::known(Seq(1), true)]));
}

/// An id whose content was erased stays erased, whatever new content is appended under it.
pub(super) fn erased_ids_stay_taken(scene: &TestTenant<'_>) {
    scene.open_with("s", vec![holding("1", &["secret"]), said("2", "2")]);
    scene.fork("f", "s", 1);
    scene.erase("s", &[1], Vec::new());
    let placed = Ok(vec![Appended::known(Seq(1), true)]);
    for stream in ["s", "f"] {
        assert_eq!(scene.try_append(stream, vec![holding("1", &["secret"])]), placed);
        assert_eq!(scene.try_append(stream, vec![said("1", "something else")]), placed);
    }
    assert_eq!(texts(&scene.all("s")), ["-", "2"]);
    assert_eq!(scene.blobs(&["secret"]), [None]);
    let again = scene.commit(scene.appending("s", vec![holding("3", &["secret"])]));
    assert!(matches!(again, Written::Appended(_)), "under a new id the same may be said");
}

/// The loss of an event, of which something remains at every third position.
pub(super) fn lost(seq: u8) -> LostEvent {
    let rest = Rest { payload: b"{}".to_vec(), content: [seq; 32], salt: [seq; 16] };
    LostEvent { seq: Seq(u64::from(seq)), rest: Some(rest).filter(|_| seq.is_multiple_of(3)) }
}
