//! Finds the passages that answer a question.

use crate::passages::traits::Traits;
use crate::ranking::arms::ArmReader;
use crate::ranking::counts::{Counter, Counts};
use crate::ranking::explain::{Allowed, explain};
use crate::ranking::occurrences::occurrences;
use crate::ranking::order::{Entry, PassageOrder, Session};
use crate::ranking::question::Question;
use crate::ranking::weights::{Arm, ArmValues, Profiles, Weights};
use crate::searching::request::SearchError;
use crate::searching::scope::DocScope;
use crate::searching::score::{HitStrength, Statistics};
use crate::searching::tail::Tail;
use crate::storing::docs::DocKey;
use crate::storing::header::Header;
use std::cmp::Reverse;
use std::collections::HashSet;

/// Minimum similarity of a passage that is considered because of it alone: a cosine of .35. One of a hundred passages of
/// other records of `fixtures/recall` is as similar to a question (`docs/design/0031-meaning.md`).
pub const RELATED: u16 = 358;

/// Number of passages in scope above which weak terms find nothing alone: a term is weak if it is in more than one of
/// [`WEAK`] passages. Fewer passages are searched in no time.
const MANY: u64 = 16_384;
const WEAK: u64 = 64;

/// A search for the passages that answer a question.
#[derive(Clone, Copy, Debug)]
pub struct PassageSearch<'a> {
    /// Question to answer.
    pub question: &'a Question,
    /// Passages in scope, in the order of the segments and the tail that are searched.
    pub order: &'a PassageOrder,
    /// Similarity of each passage to the question, from 0 to [`crate::ranking::arms::FULL`], by position.
    pub similarity: Option<&'a [u16]>,
    /// Weights of the arms.
    pub profiles: &'a Profiles,
    /// Whether a passage counts the terms of its neighbours. Without windows, only passages with a word of the question
    /// are found, which takes less time.
    pub windows: bool,
    /// Number of passages up to which the sessions with most of the question are scored as a whole, for a budget that
    /// words alone do not fill. Zero if a hit must have a word of the question near it.
    pub fill: usize,
    /// Documents that may be hits; `None` for all in the order. The others count where a hit is compared with them.
    pub passing: Option<&'a DocScope>,
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

/// A position with the score of its passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Scored {
    score: i64,
    pub(crate) at: u32,
}

/// Finds passages, best first, at most one of a document.
///
/// `segments` are the headers from which the order was made, in the same order. `fetch(segment, block)` reads the given
/// block of the segment with the given index: one of those that [`crate::ParsedQuery::blocks`] lists for
/// [`Question::query`]; callers check its phrases ([`crate::Phrase::is_in`]). `tail`, if given, must have been scanned for
/// [`Question::query`], and the order must be one with it.
///
/// # Errors
/// Fails if the index is damaged, or if `fetch` fails.
pub fn rank<E, B: AsRef<[u8]>>(
    search: &PassageSearch<'_>,
    segments: &[&Header],
    tail: Option<&Tail>,
    fetch: impl FnMut(usize, u32) -> Result<B, E>,
) -> Result<Vec<PassageHit>, SearchError<E>> {
    let PassageSearch { question, order, similarity, .. } = *search;
    let query = question.query();
    let found = occurrences(query, order, segments, tail, fetch)?;
    let mut counter = Counter::new(order, search.windows);
    let scored = query.gather(|clause| &clause.scored);
    let all = Statistics { docs: order.sums().spoken + order.sums().outside, terms: 0 };
    let occurrences = scored.iter().filter_map(|at| found.get(*at));
    let mut terms: Vec<_> = occurrences.map(|one| (one.all.len() as u64, one)).collect();
    terms.sort_by_key(|(frequency, _)| *frequency);
    let is_weak = |frequency: u64| all.docs > MANY && frequency > all.docs / WEAK;
    let has_strong = terms.first().is_some_and(|(frequency, _)| *frequency > 0 && !is_weak(*frequency));
    for (frequency, occurrences) in &terms {
        counter.add(occurrences, all.idf(*frequency), has_strong && is_weak(*frequency));
    }
    let counts = counter.counts;
    let reader = ArmReader::new(order, &counts, &question.cues, similarity);
    let best = best(search, &counts, &reader, &Allowed::of(query, &found));
    let chosen = choose(best, order, search.limit);
    let explained = explain(query, order, &found, &chosen);
    let hit = |(scored, (strength, matched)): (&Scored, (HitStrength, Vec<Box<str>>))| {
        let entry = order.entry(scored.at)?;
        Some(PassageHit {
            doc: order.key(entry),
            part: entry.part,
            score: scored.score,
            strength,
            matched,
            arms: reader.read(scored.at, entry),
            weights: *profile(search.profiles, order, entry),
        })
    };
    Ok(chosen.iter().zip(explained).filter_map(hit).collect())
}

/// Returns the best passage of each document. A document may occur twice: with what was said and with its other texts.
fn best(
    search: &PassageSearch<'_>,
    counts: &Counts,
    reader: &ArmReader<'_>,
    allowed: &Allowed,
) -> Vec<Scored> {
    let order = search.order;
    let passes = |entry: &&Entry| {
        allowed.has(entry.doc) && search.passing.is_none_or(|passing| passing.contains(order.key(entry)))
    };
    let mut best: Vec<Scored> = Vec::new();
    let (mut last_doc, mut last_session, mut weights) = (None, None, &search.profiles.agent);
    for at in candidates(search, counts) {
        let Some(entry) = order.entry(at).filter(passes) else { continue };
        if last_session.replace(entry.session) != Some(entry.session) {
            weights = profile(search.profiles, order, entry);
        }
        let score = weights.score(&reader.read(at, entry));
        match best.last_mut().filter(|_| last_doc == Some(entry.doc)) {
            // The first passage of those with equal scores is kept.
            Some(best) if best.score >= score => {}
            Some(best) => *best = Scored { score, at },
            None => best.push(Scored { score, at }),
        }
        last_doc = Some(entry.doc);
    }
    best
}

/// Returns the first passages of different documents, by score, then by time, then by place.
fn choose(mut best: Vec<Scored>, order: &PassageOrder, limit: usize) -> Vec<Scored> {
    let place = |scored: &Scored| {
        order.entry(scored.at).map(|entry| (Reverse((entry.day, order.key(entry))), entry.part, entry.doc))
    };
    let first = |a: &Scored, b: &Scored| b.score.cmp(&a.score).then_with(|| place(a).cmp(&place(b)));
    // A document occurs at most twice.
    let most = limit.saturating_mul(2);
    if most < best.len() {
        best.select_nth_unstable_by(most, first);
        best.truncate(most);
    }
    best.sort_by(first);
    let mut seen = HashSet::new();
    best.retain(|scored| order.entry(scored.at).is_some_and(|entry| seen.insert(entry.doc)));
    best.truncate(limit);
    best
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
        for at in (0..).zip(similarity).filter(|(_, value)| **value >= RELATED).map(|(at, _)| at) {
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
