//! Cases about kinds of streams and about derived tables: no query takes a stream of one kind for one of another, and
//! each derived table has segments and frontiers of its own.

use super::tenant::{TestTenant, handle, happened, holding, said, stream_id};
use wunderblock_core::id::Scope;
use wunderblock_core::message::Role;
use wunderblock_core::units::{Millis, Seq};
use wunderblock_store::{
    Answer, DerivedTable, Facets, HandleTarget, Opening, PackedEvent, PackedSegment, Query, SegmentReach,
    SessionFacets, StoreError, StreamFilter, StreamKind, Write,
};

fn opening(scene: &TestTenant<'_>, kind: StreamKind, id: &str, opening: Opening) -> Write {
    Write::Open {
        tenant: scene.tenant.no,
        kind,
        stream: stream_id(id),
        handle: handle(id),
        opening,
        scope: Scope::default(),
        at: Millis(500),
    }
}

/// Answers to every query that selects streams by kind.
fn answers(scene: &TestTenant<'_>, of: StreamKind) -> Vec<Answer> {
    let (tenant, limit, kinds) = (scene.tenant.no, 9, vec!["view.trimmed"]);
    let filter = StreamFilter { kind: of, ..StreamFilter::default() };
    let places = |answer: Answer| match answer {
        Answer::Events(events) => {
            Answer::Holders(events.into_iter().map(|row| (row.stream, row.seq)).collect())
        }
        other => other,
    };
    let queries = vec![
        Query::Stream { tenant, of, stream: stream_id("m") },
        Query::Stream { tenant, of, stream: stream_id("s") },
        Query::Stream { tenant, of, stream: stream_id("d") },
        Query::Streams { tenant, filter: filter.clone(), limit },
        Query::Behind { tenant, of, tables: vec![DerivedTable::Words], limit },
        Query::OfKinds { tenant, of, kinds: kinds.clone(), since: None },
        Query::PlacesOfKinds { tenant, of, kinds },
        Query::Holders { tenant, of, handle: handle("body"), limit },
        Query::Unsettled { tenant, of, limit },
        Query::Resolve { tenant, of, handle: handle("m") },
        Query::Resolve { tenant, of, handle: handle("s") },
        Query::Resolve { tenant, of, handle: handle("d") },
        Query::Handles { tenant, of, first: handle("m"), last: handle("m"), limit },
        Query::Usage { tenant, filter },
    ];
    queries.into_iter().map(|query| places(scene.ask(query))).collect()
}

/// A query for streams of one kind returns no stream of another, although both hold the same.
pub(super) fn no_kind_is_taken_for_another(scene: &TestTenant<'_>) {
    let turn = |id: &str| {
        let facets = Facets { role: Some(Role::User), ..Facets::default() };
        PackedEvent { facets, ..holding(id, &["body"]) }
    };
    const KINDS: [(StreamKind, &str); 3] =
        [(StreamKind::Memory, "m"), (StreamKind::Session, "s"), (StreamKind::Document, "d")];
    for (kind, id) in KINDS {
        scene.commit(opening(scene, kind, id, Opening::New { parent: None }));
        let control = happened(&format!("{id} 2"), "view.trimmed", "");
        scene.append(id, vec![turn(&format!("{id} 1")), control]);
    }
    let named = |id: &str| Answer::Named(Some(HandleTarget::Stream(stream_id(id))));
    for (place, (of, own)) in KINDS.into_iter().enumerate() {
        let info = match scene.ask(Query::Stream { tenant: scene.tenant.no, of, stream: stream_id(own) }) {
            Answer::Stream(Some(info)) => *info,
            other => panic!("{other:?}"),
        };
        assert_eq!(info.kind, of);
        let one = Answer::Stream(Some(Box::new(info.clone())));
        let streams = Answer::Streams(vec![info.clone()]);
        let holders = |seqs: &[u64]| Answer::Holders(seqs.iter().map(|seq| (info.no, Seq(*seq))).collect());
        let only = |one: Answer, none: Answer| {
            let mut all = vec![none; KINDS.len()];
            all[place] = one;
            all
        };
        let found = only(one, Answer::Stream(None));
        let resolved = only(named(own), Answer::Named(None));
        let handles = Answer::Handles(if own == "m" { vec![handle("m")] } else { Vec::new() });
        let expected = found.into_iter().chain([streams.clone(), streams, holders(&[2]), holders(&[2])]);
        let expected = expected.chain([holders(&[1]), holders(&[1])]).chain(resolved);
        let expected: Vec<Answer> = expected.chain([handles, Answer::Usage(Vec::new())]).collect();
        assert_eq!(answers(scene, of), expected, "{of:?}, and no other");
    }
    // A name belongs to one stream, whatever its kind, and a fork has the kind of what it continues.
    let again = opening(scene, StreamKind::Session, "m", Opening::New { parent: None });
    assert_eq!(scene.try_commit(vec![again]), Err(StoreError::StreamExists(stream_id("m"))));
    let forking = Opening::Fork { parent: stream_id("m"), at_seq: Seq(1) };
    let fork = opening(scene, StreamKind::Session, "f", forking.clone());
    assert_eq!(scene.try_commit(vec![fork]), Err(StoreError::NoStream(stream_id("m"))));
    scene.commit(opening(scene, StreamKind::Memory, "f", forking));
    let mine = StreamFilter { kind: StreamKind::Memory, ..StreamFilter::default() };
    let mut both = scene.streams_of(Query::Streams { tenant: scene.tenant.no, filter: mine, limit: 9 });
    both.sort_unstable();
    assert_eq!(both, ["f", "m"]);
}

