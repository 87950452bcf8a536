//! The order of passages: a dense number for each passage in scope, by stream, position and part.
//!
//! Windows reach across documents, segments and what waits for the index, so they are counted in this order. It is made
//! from headers alone, and is the same for all questions until a segment or the scope changes; callers keep it.
//! Documents that are not indexed yet are added for one search: only the streams that they belong to are laid out
//! again, after all others, and the positions of their indexed passages move.

use crate::passages::traits::Traits;
use crate::ranking::window::{self, Lengths};
use crate::searching::scope::DocScope;
use crate::searching::tail::Tail;
use crate::storing::docs::{DocKey, Docs, Row};
use crate::storing::header::Header;
use crate::storing::vectors::PassageKey;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Position of a row that is not in scope.
const NOWHERE: u32 = u32::MAX;

/// Passages in scope, in order.
#[derive(Clone, Debug)]
pub struct PassageOrder {
    base: Arc<Base>,
    tail: Option<Box<Added>>,
}

/// What is made from headers.
#[derive(Debug, Default)]
struct Base {
    entries: Vec<Entry>,
    /// Position of each row of each segment.
    rows: Vec<Vec<u32>>,
    /// Ordered by stream.
    sessions: Vec<Session>,
    names: Vec<Box<str>>,
    /// Number of passages of each name.
    named: Vec<u64>,
    /// Length of each document.
    lens: Vec<u32>,
    sums: Sums,
}

/// What documents that wait for the index add.
#[derive(Clone, Debug)]
struct Added {
    /// Entries after those of the base: streams with documents that wait.
    entries: Vec<Entry>,
    /// Ranges of the base that are laid out again, in order, and where.
    moved: Vec<(Range<u32>, u32)>,
    /// Position of each row of the tail.
    rows: Vec<u32>,
    /// All sessions, names and sums, and the lengths of the documents that were added.
    sessions: Vec<Session>,
    names: Vec<Box<str>>,
    named: Vec<u64>,
    lens: Vec<u32>,
    sums: Sums,
}

/// A passage in scope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) seq: u64,
    pub(crate) session: u32,
    /// Number of the document.
    pub(crate) doc: u32,
    /// Length of the window.
    pub(crate) wide: u32,
    /// Number of the passage in its document.
    pub(crate) part: u32,
    /// Length in terms, at most 65,535.
    pub(crate) len: u16,
    /// Days since 1970; a later day than 65,535 is the last.
    pub(crate) day: u16,
    pub(crate) speaker: u16,
    pub(crate) traits: Traits,
}

/// Passages of a stream that were said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Session {
    pub(crate) stream: u32,
    pub(crate) spoken: Range<u32>,
    lengths: Lengths,
    /// Number of passages whose speaker has a name.
    named: u32,
}

/// Sums over everything in scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) docs: u64,
    /// Length of all documents in terms.
    pub(crate) terms: u64,
    pub(crate) spoken: u64,
    pub(crate) outside: u64,
    /// Lengths of what was said.
    pub(crate) lengths: Lengths,
    /// Length of the other rows in terms.
    pub(crate) outside_terms: u64,
}

impl PassageOrder {
    /// Returns the order of the passages of segments, whose headers are given in the order of a later search.
    #[must_use]
    pub fn of(headers: &[&Header], scope: &DocScope) -> Self {
        let mut runs: Vec<Run<'_>> = Vec::new();
        for (segment, header) in headers.iter().enumerate() {
            add_runs(&header.docs, segment, scope, &mut runs);
        }
        runs.sort_by_key(|run| (run.stream, run.first));
        let mut layout = Layout {
            rows: headers.iter().map(|header| vec![NOWHERE; header.len()]).collect(),
            ..Layout::default()
        };
        for stream in runs.chunk_by(|a, b| a.stream == b.stream) {
            layout.add_stream(stream);
        }
        // A segment of which nothing is in scope is not read.
        layout.rows.iter_mut().filter(|rows| rows.iter().all(|at| *at == NOWHERE)).for_each(Vec::clear);
        let Layout { entries, rows, sessions, names, lens, sums, .. } = layout;
        let Names { all: names, passages: named, .. } = names;
        Self { base: Arc::new(Base { entries, rows, sessions, names, named, lens, sums }), tail: None }
    }

