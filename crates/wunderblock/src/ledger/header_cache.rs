//! Immutable data that an engine keeps in memory: decoded headers of segments, orders of their passages, vectors, and
//! token counts of short texts.

use crate::base::error::Error;
use crate::base::parallel;
use crate::rules::token_costs::{Counts, Memo};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use wunderblock_core::id::StreamId;
use wunderblock_core::memories::MemoryLog;
use wunderblock_core::units::{Millis, Seq};
use wunderblock_index::{DocScope, Header, PassageOrder, VectorHeader};
use wunderblock_store::SegmentInfo;

/// Cache of decoded headers by segment number, and of token counts. The mark in the key distinguishes segments that
/// had the same number at different times.
#[derive(Default)]
pub(crate) struct HeaderCache {
    headers: KnownHeaders<Header>,
    vector_headers: KnownHeaders<VectorHeader>,
    pub(crate) vectors: VectorCache,
    /// Latest orders of passages, the latest first.
    orders: Mutex<Vec<KnownOrder>>,
    counts: Arc<Memo>,
    /// Folds of memory logs.
    memory_logs: Mutex<HashMap<StreamId, Arc<MemoryLog>>>,
}

impl HeaderCache {
    /// Returns the fold of a memory log that was kept last, if it needs no event after a position.
    pub(crate) fn memory_log(&self, stream: &StreamId, head: Seq) -> Option<Arc<MemoryLog>> {
        self.memory_logs.lock().ok()?.get(stream).filter(|log| log.head == head).cloned()
    }

    /// Takes the fold of a memory log out of the cache, so that it can be continued without a copy.
    pub(crate) fn take_memory_log(&self, stream: &StreamId) -> Option<Arc<MemoryLog>> {
        self.memory_logs.lock().ok()?.remove(stream)
    }

    /// Keeps the fold of a memory log.
    pub(crate) fn keep_memory_log(&self, stream: StreamId, log: Arc<MemoryLog>) {
        if let Ok(mut logs) = self.memory_logs.lock() {
            logs.insert(stream, log);
        }
    }

    /// Returns token counts for a new build: none for bodies, but those for short texts that earlier builds counted.
    pub(crate) fn counts(&self) -> Arc<Counts> {
        Arc::new(Counts::remembering(Arc::clone(&self.counts)))
    }

    /// Returns the headers of the current segments in the given order, and drops the headers of all other segments.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub(crate) fn headers(&self, segments: Vec<SegmentInfo>) -> Result<Vec<(u64, Arc<Header>)>, Error> {
        let headers = decoded(&self.headers, segments, |header| Ok(Header::decode(header)?))?;
        Ok(headers.into_iter().map(|((id, _), header)| (id, header)).collect())
    }

    /// Returns the headers of the current segments of vectors, as [`HeaderCache::headers`] does.
    ///
    /// # Errors
    /// Fails if a header is damaged.
    pub(crate) fn vector_headers(
        &self,
        segments: Vec<SegmentInfo>,
    ) -> Result<Vec<(SegmentKey, Arc<VectorHeader>)>, Error> {
        decoded(&self.vector_headers, segments, |header| Ok(VectorHeader::decode(header)?))
    }

    /// Returns the order of the passages of segments within a scope. The latest orders are kept, because questions mostly
    /// follow each other with the same segments and the same scope.
    pub(crate) fn order(&self, segments: &[(u64, Arc<Header>)], scope: &DocScope) -> PassageOrder {
        let found =
            self.orders.lock().ok().and_then(|orders| {
                Some(orders.iter().find(|known| known.is_of(segments, scope))?.order.clone())
            });
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
            orders.insert(
                0,
                KnownOrder { headers, scope: scope.clone(), order: order.clone(), places: Vec::new() },
            );
        }
        order
    }

    /// Returns the position of each vector of some segments in the order of [`HeaderCache::order`]; [`NOWHERE`] for a
    /// vector that is not in scope. They are kept with the order.
    pub(crate) fn places(
        &self,
        segments: &[(u64, Arc<Header>)],
        scope: &DocScope,
        vectors: &[Arc<VectorHeader>],
    ) -> Vec<Arc<[u32]>> {
        let order = self.order(segments, scope);
        let is_own = |known: &&KnownOrder| known.is_of(segments, scope);
        let orders = self.orders.lock().ok();
        let known = orders.and_then(|orders| Some(orders.iter().find(is_own)?.places.clone()));
        let known = known.unwrap_or_default();
        let place = |header: &Arc<VectorHeader>| {
            let found = known.iter().find(|(own, _)| Arc::ptr_eq(own, header));
            let (header, mut guess) = (Arc::clone(header), 0);
            let mut next = |key| {
                let at = order.place(key, guess);
                guess = at.map_or(guess, |at| at + 1);
                at.unwrap_or(NOWHERE)
            };
            match found {
                Some((_, places)) => (header, Arc::clone(places)),
                None => {
                    let places = header.keys().iter().map(|key| next(*key)).collect();
                    (header, places)
                }
            }
        };
        let placed: Vec<_> = vectors.iter().map(place).collect();
        let places = placed.iter().map(|(_, places)| Arc::clone(places)).collect();
        if let Ok(mut orders) = self.orders.lock()
            && let Some(own) = orders.iter_mut().find(|known| known.is_of(segments, scope))
        {
            own.places = placed;
        }
        places
    }
}

