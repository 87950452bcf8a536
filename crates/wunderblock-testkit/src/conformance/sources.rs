//! Cases about imported sources: chunks, revisions, links and erased bytes.

use super::tenant::{TestTenant, answered, handle, said, span, stream_id};
use std::ops::Range;
use wunderblock_core::units::Millis;
use wunderblock_store::codec::{checksum, pack_chunk, unpack_chunk};
use wunderblock_store::{
    Answer, Begin, Chunk, HandleTarget, Owner, PackedChunk, Query, RevisionInfo, SourceBy, SourceFilter,
    SourceInfo, SourceNo, SourceSpan, Write, Written,
};

/// Number of a source, and number of one of its revisions.
pub(super) type Place = (SourceNo, u32);

pub(super) fn owner(token: &str, until: i64) -> Owner {
    Owner { token: token.to_owned(), until: Millis(until) }
}

/// Begins the revision after `newest`. The handle of the revision is derived from the source's key and the revision's
/// number.
pub(super) fn after(key: &str, newest: u32) -> Begin {
    Begin::New { after: newest, handle: handle(&format!("{key} {}", newest + 1)) }
}

/// Write that takes a source at time 0, without knowledge of its owner.
pub(super) fn taking(scene: &TestTenant<'_>, key: &str, begin: Begin, owner: Owner) -> Write {
    Write::Source {
        tenant: scene.tenant.no,
        key: key.to_owned(),
        handle: handle(key),
        format: "jsonl".to_owned(),
        begin,
        owner,
        now: Millis(0),
        takes_over: false,
    }
}

pub(super) fn take(scene: &TestTenant<'_>, key: &str, begin: Begin, token: &str) -> Place {
    answered!(
        scene.commit(taking(scene, key, begin, owner(token, 100))),
        Written::Source(no, revision) => (no, revision)
    )
}

/// Packs texts as consecutive chunks, starting at a given offset.
pub(super) fn packed(from: u64, texts: &[&str]) -> Vec<PackedChunk> {
    let mut offset = from;
    let chunk = |text: &&str| {
        let chunk = pack_chunk(offset, text.as_bytes());
        offset += chunk.len;
        chunk
    };
    texts.iter().map(chunk).collect()
}

pub(super) fn extending(place: Place, token: &str, from: u64, texts: &[&str]) -> Write {
    extending_by(place, owner(token, 100), from, packed(from, texts), Vec::new())
}

/// Write that adds chunks. The ranges in `erased` mark erased bytes in these chunks.
pub(super) fn extending_by(
    place: Place,
    owner: Owner,
    from: u64,
    chunks: Vec<PackedChunk>,
    erased: Vec<(u64, u64)>,
) -> Write {
    let (source, revision) = place;
    Write::Extend { source, revision, owner, from, chunks, erased }
}

pub(super) fn ending(place: Place, token: &str) -> Write {
    let (source, revision) = place;
    let (modified, reader) = (Some(7), Some(b"reader".to_vec()));
    Write::Whole { source, revision, token: token.to_owned(), modified, reader, leaf: None }
}

/// Imports chunks as a complete new revision.
pub(super) fn import(scene: &TestTenant<'_>, key: &str, chunks: &[&str]) -> Place {
    let newest = source(scene, key).map_or(0, |info| info.revision.no);
    let place = take(scene, key, after(key, newest), "importer");
    scene.try_commit(vec![extending(place, "importer", 0, chunks), ending(place, "importer")]).unwrap();
    place
}

pub(super) fn source(scene: &TestTenant<'_>, key: &str) -> Option<SourceInfo> {
    find(scene, SourceBy::Key(key.to_owned()), None)
}

fn find(scene: &TestTenant<'_>, by: SourceBy, revision: Option<u32>) -> Option<SourceInfo> {
    answered!(
        scene.ask(Query::Source { tenant: scene.tenant.no, by, revision }),
        Answer::Source(info) => info.map(|info| *info)
    )
}

/// Returns the stored description of a revision.
pub(super) fn revision(scene: &TestTenant<'_>, place: Place) -> RevisionInfo {
    find(scene, SourceBy::No(place.0), Some(place.1)).unwrap().revision
}

/// Returns the chunks that overlap a range of bytes.
fn chunks(scene: &TestTenant<'_>, place: Place, range: Range<u64>, limit: u64) -> Vec<Chunk> {
    let (source, revision) = place;
    let Range { start: from, end: to } = range;
    answered!(
        scene.ask(Query::Chunks { source, revision, from, to, limit }),
        Answer::Chunks(chunks) => chunks
    )
}

