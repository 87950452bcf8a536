//! Cases about the owner of a revision: one writer at a time, and the next one continues after the last commit.

use super::sources::{
    Place, after, bytes, ending, extending, extending_by, import, owner, packed, revision, source, take,
    taking,
};
use super::tenant::{TestTenant, answered, said, texts};
use wunderblock_core::units::Millis;
use wunderblock_store::{Begin, Owner, SourceNo, StoreError, Write, Written};

/// Takes the source `/a` at a given time, optionally with the claim that its owner is dead.
fn take_at(
    scene: &TestTenant<'_>,
    begin: Begin,
    taker: Owner,
    at: i64,
    dead: bool,
) -> Result<Place, StoreError> {
    let mut write = taking(scene, "/a", begin, taker);
    if let Write::Source { now, takes_over, .. } = &mut write {
        (*now, *takes_over) = (Millis(at), dead);
    }
    answered!(scene.try_commit(vec![write])?.remove(0), Written::Source(no, revision) => Ok((no, revision)))
}

/// Before its owner's time has passed, a source can be taken only by the owner or by a caller that knows that the
/// owner is dead.
pub(super) fn a_source_has_one_owner(scene: &TestTenant<'_>) {
    let grow = |len| Begin::Grow { revision: 1, len };
    let held = |until| Err(StoreError::Held { until: Millis(until) });
    let place = take_at(scene, after("/a", 0), owner("one", 100), 0, false).unwrap();
    assert_eq!(take_at(scene, grow(0), owner("two", 300), 99, false), held(100));
    assert_eq!(take_at(scene, after("/a", 1), owner("two", 300), 99, false), held(100));
    assert_eq!(take_at(scene, grow(7), owner("two", 300), 99, false), held(100), "that comes first");
    assert_eq!(revision(scene, place).owner, Some(owner("one", 100)));
    assert_eq!(take_at(scene, grow(0), owner("one", 120), 99, false), Ok(place), "it may ask again");
    assert_eq!(take_at(scene, grow(0), owner("two", 300), 119, false), held(120));
    assert_eq!(take_at(scene, grow(0), owner("two", 300), 120, false), Ok(place), "its time has passed");
    assert_eq!(take_at(scene, grow(0), owner("three", 400), 200, false), held(300));
    assert_eq!(take_at(scene, grow(0), owner("three", 400), 200, true), Ok(place), "the owner is dead");
    assert_eq!(revision(scene, place).owner, Some(owner("three", 400)));
    scene.commit(extending_by(place, owner("three", 900), 0, Vec::new(), Vec::new()));
    assert_eq!(take_at(scene, grow(0), owner("four", 999), 899, false), held(900), "a write renews it");
}

/// A disowned writer can no longer write, and the other writes of its commits are refused too.
pub(super) fn a_disowned_writer_is_refused(scene: &TestTenant<'_>) {
    scene.open("s");
    let place = take(scene, "/a", after("/a", 0), "one");
    scene.commit(extending(place, "one", 0, &["first "]));
    let grow = Begin::Grow { revision: 1, len: 6 };
    assert_eq!(take_at(scene, grow, owner("two", 300), 0, true), Ok(place));
    let append = || scene.appending("s", vec![said("1", "too late")]);
    let refused = |writes| assert_eq!(scene.try_commit(writes), Err(StoreError::Disowned));
    refused(vec![append(), extending(place, "one", 6, &["late"])]);
    refused(vec![append(), ending(place, "one")]);
    refused(vec![append(), extending(place, "one", 0, &["late"])]);
    refused(vec![append(), extending((place.0, 2), "two", 6, &["there is no such revision"])]);
    refused(vec![append(), ending((SourceNo(place.0.0 + 1000), 1), "two")]);
    assert_eq!(texts(&scene.all("s")), [""; 0]);
    assert_eq!((bytes(scene, place, 0, 99), revision(scene, place).len), ("first ".into(), 6));
    scene.try_commit(vec![append(), extending(place, "two", 6, &["second"]), ending(place, "two")]).unwrap();
    assert_eq!(bytes(scene, place, 0, 99), "first second");
    refused(vec![extending(place, "two", 12, &["an ended revision is nobody's"])]);
    refused(vec![ending(place, "two")]);
    let next = take(scene, "/a", after("/a", 1), "one");
    assert_eq!(take_at(scene, after("/a", 2), owner("two", 300), 0, true), Ok((place.0, 3)));
    refused(vec![extending(next, "one", 0, &["a revision that was given up takes nothing more"])]);
    assert_eq!(revision(scene, next).owner, None);
}

