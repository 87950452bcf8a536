//! Documents of a segment or of the tail, and their passages.
//!
//! A document is an event; a row is one of its passages, or a text as a whole. Postings name rows, and the rows of a
//! document are neighbours, so a search that judges whole documents adds them up.

use crate::passages::traits::Traits;
use crate::passages::voice::{Day, Voice};
use crate::storing::postings::{Posting, Postings};
use std::collections::{BTreeMap, HashMap};

/// Identifies a document by the store's number for its stream and by the document's position in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocKey {
    /// Number of the stream.
    pub stream: u32,
    /// Position in the stream.
    pub seq: u64,
}

/// A document of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Doc {
    pub(crate) seq: u64,
    pub(crate) stream: u32,
    /// Length of the document in terms: that of its rows.
    pub(crate) len: u32,
}

impl Doc {
    pub(crate) const fn key(self) -> DocKey {
        DocKey { stream: self.stream, seq: self.seq }
    }
}

/// A passage of a document, or a text as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// Length in terms.
    pub(crate) len: u32,
    pub(crate) day: Day,
    pub(crate) traits: Traits,
    /// Number of the speaker's name, from one on; zero without a name.
    pub(crate) speaker: u16,
}

impl Row {
    /// A text as a whole, of which nothing else is known.
    pub(crate) const WHOLE: Self = Self { len: 0, day: Day::UNKNOWN, traits: Traits::OUTSIDE, speaker: 0 };
}

/// Documents of a segment, oldest first, with their rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Docs {
    pub(crate) all: Vec<Doc>,
    pub(crate) rows: Vec<Row>,
    /// Number of the document of each row.
    pub(crate) doc_of: Vec<u32>,
    /// Names of speakers, in the order of their first rows.
    pub(crate) names: Vec<Box<str>>,
    /// First and last position of each stream.
    pub(crate) spans: BTreeMap<u32, (u64, u64)>,
}

impl Docs {
    /// Returns the name of a row's speaker.
    pub(crate) fn name(&self, row: Row) -> Option<&str> {
        usize::from(row.speaker).checked_sub(1).and_then(|at| self.names.get(at)).map(|name| &**name)
    }

    /// Returns the rows with the keys of their documents.
    pub(crate) fn keyed(&self) -> impl Iterator<Item = (DocKey, Row)> + '_ {
        self.doc_of
            .iter()
            .zip(&self.rows)
            .filter_map(|(doc, row)| Some((self.all.get(*doc as usize)?.key(), *row)))
    }

    /// Returns postings by document, given postings by row.
    pub(crate) fn by_document(&self, rows: Postings) -> Postings {
        if self.rows.len() == self.all.len() {
            return rows;
        }
        let (mut packed, mut current) = (Postings::default(), None::<Posting>);
        for posting in rows.iter() {
            let Some(doc) = self.doc_of.get(posting.doc as usize).copied() else { continue };
            match &mut current {
                Some(sum) if sum.doc == doc => sum.count = sum.count.saturating_add(posting.count),
                _ => {
                    current.iter().for_each(|sum| packed.push(*sum));
                    current = Some(Posting { doc, ..posting });
                }
            }
        }
        current.iter().for_each(|sum| packed.push(*sum));
        packed
    }
}

/// Collects documents.
#[derive(Default)]
pub(crate) struct DocsWriter {
    docs: Docs,
    numbers: HashMap<Box<str>, u16>,
    /// Whether the next row begins a document, whatever its key.
    is_closed: bool,
}

impl DocsWriter {
    pub(crate) fn docs(&self) -> &Docs {
        &self.docs
    }

    /// Appends a row. Rows that follow each other with the same key are rows of one document.
    pub(crate) fn push(&mut self, key: DocKey, row: Row) {
        let is_closed = std::mem::take(&mut self.is_closed);
        match self.docs.all.last_mut().filter(|doc| !is_closed && doc.key() == key) {
            Some(doc) => doc.len = doc.len.saturating_add(row.len),
            None => self.docs.all.push(Doc { seq: key.seq, stream: key.stream, len: row.len }),
        }
        self.docs.rows.push(row);
        self.docs.doc_of.push((self.docs.all.len() - 1) as u32);
    }

    /// Appends a row of other documents.
    pub(crate) fn copy(&mut self, from: &Docs, key: DocKey, row: Row) {
        let speaker = from.name(row).map_or(0, |name| self.speaker(name));
        self.push(key, Row { speaker, ..row });
    }

    /// Ends the current document.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Returns a row of something that was said.
    pub(crate) fn row(&mut self, voice: &Voice<'_>, traits: Traits, len: u32) -> Row {
        let speaker = voice.name.map_or(0, |name| self.speaker(name));
        Row { len, day: voice.day, traits, speaker }
    }

    /// Appends a document and takes its rows. A document without rows gets an empty one.
    pub(crate) fn end_document(&mut self, key: DocKey, rows: &mut Vec<Row>) {
        if rows.is_empty() {
            self.push(key, Row::WHOLE);
        }
        rows.drain(..).for_each(|row| self.push(key, row));
    }

    /// Returns the number of a speaker's name. A segment tells 65,535 speakers apart; later ones have no name.
    pub(crate) fn speaker(&mut self, name: &str) -> u16 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let Ok(number) = u16::try_from(self.docs.names.len() + 1) else { return 0 };
        self.docs.names.push(name.into());
        self.numbers.insert(name.into(), number);
        number
    }

    pub(crate) fn finish(mut self) -> Docs {
        for run in self.docs.all.chunk_by(|a, b| a.stream == b.stream) {
            let positions = run.iter().map(|doc| doc.seq);
            if let (Some(doc), Some(low), Some(high)) =
                (run.first(), positions.clone().min(), positions.max())
            {
                let span = self.docs.spans.entry(doc.stream).or_insert((low, high));
                *span = (span.0.min(low), span.1.max(high));
            }
        }
        self.docs
    }
}
