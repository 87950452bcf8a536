//! Immutable data that an engine keeps in memory: decoded headers of index segments, and token counts of short texts.

use crate::base::error::Error;
use crate::base::parallel;
use crate::rules::token_costs::{Counts, Memo};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use wunderblock_index::Header;
use wunderblock_store::SegmentInfo;

/// Cache of decoded headers by segment number, and of token counts. The mark in the key distinguishes segments that
/// had the same number at different times.
#[derive(Default)]
pub(crate) struct HeaderCache {
    headers: Mutex<HashMap<(u64, HeaderMark), Arc<Header>>>,
    counts: Arc<Memo>,
}

impl HeaderCache {
    /// Returns token counts for a new build: none for bodies, but those for short texts that earlier builds counted.
    pub(crate) fn counts(&self) -> Arc<Counts> {
        Arc::new(Counts::remembering(Arc::clone(&self.counts)))
    }

    /// Returns the headers of the current segments in the given order, and drops the headers of all other segments.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub(crate) fn headers(&self, segments: Vec<SegmentInfo>) -> Result<Vec<(u64, Arc<Header>)>, Error> {
        // The map is taken out of the mutex, so that no lock is held while headers are decoded. A concurrent call
        // decodes the headers again.
        let mut known = self.headers.lock().map(|mut known| std::mem::take(&mut *known)).unwrap_or_default();
        let key = |segment: &SegmentInfo| (segment.id, mark(&segment.header));
        let missing = segments.iter().filter(|segment| !known.contains_key(&key(segment))).collect();
        known.extend(parallel::map(missing, |segment: &SegmentInfo| {
            Ok((key(segment), Arc::new(Header::decode(&segment.header)?)))
        })?);
        let headers: Vec<_> = segments
            .iter()
            .map(key)
            .filter_map(|key| known.get(&key).map(|header| (key, Arc::clone(header))))
            .collect();
        if let Ok(mut known) = self.headers.lock() {
            *known = headers.iter().cloned().collect();
        }
        Ok(headers.into_iter().map(|((id, _), header)| (id, header)).collect())
    }
}

/// Length and checksum of a stored header.
type HeaderMark = (usize, [u8; 4]);

fn mark(header: &[u8]) -> HeaderMark {
    (header.len(), header.last_chunk().copied().unwrap_or_default())
}
