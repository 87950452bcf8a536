//! Lines that mention an error, found by their words. Readers of a log or a test run look for lines that mention an
//! error, so encodings leave them in place.

/// Returns whether a line mentions an error, a warning or a failure. Any word for an error, a warning or a failure
/// counts: the result is not a severity level.
pub(in crate::encode) fn mentions_error(line: &str) -> bool {
    const SIGNS: [&[u8]; 9] =
        [b"error", b"warn", b"fail", b"fatal", b"crit", b"panic", b"exception", b"denied", b"refused"];
    let bytes = line.as_bytes();
    let mut rest = bytes.iter().enumerate();
    rest.any(|(at, first)| {
        matches!(first | 0x20, b'e' | b'w' | b'f' | b'c' | b'p' | b'd' | b'r')
            && SIGNS.iter().any(|sign| {
                bytes.get(at..at + sign.len()).is_some_and(|word| word.eq_ignore_ascii_case(sign))
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_known_by_their_words() {
        for line in ["E   AssertionError", "10:00 WARN x", "3 failed", "Permission denied", "x: FATAL"] {
            assert!(mentions_error(line), "{line}");
        }
        for line in ["", "all is well", "erratic", "    at com.example.Main.run(Main.java:7)"] {
            assert!(!mentions_error(line), "{line}");
        }
    }
}
