//! What is in reach of a query: the part of the tables that it may show.

use super::rows::LedgerTables;
use wunderblock_core::id::Handle;
use wunderblock_core::units::Seq;
use wunderblock_store::{
    BYTES, Query, QuerySubject, Reach, SourceNo, StreamInfo, StreamKind, StreamNo, TenantNo,
};

impl LedgerTables {
    /// Returns whether a stream of a kind is in reach.
    pub(super) fn is_seen(&self, reach: &Reach, of: StreamKind, no: StreamNo) -> bool {
        self.streams.get(&no).is_some_and(|row| row.info.kind == of && reach.admits(&row.info.scope))
    }

    /// Returns whether an event of a stream in reach contains a body.
    pub(super) fn is_body_seen(&self, reach: &Reach, tenant: TenantNo, handle: Handle) -> bool {
        let seen = |no: &StreamNo| self.streams.get(no).is_some_and(|row| reach.admits(&row.info.scope));
        let mut all = self.refs.range((tenant, handle, StreamNo(0), Seq(0))..);
        let mut own = all.by_ref().take_while(|((of, one, ..), ())| (*of, *one) == (tenant, handle));
        reach.is_tenant() || own.any(|((.., no, _), ())| seen(no))
    }

    /// Returns whether all streams that were read from a source are in reach, or one of a source with one text.
    pub(super) fn is_source_seen(&self, reach: &Reach, source: SourceNo) -> bool {
        let links = self.sources.links.range(..).filter(|(_, place)| place.0 == source);
        let admits = |no: &StreamNo| self.streams.get(no).is_some_and(|row| reach.admits(&row.info.scope));
        let readers: Vec<bool> = links.map(|((no, _), _)| admits(no)).collect();
        let mut revisions = self.sources.revisions.range((source, 0)..=(source, u32::MAX));
        let is_one_text = revisions.any(|(_, row)| row.format == BYTES);
        reach.is_tenant()
            || readers.contains(&true) && (is_one_text || readers.iter().all(|is_admitted| *is_admitted))
    }

    /// Returns whether what a query reads is in reach.
    pub(super) fn is_subject_seen(&self, reach: &Reach, query: &Query) -> bool {
        match query.subject() {
            QuerySubject::Stream(tenant, stream) => {
                let info = self.stream_no(tenant, stream).and_then(|no| self.info(no));
                reach.is_tenant() || info.is_some_and(|info| reach.admits(&info.scope))
            }
            QuerySubject::Source(source) => self.is_source_seen(reach, source),
            QuerySubject::Selected | QuerySubject::Shared => true,
        }
    }

    /// Returns the streams in reach whose ids begin with a prefix.
    pub(super) fn streams_with(&self, reach: &Reach, tenant: TenantNo, prefix: &str) -> Vec<StreamInfo> {
        let from = (tenant, prefix.to_owned());
        let rows =
            self.stream_ids.range(from..).take_while(|(key, _)| key.0 == tenant && key.1.starts_with(prefix));
        let rows = rows.filter_map(|(_, no)| self.info(*no));
        rows.filter(|info| reach.admits(&info.scope)).collect()
    }
}
