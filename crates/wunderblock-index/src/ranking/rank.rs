//! Finds the passages that answer a question.

use crate::passages::traits::Traits;
use crate::ranking::arms::{Arm, ArmReader, ArmValues, FULL};
use crate::ranking::counts::{Counter, Counts};
use crate::ranking::cues::words;
use crate::ranking::explain::{Allowed, Explainer};
use crate::ranking::occurrences::occurrences;
use crate::ranking::order::{Entry, PassageOrder, Session};
use crate::ranking::question::Question;
use crate::ranking::weights::{Profiles, Weights};
use crate::searching::request::SearchError;
use crate::searching::score::{HitStrength, Statistics};
use crate::searching::tail::Tail;
use crate::searching::term::Term;
use crate::storing::docs::DocKey;
use crate::storing::header::Header;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

/// Maximum number of passages that are considered because of their similarity alone.
const SIMILAR: usize = 4_096;
/// Minimum similarity of a passage that is considered because of it alone: a cosine of .35. One of a hundred passages of
/// other records of `fixtures/recall` is as similar to a question (`docs/design/0031-meaning.md`).
const RELATED: u16 = 358;

/// A search for the passages that answer a question.
#[derive(Clone, Copy, Debug)]
pub struct PassageSearch<'a> {
    /// Question to answer.
    pub question: &'a Question,
    /// Passages in scope, in the order of the segments and the tail that are searched.
    pub order: &'a PassageOrder,
    /// Similarity of each passage to the question, from 0 to [`FULL`], by position.
    pub similarity: Option<&'a [u16]>,
    /// Weights of the arms.
    pub profiles: &'a Profiles,
    /// Whether a passage counts the terms of its neighbours. Without windows, only passages with a word of the question
    /// are found, which takes less time.
    pub windows: bool,
    /// Number of passages up to which the sessions with most of the question are scored as a whole, for a budget that
    /// words alone do not fill. Zero if a hit must have a word of the question near it.
    pub fill: usize,
    /// Maximum number of hits.
    pub limit: usize,
}

/// A passage found by a search: the best one of its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassageHit {
    /// Key of the document.
    pub doc: DocKey,
    /// Number of the passage in the document: the rows that [`crate::SegmentBuilder`] made of it, in order.
    pub part: u32,
    /// Score: the sum over the arms.
    pub score: i64,
    /// How well the whole document answers the question.
    pub strength: HitStrength,
    /// Words and phrases of the question that the document contains, as typed. There may be none: then the words are in
    /// its neighbours.
    pub matched: Vec<Box<str>>,
    /// Value of each arm.
    pub arms: ArmValues,
    /// Weights by which the arms were multiplied.
    pub weights: Weights,
}

impl PassageHit {
    /// Returns the arms that made the hit, most important first: each with its value times its weight.
    #[must_use]
    pub fn reasons(&self) -> Vec<(Arm, i64)> {
        let part = |arm: &Arm| {
            let value = self.arms.get(*arm as usize).copied().unwrap_or(0);
            (*arm, i64::from(self.weights.of(*arm)) * i64::from(value))
        };
        let mut reasons: Vec<(Arm, i64)> = Arm::ALL.iter().map(part).filter(|(_, part)| *part != 0).collect();
        reasons.sort_by_key(|(arm, part)| (Reverse(part.abs()), *arm));
        reasons
    }
}

/// A passage with a score. The order is that of hits: by score, then by time, then by place; the first passage of a
/// document precedes its others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    score: i64,
    day: u16,
    key: (u32, u64),
    part: Reverse<u32>,
    pub(crate) at: u32,
}

