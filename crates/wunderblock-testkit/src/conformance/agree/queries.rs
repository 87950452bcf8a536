//! Queries to which two stores must give the same answers.

use super::*;

pub(super) fn of_stream(tenant: TenantNo, number: u8) -> Vec<Query> {
    let stream = || stream(number);
    let seqs = || (0..=20).map(Seq).collect::<Vec<_>>();
    let events = |(from, to), order, limit, text| Query::Events {
        tenant,
        stream: stream(),
        from: Seq(from),
        to: Seq(to),
        order,
        limit,
        text: Bytes(text),
        counts: text > 20,
        filter: EventFilter::default(),
    };
    let only = |role| EventFilter { role: Some(role), ..EventFilter::default() };
    let by = EventFilter { author: Some(Author::Harness), ..EventFilter::default() };
    let of = |tool: &str, path: Option<&str>| EventFilter {
        tool: Some(tool.into()),
        path: path.map(Into::into),
        since: Some(Millis(7)),
        ..EventFilter::default()
    };
    let filtered = |filter: EventFilter, order, limit, text| Query::Events {
        tenant,
        stream: stream(),
        from: Seq(1),
        to: Seq(99),
        order,
        limit,
        text: Bytes(text),
        counts: false,
        filter,
    };
    let marked = |what, to, limit| Query::Marked { tenant, stream: stream(), what, to: Seq(to), limit };
    let bodies_of = |events, bytes| Query::BodiesOf { tenant, stream: stream(), events, bytes: Bytes(bytes) };
    let mut queries = vec![
        Query::Lost { since: Epoch { tenant, no: 1 }, stream: stream(), from: Seq(2), to: Seq(5) },
        Query::Lineage { tenant, stream: stream() },
        events((1, 99), ReadOrder::Ascending, 99, 1 << 20),
        events((2, 9), ReadOrder::Descending, 4, 25),
        events((0, 5), ReadOrder::Ascending, 3, 12),
        filtered(by, ReadOrder::Ascending, 99, 1 << 20),
        filtered(only(Role::Tool), ReadOrder::Descending, 99, 1 << 20),
        filtered(only(Role::Assistant), ReadOrder::Descending, 2, 20),
        filtered(of("tool 1", None), ReadOrder::Ascending, 99, 30),
        filtered(of("tool 0", Some("file 1")), ReadOrder::Descending, 99, 1 << 20),
        Query::At { tenant, stream: stream(), seqs: seqs(), filter: of("tool 1", Some("/a")) },
        Query::At { tenant, stream: stream(), seqs: seqs(), filter: EventFilter::default() },
        marked(Marked::System, 99, 99),
        marked(Marked::System, 5, 2),
        marked(Marked::UserTurn, 99, 99),
        marked(Marked::UserTurn, 7, 1),
        bodies_of(Selected::At(seqs().into_iter().rev().collect()), 1 << 20),
        bodies_of(Selected::At(seqs()), 25),
        bodies_of(Selected::UserTurns { to: Seq(7), limit: 2 }, 1 << 20),
        Query::Tallies { tenant, stream: stream(), seqs: seqs() },
        Query::Resolve { tenant, of: OF, handle: handle(stream().as_str()) },
        Query::SourcesOf { tenant, stream: stream() },
        Query::Ids { tenant, stream: stream(), ids: (0..24).map(|id| event(id, 0).id).collect() },
    ];
    for kind in KINDS {
        queries.push(marked(Marked::Kind(kind), 7, 99));
        queries.push(marked(Marked::EachLane(kind), 99, 99));
        queries.push(marked(Marked::EachLane(kind), 6, 2));
        queries.extend((1..4).map(|number| marked(Marked::OfLane(kind, lane(number)), 30, 2)));
    }
    queries
}

pub(super) fn of_tenant(tenant: TenantNo) -> Vec<Query> {
    let streams = |prefix: &str, project: Option<u8>, limit| {
        let filter = StreamFilter {
            prefix: prefix.to_owned(),
            projects: project.map(|number| format!("project {number}")).into_iter().collect(),
            since: project.map(|_| Millis(20)),
            ..StreamFilter::default()
        };
        Query::Streams { tenant, filter, limit }
    };
    let tagged = |tag: &str| StreamFilter { tags: vec![tag.to_owned()], ..StreamFilter::default() };
    let since = StreamFilter { since: Some(Millis(20)), ..StreamFilter::default() };
    let passing = |streams, filter| Query::Passing { tenant, streams, filter };
    let some = || Some((0..3).map(StreamNo).collect());
    let by_tool =
        EventFilter { tool: Some("tool 1".into()), since: Some(Millis(5)), ..EventFilter::default() };
    let bodies = || (0..4).map(|number| handle(&body_name(number))).collect::<Vec<_>>();
    let mut queries = vec![
        Query::Tenant { name: "left".to_owned() },
        Query::Tenants,
        streams("stream", None, 99),
        streams("stream 1", None, 99),
        streams("", None, 2),
        streams("", Some(1), 99),
        Query::Streams { tenant, filter: tagged("tag 1"), limit: 99 },
        Query::Usage { tenant, filter: StreamFilter::default() },
        Query::Usage { tenant, filter: tagged("tag 0") },
        Query::Usage { tenant, filter: since },
        Query::Sources { tenant, filter: SourceFilter::default() },
        Query::Records { tenant, records: (0..6).map(|number| record_key(&record_name(number))).collect() },
        Query::Erasures { tenant, sessions: (0..2).map(session_name).collect() },
        Query::Behind { tenant, of: OF, tables: DerivedTable::ALL.to_vec(), limit: 99 },
        Query::Unsettled { tenant, of: OF, limit: 3 },
        passing(None, EventFilter { role: Some(Role::Tool), ..EventFilter::default() }),
        passing(some(), EventFilter { role: Some(Role::User), ..EventFilter::default() }),
        passing(None, by_tool),
        passing(some(), EventFilter::default()),
        Query::Blobs { tenant, handles: bodies() },
        Query::Counts { tenant, handles: bodies() },
        Query::Epoch { tenant },
        Query::Segments { tenant, table: DerivedTable::Words },
    ];
    queries.extend((0..2).map(|number| Query::Lease { tenant, key: work_name(number) }));
    queries.extend(bodies().into_iter().map(|handle| Query::Resolve { tenant, of: OF, handle }));
    queries.extend(bodies().into_iter().map(|handle| Query::Holders { tenant, of: OF, handle, limit: 3 }));
    for number in 0..2 {
        let key = source_name(number);
        queries.push(Query::Resolve { tenant, of: OF, handle: handle(&key) });
        queries.push(Query::Source { tenant, by: SourceBy::Key(key.clone()), revision: None });
        for revision in 1..=4 {
            queries.push(Query::Resolve { tenant, of: OF, handle: handle(&format!("{key} {revision}")) });
            queries.push(Query::Source { tenant, by: SourceBy::Key(key.clone()), revision: Some(revision) });
        }
    }
    for source in (1..=4).map(SourceNo) {
        queries.push(Query::Source { tenant, by: SourceBy::No(source), revision: None });
        queries.extend([None, Some(1), Some(2)].map(|revision| Query::ReadFrom { tenant, source, revision }));
    }
    queries
}
