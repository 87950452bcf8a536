//! Hashes of lines, with or without the values in them, and functions that shorten text.
use crate::part::{PartOfList, PartOfText};

/// Start value of FNV-1a, 64 bit (the constants are those of its authors, Fowler, Noll and Vo).
const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

fn mix_byte(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(PRIME)
}

/// Returns a hash of the text without white space at its ends.
pub(crate) fn exact_hash(text: &str) -> u64 {
    text.trim().bytes().fold(START, mix_byte)
}

/// Returns a hash of the text without the values of counters in it. Every run of digits counts as the same character,
/// and so does every hexadecimal word of at least six characters that contains a decimal digit.
pub(crate) fn masked_hash(text: &str) -> u64 {
    let bytes = text.trim().as_bytes();
    let mut hash = START;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if !byte.is_ascii_alphanumeric() {
            hash = mix_byte(hash, byte);
            at += 1;
            continue;
        }
        let rest = bytes.part(at..);
        let word = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let word = rest.part(..word);
        let hexadecimal = word.len() >= 6 && word.iter().all(u8::is_ascii_hexdigit);
        if hexadecimal && word.iter().any(u8::is_ascii_digit) {
            hash = mix_byte(hash, b'0');
        } else {
            let mut in_digits = false;
            for byte in word {
                let digit = byte.is_ascii_digit();
                if !(digit && in_digits) {
                    hash = mix_byte(hash, if digit { b'0' } else { *byte });
                }
                in_digits = digit;
            }
        }
        at += word.len();
    }
    hash
}

/// Words that state a failure, in any case.
const FAILURE_WORDS: [&str; 14] = [
    "error",
    "fail",
    "exception",
    "panic",
    "fatal",
    "denied",
    "refused",
    "timeout",
    "timed",
    "critical",
    "crash",
    "abort",
    "unreachable",
    "corrupt",
];

/// Returns whether a text contains a word that states a failure.
pub(crate) fn mentions_failure(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut word_before = false;
    for (at, byte) in bytes.iter().enumerate() {
        let lower = byte.to_ascii_lowercase();
        let first = !word_before || byte.is_ascii_uppercase();
        word_before = byte.is_ascii_alphabetic();
        if !first || !matches!(lower, b'e' | b'f' | b'p' | b'd' | b'r' | b't' | b'c' | b'a' | b'u') {
            continue;
        }
        let rest = bytes.part(at..);
        if FAILURE_WORDS
            .iter()
            .any(|word| rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes())))
        {
            return true;
        }
    }
    false
}

/// Returns the longest start of a text that has at most `bytes` bytes and ends between characters.
pub(crate) fn truncate(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.part(..end)
}

/// Returns the positions at which to cut a text into parts of at most `bytes` bytes: after a space if one is near,
/// and never within a character. The last position is the end of the text.
pub(crate) fn split_points(text: &str, bytes: usize) -> Vec<usize> {
    let mut cuts = Vec::with_capacity(text.len() / bytes.max(1) + 1);
    let mut start = 0;
    while text.len() - start > bytes.max(4) {
        let rest = text.part(start..);
        let part = truncate(rest, bytes.max(4));
        let space = part.as_bytes().get(part.len() / 2..).and_then(|tail| memchr::memrchr(b' ', tail));
        start += space.map_or(part.len(), |at| part.len() / 2 + at + 1);
        cuts.push(start);
    }
    cuts.push(text.len());
    cuts
}

/// Returns a number of bytes as people write it: `48 KB`.
pub(crate) fn describe_size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_and_addresses_are_set_aside() {
        assert_eq!(masked_hash("frame_0001.png"), masked_hash("frame_12.png"));
        assert_eq!(masked_hash("pod-7f9c4d8b6a-x"), masked_hash("pod-0000a1b2c3-x"));
        assert_ne!(masked_hash("frame_1.png"), masked_hash("frame_1.jpg"));
        assert_ne!(masked_hash("facade"), masked_hash("decade"));
        assert_ne!(exact_hash("a1"), exact_hash("a2"));
        assert_eq!(exact_hash(" a1\r"), exact_hash("a1"));
    }

    #[test]
    fn words_of_failure_are_words() {
        for text in [
            "ERROR: x",
            "an error",
            "IOException",
            "connection timed out",
            "NullPointerException",
            "a_failed",
        ] {
            assert!(mentions_failure(text), "{text}");
        }
        for text in ["terror", "default", "ok", "", "information"] {
            assert!(!mentions_failure(text), "{text}");
        }
    }

    #[test]
    fn cuts_lie_between_characters_and_reach_the_end() {
        for text in ["", "abc", &"words of a line ".repeat(40), &"日本語".repeat(99), &"x".repeat(999)] {
            let cuts = split_points(text, 100);
            assert_eq!(cuts.last(), Some(&text.len()));
            assert!(
                cuts.iter().all(|at| text.is_char_boundary(*at))
                    && cuts.windows(2).all(|pair| pair[0] < pair[1])
            );
        }
    }

    #[test]
    fn a_head_ends_between_characters() {
        assert_eq!(truncate("日本語", 4), "日");
        assert_eq!(truncate("abc", 9), "abc");
        assert_eq!(describe_size(48_123), "48 KB");
    }
}
