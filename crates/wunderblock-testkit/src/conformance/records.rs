//! Cases about finding transcript records and events by their ids, about erasures, and about checksums.

use super::tenant::{TestTenant, answered, happened, said, stream_id};
pub(super) use wunderblock_core::author::Author;
use wunderblock_core::author::{AuthorSpan, Authors};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_store::codec::{nameless_key, record_key};
use wunderblock_store::{
    Answer, Erasure, Gone, KnownEvent, MAX_HOLDERS, Marked, PackedEvent, Query, StoreError, StoredEvent,
    Write, Written,
};

/// Streams and positions of records, by the records' ids.
fn places(scene: &TestTenant<'_>, ids: &[&str]) -> Vec<Vec<(String, u64)>> {
    let records = ids.iter().map(|id| record_key(id)).collect();
    let query = Query::Records { tenant: scene.tenant.no, records };
    let places = answered!(scene.ask(query), Answer::Places(places) => places);
    let named = |(id, seq): &(StreamId, Seq)| (id.as_str().to_owned(), seq.0);
    places.iter().map(|list| list.iter().map(named).collect()).collect()
}

fn noting(scene: &TestTenant<'_>, stream: &str, records: &[(&str, u64)]) -> Write {
    let records = records.iter().map(|(id, seq)| (record_key(id), Seq(*seq))).collect();
    Write::Records { tenant: scene.tenant.no, stream: stream_id(stream), records }
}

fn at(stream: &str, seq: u64) -> (String, u64) {
    (stream.to_owned(), seq)
}

/// A record is found in every stream that contains it, at its last position in that stream.
pub(super) fn records_are_found(scene: &TestTenant<'_>) {
    for id in ["t", "s"] {
        scene.open(id);
    }
    let of = |id: &str, records: &[&str]| PackedEvent {
        records: records.iter().map(|record| record_key(record)).collect(),
        ..said(id, id)
    };
    scene.append("s", vec![of("1", &["r1"]), of("2", &[]), of("3", &["r1", "silent"]), of("4", &["r4"])]);
    assert_eq!(places(scene, &["r1"]), [vec![at("s", 3)]], "the last event of a record counts");
    scene.append("t", vec![of("1", &["r4"]), of("2", &["r1"])]);
    let expected = [vec![at("t", 1), at("s", 4)], Vec::new(), vec![at("s", 3)], vec![at("t", 2), at("s", 3)]];
    assert_eq!(places(scene, &["r4", "unknown", "silent", "r1"]), expected);
    assert_eq!(places(scene, &[]), [[]; 0]);
    scene.commit(noting(scene, "t", &[("made no event", 2), ("r4", 2), ("at the start", 0)]));
    scene.commit(noting(scene, "t", &[("r4", 1)]));
    let expected = [vec![at("t", 2)], vec![at("t", 2), at("s", 4)], vec![at("t", 0)]];
    assert_eq!(places(scene, &["made no event", "r4", "at the start"]), expected, "nor is it moved back");
    let again = scene.try_append("s", vec![of("1", &["elsewhere"])]).unwrap();
    assert!(again.iter().all(|one| one.duplicate));
    assert_eq!(places(scene, &["elsewhere"]), [[]], "a repeated event says nothing new");
    scene.erase("s", &[4], Vec::new());
    assert_eq!(places(scene, &["r4"]), [vec![at("t", 2), at("s", 4)]], "an erased record is known");
    let nowhere = scene.try_commit(vec![noting(scene, "nowhere", &[("x", 1)])]);
    assert_eq!(nowhere, Err(StoreError::NoStream(stream_id("nowhere"))));
    let refused = scene.try_commit(vec![noting(scene, "s", &[("x", 1)]), noting(scene, "nowhere", &[])]);
    assert_eq!((refused.is_err(), places(scene, &["x"])), (true, vec![Vec::new()]));
}