    /// Returns the order of the segments with the documents of a tail. This takes little time, unless the streams of the
    /// tail have many passages.
    #[must_use]
    pub fn with_tail(&self, tail: &Tail, scope: &DocScope) -> Self {
        let mut runs: Vec<Run<'_>> = Vec::new();
        add_runs(&tail.docs, 0, scope, &mut runs);
        runs.sort_by_key(|run| (run.stream, run.first));
        let base = &*self.base;
        let mut layout = Layout {
            first: base.entries.len() as u32,
            first_doc: base.lens.len() as u32,
            rows: vec![vec![NOWHERE; tail.docs.rows.len()]],
            sessions: base.sessions.clone(),
            names: Names::of(base.names.clone(), base.named.clone()),
            sums: base.sums,
            ..Layout::default()
        };
        for stream in runs.chunk_by(|a, b| a.stream == b.stream) {
            layout.extend_stream(stream, base);
        }
        let Layout { entries, mut rows, sessions, names, lens, sums, moved, .. } = layout;
        let rows = rows.pop().unwrap_or_default();
        let Names { all: names, passages: named, .. } = names;
        let added = Added { entries, moved, rows, sessions, names, named, lens, sums };
        Self { base: Arc::clone(&self.base), tail: Some(Box::new(added)) }
    }

    /// Returns the number of positions. Each passage has one; a position may have none.
    #[must_use]
    pub fn len(&self) -> usize {
        self.base.entries.len() + self.tail.as_ref().map_or(0, |tail| tail.entries.len())
    }

