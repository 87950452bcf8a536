//! Estimates the number of tokens in a text without using a vocabulary.
//!
//! Only differences matter here: at the end, the caller counts exactly what an encoding saves. The costs are those of
//! current byte-pair vocabularies: a word with the space before it is one token, and so are three digits or two
//! punctuation characters.

const SPACE: u8 = 0;
const NEWLINE: u8 = 1;
const LETTER: u8 = 2;
const DIGIT: u8 = 3;
const MARK: u8 = 4;
const OTHER: u8 = 5;

const fn byte_class(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => LETTER,
        b'0'..=b'9' => DIGIT,
        b' ' | b'\t' => SPACE,
        b'\n' | b'\r' => NEWLINE,
        0x80..=0xff => OTHER,
        _ => MARK,
    }
}

#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const CLASSES: [u8; 256] = {
    let mut classes = [OTHER; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = byte_class(byte as u8);
        byte += 1;
    }
    classes
};

/// The state before the first byte. Any other state is a byte class with the position in a token of that class.
const START: u8 = (NEWLINE << 3) | 7;

/// Transitions: eight entries per state, one for each class of the next byte. The low six bits are the next state,
/// and the higher bits are the number of tokens added. A table is used because texts are estimated several times in a
/// reduction.
#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler")]
static STEPS: [u8; 512] = {
    let mut steps = [START; 512];
    let mut at = 0;
    while at < 512 {
        let (state, tokens) = step((at >> 3) as u8, at as u8 & 7);
        steps[at] = state | tokens << 6;
        at += 1;
    }
    steps
};

const fn step(state: u8, next: u8) -> (u8, u8) {
    let (class, bytes) = (state >> 3, state & 7);
    // Maximum number of bytes in a run that is one token. A run of white space is one token, however long it is.
    let size = match next {
        LETTER => 7,
        DIGIT => 3,
        _ => 2,
    };
    if state != START && class == next {
        return match next {
            SPACE | NEWLINE => (next << 3 | 1, 0),
            _ if bytes + 1 < size => (next << 3 | (bytes + 1), 0),
            _ => (next << 3, 1),
        };
    }
    // The last space before a word belongs to the token of the word.
    let space = (state != START && class == SPACE && (bytes > 0 || next != LETTER)) as u8;
    (next << 3, space + (next != SPACE) as u8)
}

/// Returns the estimated number of tokens of a text.
pub(crate) fn estimate_tokens(text: &str) -> usize {
    let (mut total, mut state) = (0, START);
    for byte in text.bytes() {
        let class = CLASSES.get(usize::from(byte)).copied().unwrap_or(OTHER);
        let at = usize::from(state) << 3 | usize::from(class & 7);
        let step = STEPS.get(at).copied().unwrap_or(START);
        (state, total) = (step & 63, total + usize::from(step >> 6));
    }
    total + usize::from(state >> 3 == SPACE)
}

/// Returns whether an encoding is worth it: it must save at least a twentieth of the tokens, and at least four
/// tokens.
pub(in crate::encode) const fn is_worthwhile(before: usize, after: usize) -> bool {
    after + 4 <= before && after * 20 <= before * 19
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_digits_and_marks_cost_what_they_do() {
        for (text, expected) in
            [("", 0), ("one two", 2), ("2024-01-01", 6), ("a   b", 3), ("\n\n\n", 1), ("12:00:01", 5)]
        {
            assert_eq!(estimate_tokens(text), expected, "{text:?}");
        }
    }
}
