//! What an engine keeps of a ledger in memory, because it never changes: the headers of segments, read.

use crate::error::Error;
use crate::index::Header;
use crate::store::{SegmentInfo, StoreError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Headers by the number of their segment. A segment is replaced by one of another number, and no number comes again.
#[derive(Default)]
pub(crate) struct Known(Mutex<HashMap<u64, Arc<Header>>>);

impl Known {
    /// The headers of the segments there are now, in their order; those of segments that are gone are forgotten.
    ///
    /// # Errors
    /// When the index is damaged.
    pub(crate) fn headers(&self, segments: Vec<SegmentInfo>) -> Result<Vec<(u64, Arc<Header>)>, Error> {
        let mut known = self.0.lock().map(|mut known| std::mem::take(&mut *known)).unwrap_or_default();
        let mut headers = Vec::with_capacity(segments.len());
        for segment in segments {
            let header = match known.remove(&segment.id) {
                Some(header) => header,
                None => Arc::new(Header::decode(&segment.header).map_err(|error| {
                    let text = format!("the text index: {error}; `doctor --rebuild` makes it anew");
                    Error::Store(StoreError::Damaged(text))
                })?),
            };
            headers.push((segment.id, header));
        }
        if let Ok(mut known) = self.0.lock() {
            *known = headers.iter().cloned().collect();
        }
        Ok(headers)
    }
}
