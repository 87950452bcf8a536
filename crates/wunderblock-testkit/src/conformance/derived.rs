//! Cases about derived data: counts of bodies, tallies, segments, and dropping all of them.

use super::tenant::{TestTenant, answered, handle, happened, holding, said, stream_id};
use wunderblock_core::units::{Bytes, Seq, Tokens};
use wunderblock_store::{
    Answer, BodyCount, DerivedTable, PackedSegment, Query, SegmentId, SegmentInfo, SegmentReach, StoreError,
    StoredEvent, StreamKind, Write, Written,
};

pub(super) fn count(scene: &TestTenant<'_>, counts: &[(&str, BodyCount)]) {
    let counts = counts.iter().map(|(text, count)| (handle(text), *count)).collect();
    assert_eq!(scene.commit(Write::Counts { tenant: scene.tenant.no, counts }), Written::Done);
}

pub(super) fn counted(scene: &TestTenant<'_>, texts: &[&str]) -> Vec<Option<BodyCount>> {
    let handles = texts.iter().map(|text| handle(text)).collect();
    answered!(
        scene.ask(Query::Counts { tenant: scene.tenant.no, handles }),
        Answer::Counts(counts) => counts
    )
}

/// The counts of an event's bodies are returned with the event if the query asks for them.
pub(super) fn counts_come_with_events(scene: &TestTenant<'_>) {
    scene.open_with(
        "s",
        vec![holding("1", &["one", "two", "one"]), holding("2", &["one", "not counted"]), said("3", "")],
    );
    scene.fork("f", "s", 3);
    scene.append("f", vec![holding("4", &["two"])]);
    let number = |o200k| BodyCount { o200k, ..BodyCount::default() };
    count(scene, &[("one", number(1)), ("two", number(2))]);
    let numbers = |events: Vec<StoredEvent>| -> Vec<Vec<u32>> {
        let sorted = |event: StoredEvent| {
            let mut numbers: Vec<u32> = event.counts.iter().map(|(_, count)| count.o200k).collect();
            numbers.sort_unstable();
            numbers
        };
        events.into_iter().map(sorted).collect()
    };
    let range = |with| {
        let mut query = scene.range("f", 1, 9);
        if let Query::Events { counts, .. } = &mut query {
            *counts = with;
        }
        query
    };
    assert_eq!(numbers(scene.events_of(range(true))), [vec![1, 2], vec![1], vec![], vec![2]]);
    assert_eq!(numbers(scene.events_of(range(false))), vec![Vec::<u32>::new(); 4]);
    assert_eq!(numbers(scene.at("f", &[4, 1])), [vec![2], vec![1, 2]]);
    let first = scene.at("s", &[2]).remove(0);
    assert_eq!(first.counts, [(handle("one"), number(1))]);
    scene.erase("s", &[1], Vec::new());
    assert_eq!(numbers(scene.at("f", &[1, 2, 4])), [vec![], vec![1], vec![2]]);
}

/// Counts are stored only for existing bodies. The count from the second tokenizer may arrive later, and is kept.
pub(super) fn counts_of_bodies(scene: &TestTenant<'_>) {
    scene.open_with("s", vec![holding("1", &["one", "two"])]);
    let one = BodyCount { o200k: 7, cl100k: None, class: 3, escaped: 1 << 40, quotes: 2 };
    let both = BodyCount { cl100k: Some(8), ..one };
    assert_eq!(counted(scene, &["one"]), [None]);
    count(scene, &[("one", one), ("not there", one)]);
    assert_eq!(counted(scene, &["two", "one", "one", "not there"]), [None, Some(one), Some(one), None]);
    count(scene, &[("one", both)]);
    assert_eq!(counted(scene, &["one"]), [Some(both)]);
    count(scene, &[("one", one)]);
    assert_eq!(counted(scene, &["one"]), [Some(both)], "what was counted is not lost");
    scene.append("s", vec![holding("2", &["not there"])]);
    assert_eq!(counted(scene, &["not there"]), [None], "counts do not wait for a body");
}

pub(super) fn tallying(scene: &TestTenant<'_>, stream: &str, tokens: &[(u64, u64)]) -> Write {
    let tokens = tokens.iter().map(|(seq, tokens)| (Seq(*seq), Tokens(*tokens))).collect();
    Write::Tallies { tenant: scene.tenant.no, stream: stream_id(stream), tokens }
}

