//! The table: a row and a weight for each piece, and the vector of a text made of them.

use crate::pieces::Pieces;
use crate::vector::{DIMENSIONS, Vector};
use crate::words::each_word;

pub(crate) static EMBEDDED: &[u8] = include_bytes!("../table/minilm.table");

/// First bytes of a table's file, with the version of its layout.
const MAGIC: &[u8; 8] = b"wbtable1";

/// Maximum number of rows whose sum fits in 32 bits: 255 × 65,535 × 127 < 2³¹.
const MAX_SUMMED: usize = 255;

/// A table that gives texts their vectors.
#[derive(Clone, Copy, Debug, Default)]
pub struct Table {
    model: &'static str,
    pieces: Pieces,
    /// How much each piece says about a text, times the scale of its row. Pieces after the last weight are known, but
    /// not what they mean.
    weights: &'static [[u8; 2]],
    rows: &'static [[u8; DIMENSIONS]],
}

/// Bytes of words of a text, by whether the table knows their meaning. Numbers and punctuation are in neither.
#[derive(Default)]
struct ReadBytes {
    known: usize,
    unknown: usize,
}

impl Table {
    /// Returns the table that is part of the program. Nothing is unpacked; pages are read when they are used.
    #[must_use]
    pub fn embedded() -> Self {
        Self::read(EMBEDDED).unwrap_or_default()
    }

    /// Reads the layout that `table/make.py` writes.
    pub(crate) fn read(bytes: &'static [u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let mut counts = [0; 5];
        for count in &mut counts {
            let (number, after) = rest.split_first_chunk()?;
            *count = u32::from_le_bytes(*number) as usize;
            rest = after;
        }
        let [model, pieces, slots, bytes, rows] = counts;
        let mut next = |length: usize| {
            let (part, after) = rest.split_at_checked(length)?;
            rest = after;
            Some(part)
        };
        Some(Self {
            model: std::str::from_utf8(next(model)?).ok()?,
            pieces: Pieces {
                slots: next(slots * 2)?.as_chunks().0,
                ends: next(pieces * 4)?.as_chunks().0,
                bytes: next(bytes)?,
            },
            weights: next(rows * 2)?.as_chunks().0,
            rows: next(rows * DIMENSIONS)?.as_chunks().0,
        })
    }

    /// Returns the name of what made the vectors: encoder, dimensions, version of the weights, digest of the table.
    ///
    /// Vectors are comparable only if these names are equal.
    #[must_use]
    pub fn model(&self) -> &'static str {
        self.model
    }

    /// Tells whether most of a text's words, counted by their bytes, are in a script of which the table knows words.
    ///
    /// It knows words in Latin letters. Other scripts have letters in the table, but no meaning.
    #[must_use]
    pub fn knows(&self, text: &str) -> bool {
        self.read_words(text, |_| ()).is_known()
    }

    /// Returns the vector of a text, or `None` if the text has no known piece or [is not known](Self::knows).
    #[must_use]
    pub fn vector(&self, text: &str) -> Option<Vector> {
        let mut sums = Sums { all: [0; DIMENSIONS], last: [0; DIMENSIONS], summed: 0 };
        let read = self.read_words(text, |numbers| {
            for number in numbers {
                let at = usize::from(*number);
                if let Some((weight, row)) = self.weights.get(at).zip(self.rows.get(at)) {
                    sums.add(u16::from_le_bytes(*weight), row);
                }
            }
        });
        read.is_known().then(|| Vector::normalised(&sums.total())).flatten()
    }

    /// Calls `each` with the pieces of every word whose pieces all have a row.
    fn read_words(&self, text: &str, mut each: impl FnMut(&[u16])) -> ReadBytes {
        let (mut read, mut numbers) = (ReadBytes::default(), Vec::new());
        each_word(text, |word| {
            self.pieces.of(word, &mut numbers);
            let has_rows = |numbers: &[u16]| numbers.iter().all(|at| usize::from(*at) < self.rows.len());
            let known = !numbers.is_empty() && has_rows(&numbers);
            if known {
                each(&numbers);
            }
            if word.contains(char::is_alphabetic) {
                *if known { &mut read.known } else { &mut read.unknown } += word.len();
            }
        });
        read
    }

    #[cfg(test)]
    pub(crate) fn pieces(&self) -> &Pieces {
        &self.pieces
    }
}

impl ReadBytes {
    const fn is_known(&self) -> bool {
        self.known >= self.unknown
    }
}

/// Sums of rows. The last few are summed in 32 bits, which takes half the time.
struct Sums {
    all: [i64; DIMENSIONS],
    last: [i32; DIMENSIONS],
    summed: usize,
}

impl Sums {
    fn add(&mut self, weight: u16, row: &[u8; DIMENSIONS]) {
        if self.summed == MAX_SUMMED {
            self.all = self.total();
            (self.last, self.summed) = ([0; DIMENSIONS], 0);
        }
        for (sum, value) in self.last.iter_mut().zip(row) {
            *sum += i32::from(weight) * i32::from(value.cast_signed());
        }
        self.summed += 1;
    }

    fn total(&self) -> [i64; DIMENSIONS] {
        std::array::from_fn(|at| {
            let last = self.last.get(at).copied().unwrap_or_default();
            self.all.get(at).copied().unwrap_or_default() + i64::from(last)
        })
    }
}
