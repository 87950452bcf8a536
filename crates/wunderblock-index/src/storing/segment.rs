//! A segment: an immutable index over a batch of documents, as bytes to store.
//!
//! A segment has a header and numbered blocks, each of which can be read on its own. A look-up reads one block and
//! the header, which frequent callers keep in memory. Segments are never changed: [`mod@crate::storing::merge`] removes
//! documents by writing a new segment without them.

use crate::passages::passages;
use crate::passages::voice::Voice;
use crate::storing::block::{BLOCK_BYTES, Columns};
use crate::storing::docs::{DocKey, Docs, DocsWriter, Row};
use crate::storing::frame::{FrameKind, Framer, SegmentError};
use crate::storing::header::{self, MAX_DOCS};
use crate::storing::postings::{Posting, Postings};
use crate::storing::terms::Terms;
use crate::words::terms;

/// Bytes of a segment. The bytes of a segment are derived data, and must be stored together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Encoded header, read with [`crate::Header::decode`].
    pub header: Vec<u8>,
    /// Encoded blocks in order; a block's number is its index in this list.
    pub blocks: Vec<Vec<u8>>,
}

impl Segment {
    /// Returns the total size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.header.len() + self.blocks.iter().map(Vec::len).sum::<usize>()
    }
}

/// Collects documents into a segment.
#[derive(Default)]
pub struct SegmentBuilder {
    docs: DocsWriter,
    /// Complete rows of the current document.
    rows: Vec<Row>,
    /// Length of the current row of whole texts, if there is one.
    whole: Option<u32>,
    terms: Terms,
    /// Numbers of the distinct terms in the current row.
    touched: Vec<u32>,
    /// Postings with their term numbers, ordered by row.
    entries: Vec<(u32, Posting)>,
}

impl SegmentBuilder {
    /// Creates an empty builder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of documents added.
    #[must_use]
    pub fn len(&self) -> usize {
        self.docs.docs().all.len()
    }

    /// Returns whether no documents have been added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a document of whole texts. Documents must be added oldest first, and each only once.
    ///
    /// # Errors
    /// Returns [`SegmentError::Full`] if the segment already has [`MAX_DOCS`] rows.
    pub fn add<'t>(
        &mut self,
        key: DocKey,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Result<(), SegmentError> {
        for text in texts {
            self.add_text(text)?;
        }
        self.end_document(key)
    }

    /// Adds a text to the current document, to be found by its words alone, such as the output of a tool; call
    /// [`SegmentBuilder::end_document`] to end the document. Such texts form one row as long as nothing that was said
    /// is between them, and do not have to be in memory at the same time.
    ///
    /// # Errors
    /// Returns [`SegmentError::Full`] if the segment already has [`MAX_DOCS`] rows.
    pub fn add_text(&mut self, text: &str) -> Result<(), SegmentError> {
        self.room()?;
        let len = self.count_all(text);
        self.whole = Some(self.whole.unwrap_or(0).saturating_add(len));
        Ok(())
    }

    /// Adds a text that was said to the current document, as passages.
    ///
    /// # Errors
    /// Returns [`SegmentError::Full`] if the segment already has [`MAX_DOCS`] rows.
    pub fn add_spoken(&mut self, voice: &Voice<'_>, text: &str) -> Result<(), SegmentError> {
        self.end_whole();
        for passage in passages(voice, text) {
            self.room()?;
            let len = self.count_all(passage.indexed);
            self.end_row();
            self.rows.push(self.docs.row(voice, passage.traits, len));
        }
        Ok(())
    }

    /// Ends the current document, which may be empty, and assigns its key.
    ///
    /// # Errors
    /// Returns [`SegmentError::Full`] if the segment already has [`MAX_DOCS`] rows.
    pub fn end_document(&mut self, key: DocKey) -> Result<(), SegmentError> {
        self.room()?;
        self.end_whole();
        self.docs.end_document(key, &mut self.rows);
        Ok(())
    }

    fn room(&self) -> Result<(), SegmentError> {
        if self.row() < MAX_DOCS { Ok(()) } else { Err(SegmentError::Full { most: MAX_DOCS }) }
    }

    /// Returns the number of the current row.
    fn row(&self) -> usize {
        self.docs.docs().rows.len() + self.rows.len()
    }

    /// Ends the row of whole texts, if there is one.
    fn end_whole(&mut self) {
        if let Some(len) = self.whole.take() {
            self.end_row();
            self.rows.push(Row { len, ..Row::WHOLE });
        }
    }

    fn end_row(&mut self) {
        for term in self.touched.drain(..) {
            if let Some(posting) = self.terms.latest(term) {
                self.entries.push((term, *posting));
            }
        }
    }