    /// Returns whether nothing is in scope.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns each passage that was said, with its position: the document and the number of the passage in it.
    pub fn passages(&self) -> impl Iterator<Item = (usize, DocKey, u32)> + '_ {
        (0..self.len()).filter_map(|at| {
            let entry = self.entry(at as u32).filter(|entry| !entry.traits.has(Traits::OUTSIDE))?;
            self.is_live(at as u32).then(|| (at, self.key(entry), entry.part))
        })
    }

    /// Returns the position of a passage whose position in the order without a tail is known.
    #[must_use]
    pub fn current(&self, position: usize) -> usize {
        u32::try_from(position).map_or(position, |at| self.moved_to(at) as usize)
    }

    /// Returns the position of a passage that was said. `guess` is looked at first: passages mostly follow each other.
    #[must_use]
    pub fn place(&self, passage: PassageKey, guess: u32) -> Option<u32> {
        let PassageKey { doc, part } = passage;
        let guessed = self.entry(guess).and_then(|entry| self.session(entry));
        let spoken = guessed
            .filter(|session| session.stream == doc.stream)
            .or_else(|| self.session_of(doc.stream))
            .map(|session| session.spoken.clone())?;
        let place = |at: u32| self.entry(at).map(|entry| (entry.seq, entry.part));
        let is_it = |at: &u32| spoken.contains(at) && place(*at) == Some((doc.seq, part));
        Some(guess).filter(is_it).or_else(|| {
            let (mut low, mut high) = (spoken.start, spoken.end);
            while low < high {
                let middle = low.midpoint(high);
                if place(middle) < Some((doc.seq, part)) { low = middle + 1 } else { high = middle }
            }
            Some(low).filter(is_it)
        })
    }

    fn session_of(&self, stream: u32) -> Option<&Session> {
        // Streams that only the tail has follow the others.
        let (base, added) = self.sessions().split_at_checked(self.base.sessions.len())?;
        let find = |sessions: &[Session]| sessions.binary_search_by_key(&stream, |one| one.stream).ok();
        find(base).and_then(|at| base.get(at)).or_else(|| find(added).and_then(|at| added.get(at)))
    }

    pub(crate) fn entry(&self, at: u32) -> Option<&Entry> {
        let at = at as usize;
        let added = || self.tail.as_ref()?.entries.get(at.checked_sub(self.base.entries.len())?);
        self.base.entries.get(at).or_else(added)
    }

    /// Returns the entries of a range of positions of one session.
    pub(crate) fn entries(&self, range: Range<u32>) -> &[Entry] {
        let (from, to, base) = (range.start as usize, range.end as usize, self.base.entries.len());
        let added = || self.tail.as_ref()?.entries.get(from.checked_sub(base)?..to.checked_sub(base)?);
        self.base.entries.get(from..to).or_else(added).unwrap_or_default()
    }

    pub(crate) fn key(&self, entry: &Entry) -> DocKey {
        let stream = self.session(entry).map_or(0, |session| session.stream);
        DocKey { stream, seq: entry.seq }
    }

    pub(crate) fn session(&self, entry: &Entry) -> Option<&Session> {
        self.sessions().get(entry.session as usize)
    }

    pub(crate) fn sessions(&self) -> &[Session] {
        self.tail.as_ref().map_or(&self.base.sessions, |tail| &tail.sessions)
    }

    pub(crate) fn names(&self) -> &[Box<str>] {
        self.tail.as_ref().map_or(&self.base.names, |tail| &tail.names)
    }

    /// Returns the number of passages of each name.
    pub(crate) fn named(&self) -> &[u64] {
        self.tail.as_ref().map_or(&self.base.named, |tail| &tail.named)
    }

    pub(crate) fn sums(&self) -> &Sums {
        self.tail.as_ref().map_or(&self.base.sums, |tail| &tail.sums)
    }

    /// Returns the length of a document in terms.
    pub(crate) fn doc_len(&self, doc: u32) -> u32 {
        let doc = doc as usize;
        let added = || self.tail.as_ref()?.lens.get(doc.checked_sub(self.base.lens.len())?);
        self.base.lens.get(doc).or_else(added).copied().unwrap_or_default()
    }

    /// Returns the positions among which a passage has its neighbours: those of its session, or itself alone.
    pub(crate) fn bounds(&self, at: u32, entry: &Entry) -> Range<u32> {
        let alone = || at..at + 1;
        if entry.traits.has(Traits::OUTSIDE) {
            return alone();
        }
        self.session(entry).map_or_else(alone, |session| session.spoken.clone())
    }

    /// Returns whether a position is one of a passage, and not one that it had before the tail.
    pub(crate) fn is_live(&self, at: u32) -> bool {
        self.moved_to(at) == at
    }

    /// Returns whether anything of a segment, or of the tail without one, may be in scope.
    pub(crate) fn has(&self, segment: Option<usize>) -> bool {
        segment.map_or(self.tail.is_some(), |segment| {
            self.base.rows.get(segment).is_some_and(|rows| !rows.is_empty())
        })
    }

    /// Returns the position of a row of a segment, or of the tail without one.
    pub(crate) fn position(&self, segment: Option<usize>, row: u32) -> Option<u32> {
        let rows = match segment {
            Some(segment) => self.base.rows.get(segment)?,
            None => &self.tail.as_ref()?.rows,
        };
        rows.get(row as usize).copied().filter(|at| *at != NOWHERE).map(|at| self.moved_to(at))
    }

    fn moved_to(&self, at: u32) -> u32 {
        let Some(tail) = &self.tail else { return at };
        let after = tail.moved.partition_point(|(from, _)| from.start <= at);
        let moved = after.checked_sub(1).and_then(|place| tail.moved.get(place));
        moved.filter(|(from, _)| from.contains(&at)).map_or(at, |(from, to)| to + (at - from.start))
    }
}

/// Rows of one stream that follow each other in a source.
struct Run<'d> {
    docs: &'d Docs,
    segment: usize,
    stream: u32,
    /// Position of the first document.
    first: u64,
    rows: Range<usize>,
}