pub(super) fn tally(scene: &TestTenant<'_>, stream: &str, tokens: &[(u64, u64)]) {
    assert_eq!(scene.commit(tallying(scene, stream, tokens)), Written::Done);
}

fn tokens(scene: &TestTenant<'_>, stream: &str, seqs: &[u64]) -> Vec<Option<u64>> {
    scene.tallies(stream, seqs).iter().map(|row| row.tokens.map(|tokens| tokens.0)).collect()
}

/// Messages, text lengths and tokens add up from the start of a stream, also across a fork.
pub(super) fn tallies_add_up(scene: &TestTenant<'_>) {
    scene.open_with("s", vec![happened("1", "session.opened", "o"), said("2", "22"), said("3", "333")]);
    scene.append("s", vec![said("4", "4444")]);
    let row = |row: &wunderblock_store::TallyRow| (row.messages, row.text.0);
    let rows: Vec<_> = scene.tallies("s", &[0, 1, 2, 3, 4, 9]).iter().map(row).collect();
    assert_eq!(rows, [(0, 0), (0, 1), (1, 3), (2, 6), (3, 10), (3, 10)]);
    assert_eq!(tokens(scene, "s", &[0, 1, 4]), [Some(0), None, None]);
    tally(scene, "s", &[(1, 0), (2, 20)]);
    assert_eq!(scene.info("s").reach(DerivedTable::Counts), Seq(2));
    assert_eq!(tokens(scene, "s", &[1, 2, 3]), [Some(0), Some(20), None]);
    scene.fork("f", "s", 3);
    scene.append("f", vec![said("f4", "fork")]);
    assert_eq!(
        scene.info("f").reach(DerivedTable::Counts),
        Seq(3),
        "the shared part is its holder's to count"
    );
    tally(scene, "f", &[(4, 7)]);
    assert_eq!(scene.info("f").reach(DerivedTable::Counts), Seq(4));
    assert_eq!(tokens(scene, "f", &[2, 3, 4]), [Some(20), None, None], "nobody has counted position 3 yet");
    tally(scene, "s", &[(3, 30), (4, 40)]);
    assert_eq!(tokens(scene, "f", &[2, 3, 4, 5]), [Some(20), Some(50), Some(57), Some(57)]);
    assert_eq!(tokens(scene, "s", &[4, 1, 4]), [Some(90), Some(0), Some(90)]);
    let rows: Vec<_> = scene.tallies("f", &[3, 4]).iter().map(row).collect();
    assert_eq!(rows, [(2, 6), (3, 10)]);
}

/// Tallies that arrive twice, arrive too early, or are for missing positions change nothing.
pub(super) fn tallies_come_in_order(scene: &TestTenant<'_>) {
    scene.told("s", &["1", "2", "3"]);
    tally(scene, "s", &[(2, 5)]);
    assert_eq!(scene.info("s").reach(DerivedTable::Counts), Seq(0));
    tally(scene, "s", &[(1, 1), (2, 2)]);
    tally(scene, "s", &[(1, 100), (2, 100), (3, 3), (4, 4)]);
    assert_eq!(scene.info("s").reach(DerivedTable::Counts), Seq(3));
    assert_eq!(tokens(scene, "s", &[1, 2, 3]), [Some(1), Some(3), Some(6)]);
    scene.tell("s", &["4"]);
    assert_eq!(tokens(scene, "s", &[3, 4]), [Some(6), None]);
    let nowhere = scene.try_commit(vec![tallying(scene, "nowhere", &[])]);
    assert_eq!(nowhere, Err(StoreError::NoStream(stream_id("nowhere"))));
}

pub(super) fn segment(header: &str, blocks: &[&str]) -> PackedSegment {
    let blocks = blocks.iter().map(|data| data.as_bytes().to_vec()).collect();
    PackedSegment { docs: header.len() as u64, header: header.as_bytes().to_vec(), blocks }
}

/// Write that puts a segment in place of others, with as many documents as these have now.
pub(super) fn putting(
    scene: &TestTenant<'_>,
    segment: Option<PackedSegment>,
    replaces: &[u64],
    indexed: &[(&str, u64)],
) -> Write {
    let known = segments(scene);
    let id = |no: &u64| SegmentId {
        no: *no,
        docs: known.iter().find(|info| info.id == *no).map_or(0, |info| info.docs),
    };
    let (replaces, indexed) = (replaces.iter().map(id).collect(), scene.reaches(indexed));
    Write::Segment {
        tenant: scene.tenant.no,
        table: DerivedTable::Words,
        segment,
        replaces,
        reaches: indexed,
    }
}

