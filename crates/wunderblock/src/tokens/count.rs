//! Exact counts with OpenAI's public vocabularies, which are part of the program: nothing is ever downloaded.
//!
//! A vocabulary is unpacked at its first use (some 70 ms for o200k, 30 ms for cl100k) and kept; a program that counts
//! nothing pays nothing. Text that looks like a special token, such as `<|endoftext|>`, is counted as the ordinary
//! text it is: a provider does the same with what users and tools say.
//!
//! **How texts are cut.** Byte pair encoding works inside *pieces*: words, runs of digits, of punctuation, of white
//! space. Where two bytes are of different pieces whatever stands around them is a *seam* (see `is_seam`), so a text's
//! count is the sum over the stretches between its seams. Nearly all of these are a word with what stands before it, and
//! few of them are new: what was counted of short ones is remembered, by their bytes, in a table of each thread.
//!
//! A run without any seam (one letter a million times, Chinese without punctuation) is one piece, and its encoding needs
//! about 30 bytes of memory per byte and time n·log n. Stretches of more than [`STRETCH`] bytes are therefore cut through.
//! Such a cut nearly always adds tokens, but greedy merging gives no guarantee of it, so [`BLIND_CUT`] tokens are added,
//! and the result stays an upper bound in practice: exact up to [`STRETCH`] bytes without a seam, too high by at most some
//! tens of tokens per further MiB.

use crate::hash::fold;
use std::cell::RefCell;
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
        let total = MEMORY.with_borrow_mut(|memory| {
            let (mut rest, mut total) = (text, 0_u64);
            while !rest.is_empty() {
                let (stretch, after) = rest.split_at(stretch(rest.as_bytes()));
                total += match stretch.as_bytes() {
                    // Both vocabularies have a token for every one, two and three digits.
                    digits if digits.iter().all(u8::is_ascii_digit) => digits.len().div_ceil(3) as u64,
                    short if short.len() <= KEY => memory.count(self, short, || encoder.count(stretch)),
                    _ => long(encoder, stretch),
                };
                rest = after;
            }
            total
        });
        u32::try_from(total).unwrap_or(u32::MAX)
    }
}

/// Counts a stretch that is not remembered.
fn long(encoder: &CoreBpe, stretch: &str) -> u64 {
    let (mut rest, mut total) = (stretch, 0);
    while rest.len() > STRETCH {
        let (head, tail) = rest.split_at(rest.floor_char_boundary(STRETCH));
        total += encoder.count(head) as u64 + BLIND_CUT;
        rest = tail;
    }
    total + encoder.count(rest) as u64
}

/// Bytes of the longest stretch that is remembered.
const KEY: usize = 14;
/// Sets of stretches that one thread remembers, a power of two: 2 MB.
const SETS: usize = 1 << 15;
/// Keeps short stretches, whose upper half is nearly nothing, apart.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
/// Where a remembered stretch has its tokens. Above them stand its length and its vocabulary, below them its bytes.
const TOKENS: u32 = 8 * KEY as u32;

/// What a thread remembers: of the stretches that fall to one set, the latest four that were new, and those before them
/// that came again. A set is a line of the processor's cache.
struct Memory(Vec<[u128; 4]>);

thread_local! {
    static MEMORY: RefCell<Memory> = const { RefCell::new(Memory(Vec::new())) };
}

impl Memory {
    fn count(&mut self, vocabulary: Vocabulary, short: &[u8], count: impl FnOnce() -> usize) -> u64 {
        if self.0.is_empty() {
            self.0.resize(SETS, [0; 4]);
        }
        let mut key = [0; 16];
        for (to, from) in key.iter_mut().zip(short) {
            *to = *from;
        }
        let kind = short.len() as u128 | if vocabulary == Vocabulary::Cl100k { 0x80 } else { 0 };
        let key = u128::from_le_bytes(key) | kind << (TOKENS + 8);
        let place = fold(key as u64 ^ SEED, (key >> 64) as u64 ^ SEED) as usize & (SETS - 1);
        let Some(set) = self.0.get_mut(place) else { return count() as u64 };
        if let Some(way) = set.iter().position(|slot| *slot & !(0xff << TOKENS) == key) {
            let tokens = set.get(way).map_or(0, |slot| (slot >> TOKENS) as u8);
            if way > 0 {
                set.swap(way, way - 1);
            }
            return u64::from(tokens);
        }
        // No token is shorter than a byte, so their number fits.
        let tokens = count();
        if let Some(last) = set.last_mut() {
            *last = key | (tokens as u128) << TOKENS;
        }
        tokens as u64
    }
}

