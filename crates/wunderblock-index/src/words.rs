//! Cuts texts into terms. Documents and queries are cut in the same way.
//!
//! - A **word** is a run of letters and digits, folded to lower case (with [`char::to_lowercase`]; full-width forms
//!   become ASCII). Folding uses the standard library's Unicode tables, so it is the same on every platform. Composed
//!   and decomposed accents are not unified.
//! - An **identifier** joined by `_` or by case (`parse_config`, `parseConfig`, `HTTPServer`) yields its pieces, and
//!   the whole identifier without separators: `parse`, `config`, `parseconfig`. Each spelling therefore finds the
//!   others. `kebab-case`, dotted names and paths yield only their pieces: an index of logs would otherwise consist
//!   mostly of unique paths.
//! - **Scripts without spaces** (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) give pairs of neighbouring
//!   characters and, for each run, its last character alone. A search for one character is a search for all terms
//!   that begin with it. Together, the terms that begin with a character occur exactly as often as the character
//!   itself. If every single character were indexed as well, one block would suffice for the answer, but the index of
//!   Chinese prose would be an eighth larger (66 instead of 58 % of the bytes of the text).
//! - **Plurals** lose their `s`, unless they end in `us` or `ss`; `ies` and `ie` become `y`. The rule extends the S
//!   stemmer of Harman, "How effective is suffixing?", JASIS 1991, which keeps `ie` and thus separates `cookie` from
//!   `cookies`. The word `error` must find `errors`. Removing more endings (`-ing`, `-ed`) would join words that are
//!   distinct in code.
//! - A term is cut to its first [`MAX_TERM_BYTES`] bytes in documents and queries alike. Long words can therefore
//!   still be found.

/// Maximum length of a term in bytes of UTF-8. Longer words, such as base64 or concatenated hashes, are compared by a
/// prefix of this length. Segments store the lengths of terms in one byte, so the maximum must be below 256.
pub const MAX_TERM_BYTES: usize = 64;

/// Part of a text, before it becomes terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lexeme<'a> {
    /// A word or a piece of an identifier: folded, at most [`MAX_TERM_BYTES`] long.
    Piece(&'a [u8]),
    /// An identifier with several pieces, emitted after its pieces: folded, without joints, at most
    /// [`MAX_TERM_BYTES`] long.
    Whole(&'a [u8]),
    /// A run of characters in a script without spaces, unchanged.
    Run(&'a str),
}

/// Passes every term of a text to `emit`, in order and including repeats.
pub fn terms(text: &str, mut emit: impl FnMut(&[u8])) {
    cut(text, |part| match part {
        Lexeme::Piece(word) | Lexeme::Whole(word) => stem(word, &mut emit),
        Lexeme::Run(run) => {
            let last = pairs(run, &mut emit);
            emit(last.as_bytes());
        }
    });
}

/// Passes every pair of neighbouring characters to `emit`, and returns the last character.
pub(crate) fn pairs<'a>(run: &'a str, emit: &mut impl FnMut(&[u8])) -> &'a str {
    let mut rest = run;
    loop {
        let mut ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
        let (Some(first), Some(second)) = (ends.next(), ends.next()) else { return rest };
        emit(rest.as_bytes().get(..second).unwrap_or_default());
        rest = rest.get(first..).unwrap_or_default();
    }
}

/// Passes the term of a folded word to `emit`: the word without a plural ending.
pub(crate) fn stem(word: &[u8], emit: &mut impl FnMut(&[u8])) {
    match word {
        [start @ .., b'i', b'e', b's'] | [start @ .., b'i', b'e'] if start.len() >= 2 => {
            let mut singular = [b'y'; MAX_TERM_BYTES];
            for (to, from) in singular.iter_mut().zip(start) {
                *to = *from;
            }
            emit(singular.get(..=start.len()).unwrap_or_default());
        }
        [_, .., b'u' | b's', b's'] => emit(word),
        [start @ .., last, b's'] if !start.is_empty() && last.is_ascii_lowercase() => {
            emit(word.get(..=start.len()).unwrap_or_default());
        }
        _ => emit(word),
    }
}

const OTHER: u8 = 0;
const PLAIN: u8 = 1;
const UPPER: u8 = 2;
const JOINT: u8 = 3;
const WIDE: u8 = 4;