/// Adds the visible runs of a source.
fn add_runs<'d>(docs: &'d Docs, segment: usize, scope: &DocScope, runs: &mut Vec<Run<'d>>) {
    let mut open = false;
    let mut last = None;
    for (row, (key, _)) in docs.keyed().enumerate() {
        let is_visible = if last.is_some_and(|(last, _)| last == key) { open } else { scope.contains(key) };
        let follows = open
            && last
                .is_some_and(|(last, _): (DocKey, usize)| last.stream == key.stream && last.seq <= key.seq);
        match runs.last_mut() {
            Some(run) if is_visible && follows => run.rows.end = row + 1,
            _ if is_visible => {
                runs.push(Run { docs, segment, stream: key.stream, first: key.seq, rows: row..row + 1 });
            }
            _ => {}
        }
        (open, last) = (is_visible, Some((key, row)));
    }
}

/// Names of speakers, each with its number from one on.
#[derive(Default)]
struct Names {
    all: Vec<Box<str>>,
    /// Number of passages of each name.
    passages: Vec<u64>,
    numbers: HashMap<Box<str>, u16>,
}

impl Names {
    fn of(all: Vec<Box<str>>, passages: Vec<u64>) -> Self {
        let numbers = (1..=u16::MAX).zip(&all).map(|(number, name)| (name.clone(), number)).collect();
        Self { all, passages, numbers }
    }

    /// Counts a passage of a row's speaker, and returns the number of the name.
    fn count(&mut self, docs: &Docs, row: Row) -> u16 {
        let Some(name) = docs.name(row) else { return 0 };
        let known = self.numbers.get(name).copied();
        let Some(number) = known.or_else(|| u16::try_from(self.all.len() + 1).ok()) else { return 0 };
        if known.is_none() {
            self.all.push(name.into());
            self.passages.push(0);
            self.numbers.insert(name.into(), number);
        }
        if let Some(passages) = self.passages.get_mut(usize::from(number) - 1) {
            *passages += 1;
        }
        number
    }
}

/// Positions under construction.
#[derive(Default)]
struct Layout {
    /// Position of the first entry, and number of the first document.
    first: u32,
    first_doc: u32,
    entries: Vec<Entry>,
    rows: Vec<Vec<u32>>,
    sessions: Vec<Session>,
    names: Names,
    lens: Vec<u32>,
    sums: Sums,
    moved: Vec<(Range<u32>, u32)>,
}

