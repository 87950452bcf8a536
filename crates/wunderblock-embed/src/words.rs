//! Words of a text in the form in which the encoder's vocabulary has them (BERT, uncased).
//!
//! Control characters go, letters lose accents and case, each punctuation mark and each Chinese character is a word.
//! Source: `BertNormalizer` and `BertPreTokenizer` of Hugging Face's tokenizers, with which the tests compare.

use unicode_general_category::{GeneralCategory as Category, get_general_category};
use unicode_normalization::char::decompose_canonical;

/// Maximum number of characters of a word. The vocabulary does not know a longer one.
pub(crate) const MAX_WORD_CHARS: usize = 100;

/// Calls `each` with every normalised word of a text. A word of more than [`MAX_WORD_CHARS`] is cut to one more.
pub(crate) fn each_word(text: &str, each: impl FnMut(&str)) {
    let mut words = Words { word: String::new(), chars: 0, each };
    for character in text.chars() {
        match character {
            ' ' | '\t' | '\n' | '\r' => words.end(),
            ' '..='~' => words.add(character.to_ascii_lowercase()),
            _ if is_dropped(character) => {}
            _ if character.is_whitespace() => words.end(),
            _ if is_ideograph(character) => words.alone(character),
            _ => decompose_canonical(character, |part| {
                if get_general_category(part) != Category::NonspacingMark {
                    part.to_lowercase().for_each(|lower| words.add(lower));
                }
            }),
        }
    }
    words.end();
}

/// The word that is being read.
struct Words<F> {
    word: String,
    chars: usize,
    each: F,
}

impl<F: FnMut(&str)> Words<F> {
    fn add(&mut self, character: char) {
        if is_punctuation(character) {
            self.alone(character);
        } else if self.chars <= MAX_WORD_CHARS {
            self.word.push(character);
            self.chars += 1;
        }
    }

    fn alone(&mut self, character: char) {
        self.end();
        self.word.push(character);
        self.end();
    }

    fn end(&mut self) {
        if !self.word.is_empty() {
            (self.each)(&self.word);
            self.word.clear();
        }
        self.chars = 0;
    }
}

/// Tells whether a character is removed without ending its word.
fn is_dropped(character: char) -> bool {
    use Category::{Control, Format, PrivateUse};
    character == char::REPLACEMENT_CHARACTER
        || matches!(get_general_category(character), Control | Format | PrivateUse)
}

fn is_punctuation(character: char) -> bool {
    use Category::{
        ClosePunctuation, ConnectorPunctuation, DashPunctuation, FinalPunctuation, InitialPunctuation,
        OpenPunctuation, OtherPunctuation,
    };
    if character.is_ascii() {
        return character.is_ascii_punctuation();
    }
    matches!(
        get_general_category(character),
        ClosePunctuation
            | ConnectorPunctuation
            | DashPunctuation
            | FinalPunctuation
            | InitialPunctuation
            | OpenPunctuation
            | OtherPunctuation
    )
}

/// Tells whether a character is Chinese as BERT defines it: CJK ideographs, without kana and Hangul.
const fn is_ideograph(character: char) -> bool {
    matches!(
        character,
        '\u{4e00}'..='\u{9fff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2b73f}'
            | '\u{2b740}'..='\u{2b81f}'
            | '\u{2b920}'..='\u{2ceaf}'
            | '\u{f900}'..='\u{faff}'
            | '\u{2f800}'..='\u{2fa1f}'
    )
}