/// A record without an id is found by its content, in a limited number of streams, until that content is erased.
/// Erasing the content of a record without an id leaves other records at the same position, and any record whose id
/// is known, unaffected.
pub(super) fn records_without_ids_are_forgotten(scene: &TestTenant<'_>) {
    let key = |text: &str| nameless_key(&[7; 32], 5, blake3::hash(text.as_bytes()).as_bytes());
    let of = |id: &str, records: Vec<i64>| PackedEvent { records, ..said(id, id) };
    let find = |text: &str| -> Vec<String> {
        let query = Query::Records { tenant: scene.tenant.no, records: vec![key(text)] };
        let mut places = answered!(scene.ask(query), Answer::Places(places) => places);
        places.remove(0).into_iter().map(|(id, seq)| format!("{id} {seq}")).collect()
    };
    for number in 0..MAX_HOLDERS + 2 {
        let id = format!("s{number}");
        scene.open(&id);
        scene.append(&id, vec![of("1", vec![key("all")]), of("2", vec![key(&id), record_key(&id)])]);
    }
    assert_eq!(find("all"), ["s0 1", "s1 1", "s2 1", "s3 1"], "the first ones");
    assert_eq!((find("s4"), find("s5")), (vec!["s4 2".to_owned()], vec!["s5 2".to_owned()]));
    scene.fork("f", "s1", 2);
    scene.append("f", vec![of("3", vec![key("f")])]);
    scene.erase("f", &[2], Vec::new());
    assert_eq!((find("s1"), find("f")), (Vec::new(), vec!["f 3".to_owned()]), "erased where it stands");
    assert_eq!(places(scene, &["s1"]), [vec![at("s1", 2)]], "an id is not what was said");
    scene.erase("s0", &[1], Vec::new());
    assert_eq!(find("all"), ["s1 1", "s2 1", "s3 1"]);
    assert_eq!(find("s0"), ["s0 2"]);
    scene.append("s5", vec![of("3", vec![key("all")])]);
    assert_eq!(find("all"), ["s1 1", "s2 1", "s3 1", "s5 3"], "there is room again");
}

/// A record belongs to the stream that holds its event; a fork does not hold records of its parent.
pub(super) fn records_count_through_forks(scene: &TestTenant<'_>) {
    scene.told("s", &["one", "two", "three"]);
    scene.fork("f", "s", 2);
    scene.tell("f", &["its own"]);
    assert_eq!(places(scene, &["s 1", "s 3", "f 3"]), [vec![at("s", 1)], vec![at("s", 3)], vec![at("f", 3)]]);
    scene.commit(noting(scene, "f", &[("s 1", 2)]));
    assert_eq!(places(scene, &["s 1"]), [vec![at("s", 1), at("f", 2)]]);
}

fn known(scene: &TestTenant<'_>, stream: &str, ids: &[&str]) -> Vec<Option<KnownEvent>> {
    let ids = ids.iter().map(|id| said(id, "").id).collect();
    answered!(
        scene.ask(Query::Ids { tenant: scene.tenant.no, stream: stream_id(stream), ids }),
        Answer::Known(known) => known
    )
}

/// Events are found by id in a stream and in the streams it continues; erased events are returned without a proof.
pub(super) fn ids_are_known(scene: &TestTenant<'_>) {
    scene.told("s", &["one", "two", "three"]);
    scene.fork("f", "s", 2);
    scene.append("f", vec![said("f 3", "its own"), happened("f 4", "kind", "")]);
    scene.fork("g", "f", 3);
    let of = |stream: &str, seq| {
        let event = scene.at(stream, &[seq]).remove(0);
        Some(KnownEvent { seq: event.seq, proof: event.proof })
    };
    let expected = [of("f", 4), of("s", 1), None, of("f", 3), of("s", 2), None];
    assert_eq!(known(scene, "f", &["f 4", "s 1", "s 3", "f 3", "s 2", "unknown"]), expected);
    assert!(expected.iter().flatten().all(|event| event.proof.is_some()));
    assert_eq!(known(scene, "g", &["f 3", "f 4", "s 2"]), [of("f", 3), None, of("s", 2)]);
    assert_eq!(known(scene, "s", &["f 3", "s 3"]), [None, of("s", 3)]);
    assert_eq!(known(scene, "s", &[]), []);
    scene.erase("g", &[1, 3], Vec::new());
    let gone = |seq| Some(KnownEvent { seq: Seq(seq), proof: None });
    assert_eq!(known(scene, "f", &["s 1", "f 3", "s 2"]), [gone(1), gone(3), of("s", 2)]);
    assert_eq!(known(scene, "s", &["s 1"]), [gone(1)]);
}

