//! Counts of a question's terms: of passages, of their windows, and of sessions.

use crate::passages::traits::Traits;
use crate::ranking::occurrences::{Occurrence, Occurrences};
use crate::ranking::order::{Entry, PassageOrder};
use crate::ranking::window::{AFTER, BEFORE, COVER, NARROW, OWN, REACH};
use crate::searching::score::{Statistics, weigh};

/// Maximum number of occurrences of a term in a passage that count: more would hardly change a score.
const MAX_COUNT: u32 = 200;

/// Sums of a passage over the terms of a question, with 16 fractional bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    /// Inverse document frequencies of the terms of the passage.
    pub(crate) own: u32,
    /// The same of the terms of the passage or its nearest neighbours.
    pub(crate) near: u32,
    /// BM25 of the counts of the window.
    pub(crate) wide: u32,
    /// BM25 of the counts of the narrow window.
    pub(crate) narrow: u32,
}

/// What the terms of a question give.
pub(crate) struct Counts {
    pub(crate) passages: Vec<Sums>,
    /// BM25 of each session.
    pub(crate) sessions: Vec<u32>,
    /// BM25 of each document.
    pub(crate) docs: Vec<u32>,
    /// Whether each position has any sum, as bits.
    pub(crate) touched: Vec<u64>,
    /// Inverse document frequencies of all terms, and of all terms over sessions.
    pub(crate) asked: u64,
    pub(crate) asked_of_sessions: u64,
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
                passages: vec![Sums::default(); order.len()],
                sessions: vec![0; sessions.len()],
                docs: vec![0; sums.docs as usize],
                touched: vec![0; order.len().div_ceil(64)],
                asked: 0,
                asked_of_sessions: 0,
            },
        }
    }

    /// Adds a term with its inverse document frequency.
    pub(crate) fn add(&mut self, term: &Occurrences, idf: u64) {
        self.counts.asked += idf;
        self.add_sessions(term);
        for occurrence in &term.all {
            self.spread(*occurrence);
        }
        self.add_docs(term, idf);
        let (mut next, mut next_near) = (0, 0);
        for Occurrence { at, .. } in &term.all {
            let Some(entry) = self.order.entry(*at) else { continue };
            let bounds = if self.has_windows { self.order.bounds(*at, entry) } else { *at..at + 1 };
            let reach = |far: u32, next: u32| {
                at.saturating_sub(far).max(bounds.start).max(next)..(at + far + 1).min(bounds.end)
            };
            let (near, wide) = (reach(COVER, next_near), reach(REACH, next));
            (next_near, next) = (near.end, wide.end);
            for place in wide {
                self.settle(place, idf);
            }
            for place in near {
                if let Some(sums) = self.counts.passages.get_mut(place as usize) {
                    sums.near += idf as u32;
                }
            }
            if let Some(sums) = self.counts.passages.get_mut(*at as usize) {
                sums.own += idf as u32;
            }
        }
    }

    /// Adds an occurrence to the counts of its window.
    fn spread(&mut self, Occurrence { at, count }: Occurrence) {
        let Some(entry) = self.order.entry(at) else { return };
        let count = count.min(MAX_COUNT);
        let mut add = |place: u32, wide: u32, narrow: u32| {
            let place = place as usize;
            if let (Some(w), Some(n)) = (self.wide_counts.get_mut(place), self.narrow_counts.get_mut(place)) {
                *w = w.saturating_add((count * wide) as u16);
                *n = n.saturating_add((count * narrow) as u16);
            }
        };
        add(at, OWN, OWN);
        if !self.has_windows || entry.traits.has(Traits::OUTSIDE) {
            return;
        }
        let bounds = self.order.bounds(at, entry);
        for (weight, far) in BEFORE.iter().zip(1..) {
            if at + far < bounds.end {
                add(at + far, *weight, if far == 1 { NARROW[0] } else { 0 });
            }
        }
        for (weight, far) in AFTER.iter().zip(1..) {
            if at >= bounds.start + far {
                add(at - far, *weight, if far == 1 { NARROW[1] } else { 0 });
            }
        }
    }

    /// Adds the counts at a position to its sums.
    fn settle(&mut self, place: u32, idf: u64) {
        let at = place as usize;
        let (Some(wide), Some(narrow), Some(sums), Some(entry), Some(touched)) = (
            self.wide_counts.get_mut(at).map(std::mem::take),
            self.narrow_counts.get_mut(at).map(std::mem::take),
            self.counts.passages.get_mut(at),
            self.order.entry(place),
            self.counts.touched.get_mut(at / 64),
        ) else {
            return;
        };
        *touched |= 1 << (at % 64);
        let own = u32::from(entry.len) * OWN;
        if entry.traits.has(Traits::OUTSIDE) {
            let weight = self.outside.weigh(idf, u32::from(wide), entry.wide);
            sums.wide += weight;
            sums.narrow += (u64::from(weight) * u64::from(NARROW_GAIN) / u64::from(WIDE_GAIN)) as u32;
            return;
        }
        let (wide_len, narrow_len) =
            if self.has_windows { (entry.wide, narrow_len(self.order, place, entry)) } else { (own, own) };
        sums.wide += self.wide.weigh(idf, u32::from(wide), wide_len);
        if narrow > 0 {
            sums.narrow += self.narrow.weigh(idf, u32::from(narrow), narrow_len);
        }
    }

    fn add_docs(&mut self, term: &Occurrences, idf: u64) {
        let doc = |one: &Occurrence| self.order.entry(one.at).map(|entry| entry.doc);
        let slope = self.documents.slope();
        for rows in term.all.chunk_by(|a, b| doc(a) == doc(b)) {
            let Some(doc) = rows.first().and_then(doc) else { continue };
            let count = rows.iter().fold(0u32, |sum, row| sum.saturating_add(row.count));
            if let Some(score) = self.counts.docs.get_mut(doc as usize) {
                *score = score.saturating_add(weigh(idf, slope, count, self.order.doc_len(doc)) as u32);
            }
        }
    }

    fn add_sessions(&mut self, term: &Occurrences) {
        let mut found: Vec<u32> = Vec::new();
        for Occurrence { at, count } in &term.all {
            let Some(entry) = self.order.entry(*at).filter(|entry| !entry.traits.has(Traits::OUTSIDE)) else {
                continue;
            };
            if let Some(sum) = self.session_counts.get_mut(entry.session as usize) {
                if *sum == 0 {
                    found.push(entry.session);
                }
                *sum = sum.saturating_add(*count);
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

/// Returns the length of the narrow window of a passage.
fn narrow_len(order: &PassageOrder, at: u32, entry: &Entry) -> u32 {
    let bounds = order.bounds(at, entry);
    let len = |place: Option<u32>| {
        let other = place.filter(|place| bounds.contains(place)).and_then(|place| order.entry(place));
        other.map_or(0, |other| u32::from(other.len))
    };
    OWN * u32::from(entry.len) + NARROW[0] * len(at.checked_sub(1)) + NARROW[1] * len(at.checked_add(1))
}
