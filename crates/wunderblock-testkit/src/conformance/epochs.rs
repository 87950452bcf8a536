//! Cases about erasures: what was made from content is not written after the content was erased, and an erasure misses
//! nothing that was added while it searched.

use super::derived::{headers, put, putting, segment, segments};
use super::sources::{after, ending, extending, owner, take, taking};
use super::tenant::{TestTenant, answered, said, stream_id};
use wunderblock_core::units::{Millis, Seq};
use wunderblock_store::{
    Answer, Basis, DerivedTable, Epoch, Query, Seen, SeenStream, SegmentId, SourceNo, StoreError, Write,
};

fn epoch(scene: &TestTenant<'_>) -> Epoch {
    answered!(scene.ask(Query::Epoch { tenant: scene.tenant.no }), Answer::Epoch(epoch) => epoch)
}

fn lost(scene: &TestTenant<'_>, since: Epoch, id: &str, from: u64, to: u64) -> bool {
    let query = Query::Lost { since, stream: stream_id(id), from: Seq(from), to: Seq(to) };
    answered!(scene.ask(query), Answer::Lost(lost) => lost)
}

/// An erasure ends an epoch. A commit that names an earlier epoch is refused as a whole.
pub(super) fn what_was_read_before_an_erasure_is_not_written_after(scene: &TestTenant<'_>) {
    scene.told("s", &["1", "2", "3"]);
    let first = epoch(scene);
    let made = |id, text| vec![scene.appending("s", vec![said(id, text)])];
    scene.commit_on(Basis::Derived(first), made("4", "of this epoch")).unwrap();
    assert_eq!(epoch(scene), first, "what is added leaves the epoch as it is");
    scene.erase("s", &[3], Vec::new());
    let second = epoch(scene);
    assert_eq!(second.no, first.no + 1);
    let late = scene.commit_on(Basis::Derived(first), made("5", "of the epoch before"));
    assert_eq!(late, Err(StoreError::EpochMoved { expected: first.no, actual: second.no }));
    assert_eq!(scene.info("s").head, Seq(4));
    scene.commit_on(Basis::Derived(second), made("5", "of this epoch")).unwrap();
    scene.try_commit(made("6", "a caller's own words")).unwrap();
    let nowhere = scene.erasing("nowhere", &[1], Vec::new(), Vec::new());
    assert!(scene.try_commit(vec![nowhere]).is_err());
    assert_eq!(epoch(scene), second, "what is refused ends nothing");
}

/// Erasures of one tenant do not concern the writers of another.
pub(super) fn an_epoch_belongs_to_a_tenant(scene: &TestTenant<'_>) {
    let other = &TestTenant::of(scene.store, "other");
    scene.told("s", &["1"]);
    other.told("s", &["1"]);
    let (own, theirs) = (epoch(scene), epoch(other));
    other.erase("s", &[1], Vec::new());
    assert_eq!((epoch(scene), epoch(other).no), (own, theirs.no + 1));
    scene.commit_on(Basis::Derived(own), vec![scene.appending("s", vec![said("2", "2")])]).unwrap();
    assert!(!lost(scene, own, "s", 1, 9));
}

/// Positions that lost content are found from every stream that shows them, by the epoch in which they lost it.
pub(super) fn losses_are_found_along_a_stream(scene: &TestTenant<'_>) {
    scene.told("s", &["1", "2", "3", "4"]);
    scene.fork("f", "s", 2);
    scene.tell("f", &["f3", "f4"]);
    let first = epoch(scene);
    scene.erase("s", &[2, 4], Vec::new());
    let second = epoch(scene);
    let of = |since, id, from, to| lost(scene, since, id, from, to);
    assert!(of(first, "s", 1, 2) && of(first, "s", 4, 4) && of(first, "s", 1, 99));
    assert!(!of(first, "s", 1, 1) && !of(first, "s", 3, 3) && !of(first, "s", 5, 99));
    assert!(of(first, "f", 1, 4) && !of(first, "f", 3, 4), "position 4 of the fork is another");
    assert!(!of(second, "s", 1, 99), "that was before");
    scene.erase("f", &[4], Vec::new());
    assert!(of(second, "f", 1, 4) && !of(second, "s", 1, 4) && of(first, "s", 1, 4));
    let third = epoch(scene);
    scene.erase("s", &[2], Vec::new());
    assert!(!of(third, "s", 1, 99), "it had nothing left to lose");
}