pub(super) fn put(
    scene: &TestTenant<'_>,
    segment: Option<PackedSegment>,
    replaces: &[u64],
    indexed: &[(&str, u64)],
) -> Result<Vec<Written>, StoreError> {
    scene.try_commit(vec![putting(scene, segment, replaces, indexed)])
}

pub(super) fn segments(scene: &TestTenant<'_>) -> Vec<SegmentInfo> {
    answered!(
        scene.ask(Query::Segments { tenant: scene.tenant.no, table: DerivedTable::Words }),
        Answer::Segments(segments) => segments
    )
}

pub(super) fn headers(scene: &TestTenant<'_>) -> Vec<String> {
    segments(scene).into_iter().map(|info| String::from_utf8(info.header).unwrap()).collect()
}

/// Segments are listed newest first. A merged segment takes the place of the latest segment it replaces.
pub(super) fn segments_replace_each_other(scene: &TestTenant<'_>) {
    scene.told("s", &["1", "2", "3"]);
    for (header, to) in [("one", 1), ("second", 2), ("third one", 3)] {
        put(scene, Some(segment(header, &["data", header])), &[], &[("s", to)]).unwrap();
        assert_eq!(scene.info("s").reach(DerivedTable::Words), Seq(to));
    }
    let listed = segments(scene);
    assert_eq!(headers(scene), ["third one", "second", "one"]);
    let sizes: Vec<_> = listed.iter().map(|info| (info.docs, info.bytes)).collect();
    assert_eq!(sizes, [(9, Bytes(22)), (6, Bytes(16)), (3, Bytes(10))], "header and blocks");
    let [_, second, one] = listed.as_slice() else { panic!("three segments: {listed:?}") };
    put(scene, Some(segment("merged", &[""])), &[one.id, second.id], &[]).unwrap();
    assert_eq!(headers(scene), ["third one", "merged"]);
    let all_of = |id| scene.ask(Query::SegmentBlocks { tenant: scene.tenant.no, segment: id });
    assert_eq!(all_of(one.id), Answer::Blocks(Vec::new()));
    let merged = segments(scene).last().unwrap().id;
    assert_eq!(all_of(merged), Answer::Blocks(vec![Some(Vec::new())]));
    let before = (segments(scene), scene.info("s"));
    let moved = |result: &Result<_, StoreError>| matches!(result, Err(StoreError::HeadMoved { .. }));
    assert!(moved(&put(scene, None, &[one.id], &[])) || one.id == merged);
    let twice = put(scene, Some(segment("again", &[])), &[], &[("s", 3)]);
    assert!(moved(&twice), "a repeated write is refused: {twice:?}");
    let stale = SegmentReach { stream: scene.info("s").no, after: Seq(2), through: Seq(4) };
    let (tenant, replaces, again) = (scene.tenant.no, Vec::new(), Some(segment("again", &[])));
    let stale =
        Write::Segment { tenant, table: DerivedTable::Words, segment: again, replaces, reaches: vec![stale] };
    let stale = scene.try_commit(vec![stale]);
    assert!(moved(&stale), "some of it was indexed meanwhile: {stale:?}");
    let half = put(scene, Some(segment("again", &[])), &[merged, u64::MAX >> 2], &[]);
    assert!(moved(&half), "{half:?}");
    assert_eq!((segments(scene), scene.info("s")), before);
    put(scene, None, &[merged], &[]).unwrap();
    assert_eq!(headers(scene), ["third one"]);
}

