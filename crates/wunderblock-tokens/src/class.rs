//! Class of a character for the patterns that cut texts.

use crate::layout::{LETTER, LOWER, NEWLINE, NUMBER, OTHER, SPACE, UPPER};

/// Block number for each run of 256 characters.
static INDEX: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.index"));
/// Blocks of 256 classes, one byte per character.
static BLOCKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.blocks"));

const ASCII: [u8; 128] = {
    let mut classes = [OTHER; 128];
    let mut byte = 0;
    while byte < 128 {
        #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
        {
            classes[byte] = match byte as u8 {
                b'A'..=b'Z' => UPPER | LETTER,
                b'a'..=b'z' => LOWER | LETTER,
                b'0'..=b'9' => NUMBER,
                b'\r' | b'\n' => NEWLINE,
                b' ' | b'\t' | 0x0b | 0x0c => SPACE,
                _ => OTHER,
            };
        }
        byte += 1;
    }
    classes
};

/// Returns the class and the length in bytes of the character at byte `at`, or `(0, 0)` at the end of the text.
pub(crate) fn class(text: &str, at: usize) -> (u8, usize) {
    match text.as_bytes().get(at) {
        None => (0, 0),
        Some(byte) => match ASCII.get(usize::from(*byte)) {
            Some(class) => (*class, 1),
            None => wide(text, at),
        },
    }
}

/// Returns the class and the length of a character beyond ASCII.
fn wide(text: &str, at: usize) -> (u8, usize) {
    let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) else { return (0, 0) };
    let code = character as usize;
    let block = INDEX.get(code >> 8).copied().map_or(0, usize::from);
    (BLOCKS.get(block << 8 | code & 0xff).copied().unwrap_or(OTHER), character.len_utf8())
}
