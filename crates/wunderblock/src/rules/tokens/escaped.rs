//! Length of a text inside a JSON string.

/// Returns the number of bytes that `text` takes inside a JSON string as `serde_json` writes it, with escapes but
/// without the quotes.
///
/// `"`, `\` and the control characters with a short form (`\b \t \n \f \r`) take two bytes. Other characters below
/// U+0020 take six bytes (for example, `\u001b`). All other characters take their UTF-8 length.
#[must_use]
pub fn escaped_len(text: &str) -> u64 {
    let mut extra = 0_u64;
    // A sum of at most 255 ones fits into a byte, and the compiler vectorises sums of that width.
    for chunk in text.as_bytes().chunks(255) {
        let (mut escaped, mut long) = (0_u8, 0_u8);
        for byte in chunk {
            let control = *byte < 0x20;
            let short = matches!(*byte, 0x08 | 0x09 | 0x0A | 0x0C | 0x0D);
            escaped += u8::from(control | (*byte == b'"') | (*byte == b'\\'));
            long += u8::from(control & !short);
        }
        extra += u64::from(escaped) + 4 * u64::from(long);
    }
    text.len() as u64 + extra
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(text: &str) -> u64 {
        serde_json::to_string(text).unwrap().len() as u64 - 2
    }

    #[test]
    fn every_character_below_300_is_as_long_as_written() {
        for code in 0..300 {
            let text = char::from_u32(code).unwrap().to_string();
            assert_eq!(escaped_len(&text), written(&text), "U+{code:04X}");
        }
        let all: String = (0..300).filter_map(char::from_u32).collect();
        let long = all.repeat(20);
        assert_eq!(escaped_len(&long), written(&long));
        assert_eq!(escaped_len(&"\u{1}".repeat(1000)), 6000);
    }

    proptest! {
        #[test]
        fn any_text_is_as_long_as_written(text in "(?s)([\\x00-\\x7f]|.){0,600}") {
            prop_assert_eq!(escaped_len(&text), written(&text));
        }
    }
}