/// Blocks are read by segment and number, or all blocks of a segment are read in order.
pub(super) fn blocks_by_number(scene: &TestTenant<'_>) {
    scene.told("s", &["1"]);
    let data: Vec<String> = (0..12).map(|number| format!("block {number}")).collect();
    let blocks: Vec<&str> = data.iter().map(String::as_str).collect();
    put(scene, Some(segment("h", &blocks)), &[], &[("s", 1)]).unwrap();
    put(scene, Some(segment("empty", &[])), &[], &[]).unwrap();
    let listed = segments(scene);
    let [empty, full] = listed.as_slice() else { panic!("two segments: {listed:?}") };
    let tenant = scene.tenant.no;
    let wanted =
        vec![(full.id, 11), (full.id, 0), (full.id, 11), (full.id, 12), (empty.id, 0), (u64::MAX >> 2, 0)];
    let block = |number: usize| data.get(number).map(|data| data.as_bytes().to_vec());
    let expected = vec![block(11), block(0), block(11), None, None, None];
    assert_eq!(scene.ask(Query::Blocks { tenant, wanted }), Answer::Blocks(expected));
    let all = (0..12).map(block).collect();
    assert_eq!(scene.ask(Query::SegmentBlocks { tenant, segment: full.id }), Answer::Blocks(all));
    assert_eq!(scene.ask(Query::SegmentBlocks { tenant, segment: empty.id }), Answer::Blocks(Vec::new()));
}

/// A stream is behind until all its own events are counted and indexed.
pub(super) fn streams_left_behind(scene: &TestTenant<'_>) {
    let behind = |limit| {
        scene.streams_of(Query::Behind {
            tenant: scene.tenant.no,
            of: StreamKind::Session,
            tables: vec![DerivedTable::Counts, DerivedTable::Words],
            limit,
        })
    };
    scene.open("empty");
    assert_eq!(behind(9), [""; 0]);
    scene.told("s", &["1"]);
    scene.told("t", &["1"]);
    scene.fork("f", "s", 1);
    assert_eq!(
        behind(9),
        ["s", "t"],
        "those opened first come first; a fork without events has nothing to do"
    );
    assert_eq!(behind(1), ["s"]);
    tally(scene, "s", &[(1, 1)]);
    assert_eq!(behind(9), ["s", "t"]);
    put(scene, None, &[], &[("s", 1), ("t", 1)]).unwrap();
    assert_eq!(behind(9), ["t"]);
    tally(scene, "t", &[(1, 1)]);
    assert_eq!(behind(9), [""; 0]);
    scene.tell("f", &["2"]);
    assert_eq!(behind(9), ["f"]);
}

/// Dropping derived data leaves the ledger unchanged, and the data can be rebuilt.
pub(super) fn what_is_derived_can_be_dropped(scene: &TestTenant<'_>) {
    let other = &TestTenant::of(scene.store, "other");
    for scene in [scene, other] {
        scene.open_with("s", vec![holding("1", &["body"]), said("2", "2")]);
        scene.fork("f", "s", 1);
        scene.tell("f", &["f2"]);
        count(scene, &[("body", BodyCount { o200k: 1, ..BodyCount::default() })]);
        tally(scene, "s", &[(1, 10), (2, 20)]);
        tally(scene, "f", &[(2, 5)]);
        put(scene, Some(segment("h", &["d"])), &[], &[("s", 2), ("f", 2)]).unwrap();
    }
    let kept = (segments(other), other.info("s"), other.tallies("f", &[1, 2]), counted(other, &["body"]));
    let ledger = (scene.all("s"), scene.all("f"), scene.blobs(&["body"]));
    let dropped = segments(scene).first().unwrap().id;
    scene.commit(Write::DropDerived { tenant: scene.tenant.no });
    assert_eq!((scene.all("s"), scene.all("f"), scene.blobs(&["body"])), ledger);
    assert_eq!((segments(scene), counted(scene, &["body"])), (Vec::new(), vec![None]));
    let blocks = scene.ask(Query::SegmentBlocks { tenant: scene.tenant.no, segment: dropped });
    assert_eq!(blocks, Answer::Blocks(Vec::new()));
    let progress =
        |id| (scene.info(id).reach(DerivedTable::Counts).0, scene.info(id).reach(DerivedTable::Words).0);
    assert_eq!((progress("s"), progress("f")), ((0, 0), (1, 1)));
    assert_eq!(tokens(scene, "f", &[0, 1, 2]), [Some(0), None, None]);
    assert_eq!(scene.tallies("f", &[2]).first().unwrap().messages, 2);
    assert_eq!(
        (segments(other), other.info("s"), other.tallies("f", &[1, 2]), counted(other, &["body"])),
        kept
    );
    tally(scene, "s", &[(1, 11), (2, 22)]);
    tally(scene, "f", &[(2, 6)]);
    put(scene, Some(segment("new", &[])), &[], &[("s", 2), ("f", 2)]).unwrap();
    assert_eq!(tokens(scene, "f", &[2]), [Some(17)]);
    assert_eq!(headers(scene), ["new"]);
}