/// Bytes up to the first seam, or all of them.
fn stretch(bytes: &[u8]) -> usize {
    let kind = |byte: Option<&u8>| byte.and_then(|byte| KINDS.get(usize::from(*byte))).copied();
    let (mut first, mut second) = (Kind::Joined, kind(bytes.first()).unwrap_or(Kind::Joined));
    let mut third = kind(bytes.get(1)).unwrap_or(Kind::Joined);
    for at in 1..bytes.len() {
        let fourth = kind(bytes.get(at + 1)).unwrap_or(Kind::Joined);
        if is_seam([first, second, third, fourth]) {
            return at;
        }
        (first, second, third) = (second, third, fourth);
    }
    bytes.len()
}

/// What a byte is to a seam.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// a–z, A–Z.
    Letter,
    /// 0–9.
    Digit,
    Space,
    /// The ends of lines.
    Newline,
    /// Other white space of ASCII.
    Blank,
    /// Everything else in ASCII.
    Sign,
    /// What may go on a word or begin the end of one: beyond ASCII, and the apostrophe.
    Joined,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Joined; 256];
    let mut byte = 0;
    while byte < 128 {
        #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
        {
            kinds[byte] = match byte as u8 {
                b'a'..=b'z' | b'A'..=b'Z' => Kind::Letter,
                b'0'..=b'9' => Kind::Digit,
                b' ' => Kind::Space,
                b'\n' | b'\r' => Kind::Newline,
                b'\t' | 0x0b | 0x0c => Kind::Blank,
                b'\'' => Kind::Joined,
                _ => Kind::Sign,
            };
        }
        byte += 1;
    }
    kinds
};

/// Whether both vocabularies split between the second and the third of four bytes, whatever stands around them, and
/// split what is on either side as they do without the other.
///
/// Their patterns take one space or sign in front of a word, one space in front of signs, and otherwise letters, digits
/// (three at a time), signs and white space by themselves. Only two things look ahead: a contraction, which an apostrophe
/// begins, and white space, which leaves its last character to a word. After signs, line ends belong to them, and in
/// o200k slashes after those as well: so nothing is said of a sign after a line end.
const fn is_seam([first, second, third, fourth]: [Kind; 4]) -> bool {
    use Kind::{Blank, Digit, Letter, Newline, Sign, Space};
    match (second, third) {
        (Letter, Digit | Space | Newline | Blank | Sign)
        | (Digit, Letter | Space | Newline | Blank | Sign) => true,
        (Sign, Digit | Space | Blank) | (Newline, Letter | Digit) => true,
        (Sign, Letter) => matches!(first, Sign | Space),
        (Space | Newline, Space) => matches!(fourth, Letter),
        _ => false,
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

    #[test]
    fn up_to_three_digits_are_one_token() {
        for vocabulary in BOTH {
            for number in 0..1000 {
                for digits in [format!("{number}"), format!("{number:02}"), format!("{number:03}")] {
                    assert_eq!(vocabulary.encoder().count(&digits), 1, "{digits}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn stretches_add_up_to_the_whole(
            text in "([a-zA-Z0-9'é字\u{301}² \n\t\r\x0b\x00/.,;:_\"(){}=—-]|'s|'LL|a's|  |\n\n|12|Ab|[ -~]){0,60}",
        ) {
            for vocabulary in BOTH {
                let whole = vocabulary.encoder().count(&text) as u64;
                prop_assert_eq!(u64::from(vocabulary.count(&text)), whole, "{:?}", &text);
                prop_assert_eq!(u64::from(vocabulary.count(&text)), whole, "from memory: {:?}", &text);
            }
        }
    }
}