/// A merged segment takes the number of the latest segment that it replaces, and is another one.
pub(super) fn a_merged_segment_is_another(scene: &TestTenant<'_>) {
    scene.told("s", &["1", "2"]);
    put(scene, Some(segment("one", &["data"])), &[], &[("s", 1)]).unwrap();
    put(scene, Some(segment("second", &["data"])), &[], &[("s", 2)]).unwrap();
    let ids: Vec<u64> = segments(scene).into_iter().map(|info| info.id).collect();
    let stale = putting(scene, None, ids.get(..1).unwrap(), &[]);
    let before = epoch(scene);
    put(scene, Some(segment("one and second", &["data"])), &ids, &[]).unwrap();
    assert_eq!(epoch(scene), before, "a merge erases nothing");
    let stale = scene.try_commit(vec![stale]);
    assert!(matches!(stale, Err(StoreError::HeadMoved { .. })), "{stale:?}");
    assert_eq!(headers(scene), ["one and second"]);
    let unknown = SegmentId { no: u64::MAX >> 2, docs: 1 };
    let (tenant, replaces) = (scene.tenant.no, vec![unknown]);
    let unknown = scene.try_commit(vec![Write::Segment {
        tenant,
        table: DerivedTable::Words,
        segment: None,
        replaces,
        reaches: Vec::new(),
    }]);
    assert!(unknown.is_err());
}

/// Returns what an erasure of the stream `s` has seen now.
fn seen(scene: &TestTenant<'_>, sources: &[(SourceNo, u32, u64)], links: u64) -> Seen {
    let (stream, head) = (stream_id("s"), scene.info("s").head);
    let others = ["s", "t", "u"].into_iter().filter_map(|id| scene.find(id));
    Seen {
        epoch: epoch(scene),
        newest: others.map(|info| info.no).max(),
        streams: vec![SeenStream { stream, head, links }],
        segment: segments(scene).iter().map(|info| info.id).max().unwrap_or_default(),
        sources: sources.to_vec(),
        now: Millis(1_000),
    }
}

fn erase_on(scene: &TestTenant<'_>, seen: Seen) -> Result<(), StoreError> {
    let erase = scene.erasing("s", &[1], Vec::new(), Vec::new());
    scene.commit_on(Basis::Seen(Box::new(seen)), vec![erase]).map(|_| ())
}

/// An erasure is refused if an event, a stream, a segment or an erasure was added since it searched.
pub(super) fn an_erasure_notices_what_was_added(scene: &TestTenant<'_>) {
    scene.told("s", &["1", "2"]);
    scene.told("t", &["1"]);
    let moved = |before: Seen| {
        let refused = erase_on(scene, before);
        assert!(matches!(refused, Err(StoreError::HeadMoved { .. })), "{refused:?}");
    };
    let before = seen(scene, &[], 0);
    scene.tell("t", &["another session may grow"]);
    put(scene, None, &[], &[("s", 1)]).unwrap();
    erase_on(scene, before).unwrap();
    let before = seen(scene, &[], 0);
    scene.tell("s", &["3"]);
    moved(before);
    let before = seen(scene, &[], 0);
    scene.fork("u", "s", 1);
    moved(before);
    let before = seen(scene, &[], 0);
    put(scene, Some(segment("one", &["data"])), &[], &[("s", 2)]).unwrap();
    moved(before);
    let before = seen(scene, &[], 0);
    scene.erase("s", &[2], Vec::new());
    let ended = erase_on(scene, before.clone());
    let (expected, actual) = (before.epoch.no, before.epoch.no + 1);
    assert_eq!(ended, Err(StoreError::EpochMoved { expected, actual }));
    erase_on(scene, seen(scene, &[], 0)).unwrap();
}

/// An erasure is refused while an import owns one of its sources, and if a source has grown or was linked since.
pub(super) fn an_erasure_waits_for_imports(scene: &TestTenant<'_>) {
    scene.told("s", &["1"]);
    let place = take(scene, "/a", after("/a", 0), "one");
    scene.commit(ending(place, "one"));
    let now = seen(scene, &[(place.0, place.1, 0)], 0);
    erase_on(scene, now.clone()).unwrap();
    let at = |len, links| seen(scene, &[(place.0, place.1, len)], links);
    let before = at(0, 0);
    scene.commit(scene.linking("s", place.0, place.1));
    assert!(matches!(erase_on(scene, before), Err(StoreError::HeadMoved { .. })));
    let before = at(0, 1);
    let grow = wunderblock_store::Begin::Grow { revision: 1, len: 0 };
    scene.commit(taking(scene, "/a", grow, owner("two", 2_000)));
    assert_eq!(erase_on(scene, before.clone()), Err(StoreError::Held { until: Millis(2_000) }));
    let later = Seen { now: Millis(2_000), ..before.clone() };
    erase_on(scene, later).unwrap();
    scene.commit(extending(place, "two", 0, &["bytes"]));
    scene.commit(ending(place, "two"));
    let before = Seen { epoch: epoch(scene), ..before };
    assert!(matches!(erase_on(scene, before), Err(StoreError::HeadMoved { .. })));
    erase_on(scene, at(5, 1)).unwrap();
}