impl Layout {
    /// Appends a stream.
    fn add_stream(&mut self, runs: &[Run<'_>]) {
        let number = self.sessions.len();
        self.sessions
            .push(Session { stream: runs.first().map_or(0, |run| run.stream), ..Session::default() });
        self.add_rows(number, runs, &[]);
    }

    /// Adds rows to a stream. What was said in it is laid out again if something is added to that.
    fn extend_stream(&mut self, runs: &[Run<'_>], base: &Base) {
        let stream = runs.first().map_or(0, |run| run.stream);
        let Ok(number) = base.sessions.binary_search_by_key(&stream, |session| session.stream) else {
            return self.add_stream(runs);
        };
        let rows = runs.iter().filter_map(|run| run.docs.rows.get(run.rows.clone())).flatten();
        let is_said = rows.into_iter().any(|row| !row.traits.has(Traits::OUTSIDE));
        let spoken =
            base.sessions.get(number).filter(|_| is_said).map_or(0..0, |session| session.spoken.clone());
        let before = base.entries.get(spoken.start as usize..spoken.end as usize).unwrap_or_default();
        if !before.is_empty() {
            self.moved.push((spoken, self.next()));
        }
        self.add_rows(number, runs, before);
    }

    fn next(&self) -> u32 {
        self.first + self.entries.len() as u32
    }

    /// Appends the rows of a session after the entries that it has already.
    fn add_rows(&mut self, number: usize, runs: &[Run<'_>], before: &[Entry]) {
        let (start, mut outside) = (self.entries.len(), Vec::new());
        self.entries.extend_from_slice(before);
        let mut last = None;
        let mut part = 0;
        for run in runs {
            for at in run.rows.clone() {
                let Some(doc) = run.docs.doc_of.get(at) else { continue };
                if last.replace((run.segment, *doc)) != Some((run.segment, *doc)) {
                    let len = run.docs.all.get(*doc as usize).map_or(0, |doc| doc.len);
                    self.lens.push(len);
                    self.sums.docs += 1;
                    self.sums.terms += u64::from(len);
                    part = 0;
                }
                let Some(entry) = self.entry(number, run, at, part) else { continue };
                part += 1;
                if entry.traits.has(Traits::OUTSIDE) {
                    outside.push((run.segment, at, entry));
                } else {
                    self.place(run.segment, at, entry);
                }
            }
        }
        let end = self.entries.len();
        if end > start {
            self.end_session(number, start..end);
        }
        for (segment, at, entry) in outside {
            self.sums.outside += 1;
            self.sums.outside_terms += u64::from(entry.wide) / u64::from(window::OWN);
            self.place(segment, at, entry);
        }
    }

    /// Returns the entry of a row of the last document.
    fn entry(&mut self, session: usize, run: &Run<'_>, at: usize, part: u32) -> Option<Entry> {
        let (row, doc) = (*run.docs.rows.get(at)?, *run.docs.doc_of.get(at)?);
        Some(Entry {
            seq: run.docs.all.get(doc as usize)?.seq,
            session: session as u32,
            doc: (self.first_doc + self.lens.len() as u32).saturating_sub(1),
            wide: row.len.saturating_mul(window::OWN),
            part,
            len: u16::try_from(row.len).unwrap_or(u16::MAX),
            day: u16::try_from(row.day.0).unwrap_or(u16::MAX),
            speaker: self.names.count(run.docs, row),
            traits: row.traits,
        })
    }

    fn place(&mut self, segment: usize, row: usize, entry: Entry) {
        let next = self.next();
        if let Some(place) = self.rows.get_mut(segment).and_then(|rows| rows.get_mut(row)) {
            *place = next;
        }
        self.entries.push(entry);
    }

    /// Computes what depends on neighbours, and replaces a session's sums.
    fn end_session(&mut self, number: usize, range: Range<usize>) {
        let (Some(session), Some(entries)) =
            (self.sessions.get_mut(number), self.entries.get_mut(range.clone()))
        else {
            return;
        };
        mark_answers(entries);
        let lengths = window::lengths(entries);
        self.sums.spoken += entries.len() as u64 - u64::from(session.spoken.end - session.spoken.start);
        self.sums.lengths.replace(session.lengths, lengths);
        session.lengths = lengths;
        session.named = entries.iter().filter(|entry| entry.speaker > 0).count() as u32;
        session.spoken = self.first + range.start as u32..self.first + range.end as u32;
    }
}

impl Session {
    /// Returns the number of terms that were said.
    pub(crate) fn terms(&self) -> u64 {
        self.lengths.own
    }

    /// Returns whether people speak who are told apart by their names.
    pub(crate) fn is_chat(&self) -> bool {
        self.named > (self.spoken.end - self.spoken.start) / 2
    }
}

/// Marks the passages of documents that follow a question of another speaker.
fn mark_answers(entries: &mut [Entry]) {
    let who = |entry: &Entry| (entry.speaker, entry.traits.0 & (Traits::USER | Traits::ASSISTANT).0);
    let (mut doc, mut asked, mut follows) = (None, None, false);
    for entry in entries {
        if doc.replace(entry.doc) != Some(entry.doc) {
            follows = asked.is_some_and(|asker| asker != who(entry));
        }
        asked = entry.traits.has(Traits::QUESTION).then(|| who(entry));
        if follows {
            entry.traits |= Traits::ANSWER;
        }
    }
}
