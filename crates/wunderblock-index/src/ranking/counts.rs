//! Counts of a question's terms: of passages, of their windows, and of sessions.

use crate::passages::traits::Traits;
use crate::ranking::occurrences::{Occurrence, Occurrences};
use crate::ranking::order::{Entry, PassageOrder};
use crate::ranking::window::{COVER, NARROW, NARROW_REACH, OWN, REACH, WIDE, gather};
use crate::searching::score::{Statistics, weigh};
use std::ops::Range;

/// Maximum number of occurrences of a term in a passage that count: more would hardly change a score.
const MAX_COUNT: u32 = 200;

/// Sums of a passage over the terms of a question, with 16 fractional bits: the inverse document frequencies of its terms,
/// the same of its terms and those of its nearest neighbours, and BM25 of the counts of its window and of its narrow
/// window. An array, because the system hands out memory that is zero for arrays of numbers only.
pub(crate) type Sums = [u32; 4];

/// What the terms of a question give.
pub(crate) struct Counts {
    pub(crate) passages: Vec<Sums>,
    /// BM25 of each session.
    pub(crate) sessions: Vec<u32>,
    /// BM25 of each document.
    pub(crate) docs: Vec<u32>,
    /// Whether each position has a term in itself or its nearest neighbours, as bits.
    pub(crate) touched: Vec<u64>,
    /// Inverse document frequencies of all terms, and of all terms over sessions.
    pub(crate) asked: u64,
    pub(crate) asked_of_sessions: u64,
}

impl Counts {
    /// Returns whether a term is in a passage or its nearest neighbours.
    pub(crate) fn is_touched(&self, at: u32) -> bool {
        is_set(&self.touched, at)
    }

    fn touch(&mut self, at: u32) {
        if let Some(bits) = self.touched.get_mut(at as usize / 64) {
            *bits |= 1 << (at % 64);
        }
    }
}

pub(crate) fn is_set(bits: &[u64], at: u32) -> bool {
    bits.get(at as usize / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1)
}

/// A form of BM25 whose counts are in twentieths: constants in units of 1/1,280.
#[derive(Clone, Copy)]
struct Bm25 {
    /// k1 + 1, in units of 1/512.
    gain: u32,
    base: u64,
    /// Norm for each unit of length, with 16 fractional bits.
    slope: u64,
}

/// k1 + 1 of both windows, in units of 1/512: k1 is 1.2 and 0.9.
pub(crate) const WIDE_GAIN: u32 = 1_126;
pub(crate) const NARROW_GAIN: u32 = 973;
/// Units of a count.
const UNITS: u64 = 64;

impl Bm25 {
    /// b is 0.6.
    fn wide(docs: u64, length: u64) -> Self {
        Self { gain: WIDE_GAIN, base: 614, slope: slope(922, docs, length) }
    }

    /// b is 0.5.
    fn narrow(docs: u64, length: u64) -> Self {
        Self { gain: NARROW_GAIN, base: 576, slope: slope(576, docs, length) }
    }

    /// Returns what a term adds to a score.
    fn weigh(self, idf: u64, count: u32, length: u32) -> u32 {
        let norm = self.base + ((u64::from(length) * self.slope) >> 16);
        let (count, norm) = (count * UNITS as u32, u32::try_from(norm).unwrap_or(u32::MAX).min(1 << 30));
        let share = count * self.gain / (count + norm);
        ((idf * u64::from(share)) >> 9) as u32
    }
}

/// Returns the norm that each unit of length adds, of which the average adds `share` in all.
fn slope(share: u64, docs: u64, length: u64) -> u64 {
    u64::try_from((u128::from(share * docs) << 16) / u128::from(length.max(1)))
        .unwrap_or(u64::MAX)
        .min(1 << 31)
}

/// Counts terms by position.
pub(crate) struct Counter<'o> {
    order: &'o PassageOrder,
    has_windows: bool,
    wide: Bm25,
    narrow: Bm25,
    outside: Bm25,
    sessions: Statistics,
    documents: Statistics,
    /// Counts of the current term, in twentieths.
    wide_counts: Vec<u16>,
    narrow_counts: Vec<u16>,
    session_counts: Vec<u32>,
    pub(crate) counts: Counts,
}