/// A released revision is free, whether or not it is whole, and only its owner can release it.
pub(super) fn an_owner_gives_back(scene: &TestTenant<'_>) {
    let place = take(scene, "/a", after("/a", 0), "one");
    scene.commit(extending(place, "one", 0, &["part"]));
    let disown = |token: &str| {
        let write = Write::Disown { source: place.0, revision: place.1, token: token.to_owned() };
        assert_eq!(scene.commit(write), Written::Done);
    };
    disown("two");
    assert_eq!(revision(scene, place).owner, Some(owner("one", 100)), "a stranger frees nothing");
    disown("one");
    let info = revision(scene, place);
    assert_eq!((info.owner, info.whole, info.len, info.reader), (None, false, 4, None));
    let grow = Begin::Grow { revision: 1, len: 4 };
    assert_eq!(take_at(scene, grow, owner("two", 300), 0, false), Ok(place));
    scene.try_commit(vec![extending(place, "two", 4, &["ner"]), ending(place, "two")]).unwrap();
    let info = revision(scene, place);
    assert_eq!((info.owner, info.whole, info.len), (None, true, 7));
    assert_eq!(info.reader.as_deref(), Some(&b"reader"[..]));
    assert_eq!(take_at(scene, Begin::Grow { revision: 1, len: 7 }, owner("three", 9), 0, false), Ok(place));
    assert!(!revision(scene, place).whole, "who goes on has not reached the end");
}

/// A revision grows from the end of the last commit, and only if the caller knows its current length.
pub(super) fn growing_goes_on_where_it_ended(scene: &TestTenant<'_>) {
    let moved = Err(StoreError::SourceMoved);
    let grow = |revision, len| Begin::Grow { revision, len };
    let one = |begin| take_at(scene, begin, owner("one", 300), 0, false);
    assert_eq!(one(grow(1, 0)), moved, "there is nothing to go on with");
    assert_eq!(one(after("/a", 1)), moved, "nor anything to come after");
    assert_eq!(source(scene, "/a"), None);
    let first = import(scene, "/a", &["1234"]);
    for begin in [grow(1, 3), grow(1, 5), grow(0, 4), grow(2, 4), after("/a", 0), after("/a", 2)] {
        assert_eq!(one(begin), moved, "{begin:?}");
    }
    assert_eq!(revision(scene, first).owner, None, "what was refused took nothing");
    assert_eq!(one(grow(1, 4)), Ok(first));
    scene.try_commit(vec![extending(first, "one", 4, &["56", "78"]), ending(first, "one")]).unwrap();
    assert_eq!(bytes(scene, first, 0, 99), "12345678");
    let second = import(scene, "/a", &["new"]);
    assert_eq!(one(grow(1, 8)), moved, "only the newest grows");
    assert_eq!(one(grow(2, 3)), Ok(second));
}

/// Chunks must be added in order, without gaps, at the end of the revision.
pub(super) fn chunks_have_no_gaps(scene: &TestTenant<'_>) {
    let place = take(scene, "/a", after("/a", 0), "me");
    scene.commit(extending(place, "me", 0, &["0123", "45"]));
    let extend = |from, chunks| extending_by(place, owner("me", 900), from, chunks, vec![(0, 1)]);
    let gap = [packed(6, &["67"]), packed(9, &["9"])].concat();
    let twice = [packed(6, &["67"]), packed(6, &["67"])].concat();
    for (from, chunks) in [
        (5, packed(5, &["x"])),
        (7, packed(7, &["x"])),
        (6, packed(7, &["x"])),
        (6, gap),
        (6, twice),
        (0, Vec::new()),
    ] {
        let refused = scene.try_commit(vec![extend(from, chunks.clone())]);
        assert_eq!(refused, Err(StoreError::SourceMoved), "{chunks:?} from {from}");
    }
    let info = revision(scene, place);
    assert_eq!((info.len, info.erased, info.owner), (6, Vec::new(), Some(owner("me", 100))));
    assert_eq!(bytes(scene, place, 0, 99), "012345");
    scene.commit(extending(place, "me", 6, &["6789"]));
    assert_eq!(bytes(scene, place, 0, 99), "0123456789");
}

/// A stream shows if its latest import has not reached the end of the file.
pub(super) fn unfinished_imports_show(scene: &TestTenant<'_>) {
    for id in ["s", "other"] {
        scene.open(id);
    }
    let place = take(scene, "/a", after("/a", 0), "me");
    let append = scene.appending("s", vec![said("1", "one")]);
    let both = vec![append, extending(place, "me", 0, &["one"]), scene.linking("s", place.0, place.1)];
    scene.try_commit(both).unwrap();
    let unfinished = || (scene.info("s").unfinished, scene.info("other").unfinished);
    assert_eq!(unfinished(), (true, false));
    scene.commit(ending(place, "me"));
    assert_eq!(unfinished(), (false, false));
    take(scene, "/a", Begin::Grow { revision: 1, len: 3 }, "me");
    assert_eq!(unfinished(), (true, false));
    scene.commit(Write::Disown { source: place.0, revision: 1, token: "me".to_owned() });
    assert_eq!(unfinished(), (true, false), "what was given back is not whole");
}
