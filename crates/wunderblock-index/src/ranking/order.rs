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
    /// What is made from headers.
    base: Arc<Layout>,
    /// What documents add that wait for the index: entries after those of the base, the lengths of the documents, and
    /// all sessions, names and sums.
    tail: Option<Box<Layout>>,
}

/// Positions of passages.
#[derive(Clone, Debug, Default)]
struct Layout {
    /// Position of the first entry, and number of the first document.
    first: u32,
    first_doc: u32,
    entries: Vec<Entry>,
    /// Position of each row of each source.
    rows: Vec<Vec<u32>>,
    /// Those of the base, ordered by stream, and then those that only the tail has, ordered by stream.
    sessions: Vec<Session>,
    names: Names,
    /// Length of each document.
    lens: Vec<u32>,
    sums: Sums,
    /// Ranges of the base that are laid out again, in order, and where.
    moved: Vec<(Range<u32>, u32)>,
}

/// Names of speakers, each with its number from one on.
#[derive(Clone, Debug, Default)]
struct Names {
    all: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u16>,
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
}

impl PassageOrder {
    /// Returns the order of the passages of segments, whose headers are given in the order of a later search.
    #[must_use]
    pub fn of(headers: &[&Header], scope: &DocScope) -> Self {
        let docs: Vec<&Docs> = headers.iter().map(|header| &header.docs).collect();
        let base = Layout::default().with(&docs, scope, &Layout::default());
        Self { base: Arc::new(base), tail: None }
    }

    /// Returns the order of the segments with the documents of a tail. This takes little time, unless the streams of the
    /// tail have many passages.
    #[must_use]
    pub fn with_tail(&self, tail: &Tail, scope: &DocScope) -> Self {
        let base = &*self.base;
        let tail = Layout {
            first: base.entries.len() as u32,
            first_doc: base.lens.len() as u32,
            sessions: base.sessions.clone(),
            names: base.names.clone(),
            sums: base.sums,
            ..Layout::default()
        }
        .with(&[&tail.docs], scope, base);
        Self { base: Arc::clone(&self.base), tail: Some(Box::new(tail)) }
    }

    /// Returns the layout that has all sessions, names and sums.
    fn whole(&self) -> &Layout {
        self.tail.as_deref().unwrap_or(&self.base)
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
            let entries = self.entries(spoken.clone());
            let before = entries.partition_point(|entry| (entry.seq, entry.part) < (doc.seq, part));
            Some(spoken.start + before as u32).filter(is_it)
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
        &self.whole().sessions
    }

    pub(crate) fn names(&self) -> &[Box<str>] {
        &self.whole().names.all
    }

    pub(crate) fn sums(&self) -> &Sums {
        &self.whole().sums
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
        self.rows(segment).is_some_and(|rows| !rows.is_empty())
    }

    fn rows(&self, segment: Option<usize>) -> Option<&Vec<u32>> {
        match segment {
            Some(segment) => self.base.rows.get(segment),
            None => self.tail.as_ref()?.rows.first(),
        }
    }

    /// Returns the position of a row of a segment, or of the tail without one.
    pub(crate) fn position(&self, segment: Option<usize>, row: u32) -> Option<u32> {
        self.rows(segment)?.get(row as usize).copied().filter(|at| *at != NOWHERE).map(|at| self.moved_to(at))
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
    /// Positions of the first and the last document.
    first: u64,
    last: u64,
    rows: Range<usize>,
}

/// Adds the visible runs of a source.
fn add_runs<'d>(docs: &'d Docs, segment: usize, scope: &DocScope, runs: &mut Vec<Run<'d>>) {
    let mut end = 0;
    for rows in docs.doc_of.chunk_by(|a, b| a == b) {
        let rows_of = end..end + rows.len();
        end = rows_of.end;
        let doc = rows.first().and_then(|doc| docs.all.get(*doc as usize));
        let Some(doc) = doc.filter(|doc| scope.contains(doc.key())) else { continue };
        let follows = |run: &&mut Run<'_>| {
            (run.segment, run.rows.end, run.stream) == (segment, rows_of.start, doc.stream)
                && run.last <= doc.seq
        };
        match runs.last_mut().filter(follows) {
            Some(run) => (run.rows.end, run.last) = (end, doc.seq),
            None => runs.push(Run {
                docs,
                segment,
                stream: doc.stream,
                first: doc.seq,
                last: doc.seq,
                rows: rows_of,
            }),
        }
    }
}

impl Names {
    /// Returns the number of the name of a row's speaker, zero without one.
    fn number(&mut self, docs: &Docs, row: Row) -> u16 {
        let Some(name) = docs.name(row) else { return 0 };
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let Ok(number) = u16::try_from(self.all.len() + 1) else { return 0 };
        self.all.push(name.into());
        self.numbers.insert(name.into(), number);
        number
    }
}

impl Layout {
    /// Adds the visible documents of sources after a base.
    fn with(mut self, sources: &[&Docs], scope: &DocScope, base: &Self) -> Self {
        let mut runs: Vec<Run<'_>> = Vec::new();
        for (segment, docs) in sources.iter().enumerate() {
            add_runs(docs, segment, scope, &mut runs);
            self.rows.push(vec![NOWHERE; docs.rows.len()]);
        }
        runs.sort_by_key(|run| (run.stream, run.first));
        for stream in runs.chunk_by(|a, b| a.stream == b.stream) {
            self.add_stream(stream, base);
        }
        // A segment of which nothing is in scope is not read.
        self.rows.iter_mut().filter(|rows| rows.iter().all(|at| *at == NOWHERE)).for_each(Vec::clear);
        self
    }

    /// Adds rows to a stream. What was said in it is laid out again if something is added to that.
    fn add_stream(&mut self, runs: &[Run<'_>], base: &Self) {
        let stream = runs.first().map_or(0, |run| run.stream);
        let known = base.sessions.binary_search_by_key(&stream, |session| session.stream);
        let number = known.unwrap_or(self.sessions.len());
        if number == self.sessions.len() {
            self.sessions.push(Session { stream, ..Session::default() });
        }
        let rows = runs.iter().filter_map(|run| run.docs.rows.get(run.rows.clone())).flatten();
        let is_said = rows.into_iter().any(|row| !row.traits.has(Traits::OUTSIDE));
        let spoken = base.sessions.get(number).filter(|_| is_said).map(|session| session.spoken.clone());
        let spoken = spoken.unwrap_or_default();
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
            speaker: self.names.number(run.docs, row),
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
            entry.traits = entry.traits | Traits::ANSWER;
        }
    }
}