/// Returns the text in a range of bytes, and checks the chunks that contain it.
pub(super) fn bytes(scene: &TestTenant<'_>, place: Place, from: u64, to: u64) -> String {
    let mut text = String::new();
    for chunk in chunks(scene, place, from..to, u64::MAX >> 1) {
        let part = String::from_utf8(unpack_chunk(&chunk).unwrap()).unwrap();
        assert_eq!(chunk.checksum, Some(checksum(&[part.as_bytes()])), "a chunk can prove itself");
        let start = from.saturating_sub(chunk.offset) as usize;
        let end = (to - chunk.offset).min(chunk.len) as usize;
        assert_eq!(chunk.offset.max(from), from + text.len() as u64, "no gap and no overlap");
        text.push_str(part.get(start..end).unwrap());
    }
    text
}

/// A source is found by its path and by its number as soon as it is taken.
pub(super) fn a_source_is_imported(scene: &TestTenant<'_>) {
    assert_eq!(source(scene, "/a"), None);
    let place = take(scene, "/a", after("/a", 0), "me");
    assert_eq!(place.1, 1);
    let mut expected = SourceInfo {
        no: place.0,
        handle: handle("/a"),
        key: "/a".to_owned(),
        revision: RevisionInfo {
            no: 1,
            handle: handle("/a 1"),
            format: "jsonl".to_owned(),
            shared: 0,
            len: 0,
            whole: false,
            owner: Some(owner("me", 100)),
            hash: None,
            erased: Vec::new(),
            leaf: None,
            modified: None,
            reader: None,
        },
    };
    assert_eq!(source(scene, "/a"), Some(expected.clone()));
    scene.told("leaf", &["x"]);
    let whole = Write::Whole {
        source: place.0,
        revision: 1,
        token: "me".to_owned(),
        modified: Some(77),
        reader: Some(vec![1, 2]),
        leaf: Some(stream_id("leaf")),
    };
    scene.try_commit(vec![extending(place, "me", 0, &["first ", "second"]), whole]).unwrap();
    expected.revision.len = 12;
    expected.revision.whole = true;
    expected.revision.owner = None;
    expected.revision.leaf = Some(stream_id("leaf"));
    expected.revision.modified = Some(77);
    expected.revision.reader = Some(vec![1, 2]);
    assert_eq!(source(scene, "/a"), Some(expected.clone()));
    for revision in [None, Some(1)] {
        assert_eq!(find(scene, SourceBy::No(place.0), revision), Some(expected.clone()));
    }
    assert_eq!(find(scene, SourceBy::No(place.0), Some(2)), None);
    let other = import(scene, "/b", &["other"]);
    assert_ne!(other.0, place.0);
    assert_eq!(bytes(scene, place, 0, 99), "first second");
    assert_eq!(bytes(scene, other, 0, 99), "other");
}

/// Chunks are found by the bytes they contain, in order.
pub(super) fn chunks_by_range(scene: &TestTenant<'_>) {
    let place = import(scene, "/a", &["0123", "4567", "89"]);
    let expect = |from, to, limit, expected: &[u64]| {
        let found: Vec<u64> =
            chunks(scene, place, from..to, limit).iter().map(|chunk| chunk.offset).collect();
        assert_eq!(found, expected, "{from}..{to}, {limit} at most");
    };
    expect(0, 10, 9, &[0, 4, 8]);
    expect(0, 4, 9, &[0]);
    expect(3, 5, 9, &[0, 4]);
    expect(4, 5, 9, &[4]);
    expect(7, 99, 9, &[4, 8]);
    expect(0, 10, 2, &[0, 4]);
    expect(0, 10, 0, &[]);
    expect(5, 5, 9, &[]);
    expect(10, 99, 9, &[]);
    expect(9, 2, 9, &[]);
    assert_eq!(bytes(scene, place, 2, 9), "2345678");
    for nowhere in [(SourceNo(place.0.0 + 1000), 1), (place.0, 0), (place.0, 2), (place.0, 99)] {
        assert_eq!(chunks(scene, nowhere, 0..99, 9), [], "{nowhere:?}");
    }
}

