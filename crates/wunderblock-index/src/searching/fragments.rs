//! Finds the documents that may contain a string, which need not consist of whole words.
//!
//! If a text contains the string, one of its terms contains each word of the string: a word is folded in the same way
//! everywhere, and an identifier is a term as a whole. The terms are searched for these *fragments*, so a search for a
//! string that occurs nowhere reads the terms instead of the texts. Two properties of terms are taken into account:
//! an ending may be missing ([`crate::words`]), and a word may be cut off.

use crate::storing::block::{BlockTerms, TermBlock};
use crate::storing::frame::SegmentError;
use crate::storing::header::Header;
use crate::words::{Lexeme, MAX_TERM_BYTES, cut, pairs};
use memchr::memmem::Finder;

/// Maximum number of fragments: a document's fragments are the bits of a byte.
const MAX_FRAGMENTS: usize = 8;
/// Minimum length of a fragment in bytes. Shorter fragments occur in most documents, or only in an ending that a term
/// has lost.
const MIN_BYTES: usize = 3;
/// Length in bytes from which a term may be the beginning of a longer word: [`MAX_TERM_BYTES`] without an incomplete
/// character and a lost ending.
const CUT_OFF_BYTES: usize = MAX_TERM_BYTES - 5;

/// Parts of words that a text must contain.
#[derive(Debug)]
pub struct Fragments {
    finders: Vec<Finder<'static>>,
    /// Term whose documents may contain anything.
    wildcard: &'static str,
}

/// A document by its place among [`Header::docs`], and the fragments that it contains as bits.
pub type DocFragments = (u32, u8);

impl Fragments {
    /// Returns the fragments of strings that a text must contain, or `None` if the strings have no fragment. If
    /// `ignore_case` is true, the text may contain the strings in any case. Documents with the term `wildcard` may
    /// contain any string.
    #[must_use]
    pub fn of(strings: &[String], ignore_case: bool, wildcard: &'static str) -> Option<Self> {
        let mut words: Vec<Vec<u8>> = Vec::new();
        let mut add = |word: &[u8]| {
            let word = without_ending(word);
            if word.len() >= MIN_BYTES {
                words.push(word.to_vec());
            }
        };
        for string in strings {
            cut(string, |part| match part {
                // In any case, `s` may be written as `ſ`, and other letters outside ASCII have relatives too.
                Lexeme::Piece(word) | Lexeme::Whole(word) if ignore_case => {
                    word.split(|byte| *byte == b's' || !byte.is_ascii()).for_each(&mut add);
                }
                Lexeme::Piece(word) | Lexeme::Whole(word) => add(word),
                Lexeme::Run(run) => {
                    let last = pairs(run, &mut add);
                    if last.len() == run.len() {
                        add(last.as_bytes());
                    }
                }
            });
        }
        // The longest fragments exclude the most documents.
        words.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        words.dedup();
        words.truncate(MAX_FRAGMENTS);
        let finders: Vec<_> = words.iter().map(|word| Finder::new(word).into_owned()).collect();
        (!finders.is_empty()).then_some(Self { finders, wildcard })
    }

    /// Finds the fragments in a block of a segment. A document may be returned several times.
    ///
    /// # Errors
    /// Fails if the block is damaged, or if it does not belong to the segment.
    pub fn find(
        &self,
        header: &Header,
        number: u32,
        frame: &[u8],
    ) -> Result<Vec<DocFragments>, SegmentError> {
        let terms = BlockTerms::decode(frame)?;
        if header.first_terms.get(number as usize).map(AsRef::as_ref) != terms.iter().next() {
            let what = "the first term of a block does not match the header";
            return Err(SegmentError::Malformed { what });
        }
        let mut wanted: Vec<(usize, u8)> = Vec::new();
        for (bit, finder) in self.finders.iter().enumerate() {
            wanted.extend(terms.containing(finder).map(|at| (at, 1 << bit)));
        }
        let is_wild = |term: &[u8]| term.len() >= CUT_OFF_BYTES || term == self.wildcard.as_bytes();
        wanted
            .extend(terms.iter().enumerate().filter(|(_, term)| is_wild(term)).map(|(at, _)| (at, u8::MAX)));
        let mut found = Vec::new();
        // Most blocks have none of the terms, and finding postings takes as long as everything before.
        if !wanted.is_empty() {
            let block = TermBlock::of(terms)?;
            for (at, bits) in wanted {
                let postings = block.postings(at, header.len() as u32)?;
                let docs = postings.iter().filter_map(|row| header.docs.doc_of.get(row.doc as usize));
                found.extend(docs.map(|doc| (*doc, bits)));
            }
        }
        Ok(found)
    }

    /// Returns whether these bits are those of all fragments.
    #[must_use]
    pub fn are_all(&self, bits: u8) -> bool {
        bits.trailing_ones() >= self.finders.len() as u32
    }
}

/// Returns a word without an ending that the terms of longer words may lack ([`crate::words`], plurals): `s`, and `ie`
/// and `ies`, of which the word may have only the beginning.
fn without_ending(word: &[u8]) -> &[u8] {
    match word {
        [start @ .., b'i', b'e', b's'] | [start @ .., b'i', b'e'] | [start @ .., b'i' | b's'] => start,
        _ => word,
    }
}
