//! Counts of a question's terms: of passages, of their windows, and of sessions.

use crate::passages::traits::Traits;
use crate::ranking::occurrences::{Occurrence, Occurrences};
use crate::ranking::order::PassageOrder;
use crate::ranking::window::{COVER, OWN, REACH, WIDE};
use crate::searching::score::{Statistics, weigh};
use std::ops::Range;

/// Maximum number of occurrences of a term in a passage that count: more would hardly change a score.
const MAX_COUNT: u32 = 200;

/// Sums of a passage over the terms of a question, with 16 fractional bits: the inverse document frequencies of its terms,
/// the same of its terms and those of its nearest neighbours, and BM25 of the counts of its window. An array, because the
/// system hands out memory that is zero for arrays of numbers only.
pub(crate) type Sums = [u32; 3];

/// What the terms of a question give.
pub(crate) struct Counts {
    pub(crate) passages: Vec<Sums>,
    /// BM25 of each session.
    pub(crate) sessions: Vec<u32>,
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

/// k1 + 1 of windows, in units of 1/512: k1 is 1.2.
pub(crate) const WIDE_GAIN: u32 = 1_126;
/// Units of a count.
const UNITS: u32 = 64;

/// BM25 with counts in twentieths and constants in units of 1/1,280: k1 is 1.2, and b is 0.6.
#[derive(Clone, Copy)]
struct Bm25 {
    /// Norm for each unit of length, with 16 fractional bits.
    slope: u64,
}

impl Bm25 {
    /// Returns the form for documents of a length in all, in twentieths.
    fn of(docs: u64, length: u64) -> Self {
        let slope = (u128::from(922 * docs) << 16) / u128::from(length.max(1));
        Self { slope: u64::try_from(slope).unwrap_or(u64::MAX).min(1 << 31) }
    }

    /// Returns what a term adds to a score.
    fn weigh(self, idf: u64, count: u32, length: u32) -> u32 {
        let norm = 614 + ((u64::from(length) * self.slope) >> 16);
        let (count, norm) = (count * UNITS, u32::try_from(norm).unwrap_or(u32::MAX).min(1 << 30));
        let share = count * WIDE_GAIN / (count + norm);
        ((idf * u64::from(share)) >> 9) as u32
    }
}

/// Counts terms by position.
pub(crate) struct Counter<'o> {
    order: &'o PassageOrder,
    has_windows: bool,
    bm25: Bm25,
    sessions: Statistics,
    /// Counts of the current term, in twentieths.
    window_counts: Vec<u16>,
    session_counts: Vec<u32>,
    pub(crate) counts: Counts,
}

impl<'o> Counter<'o> {
    /// Creates a counter. Without windows, a passage counts its own terms only.
    pub(crate) fn new(order: &'o PassageOrder, has_windows: bool) -> Self {
        let (sums, sessions) = (order.sums(), order.sessions());
        let lengths = sums.lengths;
        let own = lengths.own * u64::from(OWN);
        Self {
            order,
            has_windows,
            // The lengths of outputs are compared with those of what was said, so a long one counts little.
            bm25: Bm25::of(sums.spoken, if has_windows { lengths.wide } else { own }),
            sessions: Statistics {
                docs: sessions.iter().filter(|session| session.terms() > 0).count() as u64,
                terms: lengths.own,
            },
            window_counts: vec![0; order.len()],
            session_counts: vec![0; sessions.len()],
            counts: Counts {
                passages: vec![[0; 3]; order.len()],
                sessions: vec![0; sessions.len()],
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
        let (from, to) = (at.saturating_sub(REACH).max(bounds.start), (at + REACH + 1).min(bounds.end));
        let Some(places) = self.window_counts.get_mut(from as usize..to as usize) else { return };
        let add = |(place, weight): (&mut u16, &u16)| *place = place.saturating_add(count * weight);
        // Windows that are not cut off have a length that the compiler knows.
        if let Ok(places) = <&mut [u16; WIDE.len()]>::try_from(&mut *places) {
            places.iter_mut().zip(&WIDE).for_each(add);
        } else {
            places.iter_mut().zip(WIDE.iter().skip((from + REACH - at) as usize)).for_each(add);
        }
    }

    /// Adds the counts of a range of positions to their sums.
    fn settle(&mut self, range: Range<u32>, idf: u64, is_weak: bool) {
        let places = range.start as usize..range.end as usize;
        let touched = &self.counts.touched;
        let (Some(counts), Some(sums)) =
            (self.window_counts.get_mut(places.clone()), self.counts.passages.get_mut(places))
        else {
            return;
        };
        let entries = self.order.entries(range.clone());
        for (((place, entry), [.., sum]), count) in range.zip(entries).zip(sums).zip(counts) {
            let count = u32::from(std::mem::take(count));
            if is_weak && !is_set(touched, place) {
                continue;
            }
            let is_wide = self.has_windows || entry.traits.has(Traits::OUTSIDE);
            let length = if is_wide { entry.wide } else { u32::from(entry.len) * OWN };
            *sum += self.bm25.weigh(idf, count, length);
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
