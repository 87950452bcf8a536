//! Immutable data that an engine keeps in memory: decoded headers of index segments, orders of their passages, and token
//! counts of short texts.

use crate::base::error::Error;
use crate::base::parallel;
use crate::rules::token_costs::{Counts, Memo};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use wunderblock_index::{DocScope, Header, PassageOrder};
use wunderblock_store::SegmentInfo;

/// Cache of decoded headers by segment number, and of token counts. The mark in the key distinguishes segments that
/// had the same number at different times.
#[derive(Default)]
pub(crate) struct HeaderCache {
    headers: Mutex<HashMap<(u64, HeaderMark), Arc<Header>>>,
    /// Latest orders of passages, the latest first.
    orders: Mutex<Vec<KnownOrder>>,
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

    /// Returns the order of the passages of segments within a scope. The latest orders are kept, because questions mostly
    /// follow each other with the same segments and the same scope.
    pub(crate) fn order(&self, segments: &[(u64, Arc<Header>)], scope: &DocScope) -> PassageOrder {
        let is_same = |known: &KnownOrder| {
            known.scope == *scope
                && known.headers.len() == segments.len()
                && known.headers.iter().zip(segments).all(|(known, (_, header))| Arc::ptr_eq(known, header))
        };
        let found = self
            .orders
            .lock()
            .ok()
            .and_then(|orders| Some(orders.iter().find(|known| is_same(known))?.order.clone()));
        if let Some(order) = found {
            return order;
        }
        // No lock is held while the passages are laid out.
        let headers: Vec<Arc<Header>> = segments.iter().map(|(_, header)| Arc::clone(header)).collect();
        let order = PassageOrder::of(&headers.iter().map(AsRef::as_ref).collect::<Vec<_>>(), scope);
        if let Ok(mut orders) = self.orders.lock() {
            // Orders of segments that are no longer there would keep their headers in memory.
            orders.retain(|known| {
                known.headers.iter().all(|own| headers.iter().any(|header| Arc::ptr_eq(own, header)))
            });
            orders.truncate(MAX_ORDERS - 1);
            orders.insert(0, KnownOrder { headers, scope: scope.clone(), order: order.clone() });
        }
        order
    }
}

/// Maximum number of orders of passages that are kept: those of the scopes that are searched in turn.
const MAX_ORDERS: usize = 4;

/// Order of the passages of some segments within a scope.
#[derive(Debug)]
struct KnownOrder {
    headers: Vec<Arc<Header>>,
    scope: DocScope,
    order: PassageOrder,
}

/// Length and checksum of a stored header.
type HeaderMark = (usize, [u8; 4]);

fn mark(header: &[u8]) -> HeaderMark {
    (header.len(), header.last_chunk().copied().unwrap_or_default())
}
