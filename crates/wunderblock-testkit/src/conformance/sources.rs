//! Imported sources: chunks, revisions, erasing bytes.

use super::scene::{Scene, handle, said, span, stream_id};
use wunderblock::store::codec::{pack, unpack};
use wunderblock::store::{
    Answer, Query, SourceBy, SourceInfo, SourceNo, SourceSpan, Storage, Write, Written,
};
use wunderblock_core::units::Millis;

fn begin(scene: &Scene<'_>, key: &str, shared: u64) -> (SourceNo, u32) {
    let write = Write::Source {
        tenant: scene.tenant.no,
        key: key.to_owned(),
        handle: handle(key),
        format: "jsonl".to_owned(),
        shared,
        at: Millis(1),
    };
    match scene.commit(write) {
        Written::Source(no, revision) => (no, revision),
        other => panic!("a source was begun, and answered was {other:?}"),
    }
}

fn chunk(source: SourceNo, offset: usize, text: &str) -> Write {
    let (offset, len) = (offset as u64, text.len() as u64);
    Write::Chunk { source, offset, len, data: pack(text.as_bytes()) }
}

fn end(source: SourceNo, text: &str) -> Write {
    Write::SourceEnd { source, len: text.len() as u64, hash: *blake3::hash(text.as_bytes()).as_bytes() }
}

/// Stores a complete revision: `shared` bytes of the one before, then these chunks.
pub(super) fn import(scene: &Scene<'_>, key: &str, shared: usize, chunks: &[&str]) -> SourceNo {
    let before = match source(scene, key) {
        Some(info) => bytes(scene, info.no, 0, shared as u64),
        None => String::new(),
    };
    let (no, _) = begin(scene, key, shared as u64);
    let mut whole = before;
    let mut writes = Vec::new();
    for text in chunks {
        writes.push(chunk(no, whole.len(), text));
        whole.push_str(text);
    }
    writes.push(end(no, &whole));
    scene.try_commit(writes).unwrap();
    no
}

fn source(scene: &Scene<'_>, key: &str) -> Option<SourceInfo> {
    match scene.ask(Query::Source { tenant: scene.tenant.no, by: SourceBy::Key(key.to_owned()) }) {
        Answer::Source(info) => info,
        other => panic!("a source was asked for, and answered was {other:?}"),
    }
}

/// The chunks that overlap a range: offset, length, and the text that counts.
fn chunks(scene: &Scene<'_>, source: SourceNo, from: u64, to: u64, limit: u64) -> Vec<(u64, String)> {
    match scene.ask(Query::Chunks { source, from, to, limit }) {
        Answer::Chunks(chunks) => chunks
            .iter()
            .map(|chunk| {
                let text = String::from_utf8(unpack(&chunk.data).unwrap()).unwrap();
                (chunk.offset, text.get(..chunk.len as usize).unwrap().to_owned())
            })
            .collect(),
        other => panic!("chunks were asked for, and answered was {other:?}"),
    }
}

/// The bytes of a range.
fn bytes(scene: &Scene<'_>, source: SourceNo, from: u64, to: u64) -> String {
    let mut text = String::new();
    for (offset, part) in chunks(scene, source, from, to, u64::MAX >> 1) {
        let start = from.saturating_sub(offset) as usize;
        let end = (to - offset).min(part.len() as u64) as usize;
        assert_eq!(offset.max(from), from + text.len() as u64, "no gap and no overlap");
        text.push_str(part.get(start..end).unwrap());
    }
    text
}

/// A source is known by its path and by its number, complete only after its end.
pub fn a_source_is_imported(store: &dyn Storage) {
    let scene = Scene::new(store);
    assert_eq!(source(&scene, "/a"), None);
    let (no, revision) = begin(&scene, "/a", 0);
    assert_eq!(revision, 1);
    let begun = source(&scene, "/a").unwrap();
    assert_eq!((begun.revision, begun.len, begun.erased, &begun.leaf), (0, 0, false, &None));
    scene.try_commit(vec![chunk(no, 0, "first "), chunk(no, 6, "second"), end(no, "first second")]).unwrap();
    scene.told("leaf", &["x"]);
    assert_eq!(scene.commit(Write::SourceLeaf { source: no, stream: stream_id("leaf") }), Written::Done);
    let info = source(&scene, "/a").unwrap();
    let expected = SourceInfo {
        no,
        handle: handle("/a"),
        key: "/a".to_owned(),
        format: "jsonl".to_owned(),
        revision: 1,
        len: 12,
        hash: *blake3::hash(b"first second").as_bytes(),
        erased: false,
        leaf: Some(stream_id("leaf")),
    };
    assert_eq!(info, expected);
    let by_number = scene.ask(Query::Source { tenant: scene.tenant.no, by: SourceBy::No(no) });
    assert_eq!(by_number, Answer::Source(Some(expected)));
    let other = import(&scene, "/b", 0, &["other"]);
    assert_ne!(other, no);
    assert_eq!(
        (bytes(&scene, no, 0, 99), bytes(&scene, other, 0, 99)),
        ("first second".into(), "other".into())
    );
}

