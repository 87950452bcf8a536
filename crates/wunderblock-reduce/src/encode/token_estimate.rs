//! About how many tokens a text costs, without a vocabulary.
//!
//! Only differences matter here: the caller counts exactly at the end what a code saves. The costs are those seen in
//! byte-pair vocabularies of today: a word with the space before it is one token, digits go by threes, punctuation by
//! twos.

#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenClass {
    Letter,
    Digit,
    Space,
    Newline,
    Mark,
    Other,
}

const fn byte_class(byte: u8) -> TokenClass {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => TokenClass::Letter,
        b'0'..=b'9' => TokenClass::Digit,
        b' ' | b'\t' => TokenClass::Space,
        b'\n' | b'\r' => TokenClass::Newline,
        0x80..=0xff => TokenClass::Other,
        _ => TokenClass::Mark,
    }
}

#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const CLASSES: [TokenClass; 256] = {
    let mut classes = [TokenClass::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = byte_class(byte as u8);
        byte += 1;
    }
    classes
};

/// Tokens, about.
pub(crate) fn estimate_tokens(text: &str) -> usize {
    let mut total = 0;
    let mut run = 0;
    let mut last = TokenClass::Newline;
    for byte in text.bytes() {
        let now = CLASSES.get(usize::from(byte)).copied().unwrap_or(TokenClass::Other);
        if now == last {
            run += 1;
            continue;
        }
        total += run_cost(last, run, now);
        (last, run) = (now, 1);
    }
    total + run_cost(last, run, TokenClass::Newline)
}

const fn run_cost(of: TokenClass, run: usize, next: TokenClass) -> usize {
    match (of, next) {
        (_, _) if run == 0 => 0,
        // The last space before a word is part of it.
        (TokenClass::Space, TokenClass::Letter) => (run > 1) as usize,
        (TokenClass::Space | TokenClass::Newline, _) => 1,
        (TokenClass::Letter, _) => run.div_ceil(7),
        (TokenClass::Digit, _) => run.div_ceil(3),
        (TokenClass::Mark | TokenClass::Other, _) => run.div_ceil(2),
    }
}

/// Whether a code is worth it: it saves at least a twentieth, and not only a token or two.
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