const CLASSES: [u8; 256] = {
    let mut classes = [OTHER; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
        {
            classes[byte] = match byte as u8 {
                b'a'..=b'z' | b'0'..=b'9' => PLAIN,
                b'A'..=b'Z' => UPPER,
                b'_' => JOINT,
                0x80.. => WIDE,
                _ => OTHER,
            };
        }
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(OTHER)
}

/// Cuts a text into words, identifiers and runs.
pub(crate) fn cut(text: &str, mut emit: impl FnMut(Lexeme<'_>)) {
    let bytes = text.as_bytes();
    let mut identifier = Identifier::default();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match class(byte) {
            OTHER | JOINT => at += 1,
            PLAIN => {
                let rest = bytes.get(at..).unwrap_or_default();
                let len = rest.iter().position(|b| class(*b) != PLAIN).unwrap_or(rest.len());
                // Most words are plain lower case. Plain lower-case words need no folding, so they are emitted
                // without a copy.
                if rest.get(len).is_none_or(|b| class(*b) == OTHER) {
                    emit(Lexeme::Piece(rest.get(..len.min(MAX_TERM_BYTES)).unwrap_or_default()));
                    at += len;
                } else {
                    at = identifier.read(text, at, &mut emit);
                }
            }
            WIDE => at = wide(text, at, &mut identifier, &mut emit),
            _ => at = identifier.read(text, at, &mut emit),
        }
    }
}

/// Reads the word, identifier or run that begins with a non-ASCII character, and returns its end.
fn wide(text: &str, at: usize, identifier: &mut Identifier, emit: &mut impl FnMut(Lexeme<'_>)) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let Some(first) = rest.chars().next() else { return text.len() };
    if is_unspaced(first) {
        let len = rest.find(|c| !is_unspaced(c)).unwrap_or(rest.len());
        emit(Lexeme::Run(rest.get(..len).unwrap_or_default()));
        at + len
    } else if first.is_alphanumeric() {
        identifier.read(text, at, emit)
    } else {
        at + first.len_utf8()
    }
}

/// Returns whether a character belongs to a script written without spaces between words. Korean is included, because
/// its endings are joined to words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1100..=0x11FF | 0x1780..=0x17FF | 0x2E80..=0x2FDF | 0x3005..=0x3007
        | 0x3040..=0x318F | 0x31A0..=0x31BF | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xA960..=0xA97F
        | 0xAC00..=0xD7FF | 0xF900..=0xFAFF | 0xFF66..=0xFFDC | 0x1B000..=0x1B16F | 0x20000..=0x3FFFF)
        && c.is_alphanumeric()
}

/// State while reading an identifier. The buffers are reused for the next identifier.
#[derive(Default)]
struct Identifier {
    /// The current piece, folded.
    piece: Vec<u8>,
    /// The completed pieces, folded and joined.
    whole: Vec<u8>,
    /// Number of completed pieces.
    pieces: usize,
    /// Whether the current piece has a lower-case letter: `utf8Decoder` is cut after the digit, but `3F9C1A7B` is
    /// not.
    lower: bool,
}

impl Identifier {
    /// Reads the identifier that begins at `at`, gives its parts to `emit`, and returns where it ends.
    fn read(&mut self, text: &str, at: usize, emit: &mut impl FnMut(Lexeme<'_>)) -> usize {
        self.whole.clear();
        self.pieces = 0;
        let mut before = CharKind::Joint;
        let mut run = at;
        let mut chars = text.get(at..).unwrap_or_default().char_indices().peekable();
        let mut end = text.len();
        while let Some((offset, c)) = chars.next() {
            let kind = CharKind::of(c);
            match kind {
                CharKind::Outside => {
                    end = at + offset;
                    break;
                }
                CharKind::Joint => {
                    self.end_piece(emit);
                    run = at + offset + 1;
                }
                CharKind::Upper => {
                    let next_lower =
                        chars.peek().is_some_and(|(_, next)| CharKind::of(*next) == CharKind::Lower);
                    let turn = match before {
                        CharKind::Lower => true,
                        CharKind::Digit => self.lower || next_lower,
                        CharKind::Upper => next_lower,
                        CharKind::Joint | CharKind::Outside => false,
                    };
                    // A run longer than a term is data, not a name, so changes of case in it are not boundaries.
                    if turn && at + offset - run <= MAX_TERM_BYTES {
                        self.end_piece(emit);
                    }
                    fold(c, &mut self.piece);
                }
                CharKind::Lower | CharKind::Digit => {
                    self.lower |= kind == CharKind::Lower;
                    fold(c, &mut self.piece);
                }
            }
            before = kind;
        }
        self.end_piece(emit);
        if self.pieces > 1 {
            emit(Lexeme::Whole(clip(&self.whole)));
        }
        end
    }

    fn end_piece(&mut self, emit: &mut impl FnMut(Lexeme<'_>)) {
        if !self.piece.is_empty() {
            emit(Lexeme::Piece(clip(&self.piece)));
            if self.whole.len() < MAX_TERM_BYTES {
                self.whole.extend_from_slice(&self.piece);
            }
            self.pieces += 1;
        }
        self.piece.clear();
        self.lower = false;
    }
}

/// Role of a character in an identifier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharKind {
    Lower,
    Upper,
    Digit,
    Joint,
    Outside,
}

impl CharKind {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            '_' => Self::Joint,
            _ if c.is_ascii() || !c.is_alphanumeric() || is_unspaced(c) => Self::Outside,
            _ if c.is_uppercase() => Self::Upper,
            _ if c.is_numeric() => Self::Digit,
            _ => Self::Lower,
        }
    }
}