/// A rewritten file becomes a new revision, and each revision keeps its own bytes.
pub(super) fn revisions_keep_their_bytes(scene: &TestTenant<'_>) {
    let first = import(scene, "/a", &["aaaa", "bbbb"]);
    let second = import(scene, "/a", &["aaaa", "cc"]);
    let third = import(scene, "/a", &[]);
    assert_eq!((first.1, second.1, third.1), (1, 2, 3));
    assert!([second.0, third.0].iter().all(|no| *no == first.0), "one source");
    assert_eq!(bytes(scene, first, 0, 99), "aaaabbbb");
    assert_eq!(bytes(scene, second, 0, 99), "aaaacc");
    assert_eq!(bytes(scene, third, 0, 99), "", "a source may get empty");
    assert_eq!([first, second, third].map(|place| revision(scene, place).len), [8, 6, 0]);
    assert_eq!(source(scene, "/a").unwrap().revision.no, 3, "the newest is meant where none is named");
    assert_eq!(scene.commit(Write::Unshare { source: first.0, revision: 2 }), Written::Done);
    assert_eq!(bytes(scene, second, 0, 99), "aaaacc");
}

/// The handle of a source names its latest revision; the handle of a revision names that revision.
pub(super) fn handles_of_revisions_resolve(scene: &TestTenant<'_>) {
    let (no, _) = import(scene, "/a", &["first"]);
    import(scene, "/a", &["second"]);
    assert_eq!(scene.named("/a"), Some(HandleTarget::Source(no, None)));
    assert_eq!(scene.named("/a 1"), Some(HandleTarget::Source(no, Some(1))));
    assert_eq!(scene.named("/a 2"), Some(HandleTarget::Source(no, Some(2))));
    assert_eq!(scene.named("/a 3"), None);
    assert_eq!(source(scene, "/a").unwrap().handle, handle("/a"), "which stays");
    assert_eq!([1, 2].map(|number| revision(scene, (no, number)).handle), [handle("/a 1"), handle("/a 2")]);
}

fn sources(scene: &TestTenant<'_>, query: Query) -> Vec<Place> {
    answered!(
        scene.ask(query),
        Answer::Sources(list) => list.iter().map(|info| (info.no, info.revision.no)).collect()
    )
}

/// All sources are listed, each with its latest revision.
pub(super) fn the_newest_of_each_source(scene: &TestTenant<'_>) {
    let tenant = scene.tenant.no;
    let listed = |prefix: &str, min_len, older| {
        let filter = SourceFilter { prefix: prefix.to_owned(), min_len, older };
        sources(scene, Query::Sources { tenant, filter })
    };
    assert_eq!(listed("", 0, false), []);
    let b = import(scene, "/b", &["b"]);
    let a = import(scene, "/a", &["a"]);
    import(scene, "/b", &["b again"]);
    assert_eq!(listed("", 0, false), [(b.0, 2), a]);
    assert_eq!(listed("", 0, true), [b, (b.0, 2), a]);
    assert_eq!(listed("/a", 0, true), [a]);
    assert_eq!((listed("/b", 2, true), listed("/a", 2, false)), (vec![(b.0, 2)], vec![]));
}

/// A stream is linked once to each revision that it was read from.
pub(super) fn streams_are_linked_to_revisions(scene: &TestTenant<'_>) {
    let tenant = scene.tenant.no;
    let (first, other) = (import(scene, "/a", &["1"]), import(scene, "/b", &["2"]));
    let second = import(scene, "/a", &["3"]);
    for id in ["s", "t", "bare"] {
        scene.open(id);
    }
    let link = |id: &str, place: Place| {
        assert_eq!(scene.commit(scene.linking(id, place.0, place.1)), Written::Done);
    };
    let of = |id: &str| sources(scene, Query::SourcesOf { tenant, stream: stream_id(id) });
    let from = |source, revision| scene.streams_of(Query::ReadFrom { tenant, source, revision });
    link("t", first);
    link("s", first);
    link("s", other);
    link("s", first);
    assert_eq!(of("s"), [other, first], "a link is there once, and newest when it was read again");
    link("s", second);
    assert_eq!((of("s"), of("t"), of("bare")), (vec![other, first, second], vec![first], Vec::new()));
    assert_eq!(of("nowhere"), []);
    assert_eq!(scene.info("s").source, Some(second), "the newest link");
    assert_eq!((scene.info("t").source, scene.info("bare").source), (Some(first), None));
    assert_eq!(from(first.0, None), ["s", "t"]);
    assert_eq!(from(first.0, Some(1)), ["s", "t"]);
    assert_eq!(from(first.0, Some(2)), ["s"]);
    assert_eq!(from(first.0, Some(3)), [""; 0]);
    assert_eq!(from(other.0, None), ["s"]);
    link("nowhere", first);
    link("bare", (SourceNo(first.0.0 + 1000), 1));
    assert_eq!(scene.info("bare").source, None, "what is not there is not linked");
}