impl<'o> Counter<'o> {
    /// Creates a counter. Without windows, a passage counts its own terms only.
    pub(crate) fn new(order: &'o PassageOrder, has_windows: bool) -> Self {
        let (sums, sessions) = (order.sums(), order.sessions());
        let lengths = sums.lengths;
        let own = lengths.own * u64::from(OWN);
        let (wide, narrow) = if has_windows { (lengths.wide, lengths.narrow) } else { (own, own) };
        let said = Statistics {
            docs: sessions.iter().filter(|session| session.terms() > 0).count() as u64,
            terms: lengths.own,
        };
        Self {
            order,
            has_windows,
            wide: Bm25::wide(sums.spoken, wide),
            narrow: Bm25::narrow(sums.spoken, narrow),
            outside: Bm25::wide(sums.outside, sums.outside_terms * u64::from(OWN)),
            sessions: said,
            documents: Statistics { docs: sums.docs, terms: sums.terms },
            wide_counts: vec![0; order.len()],
            narrow_counts: vec![0; order.len()],
            session_counts: vec![0; sessions.len()],
            counts: Counts {
                passages: vec![[0; 4]; order.len()],
                sessions: vec![0; sessions.len()],
                docs: vec![0; sums.docs as usize],
                touched: vec![0; order.len().div_ceil(64)],
                asked: 0,
                asked_of_sessions: 0,
            },
        }
    }

    /// Adds a term with its inverse document frequency. A weak term counts only where other terms were found before it.
    pub(crate) fn add(&mut self, term: &Occurrences, idf: u64, is_weak: bool) {
        self.counts.asked += idf;
        self.add_sessions(&term.all);
        let is_seen = |one: &&Occurrence| {
            let reach = if self.has_windows { REACH } else { 0 };
            (one.at.saturating_sub(reach)..=one.at + reach).any(|at| self.counts.is_touched(at))
        };
        let seen: Vec<Occurrence>;
        let all = if is_weak {
            seen = term.all.iter().filter(is_seen).copied().collect();
            &seen
        } else {
            &term.all
        };
        all.iter().for_each(|one| self.spread(one));
        let (mut next, mut next_near) = (0, 0);
        for one in all {
            let (at, bounds) = (one.at, self.bounds(one));
            let reach = |far: u32, next: u32| {
                at.saturating_sub(far).max(bounds.start).max(next)..(at + far + 1).min(bounds.end)
            };
            let (near, wide) = (reach(COVER, next_near), reach(REACH, next));
            (next_near, next) = (near.end, wide.end);
            self.settle(wide, idf, is_weak);
            for place in near {
                if is_weak && !self.counts.is_touched(place) {
                    continue;
                }
                self.counts.touch(place);
                if let Some([_, near, ..]) = self.counts.passages.get_mut(place as usize) {
                    *near += idf as u32;
                }
            }
            if let Some([own, ..]) = self.counts.passages.get_mut(at as usize) {
                *own += idf as u32;
            }
        }
        self.add_docs(all, idf);
    }

    /// Returns the positions that count an occurrence.
    fn bounds(&self, one: &Occurrence) -> Range<u32> {
        let session = one.session.filter(|_| self.has_windows);
        let session = session.and_then(|session| self.order.sessions().get(session as usize));
        session.map_or(one.at..one.at + 1, |session| session.spoken.clone())
    }

    /// Adds an occurrence to the counts of its window.
    fn spread(&mut self, one: &Occurrence) {
        let (at, bounds, count) = (one.at, self.bounds(one), one.count.min(MAX_COUNT) as u16);
        add(&mut self.wide_counts, at, &bounds, REACH, |skipped, places| {
            spread(places, &WIDE, skipped, count)
        });
        add(&mut self.narrow_counts, at, &bounds, NARROW_REACH, |skipped, places| {
            spread(places, &NARROW, skipped, count);
        });
    }

