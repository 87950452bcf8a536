//! Class of a text, determined from its bytes alone.
//!
//! Tokenizers differ by class: two that agree on English prose may differ by a third on hexadecimal. The class
//! selects the factor that converts a count from one vocabulary to another, and has no other use. A wrong class
//! therefore only makes one estimate wrong by a few per cent. The class is neither a language nor a file type.

/// Classes of text that tokenizers treat differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Sentences, Markdown, and log lines that consist of words.
    Prose,
    /// Source code, diffs, shell output full of punctuation.
    Code,
    /// JSON: one document, or one document per line.
    Json,
    /// Hexadecimal, base64 and other text without words.
    Hex,
    /// Chinese, Japanese, Korean.
    Cjk,
}

impl Class {
    /// All classes, in the order of their numbers.
    pub const ALL: [Self; 5] = [Self::Prose, Self::Code, Self::Json, Self::Hex, Self::Cjk];

    /// Returns the stored number of the class, which is its index in [`Class::ALL`].
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Prose => 0,
            Self::Code => 1,
            Self::Json => 2,
            Self::Hex => 3,
            Self::Cjk => 4,
        }
    }

    /// Returns the class with a stored number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.number() == number)
    }

    /// Returns a short name. The name is stored with counts, so it must not change.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prose => "prose",
            Self::Code => "code",
            Self::Json => "json",
            Self::Hex => "hex",
            Self::Cjk => "cjk",
        }
    }

    /// Returns the class of `text`. For a text longer than 16 KiB, only four windows of 4 KiB at regular intervals
    /// are read.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut tally = ClassCounts::default();
        if bytes.len() <= WINDOWS * WINDOW {
            tally.add(bytes);
        } else {
            let step = (bytes.len() - WINDOW) / (WINDOWS - 1);
            for window in 0..WINDOWS {
                let start = window * step;
                tally.add(bytes.get(start..start + WINDOW).unwrap_or_default());
            }
        }
        let opening = bytes.iter().find(|byte| !byte.is_ascii_whitespace()).copied();
        tally.class(opening)
    }
}

/// Bytes of one window.
const WINDOW: usize = 4096;
/// Number of windows that are read from a long text.
const WINDOWS: usize = 4;

/// Minimum length of a run of letters and digits that cannot be a word. Even long identifiers are shorter than this
/// length. Base64 breaks at `/` and `-`, but nine tenths of its bytes are still in runs of at least this length.
const RUN: usize = 24;

/// Kind of a byte. The kinds of bytes that occur in words are listed first, because runs are detected by the order of
/// the kinds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteKind {
    /// g–z, G–Z.
    Letter,
    /// a–f, A–F.
    HexLetter,
    Digit,
    Space,
    Quote,
    /// `{ } [ ] , :`
    Structure,
    /// Punctuation that is rare in prose.
    Symbol,
    /// Everything else in ASCII.
    Other,
    /// First byte of a three-byte character at or above U+2E80, such as an ideograph, kana, Hangul or wide
    /// punctuation.
    Wide,
    /// First byte of any other character beyond ASCII.
    Lead,
    /// Continuation byte of a character.
    Inner,
}

const KINDS: usize = 11;

const fn kind(byte: u8) -> ByteKind {
    match byte {
        b'a'..=b'f' | b'A'..=b'F' => ByteKind::HexLetter,
        b'a'..=b'z' | b'A'..=b'Z' => ByteKind::Letter,
        b'0'..=b'9' => ByteKind::Digit,
        b' ' | b'\n' | b'\r' | b'\t' => ByteKind::Space,
        b'"' => ByteKind::Quote,
        b'{' | b'}' | b'[' | b']' | b',' | b':' => ByteKind::Structure,
        b'(' | b')' | b';' | b'=' | b'<' | b'>' | b'_' | b'&' | b'|' | b'#' | b'$' | b'@' | b'*' | b'\\'
        | b'/' | b'+' | b'~' | b'^' | b'%' => ByteKind::Symbol,
        0x00..=0x7F => ByteKind::Other,
        0x80..=0xBF => ByteKind::Inner,
        0xE3..=0xED | 0xEF => ByteKind::Wide,
        _ => ByteKind::Lead,
    }
}