/// Chunks are found by the bytes they hold, in order.
pub fn chunks_by_range(store: &dyn Storage) {
    let scene = Scene::new(store);
    let no = import(&scene, "/a", 0, &["0123", "4567", "89"]);
    let expect = |from, to, limit, expected: &[u64]| {
        let found: Vec<u64> =
            chunks(&scene, no, from, to, limit).into_iter().map(|(offset, _)| offset).collect();
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
    assert_eq!(bytes(&scene, no, 2, 9), "2345678");
    assert_eq!(chunks(&scene, SourceNo(no.0 + 1000), 0, 99, 9), []);
}

/// A source that grew keeps its bytes; one that was rewritten keeps the shared beginning.
pub fn sources_grow_and_are_rewritten(store: &dyn Storage) {
    let scene = Scene::new(store);
    let no = import(&scene, "/a", 0, &["aaaa", "bbbb"]);
    assert_eq!(import(&scene, "/a", 8, &["cccc"]), no);
    assert_eq!(
        (bytes(&scene, no, 0, 99), source(&scene, "/a").unwrap().revision),
        ("aaaabbbbcccc".into(), 2)
    );
    import(&scene, "/a", 6, &["DDDD", "EEEE"]);
    assert_eq!(bytes(&scene, no, 0, 99), "aaaabbDDDDEEEE");
    let expected = [(0, "aaaa"), (4, "bb"), (6, "DDDD"), (10, "EEEE")];
    assert_eq!(chunks(&scene, no, 0, 99, 9), expected.map(|(offset, text)| (offset, text.to_owned())));
    assert_eq!(chunks(&scene, no, 6, 8, 9), [(6, "DDDD".to_owned())], "what was cut away is not there");
    assert_eq!(bytes(&scene, no, 3, 11), "abbDDDDE");
    import(&scene, "/a", 12, &["f"]);
    assert_eq!(bytes(&scene, no, 0, 99), "aaaabbDDDDEEf");
    import(&scene, "/a", 3, &[]);
    assert_eq!(bytes(&scene, no, 0, 99), "aaa", "a source may get shorter");
    import(&scene, "/a", 3, &["xyz"]);
    assert_eq!(bytes(&scene, no, 0, 99), "aaaxyz", "and what was cut once does not come back");
    import(&scene, "/a", 0, &["new"]);
    assert_eq!(bytes(&scene, no, 0, 99), "new");
    let info = source(&scene, "/a").unwrap();
    assert_eq!((info.revision, info.len, info.hash), (7, 3, *blake3::hash(b"new").as_bytes()));
}

/// A revision that was never ended is begun anew, and leaves nothing behind.
pub fn an_unfinished_revision_is_begun_anew(store: &dyn Storage) {
    let scene = Scene::new(store);
    let (no, _) = begin(&scene, "/a", 0);
    scene.commit(chunk(no, 0, "broken off, and much longer"));
    assert_eq!(chunks(&scene, no, 0, 99, 9), [], "what is not complete cannot be read");
    assert_eq!(begin(&scene, "/a", 0), (no, 1));
    scene.try_commit(vec![chunk(no, 0, "whole"), end(no, "whole")]).unwrap();
    assert_eq!(bytes(&scene, no, 0, 99), "whole");
    begin(&scene, "/a", 2);
    scene.commit(chunk(no, 2, "broken off"));
    let info = source(&scene, "/a").unwrap();
    assert_eq!((info.revision, info.len), (1, 5), "the newest complete one");
    assert_eq!(bytes(&scene, no, 0, 99), "whole");
    assert_eq!(begin(&scene, "/a", 4), (no, 2));
    scene.try_commit(vec![chunk(no, 4, "ly"), end(no, "wholly")]).unwrap();
    assert_eq!(bytes(&scene, no, 0, 99), "wholly");
    assert_eq!(source(&scene, "/a").unwrap().revision, 2);
}

/// A chunk that comes again, because nobody heard that it had come, replaces the first.
pub fn a_repeated_chunk_counts_once(store: &dyn Storage) {
    let scene = Scene::new(store);
    let (no, _) = begin(&scene, "/a", 0);
    scene.commit(chunk(no, 0, "one "));
    scene.try_commit(vec![chunk(no, 0, "one "), chunk(no, 4, "two"), chunk(no, 4, "two")]).unwrap();
    scene.commit(end(no, "one two"));
    assert_eq!(chunks(&scene, no, 0, 99, 9), [(0, "one ".to_owned()), (4, "two".to_owned())]);
    assert!(scene.try_commit(vec![chunk(no, 7, "!")]).is_err(), "an ended revision takes no more bytes");
    assert_eq!(bytes(&scene, no, 0, 99), "one two");
}

/// Bytes of a source are overwritten with spaces, over the borders of chunks and revisions.
pub fn bytes_are_erased(store: &dyn Storage) {
    let scene = Scene::new(store);
    scene.told("s", &["x"]);
    let long = "secret ".repeat(100);
    let no = import(&scene, "/a", 0, &["public ", &long]);
    import(&scene, "/a", 707, &["and more"]);
    let other = import(&scene, "/b", 0, &["untouched"]);
    assert!(!source(&scene, "/a").unwrap().erased);
    let span = |from, len| vec![span("/a", 2, from, len)];
    assert_eq!(scene.erase("s", &[], span(3, 0)), (0, 0, 0));
    assert_eq!(
        scene.erase("s", &[], vec![SourceSpan { source: handle("unknown"), revision: 1, offset: 0, len: 9 }]),
        (0, 0, 0)
    );
    assert!(!source(&scene, "/a").unwrap().erased);
    assert_eq!(scene.erase("s", &[1], span(5, 704)), (1, 0, 704));
    assert_eq!(bytes(&scene, no, 0, 999), format!("publi{}d more", " ".repeat(704)));
    assert_eq!(bytes(&scene, other, 0, 99), "untouched");
    let info = source(&scene, "/a").unwrap();
    assert_eq!((info.erased, info.len, info.revision), (true, 715, 2));
    assert_eq!(scene.erase("s", &[], span(713, 999)), (0, 0, 2), "a span may reach past the end");
    assert_eq!(bytes(&scene, no, 709, 999), "d mo  ");
    scene.append("s", vec![said("later", "the ledger goes on")]);
}

/// What is erased is what a revision has there, not what another has at the same place; and where the other has the same
/// record at another place, it goes there, too.
pub fn bytes_are_erased_as_a_revision_has_them(store: &dyn Storage) {
    let scene = Scene::new(store);
    scene.told("s", &["x"]);
    let (kept, gone) = ("{kept: the record that stays in it}\n", "{gone: the record that has a secret}\n");
    let no = import(&scene, "/a", 0, &["same ", kept, gone, "end"]);
    let cut = gone.len() / 2;
    import(&scene, "/a", 5, &["new words before ", kept, &gone[..cut], &gone[cut..], "end"]);
    let place = 5 + kept.len() as u64;
    let blank = " ".repeat(gone.len());
    let erased = scene.erase("s", &[], vec![span("/a", 1, place, gone.len() as u64)]);
    assert_eq!(erased, (0, 0, 2 * gone.len() as u64), "in both revisions");
    assert_eq!(bytes(&scene, no, 0, 999), format!("same new words before {kept}{blank}end"));
    import(&scene, "/b", 0, &["0123456789"]);
    import(&scene, "/b", 2, &["ab"]);
    let no = import(&scene, "/b", 3, &["defg"]);
    assert_eq!(bytes(&scene, no, 0, 99), "01adefg");
    assert_eq!(scene.erase("s", &[], vec![span("/b", 1, 2, 4)]), (0, 0, 4));
    assert_eq!(bytes(&scene, no, 0, 99), "01adefg", "the newest revision has other bytes there");
    assert_eq!(scene.erase("s", &[], vec![span("/b", 2, 1, 9)]), (0, 0, 3));
    assert_eq!(bytes(&scene, no, 0, 99), "0  defg");
}