/// Position of a vector that is not in scope.
pub(crate) const NOWHERE: u32 = u32::MAX;

impl KnownOrder {
    fn is_of(&self, segments: &[(u64, Arc<Header>)], scope: &DocScope) -> bool {
        self.scope == *scope
            && self.headers.len() == segments.len()
            && self.headers.iter().zip(segments).all(|(known, (_, header))| Arc::ptr_eq(known, header))
    }
}

/// Headers by segment.
type KnownHeaders<T> = Mutex<HashMap<SegmentKey, Arc<T>>>;

/// Returns the headers of segments in their order, and forgets all others.
fn decoded<T: Send + Sync>(
    known: &KnownHeaders<T>,
    segments: Vec<SegmentInfo>,
    decode: impl Fn(&[u8]) -> Result<T, Error> + Sync,
) -> Result<Vec<(SegmentKey, Arc<T>)>, Error> {
    // The map is taken out of the mutex, so that no lock is held while headers are decoded. A concurrent call decodes
    // the headers again.
    let mut all = known.lock().map(|mut known| std::mem::take(&mut *known)).unwrap_or_default();
    let missing = segments.iter().filter(|segment| !all.contains_key(&key(segment))).collect();
    all.extend(parallel::map(missing, |segment: &SegmentInfo| {
        Ok((key(segment), Arc::new(decode(&segment.header)?)))
    })?);
    let headers = segments.iter().map(key).filter_map(|key| Some((key, Arc::clone(all.get(&key)?))));
    let headers: Vec<_> = headers.collect();
    if let Ok(mut known) = known.lock() {
        *known = headers.iter().cloned().collect();
    }
    Ok(headers)
}

/// Maximum number of orders of passages that are kept: those of the scopes that are searched in turn.
const MAX_ORDERS: usize = 4;

/// Order of the passages of some segments within a scope.
#[derive(Debug)]
struct KnownOrder {
    headers: Vec<Arc<Header>>,
    scope: DocScope,
    order: PassageOrder,
    /// Positions of the vectors of segments, by row.
    places: Vec<(Arc<VectorHeader>, Arc<[u32]>)>,
}

/// Number of a segment, and the mark of its header.
pub(crate) type SegmentKey = (u64, HeaderMark);

fn key(segment: &SegmentInfo) -> SegmentKey {
    (segment.id, mark(&segment.header))
}

/// Length and checksum of a stored header.
type HeaderMark = (usize, [u8; 4]);

fn mark(header: &[u8]) -> HeaderMark {
    (header.len(), header.last_chunk().copied().unwrap_or_default())
}

/// Maximum number of bytes of vectors that are kept: those of a million passages.
const MAX_VECTORS: usize = 264 << 20;
/// Milliseconds without a search after which the vectors are given back.
const UNUSED: i64 = 5 * 60_000;

/// Blocks of vectors that were read.
#[derive(Default)]
pub(crate) struct VectorCache(Mutex<KnownVectors>);

#[derive(Default)]
struct KnownVectors {
    blocks: HashMap<(SegmentKey, u32), Arc<Vec<u8>>>,
    bytes: usize,
    /// Time of the latest search.
    used: i64,
}

impl VectorCache {
    /// Returns the blocks that are known. Forgets those of segments that are no longer there.
    pub(crate) fn find(
        &self,
        wanted: &[(SegmentKey, u32)],
        segments: &[(SegmentKey, Arc<VectorHeader>)],
        now: Millis,
    ) -> Vec<Option<Arc<Vec<u8>>>> {
        let Ok(mut known) = self.0.lock() else { return vec![None; wanted.len()] };
        known.used = now.0;
        known.blocks.retain(|(of, _), _| segments.iter().any(|(key, _)| key == of));
        known.bytes = known.blocks.values().map(|block| block.len()).sum();
        wanted.iter().map(|key| known.blocks.get(key).cloned()).collect()
    }

    /// Keeps a block, if there is room.
    pub(crate) fn keep(&self, segment: SegmentKey, number: u32, block: &Arc<Vec<u8>>) {
        if let Ok(mut known) = self.0.lock()
            && known.bytes + block.len() <= MAX_VECTORS
        {
            known.bytes += block.len();
            known.blocks.insert((segment, number), Arc::clone(block));
        }
    }

    /// Gives the memory back if no search has used it for some minutes.
    pub(crate) fn give_back(&self, now: Millis) {
        if let Ok(mut known) = self.0.lock()
            && now.0.saturating_sub(known.used) > UNUSED
        {
            *known = KnownVectors::default();
        }
    }
}