    /// Adds the counts of a range of positions to their sums.
    fn settle(&mut self, range: Range<u32>, idf: u64, is_weak: bool) {
        let places = range.start as usize..range.end as usize;
        let touched = &self.counts.touched;
        let (Some(wide), Some(narrow), Some(sums)) = (
            self.wide_counts.get_mut(places.clone()),
            self.narrow_counts.get_mut(places.clone()),
            self.counts.passages.get_mut(places),
        ) else {
            return;
        };
        let entries = self.order.entries(range.clone());
        let counts = wide.iter_mut().zip(narrow);
        for (((place, entry), sums), (wide, narrow)) in range.zip(entries).zip(sums).zip(counts) {
            let (wide, narrow) = (u32::from(std::mem::take(wide)), u32::from(std::mem::take(narrow)));
            if is_weak && !is_set(touched, place) {
                continue;
            }
            let [_, _, wide_sum, narrow_sum] = sums;
            if entry.traits.has(Traits::OUTSIDE) {
                let weight = self.outside.weigh(idf, wide, entry.wide);
                *wide_sum += weight;
                *narrow_sum += (u64::from(weight) * u64::from(NARROW_GAIN) / u64::from(WIDE_GAIN)) as u32;
                continue;
            }
            let own = u32::from(entry.len) * OWN;
            *wide_sum += self.wide.weigh(idf, wide, if self.has_windows { entry.wide } else { own });
            // Most places are in the wide window only.
            if narrow > 0 {
                let len = if self.has_windows { narrow_len(self.order, place, entry) } else { own };
                *narrow_sum += self.narrow.weigh(idf, narrow, len);
            }
        }
    }

    fn add_docs(&mut self, all: &[Occurrence], idf: u64) {
        let slope = self.documents.slope();
        for rows in all.chunk_by(|a, b| a.doc == b.doc) {
            let Some(doc) = rows.first().map(|one| one.doc) else { continue };
            let count = rows.iter().fold(0u32, |sum, row| sum.saturating_add(row.count));
            if let Some(score) = self.counts.docs.get_mut(doc as usize) {
                *score = score.saturating_add(weigh(idf, slope, count, self.order.doc_len(doc)) as u32);
            }
        }
    }

    fn add_sessions(&mut self, all: &[Occurrence]) {
        let mut found: Vec<u32> = Vec::new();
        for (session, count) in all.iter().filter_map(|one| Some((one.session?, one.count))) {
            if let Some(sum) = self.session_counts.get_mut(session as usize) {
                if *sum == 0 {
                    found.push(session);
                }
                *sum = sum.saturating_add(count);
            }
        }
        let idf = self.sessions.idf(found.len() as u64);
        self.counts.asked_of_sessions += idf;
        let slope = self.sessions.slope();
        for session in found {
            let at = session as usize;
            if let (Some(count), Some(session), Some(sum)) = (
                self.session_counts.get_mut(at),
                self.order.sessions().get(at),
                self.counts.sessions.get_mut(at),
            ) {
                let len = u32::try_from(session.terms()).unwrap_or(u32::MAX);
                *sum += weigh(idf, slope, std::mem::take(count), len) as u32;
            }
        }
    }
}

/// Calls `spread` with the positions around one, within bounds, and the number of those that the bounds cut off before.
fn add(counts: &mut [u16], at: u32, bounds: &Range<u32>, reach: u32, spread: impl FnOnce(usize, &mut [u16])) {
    let (from, to) = (at.saturating_sub(reach).max(bounds.start), (at + reach + 1).min(bounds.end));
    if let Some(places) = counts.get_mut(from as usize..to as usize) {
        spread((from + reach - at) as usize, places);
    }
}

/// Adds a count to positions by weights, of which the first are skipped.
fn spread<const N: usize>(places: &mut [u16], weights: &[u16; N], skipped: usize, count: u16) {
    // Windows that are not cut off have a length that the compiler knows.
    if let Ok(places) = <&mut [u16; N]>::try_from(&mut *places) {
        places
            .iter_mut()
            .zip(weights)
            .for_each(|(place, weight)| *place = place.saturating_add(count * weight));
        return;
    }
    for (place, weight) in places.iter_mut().zip(weights.iter().skip(skipped)) {
        *place = place.saturating_add(count * weight);
    }
}

/// Returns the length of the narrow window of a passage.
fn narrow_len(order: &PassageOrder, at: u32, entry: &Entry) -> u32 {
    let bounds = order.bounds(at, entry);
    gather(at as usize, &NARROW, |place| {
        let other =
            Some(place as u32).filter(|place| bounds.contains(place)).and_then(|place| order.entry(place));
        other.map_or(0, |other| u32::from(other.len))
    })
}