/// Erased bytes are replaced with spaces, even across chunk borders, and the state of the reader is dropped along
/// with them.
pub(super) fn bytes_are_erased(scene: &TestTenant<'_>) {
    scene.told("s", &["x"]);
    let long = "secret ".repeat(100);
    let place = import(scene, "/a", &["public ", &long, "and more"]);
    let other = import(scene, "/b", &["untouched"]);
    let span = |from, len| vec![span("/a", 1, from, len)];
    assert_eq!(scene.erase("s", &[], span(3, 0)), (0, 0, 0));
    let nowhere = SourceSpan { source: handle("unknown"), revision: 1, offset: 0, len: 9 };
    assert_eq!(scene.erase("s", &[], vec![nowhere]), (0, 0, 0));
    assert_eq!(revision(scene, place).erased, []);
    let place_again = SourceSpan { revision: 2, ..span(0, 9).remove(0) };
    assert_eq!(scene.erase("s", &[], vec![place_again]), (0, 0, 0), "there is no second revision");
    assert_eq!(scene.erase("s", &[1], span(5, 704)), (1, 0, 704));
    assert_eq!(bytes(scene, place, 0, 999), format!("publi{}d more", " ".repeat(704)));
    assert_eq!(bytes(scene, other, 0, 99), "untouched");
    let info = revision(scene, place);
    assert_eq!((info.erased, info.len, info.whole), (vec![(5, 709)], 715, true));
    assert_eq!((info.reader, info.modified), (None, Some(7)), "the reader's state may hold some of it");
    assert!(revision(scene, other).reader.is_some());
    assert_eq!(scene.erase("s", &[], span(713, 999)), (0, 0, 2), "a span may reach past the end");
    assert_eq!(bytes(scene, place, 709, 999), "d mo  ");
    assert_eq!(revision(scene, place).erased, [(5, 709), (713, 715)]);
    assert_eq!(scene.erase("s", &[], span(5, 2)), (0, 0, 2));
    assert_eq!(revision(scene, place).erased, [(5, 709), (713, 715)], "the longer range stays");
    scene.append("s", vec![said("later", "the ledger goes on")]);
}

/// Bytes are erased in the named revision only. Finding the same bytes in other revisions is the caller's task.
pub(super) fn bytes_are_erased_as_a_revision_has_them(scene: &TestTenant<'_>) {
    scene.told("s", &["x"]);
    let gone = "{gone: the record that has a secret}\n";
    let first = import(scene, "/a", &["same ", gone, "end"]);
    let second = import(scene, "/a", &["same ", gone, "another end"]);
    let len = gone.len() as u64;
    assert_eq!(scene.erase("s", &[], vec![span("/a", 1, 5, len)]), (0, 0, len));
    assert_eq!(bytes(scene, first, 0, 999), format!("same {}end", " ".repeat(gone.len())));
    assert_eq!(bytes(scene, second, 0, 999), format!("same {gone}another end"));
    assert_eq!(revision(scene, second).erased, []);
    let both = vec![span("/a", 2, 0, 2), span("/a", 1, 0, 1), span("/a", 2, 5, 3)];
    assert_eq!(scene.erase("s", &[], both), (0, 0, 6), "several revisions in one write");
    assert_eq!(revision(scene, first).erased, [(0, 1), (5, 5 + len)]);
    assert_eq!(revision(scene, second).erased, [(0, 2), (5, 8)]);
    assert_eq!(bytes(scene, second, 0, 8), "  me    ");
}

/// An import that leaves out bytes that were erased earlier lists the ranges that replace them.
pub(super) fn erased_ranges_are_listed(scene: &TestTenant<'_>) {
    let place = take(scene, "/a", after("/a", 0), "me");
    let extend =
        |from, text: &str, erased| extending_by(place, owner("me", 100), from, packed(from, &[text]), erased);
    scene.commit(extend(0, "kept    kept", vec![(4, 8)]));
    scene.commit(extend(12, "  kept", vec![(12, 14)]));
    assert_eq!(revision(scene, place).erased, [(4, 8), (12, 14)]);
    assert_eq!(scene.commit(ending(place, "me")), Written::Done);
    let info = revision(scene, place);
    assert_eq!((info.erased, info.len), (vec![(4, 8), (12, 14)], 18));
    assert!(info.reader.is_some());
}
