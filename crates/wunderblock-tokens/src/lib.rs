//! Exact token counts with OpenAI's public vocabularies, which are embedded in the program. Nothing is downloaded.
//!
//! A text is cut into pieces (`piece`), and the bytes of each piece are merged by rank (`merge`). The ranks are read
//! from tables that the build prepares (`table`), so a process that counts one word pays for one word. Text that
//! looks like a special token, such as `<|endoftext|>`, is counted as ordinary text, as a provider treats it in
//! messages and tool results.
//!
//! A long run of one kind of character (one letter a million times, Chinese without punctuation) is one piece.
//! Merging a long piece takes about 30 bytes of memory per byte and O(n log n) time, so pieces of more than
//! [`STRETCH`] bytes are split. A split nearly always adds tokens, but greedy merging does not guarantee that. Each
//! split therefore adds `BLIND_CUT` tokens, which makes the result an upper bound in practice. Counts are exact if no
//! piece is longer than [`STRETCH`] bytes. If a piece is longer, counts are too high by at most a few tens of tokens
//! per further MiB.

mod class;
mod key;
mod layout;
mod memory;
mod merge;
mod piece;
mod table;

use memory::Memory;
use table::Table;

/// Maximum size, in bytes, of a piece that is counted exactly. Longer pieces are split, and their count is an upper
/// bound.
pub const STRETCH: usize = 1 << 20;

/// Number of tokens added for each split of a piece, so that the count is not too low.
const BLIND_CUT: usize = 8;

/// A vocabulary embedded in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vocabulary {
    /// `o200k_base`: GPT-4o and everything OpenAI released after it.
    O200k,
    /// `cl100k_base`: GPT-4 and GPT-3.5.
    Cl100k,
}

impl Vocabulary {
    /// Returns the number of tokens in `text`.
    #[must_use]
    pub fn count(self, text: &str) -> u32 {
        let total = memory::with(|memory| match self {
            Self::O200k => count(memory, self, text, &table::O200K, piece::o200k),
            Self::Cl100k => count(memory, self, text, &table::CL100K, piece::cl100k),
        });
        u32::try_from(total).unwrap_or(u32::MAX)
    }
}

fn count(
    memory: &mut Memory,
    vocabulary: Vocabulary,
    text: &str,
    table: &Table,
    end: impl Fn(&str, usize) -> usize,
) -> usize {
    let (mut at, mut total) = (0, 0);
    while at < text.len() {
        let next = end(text, at);
        let piece = text.get(at..next).unwrap_or_default();
        total += memory.count(vocabulary, piece.as_bytes(), || merge_all(table, piece));
        at = next;
    }
    total
}

/// Counts the tokens in a piece. A piece that is too long is split.
fn merge_all(table: &Table, piece: &str) -> usize {
    let (mut rest, mut total) = (piece, 0);
    // Text this long usually repeats itself, so the count of the previous stretch is reused if the next stretch is
    // equal: 50 MB of one letter take as long as the first MiB.
    let mut before = ("", 0);
    while rest.len() > STRETCH {
        let (head, tail) = rest.split_at(rest.floor_char_boundary(STRETCH));
        if head != before.0 {
            before = (head, merge::count(table, head.as_bytes()));
        }
        total += before.1 + BLIND_CUT;
        rest = tail;
    }
    total + merge::count(table, rest.as_bytes())
}

#[cfg(test)]
mod tests;