/// A document has the title and the state of its latest version, and says where that begins.
pub(super) fn versions_begin_in_their_stream(scene: &TestTenant<'_>) {
    let of = StreamKind::Document;
    scene.commit(opening(scene, of, "d", Opening::New { parent: None }));
    let says = |id: &str, kind: &'static str, title: Option<&str>, tags: &[&str]| {
        let session = SessionFacets {
            title: title.map(Into::into),
            tags: Some(tags.iter().map(|tag| Box::from(*tag)).collect()),
            ..SessionFacets::default()
        };
        let facets = Facets { begins: true, session: Some(Box::new(session)), ..Facets::default() };
        PackedEvent { facets, ..happened(id, kind, "") }
    };
    let section = |id: &str| happened(id, "document.section", "");
    let state = || match scene.ask(Query::Stream { tenant: scene.tenant.no, of, stream: stream_id("d") }) {
        Answer::Stream(Some(info)) => (info.said, info.head, info.title.clone(), info.tags.len()),
        other => panic!("{other:?}"),
    };
    let indexed = |id: &str, title: &str| says(id, "document.indexed", Some(title), &[]);
    scene.append("d", vec![indexed("1", "first"), section("2"), section("3")]);
    assert_eq!(state(), (Seq(1), Seq(3), Some("first".into()), 0));
    scene.append("d", vec![indexed("4", "second"), section("5")]);
    assert_eq!(state(), (Seq(4), Seq(5), Some("second".into()), 0));
    scene.append("d", vec![says("6", "document.removed", None, &["removed"])]);
    assert_eq!(state(), (Seq(6), Seq(6), Some("second".into()), 1));
    scene.erase("d", &[4], Vec::new());
    assert_eq!(state(), (Seq(6), Seq(6), None, 0));
}

/// A derived table moves only its own frontier, and replaces only its own segments.
pub(super) fn each_table_is_its_own(scene: &TestTenant<'_>) {
    let info = scene.told("s", &["1", "2"]);
    let (tenant, no) = (scene.tenant.no, info.no);
    let put = |table, header: &str, replaces, through: Option<u64>| {
        let header = header.as_bytes().to_vec();
        let segment = Some(PackedSegment { docs: 1, header, blocks: Vec::new() });
        let reach = |through: u64| SegmentReach { stream: no, after: Seq(0), through: Seq(through) };
        let reaches = through.map(reach).into_iter().collect();
        scene.try_commit(vec![Write::Segment { tenant, table, segment, replaces, reaches }])
    };
    let listed = |table| match scene.ask(Query::Segments { tenant, table }) {
        Answer::Segments(segments) => segments,
        other => panic!("{other:?}"),
    };
    put(DerivedTable::Words, "words", Vec::new(), Some(2)).unwrap();
    put(DerivedTable::Counts, "counts", Vec::new(), Some(1)).unwrap();
    let reach = |table| scene.info("s").reach(table);
    assert_eq!((reach(DerivedTable::Words), reach(DerivedTable::Counts)), (Seq(2), Seq(1)));
    let behind = |tables: &[DerivedTable]| {
        let of = StreamKind::Session;
        scene.streams_of(Query::Behind { tenant, of, tables: tables.to_vec(), limit: 9 })
    };
    assert_eq!(behind(&[DerivedTable::Words]), [""; 0]);
    assert_eq!(behind(&[DerivedTable::Counts]), ["s"]);
    assert_eq!(behind(&DerivedTable::ALL), ["s"]);
    let (words, counts) = (listed(DerivedTable::Words), listed(DerivedTable::Counts));
    assert_eq!((words.len(), counts.len()), (1, 1));
    let foreign = put(DerivedTable::Words, "again", counts.iter().map(|info| info.segment()).collect(), None);
    assert!(matches!(foreign, Err(StoreError::HeadMoved { .. })), "{foreign:?}");
    assert_eq!((listed(DerivedTable::Words), listed(DerivedTable::Counts)), (words, counts));
    scene.append("s", vec![said("s 3", "3")]);
    assert_eq!(behind(&[DerivedTable::Words]), ["s"]);
}