    /// Counts the terms of a text in the current row. Returns their number.
    fn count_all(&mut self, text: &str) -> u32 {
        let (row, mut len) = (self.row() as u32, 0u32);
        terms(text, |term| {
            len = len.saturating_add(1);
            self.count(row, term);
        });
        len
    }

    fn count(&mut self, doc: u32, term: &[u8]) {
        let number = self.terms.number(term);
        let Some(latest) = self.terms.latest(number) else { return };
        if latest.doc != doc {
            *latest = Posting { doc, count: 0 };
        }
        if latest.count == 0 {
            self.touched.push(number);
        }
        latest.count = latest.count.saturating_add(1);
    }

    /// Builds the segment of the added documents.
    ///
    /// # Errors
    /// Returns [`SegmentError::Compressor`] if memory is short.
    pub fn finish(self) -> Result<Segment, SegmentError> {
        let docs = self.docs.finish();
        let (starts, grouped) = group(self.terms.len(), &self.entries);
        let mut writer = SegmentWriter::new()?;
        let mut postings = Postings::default();
        for number in self.terms.sorted() {
            let place = number as usize;
            let range = starts.get(place).copied().zip(starts.get(place + 1).copied());
            postings.clear();
            for posting in range.and_then(|(from, to)| grouped.get(from..to)).unwrap_or_default() {
                postings.push(*posting);
            }
            writer.push(self.terms.term(number), &postings)?;
        }
        writer.finish(&docs)
    }
}

/// Groups entries by term, keeping the order of documents. Returns the start of each term's group, and all groups.
fn group(terms: usize, entries: &[(u32, Posting)]) -> (Vec<usize>, Vec<Posting>) {
    let mut ends = vec![0usize; terms + 1];
    for (term, _) in entries {
        if let Some(end) = ends.get_mut(*term as usize) {
            *end += 1;
        }
    }
    let mut sum = 0;
    for end in &mut ends {
        sum += *end;
        *end = sum;
    }
    let mut grouped = vec![Posting { doc: 0, count: 0 }; entries.len()];
    // Filling backwards turns each end into the start of its group.
    for (term, posting) in entries.iter().rev() {
        if let Some(end) = ends.get_mut(*term as usize) {
            *end -= 1;
            if let Some(place) = grouped.get_mut(*end) {
                *place = *posting;
            }
        }
    }
    (ends, grouped)
}

/// Writes a segment from sorted terms.
pub(crate) struct SegmentWriter {
    framer: Framer,
    columns: Columns,
    first_terms: Vec<Box<[u8]>>,
    blocks: Vec<Vec<u8>>,
}

impl SegmentWriter {
    pub(crate) fn new() -> Result<Self, SegmentError> {
        let (columns, first_terms, blocks) = (Columns::default(), Vec::new(), Vec::new());
        Ok(Self { framer: Framer::new()?, columns, first_terms, blocks })
    }

    /// Appends a term. Terms must be in ascending order and have at least one posting.
    pub(crate) fn push(&mut self, term: &[u8], postings: &Postings) -> Result<(), SegmentError> {
        // A frequent term begins a separate block, so that reading its neighbours stays cheap.
        if self.columns.bytes() + postings.bytes.len() > 2 * BLOCK_BYTES {
            self.flush()?;
        }
        self.columns.push(term, postings);
        if self.columns.bytes() >= BLOCK_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), SegmentError> {
        if !self.columns.is_empty() {
            let (first_term, raw) = self.columns.finish();
            self.blocks.push(self.framer.wrap(FrameKind::Block, &raw)?);
            self.first_terms.push(first_term.into());
        }
        Ok(())
    }

    pub(crate) fn part(mut self) -> Result<SegmentPart, SegmentError> {
        self.flush()?;
        Ok(SegmentPart { first_terms: self.first_terms, blocks: self.blocks })
    }

    pub(crate) fn finish(self, docs: &Docs) -> Result<Segment, SegmentError> {
        SegmentPart::join(vec![self.part()?], docs)
    }
}

/// Neighbouring blocks of a segment under construction.
pub struct SegmentPart {
    first_terms: Vec<Box<[u8]>>,
    blocks: Vec<Vec<u8>>,
}

impl SegmentPart {
    /// Joins all parts, in order, into a segment.
    pub(crate) fn join(parts: Vec<Self>, docs: &Docs) -> Result<Segment, SegmentError> {
        let (mut first_terms, mut blocks) = (Vec::new(), Vec::new());
        for part in parts {
            first_terms.extend(part.first_terms);
            blocks.extend(part.blocks);
        }
        let header = header::encode(docs, &first_terms, &mut Framer::new()?)?;
        Ok(Segment { header, blocks })
    }
}