const KIND: [ByteKind; 256] = {
    let mut kinds = [ByteKind::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
        {
            kinds[byte] = kind(byte as u8);
        }
        byte += 1;
    }
    kinds
};

#[derive(Default)]
struct ClassCounts {
    kinds: [usize; KINDS],
    /// Number of bytes in runs of letters and digits that are at least [`RUN`] long.
    wordless: usize,
}

impl ClassCounts {
    fn add(&mut self, bytes: &[u8]) {
        let mut run = 0;
        for byte in bytes {
            let kind = KIND.get(usize::from(*byte)).copied().unwrap_or(ByteKind::Other);
            if let Some(count) = self.kinds.get_mut(kind as usize) {
                *count += 1;
            }
            if kind as u8 <= ByteKind::Digit as u8 {
                run += 1;
            } else {
                if run >= RUN {
                    self.wordless += run;
                }
                run = 0;
            }
        }
        if run >= RUN {
            self.wordless += run;
        }
    }

    fn of(&self, kind: ByteKind) -> usize {
        self.kinds.get(kind as usize).copied().unwrap_or_default()
    }

    /// Returns the class. `opening` is the first byte of the text that is not white space.
    fn class(&self, opening: Option<u8>) -> Class {
        let all: usize = self.kinds.iter().sum();
        let solid = all - self.of(ByteKind::Space);
        if solid == 0 {
            return Class::Prose;
        }
        // White space does not count towards the shares.
        let share = |part: usize, per_cent: usize| part * 100 >= solid * per_cent;
        let (digits, hex) =
            (self.of(ByteKind::Digit), self.of(ByteKind::Digit) + self.of(ByteKind::HexLetter));
        // A wide character has three bytes, of which only the first is counted as wide.
        if share(self.of(ByteKind::Wide) * 3, 30) {
            return Class::Cjk;
        }
        if share(self.wordless, 50) || (share(hex, 80) && share(digits, 25)) {
            return Class::Hex;
        }
        let (quotes, structure) = (self.of(ByteKind::Quote), self.of(ByteKind::Structure));
        if matches!(opening, Some(b'{' | b'[')) && share(quotes + structure, 12) && share(quotes, 3) {
            return Class::Json;
        }
        if share(quotes + structure + self.of(ByteKind::Symbol), 9) { Class::Code } else { Class::Prose }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_are_classified_by_content() {
        let base64 =
            "TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24sIGJ1dCBieSB0aGlz\n".repeat(5);
        let dump = "00000010: 4865 6c6c 6f20 0a00 0102 0304 0506 0708\n".repeat(5);
        let table = [
            ("", Class::Prose),
            (" \n\t ", Class::Prose),
            ("The build failed because the linker was not found. Install it and try again.", Class::Prose),
            ("Grüße aus München, schöne Straße, übrigens.", Class::Prose),
            ("for (i, x) in xs.iter().enumerate() { total += x * i; }", Class::Code),
            ("diff --git a/x.rs b/x.rs\n@@ -1,2 +1,2 @@\n-let a = f(x);\n+let a = g(x)?;\n", Class::Code),
            (r#"{"id":1,"name":"first","tags":["a","b"],"done":false}"#, Class::Json),
            ("[\n  {\"a\": 1},\n  {\"b\": 2}\n]", Class::Json),
            ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Class::Hex),
            (&base64, Class::Hex),
            (&dump, Class::Hex),
            ("上下文窗口有多大？请把今天的会议记录整理成三点。", Class::Cjk),
            ("今日はとても良い天気ですね。散歩に行きましょう。", Class::Cjk),
            ("오늘은 날씨가 정말 좋네요. 산책하러 갑시다.", Class::Cjk),
        ];
        for (text, class) in table {
            assert_eq!(Class::of(text), class, "{text:?}");
        }
    }

    #[test]
    fn a_long_text_is_judged_by_all_its_quarters() {
        let code = "let x = f(&y)?;\n".repeat(40_000);
        assert_eq!(Class::of(&format!("Here is the file you asked for.\n{code}")), Class::Code);
    }

    proptest! {
        #[test]
        fn any_text_has_one_class(text in "(?s).{0,300}", times in 1_usize..200) {
            let text = text.repeat(times);
            prop_assert_eq!(Class::of(&text), Class::of(&text.clone()));
        }
    }
}