/// Erasures are listed by session, as coordinates, and each of them only once.
pub(super) fn erasures_are_listed(scene: &TestTenant<'_>) {
    scene.told("s", &["x"]);
    let tenant = scene.tenant.no;
    let gone = |session: &str, what: Gone| Erasure { session: session.to_owned(), what };
    let event = |id: &str| Gone::Event(id.to_owned());
    let record = |id: &str| Gone::Record(id.to_owned());
    let erase = |erasures| scene.try_commit(vec![scene.erasing("s", &[], Vec::new(), erasures)]);
    let list = |sessions: &[&str]| {
        let sessions = sessions.iter().map(|session| (*session).to_owned()).collect();
        answered!(scene.ask(Query::Erasures { tenant, sessions }), Answer::Erasures(list) => list)
    };
    assert_eq!(list(&["a", "b"]), []);
    let done = erase(vec![gone("a", event("r2")), gone("b", Gone::Session), gone("a", event("r1"))]).unwrap();
    assert!(matches!(done.as_slice(), [Written::Erased { events: 0, blobs: 0, .. }]));
    erase(vec![
        gone("a", event("r2")),
        gone("b", record("r1")),
        gone("b", event("r1")),
        gone("b", Gone::Session),
    ])
    .unwrap();
    assert_eq!(list(&["a"]), [gone("a", event("r1")), gone("a", event("r2"))], "each once");
    let all = [gone("b", Gone::Session), gone("b", event("r1")), gone("b", record("r1"))];
    assert_eq!(list(&["b"]), all, "the session first, then events");
    assert_eq!(list(&["b", "ab", "", "a"]).len(), 5);
    assert_eq!(list(&["b", "a"]).first(), all.first(), "in the order asked for");
    let event = scene.at("s", &[1]).remove(0);
    assert!(event.payload.is_some(), "noting an erasure erases nothing");
    let nowhere = scene.erasing("nowhere", &[], Vec::new(), vec![gone("c", Gone::Session)]);
    assert!(scene.try_commit(vec![nowhere]).is_ok(), "without positions it is about no stream");
    assert_eq!(list(&["c"]), [gone("c", Gone::Session)]);
    assert_eq!(list(&[]), list(&["a", "b", "c"]), "without sessions, those of all");
}

/// An event's checksum is returned unchanged by every query, and is erased with the payload.
pub(super) fn checksums_come_back(scene: &TestTenant<'_>) {
    scene.open("s");
    let event = |id: &str, checksum| PackedEvent { checksum, ..happened(id, "kind", id) };
    scene.append("s", vec![event("1", i64::MIN), event("2", -1), event("3", i64::MAX)]);
    let sums = |events: Vec<StoredEvent>| -> Vec<_> { events.iter().map(|event| event.checksum).collect() };
    let all = [Some(i64::MIN), Some(-1), Some(i64::MAX)];
    assert_eq!(sums(scene.all("s")), all);
    assert_eq!(sums(scene.at("s", &[1, 2, 3])), all);
    let marked = scene.marked("s", Marked::Kind("kind"), 9, 9);
    assert_eq!(sums(marked), [Some(i64::MAX), Some(-1), Some(i64::MIN)]);
    scene.erase("s", &[2], Vec::new());
    assert_eq!(sums(scene.all("s")), [Some(i64::MIN), None, Some(i64::MAX)]);
}

/// Authors of a message, with a span for some content.
pub(super) fn authors(content: u8) -> Authors {
    let by = |number: u8| Author::ALL.into_iter().cycle().nth(usize::from(number)).unwrap();
    let span = AuthorSpan { part: 1, from: Bytes(2), to: Bytes(3), by: by(content % 5) };
    Authors { by: by(content % 3), spans: (0..content % 2).map(|_| span).collect() }
}
