//! Exact counts with OpenAI's public vocabularies, which are part of the program: nothing is ever downloaded.
//!
//! A text is cut into pieces (`piece`), and the bytes of each piece are merged by rank (`merge`). The ranks are
//! looked up in tables that the build prepares (`table`), so that a process which counts one word pays for one word.
//! Text that looks like a special token, such as `<|endoftext|>`, is counted as the ordinary text it is: a provider does
//! the same with what users and tools say.
//!
//! A long run of one kind (one letter a million times, Chinese without punctuation) is one piece, and merging it needs
//! about 30 bytes of memory per byte and time n·log n. Pieces of more than [`STRETCH`] bytes are therefore cut through.
//! Such a cut nearly always adds tokens, but greedy merging gives no guarantee of it, so `BLIND_CUT` tokens are added,
//! and the result stays an upper bound in practice: exact up to [`STRETCH`] bytes in one piece, too high by at most some
//! tens of tokens per further MiB.

mod class;
mod key;
mod layout;
mod memory;
mod merge;
mod piece;
mod table;

use memory::Memory;
use table::Table;

/// Texts up to this many bytes are always counted exactly, and longer ones unless one piece has more bytes than this.
pub const STRETCH: usize = 1 << 20;

/// Tokens added for each cut through a piece.
const BLIND_CUT: usize = 8;

/// A vocabulary that is part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vocabulary {
    /// `o200k_base`: GPT-4o and everything OpenAI released after it.
    O200k,
    /// `cl100k_base`: GPT-4 and GPT-3.5.
    Cl100k,
}

impl Vocabulary {
    /// Number of tokens of `text`.
    #[must_use]
    pub fn count(self, text: &str) -> u32 {
        let total = memory::with(|memory| match self {
            Self::O200k => count(memory, self, text, (&table::O200K, piece::o200k)),
            Self::Cl100k => count(memory, self, text, (&table::CL100K, piece::cl100k)),
        });
        u32::try_from(total).unwrap_or(u32::MAX)
    }
}

fn count(
    memory: &mut Memory,
    vocabulary: Vocabulary,
    text: &str,
    (table, end): (&Table, impl Fn(&str, usize) -> usize),
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

/// Counts a piece that is not remembered.
fn merge_all(table: &Table, piece: &str) -> usize {
    let (mut rest, mut total) = (piece, 0);
    // What is that long repeats itself: 50 MB of one letter take as long as the first MiB.
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