/// Appends a character in lower case unless the maximum length of a term is reached, since the rest would be cut off.
fn fold(c: char, to: &mut Vec<u8>) {
    if to.len() >= MAX_TERM_BYTES {
        return;
    }
    if c.is_ascii() {
        to.push(c.to_ascii_lowercase() as u8);
        return;
    }
    let c = match c {
        // A final sigma becomes a regular sigma, because a capital sigma folds to a regular one.
        'ς' => 'σ',
        '\u{FF10}'..='\u{FF19}' | '\u{FF21}'..='\u{FF3A}' | '\u{FF41}'..='\u{FF5A}' => {
            char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c)
        }
        _ => c,
    };
    for folded in c.to_lowercase() {
        to.extend_from_slice(folded.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Returns the first [`MAX_TERM_BYTES`] bytes of a folded word, without an incomplete character at the end.
fn clip(word: &[u8]) -> &[u8] {
    if word.len() <= MAX_TERM_BYTES {
        return word;
    }
    let end =
        (0..=MAX_TERM_BYTES).rev().find(|at| word.get(*at).is_none_or(|b| b & 0xC0 != 0x80)).unwrap_or(0);
    word.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> String {
        let mut out = Vec::new();
        terms(text, |term| out.push(String::from_utf8(term.to_vec()).unwrap()));
        out.join(" ")
    }

    #[test]
    fn words_identifiers_paths_and_numbers() {
        for (text, expected) in [
            ("", ""),
            ("... --- !!", ""),
            ("The quick, brown FOX.", "the quick brown fox"),
            ("parse_config", "parse config parseconfig"),
            ("parseConfig ParseConfig", "parse config parseconfig parse config parseconfig"),
            ("PARSE_CONFIG", "parse config parseconfig"),
            (
                "HTTPServer sha256Sum SHA256Sum",
                "http server httpserver sha256 sum sha256sum sha256 sum sha256sum",
            ),
            ("utf8Decoder 3F9C1A7B deadBEEF", "utf8 decoder utf8decoder 3f9c1a7b dead beef deadbeef"),
            ("__init__ _ __", "init"),
            ("kebab-case dotted.path", "kebab case dotted path"),
            ("src/index/words.rs:120", "src index word rs 120"),
            ("2026-07-14T09:12:33.120Z", "2026 07 14t09 12 33 120z"),
            ("0xdeadbeef 1_000", "0xdeadbeef 1 000 1000"),
            ("don't", "don t"),
            ("Straße ΟΔΟΣ οδος ＡＢＣ１", "straße οδοσ οδοσ abc1"),
            ("имяФайла", "имя файла имяфайла"),
            ("İ", "i\u{307}"),
        ] {
            assert_eq!(all(text), expected, "{text}");
        }
    }

    #[test]
    fn plurals_lose_their_s_and_nothing_else_does() {
        for (text, expected) in [
            ("errors error", "error error"),
            ("queries query cookies cookie", "query query cooky cooky"),
            ("ties tie", "tie tie"),
            ("caches files", "cache file"),
            ("class status bus is as", "class status bus is as"),
            ("string missed parsing", "string missed parsing"),
            ("shoes trees", "shoe tree"),
            ("12s a9s s", "12s a9s s"),
            ("ies", "ie"),
        ] {
            assert_eq!(all(text), expected, "{text}");
        }
    }

    #[test]
    fn scripts_without_spaces_give_pairs_and_the_last_character() {
        for (text, expected) in [
            ("字", "字"),
            ("中文", "中文 文"),
            ("中文字符", "中文 文字 字符 符"),
            ("v2版本abc", "v2 版本 本 abc"),
            ("データ。ベース", "デー ータ タ ベー ース ス"),
            ("한국어 말", "한국 국어 어 말"),
            ("全角Ａ", "全角 角 a"),
        ] {
            assert_eq!(all(text), expected, "{text}");
        }
    }

    #[test]
    fn long_runs_are_cut_not_lost() {
        let long = "a".repeat(1000);
        assert_eq!(all(&long), "a".repeat(64));
        assert_eq!(all(&"aB".repeat(500)).split(' ').map(str::len).max(), Some(64));
        assert_eq!(all(&"é".repeat(100)), "é".repeat(32));
        assert_eq!(all(&format!("a{}", "é".repeat(100))), format!("a{}", "é".repeat(31)));
        let joined = "ab_".repeat(100);
        assert_eq!(all(&joined).rsplit(' ').next().map(str::len), Some(64));
    }

    proptest::proptest! {
        #[test]
        fn every_term_is_short_valid_and_never_empty(text in "\\PC{0,200}") {
            terms(&text, |term| {
                assert!(!term.is_empty() && term.len() <= MAX_TERM_BYTES);
                assert!(std::str::from_utf8(term).is_ok());
            });
        }

        #[test]
        fn a_space_between_two_texts_keeps_their_terms(a in "[a-zA-Z0-9_中文字é.]{0,40}", b in "[a-zA-Z0-9_中文字é.]{0,40}") {
            let (mut apart, mut joined) = (Vec::new(), Vec::new());
            terms(&a, |t| apart.push(t.to_vec()));
            terms(&b, |t| apart.push(t.to_vec()));
            terms(&format!("{a} {b}"), |t| joined.push(t.to_vec()));
            assert_eq!(apart, joined);
        }
    }
}
