//! What an engine keeps in memory, because it never changes: the headers of segments, read, and counts of short texts.

use crate::error::Error;
use crate::index::Header;
use crate::store::SegmentInfo;
use crate::token_costs::{Counts, Memo};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Headers by the number of their segment, with what tells them from those of other segments that had the same number
/// before; and counts.
#[derive(Default)]
pub(crate) struct HeaderCache {
    headers: Mutex<HashMap<(u64, HeaderMark), Arc<Header>>>,
    counts: Arc<Memo>,
}

impl HeaderCache {
    /// Counts for a build: no bodies yet, and what builds before it have counted of short texts.
    pub(crate) fn counts(&self) -> Arc<Counts> {
        Arc::new(Counts::remembering(Arc::clone(&self.counts)))
    }

    /// The headers of the segments there are now, in their order; those of segments that are gone are forgotten.
    ///
    /// # Errors
    /// When the index is damaged.
    pub(crate) fn headers(&self, segments: Vec<SegmentInfo>) -> Result<Vec<(u64, Arc<Header>)>, Error> {
        let mut known = self.headers.lock().map(|mut known| std::mem::take(&mut *known)).unwrap_or_default();
        let mut headers = Vec::with_capacity(segments.len());
        for segment in segments {
            let mark = mark(&segment.header);
            let header = match known.remove(&(segment.id, mark)) {
                Some(header) => header,
                None => Arc::new(Header::decode(&segment.header)?),
            };
            headers.push(((segment.id, mark), header));
        }
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