/// Finds passages, best first, at most one of a document.
///
/// `segments` are the headers from which the order was made, in the same order. `fetch(segment, block)` reads the given
/// block of the segment with the given index: one of those that [`crate::ParsedQuery::blocks`] lists for
/// [`Question::query`]. `accept(document)` returns whether a document may be a hit: filters, and the phrases of the query.
/// It is asked for documents in the order of the hits, until there are enough. `tail`, if given, must have been scanned
/// for [`Question::query`], and the order must be one with it.
///
/// # Errors
/// Fails if the index is damaged, or if `fetch` or `accept` fails.
pub fn rank<E, B: AsRef<[u8]>>(
    search: &PassageSearch<'_>,
    segments: &[&Header],
    tail: Option<&Tail>,
    fetch: impl FnMut(usize, u32) -> Result<B, E>,
    mut accept: impl FnMut(DocKey) -> Result<bool, E>,
) -> Result<Vec<PassageHit>, SearchError<E>> {
    let PassageSearch { question, order, similarity, .. } = *search;
    let query = question.query();
    let found = occurrences(query, order, segments, tail, fetch)?;
    let allowed = Allowed::of(query, order, &found);
    let mut counter = Counter::new(order, search.windows);
    let scored = query.gather(|clause| &clause.scored);
    let named = question.cues.named(order.names());
    let all = Statistics { docs: order.sums().spoken + order.sums().outside, terms: 0 };
    for at in &scored {
        if let (Some(term), Some(occurrences)) = (query.terms.get(*at), found.get(*at)) {
            // A name says as little as the passages of its owner are many. Otherwise, a mention of the name would weigh
            // as much as a rare word, and mentions are mostly made by others.
            let frequency = occurrences.all.len() as u64 + said_by(order, &named, term);
            counter.add(occurrences, all.idf(frequency.min(all.docs)));
        }
    }
    let counts = counter.counts;
    let reader = ArmReader::new(order, &counts, &question.cues, similarity);
    let mut best: Vec<Candidate> = Vec::new();
    let mut last_doc = None;
    for at in candidates(search, &counts) {
        let Some(entry) = order.entry(at).filter(|entry| allowed.has(entry.doc)) else { continue };
        let score = profile(search.profiles, order, entry).score(&reader.read(at, entry));
        let key = order.key(entry);
        let (key, part) = ((key.stream, key.seq), Reverse(entry.part));
        let candidate = Candidate { score, day: entry.day, key, part, at };
        match best.last_mut().filter(|_| last_doc == Some(entry.doc)) {
            Some(best) => *best = candidate.max(*best),
            None => best.push(candidate),
        }
        last_doc = Some(entry.doc);
    }
    let mut heap = BinaryHeap::from(best);
    let (mut chosen, mut seen) = (Vec::new(), HashSet::new());
    while let Some(candidate) = heap.pop().filter(|_| chosen.len() < search.limit) {
        let Some(entry) = order.entry(candidate.at) else { continue };
        if seen.insert(entry.doc) && accept(order.key(entry)).map_err(SearchError::Source)? {
            chosen.push(candidate);
        }
    }
    let explainer = Explainer::of(query, order, &found, &chosen);
    let hit = |(candidate, (strength, matched)): (&Candidate, (HitStrength, Vec<Box<str>>))| {
        let entry = order.entry(candidate.at)?;
        Some(PassageHit {
            doc: order.key(entry),
            part: entry.part,
            score: candidate.score,
            strength,
            matched,
            arms: reader.read(candidate.at, entry),
            weights: *profile(search.profiles, order, entry),
        })
    };
    Ok(chosen.iter().zip(explainer.explain()).filter_map(hit).collect())
}

/// Returns the number of passages of speakers whom a question names by a term.
fn said_by(order: &PassageOrder, named: &[bool], term: &Term) -> u64 {
    let is_name = |name: &str| words(name).any(|word| term.has(word.to_lowercase().as_bytes()));
    let names = order.names().iter().zip(named).zip(order.named());
    names.filter(|((name, named), _)| **named && is_name(name)).map(|(_, passages)| passages).sum()
}

fn profile<'p>(profiles: &'p Profiles, order: &PassageOrder, entry: &Entry) -> &'p Weights {
    let is_chat = order.session(entry).is_some_and(Session::is_chat);
    if is_chat { &profiles.chat } else { &profiles.agent }
}

/// Returns the positions that are scored, in order: those with a count, the most similar ones, and those of the best
/// sessions.
fn candidates(search: &PassageSearch<'_>, counts: &Counts) -> Vec<u32> {
    let (order, mut chosen) = (search.order, counts.touched.clone());
    let choose = |at: u32, chosen: &mut Vec<u64>| {
        if let Some(bits) = chosen.get_mut(at as usize / 64) {
            *bits |= 1 << (at % 64);
        }
    };
    if let Some(similarity) = search.similarity {
        let floor = floor(similarity).max(RELATED);
        for at in (0..).zip(similarity).filter(|(_, value)| **value >= floor).map(|(at, _)| at) {
            let is_spoken = order.entry(at).is_some_and(|entry| !entry.traits.has(Traits::OUTSIDE));
            if is_spoken && order.is_live(at) {
                choose(at, &mut chosen);
            }
        }
    }
    let mut room = search.fill.saturating_sub(chosen.iter().map(|bits| bits.count_ones() as usize).sum());
    if room > 0 && chosen.iter().any(|bits| *bits != 0) {
        let mut sessions: Vec<_> = counts.sessions.iter().zip(order.sessions()).collect();
        sessions.sort_by_key(|(score, session)| (Reverse(**score), Reverse(session.stream)));
        for (_, session) in sessions {
            room = room.saturating_sub(session.spoken.len());
            session.spoken.clone().for_each(|at| choose(at, &mut chosen));
            if room == 0 {
                break;
            }
        }
    }
    let mut found = Vec::new();
    for (word, bits) in (0..).zip(chosen) {
        let mut bits = bits;
        while bits != 0 {
            found.push(word * 64 + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }
    found
}

/// Returns the lowest similarity for which at most [`SIMILAR`] passages are considered, those with equal ones aside.
fn floor(similarity: &[u16]) -> u16 {
    let mut numbers = [0usize; FULL as usize + 1];
    for value in similarity {
        if let Some(number) = numbers.get_mut(usize::from((*value).min(FULL))) {
            *number += 1;
        }
    }
    let mut left = SIMILAR;
    let is_over = |number: &usize| {
        let is_over = *number > left;
        left = left.saturating_sub(*number);
        is_over
    };
    let over = numbers.iter().rev().position(is_over).unwrap_or(usize::from(FULL));
    FULL - over as u16
}
