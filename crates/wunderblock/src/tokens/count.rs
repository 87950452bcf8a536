//! Exact counts with OpenAI's public vocabularies, which are part of the program: nothing is ever downloaded.
//!
//! A vocabulary is unpacked at its first use (some 70 ms for o200k, 30 ms for cl100k) and kept; a program that counts
//! nothing pays nothing. Text that looks like a special token, such as `<|endoftext|>`, is counted as the ordinary
//! text it is: a provider does the same with what users and tools say.
//!
//! **How long texts are cut.** Byte pair encoding works inside *pieces*: words, runs of digits, of punctuation, of
//! white space. A run without any seam (one letter a million times, Chinese without punctuation) is one piece, and its
//! encoding needs about 30 bytes of memory per byte and time n·log n. Texts are therefore counted in stretches of at
//! most [`STRETCH`] bytes. A stretch ends at a seam that both vocabularies always split at (see `is_seam`), and the
//! count stays exact. Only where a whole stretch has no seam is a piece itself cut. Such a cut nearly always adds
//! tokens, but greedy merging gives no guarantee of it, so [`BLIND_CUT`] tokens are added, and the result stays an
//! upper bound in practice: exact up to [`STRETCH`] bytes without a seam, too high by at most some tens of tokens per
//! further MiB.

use std::sync::OnceLock;
use tiktoken::{CoreBpe, encoding};

/// Texts up to this many bytes are always counted exactly, and longer ones unless they have this many bytes without a
/// seam.
pub const STRETCH: usize = 1 << 20;

/// Tokens added for each cut through a piece.
const BLIND_CUT: u64 = 8;

/// A vocabulary that is part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vocabulary {
    /// `o200k_base`: GPT-4o and everything OpenAI released after it.
    O200k,
    /// `cl100k_base`: GPT-4 and GPT-3.5.
    Cl100k,
}

static O200K: OnceLock<CoreBpe> = OnceLock::new();
static CL100K: OnceLock<CoreBpe> = OnceLock::new();

impl Vocabulary {
    fn encoder(self) -> &'static CoreBpe {
        match self {
            Self::O200k => O200K.get_or_init(encoding::o200k_base),
            Self::Cl100k => CL100K.get_or_init(encoding::cl100k_base),
        }
    }

    /// How many tokens `text` is.
    #[must_use]
    pub fn count(self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        let encoder = self.encoder();
        let (mut rest, mut total) = (text, 0_u64);
        while rest.len() > STRETCH {
            let (at, exact) = cut(rest);
            let (head, tail) = rest.split_at(at);
            total += encoder.count(head) as u64 + if exact { 0 } else { BLIND_CUT };
            rest = tail;
        }
        total += encoder.count(rest) as u64;
        u32::try_from(total).unwrap_or(u32::MAX)
    }
}

/// Where to cut a text longer than [`STRETCH`], and whether the cut is at a seam. Never 0.
fn cut(text: &str) -> (usize, bool) {
    let bytes = text.as_bytes();
    let window = bytes.get(..=STRETCH).unwrap_or(bytes);
    // From the back: the longer the stretch, the fewer the cuts.
    let seam =
        window.windows(2).rposition(|pair| matches!(pair, [before, after] if is_seam(*before, *after)));
    match seam {
        Some(at) => (at + 1, true),
        None => (text.floor_char_boundary(STRETCH), false),
    }
}

/// Whether both vocabularies split between these two bytes whatever stands around them.
///
/// Their patterns take white space only in front of a word or by itself, so a piece never goes on after a letter or a
/// digit with white space, and digits never share a piece with letters. Neither does what is before the seam look
/// ahead: only white space and contractions do, and neither ends in a letter or digit that white space or the other
/// kind could change.
const fn is_seam(before: u8, after: u8) -> bool {
    match after {
        b' ' | b'\n' | b'\r' | b'\t' => before.is_ascii_alphanumeric(),
        b'0'..=b'9' => before.is_ascii_alphabetic(),
        _ => before.is_ascii_digit() && after.is_ascii_alphabetic(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BOTH: [Vocabulary; 2] = [Vocabulary::O200k, Vocabulary::Cl100k];

    #[test]
    fn counts_are_those_of_the_published_vocabularies() {
        // (text, o200k, cl100k): counts of the published vocabularies, not of this program.
        let table = [
            ("", 0, 0),
            ("hello world", 2, 2),
            ("tiktoken is great!", 6, 6),
            ("antidisestablishmentarianism", 6, 6),
            ("2 + 2 = 4", 7, 7),
            ("お誕生日おめでとう", 8, 9),
        ];
        for (text, o200k, cl100k) in table {
            assert_eq!(Vocabulary::O200k.count(text), o200k, "{text:?} in o200k");
            assert_eq!(Vocabulary::Cl100k.count(text), cl100k, "{text:?} in cl100k");
        }
    }

    #[test]
    fn special_tokens_are_ordinary_text() {
        for vocabulary in BOTH {
            let whole = vocabulary.count("<|endoftext|>");
            assert!(whole > 3, "{vocabulary:?} counted {whole}");
            assert!(vocabulary.count("<|im_start|>") > 1);
        }
    }

    #[test]
    fn long_texts_with_seams_are_counted_exactly() {
        let line = "fn next(&mut self) -> Option<u32> { self.left.checked_sub(1) } // 2031 字\n";
        let text = line.repeat(3 * STRETCH / line.len());
        for vocabulary in BOTH {
            assert_eq!(u64::from(vocabulary.count(&text)), vocabulary.encoder().count(&text) as u64);
        }
    }

    #[test]
    fn a_run_without_seams_is_never_counted_too_low() {
        for unit in ["a", " ", "\n", "=", "é", "字", "的是不", "🙂"] {
            let text = unit.repeat((STRETCH + STRETCH / 8) / unit.len());
            for vocabulary in BOTH {
                let (ours, whole) =
                    (u64::from(vocabulary.count(&text)), vocabulary.encoder().count(&text) as u64);
                assert!(ours > whole && ours <= whole + 2 * BLIND_CUT, "{unit:?}: {ours} for {whole}");
            }
        }
    }

    #[test]
    fn threads_count_alike() {
        let text = "The same text, counted on four threads at once. 同一段文字。\n".repeat(200);
        let here = Vocabulary::O200k.count(&text);
        let counts: Vec<u32> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| Vocabulary::O200k.count(&text))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(counts, [here; 4]);
    }

    proptest! {
        #[test]
        fn seams_split_exactly(text in "([a-zA-Z0-9'é字 \n\t\r/.,;(){}=-]|'s|'LL|  |\n\n|12|Ab){0,60}") {
            let bytes = text.as_bytes();
            for at in 1..bytes.len() {
                if !is_seam(bytes[at - 1], bytes[at]) {
                    continue;
                }
                let (head, tail) = text.split_at(at);
                for vocabulary in BOTH {
                    prop_assert_eq!(
                        vocabulary.count(head) + vocabulary.count(tail), vocabulary.count(&text), "cut at {} of {:?}", at, &text
                    );
                }
            }
        }
    }
}
