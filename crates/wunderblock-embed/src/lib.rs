//! Meaning of texts as vectors, by a table that is part of the program. Nothing is downloaded, and no model runs.
//!
//! ```text
//! text ─ words ─► normalised words ─ pieces ─► numbers of rows ─ Σ weight × row ─► Vector: 256 bytes
//!                                                                                    │ scan, similarity
//!                                                                                    ▼
//!                                                                    0 (unrelated) … 1,023 (the same)
//! ```
//! The table holds a row for each word piece of a sentence encoder: what the encoder says about the piece alone, and
//! how much a piece says about a text. `table/make.py` makes it; `docs/design/0031-meaning.md` has the reasons and the
//! measurements. The table knows English, and words that English texts borrow.
//!
//! All sums are sums of integers, so the same text has the same vector, and two vectors the same similarity, on every
//! machine. A vector depends on its text and on [`Table::model`] alone; vectors of different models are not comparable.

mod pieces;
mod scan;
mod table;
mod vector;
mod words;

#[cfg(test)]
mod tests;

pub use scan::scan;
pub use table::Table;
pub use vector::{DIMENSIONS, MAX_SIMILARITY, Vector};
