//! Decodes bytes as text: UTF-8, or the encodings that old programs and PowerShell write.

/// The encoding of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextEncoding {
    /// UTF-8, possibly with invalid bytes, which are shown as U+FFFD.
    Utf8,
    /// Windows-1252, which includes the characters of Latin-1: one byte per character.
    Windows1252,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
}

/// Number of bytes examined to detect UTF-16.
const SAMPLE_BYTES: usize = 4_096;
/// Minimum share of units with a zero high byte in UTF-16 text without a byte order mark, in per cent. Nearly all
/// units of Latin script have a zero high byte.
const LATIN_PERCENT: usize = 70;
/// Minimum share of the bytes above 127 that occur where Western text has letters and signs, in per cent.
const WESTERN_PERCENT: usize = 80;
/// Minimum number of bytes above 127 in Western text. One or two may be errors.
const MIN_WESTERN: usize = 3;
/// Maximum share of bytes above 127 in Western text, in per cent of all bytes. French has 4.
const MAX_WESTERN_PERCENT: usize = 30;

impl TextEncoding {
    /// Detects the encoding of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let sample = bytes.get(..SAMPLE_BYTES).unwrap_or(bytes);
        let marked = match bytes {
            [0xff, 0xfe, ..] => Some(Self::Utf16Le),
            [0xfe, 0xff, ..] => Some(Self::Utf16Be),
            _ => None,
        };
        if let Some(encoding) = marked {
            let mut text = String::new();
            encoding.decode_line(sample, &mut text);
            // Half of a surrogate pair at the end of the sample is not an error.
            let odd = |c: char| c.is_control() && !c.is_whitespace() && c != '\u{1b}';
            let is_text = !text.trim_end_matches('\u{fffd}').contains(|c| odd(c) || c == '\u{fffd}');
            return if is_text { encoding } else { Self::Utf8 };
        }
        let zeros = |odd: bool| {
            let units = sample.chunks_exact(2);
            units.filter(|unit| matches!((odd, unit), (true, [1..=255, 0]) | (false, [0, 1..=255]))).count()
        };
        let enough = (sample.len() / 2 * LATIN_PERCENT / 100).max(8);
        if zeros(true) >= enough {
            return Self::Utf16Le;
        }
        if zeros(false) >= enough {
            return Self::Utf16Be;
        }
        if is_western(bytes) { Self::Windows1252 } else { Self::Utf8 }
    }

    /// Returns the note that a mark adds to a text that is shown decoded, or `None` for UTF-8.
    pub const fn note(self) -> Option<&'static str> {
        match self {
            Self::Utf8 => None,
            Self::Windows1252 => Some("shown decoded from Windows-1252 (Latin-1)"),
            Self::Utf16Le | Self::Utf16Be => Some("shown decoded from UTF-16"),
        }
    }

    /// Returns the lines in a sequence of bytes, each with its line end.
    pub fn lines(self, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
        let mut rest = bytes;
        std::iter::from_fn(move || {
            let end = match self {
                Self::Utf8 | Self::Windows1252 => memchr::memchr(b'\n', rest).map(|at| at + 1),
                Self::Utf16Le => rest.chunks(2).position(|unit| unit == b"\n\0").map(|at| 2 * at + 2),
                Self::Utf16Be => rest.chunks(2).position(|unit| unit == b"\0\n").map(|at| 2 * at + 2),
            };
            let (line, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
            rest = after;
            (!line.is_empty()).then_some(line)
        })
    }

    /// Appends a line as text. Returns the number of bytes that are not text.
    pub fn decode_line(self, line: &[u8], text: &mut String) -> u64 {
        match self {
            Self::Utf8 => line.utf8_chunks().fold(0, |bad, chunk| {
                text.push_str(chunk.valid());
                if !chunk.invalid().is_empty() {
                    text.push(char::REPLACEMENT_CHARACTER);
                }
                bad + chunk.invalid().len() as u64
            }),
            Self::Windows1252 => {
                text.extend(line.iter().map(|byte| windows_1252(*byte)));
                0
            }
            Self::Utf16Le | Self::Utf16Be => {
                let units = line.chunks(2).map(|unit| match (self, unit) {
                    (Self::Utf16Le, [low, high]) | (_, [high, low]) => u16::from_be_bytes([*high, *low]),
                    _ => 0xfffd,
                });
                let chars = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
                text.extend(chars.filter(|c| *c != '\u{feff}'));
                0
            }
        }
    }
}

/// Returns bytes in Windows-1252 or UTF-16 as text. Bytes in Windows-1252 or UTF-16 are shown decoded, and line
/// numbers in marks refer to the decoded text. Returns `None` for UTF-8 and for binary data.
#[must_use]
pub fn decode_other(bytes: &[u8]) -> Option<String> {
    // ASCII text in UTF-16 is valid UTF-8, but contains NUL bytes.
    if std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0')) {
        return None;
    }
    let encoding = TextEncoding::of(bytes);
    encoding.note()?;
    let mut text = String::with_capacity(bytes.len());
    for line in encoding.lines(bytes) {
        encoding.decode_line(line, &mut text);
    }
    Some(text)
}

/// Returns whether bytes that are not UTF-8 are Western text with one byte per character. In Western text, the bytes
/// above 127 are next to letters, and hardly any of them form UTF-8 characters.
fn is_western(bytes: &[u8]) -> bool {
    // A text that was cut within a character is still UTF-8.
    let Some(error) = std::str::from_utf8(bytes).err().filter(|error| error.error_len().is_some()) else {
        return false;
    };
    let (mut high, mut fits) = (0, 0);
    let from = error.valid_up_to().saturating_sub(1);
    let mut previous = b' ';
    let mut rest = bytes.get(from..).unwrap_or_default().iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if matches!(byte, 0..=6 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f) {
            return false;
        }
        if byte >= 0x80 {
            let next = rest.peek().copied().unwrap_or(b' ');
            let beside_letter = previous.is_ascii_alphabetic() || next.is_ascii_alphabetic();
            high += 1;
            fits += usize::from(match byte {
                0x81 | 0x8d | 0x8f | 0x90 | 0x9d | 0xd7 | 0xf7 => false,
                0xc0.. => beside_letter || previous.is_ascii_whitespace() && next.is_ascii_whitespace(),
                _ => previous.is_ascii() && next.is_ascii(),
            });
        }
        previous = byte;
    }
    let in_utf8 = bytes.utf8_chunks().map(|chunk| chunk.valid().chars().filter(|c| !c.is_ascii()).count());
    high >= MIN_WESTERN
        && high * 100 <= bytes.len() * MAX_WESTERN_PERCENT
        && fits * 100 >= high * WESTERN_PERCENT
        && in_utf8.sum::<usize>() * 10 <= high
}

/// The characters of Windows-1252 from 0x80 to 0x9f (index of the Encoding Standard). Undefined bytes are control
/// characters.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

fn windows_1252(byte: u8) -> char {
    let special = byte.checked_sub(0x80).and_then(|at| WINDOWS_1252.get(usize::from(at)));
    special.copied().unwrap_or(char::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latin(text: &str) -> Vec<u8> {
        text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(0x80)).collect()
    }

    #[test]
    fn old_encodings_are_known_and_read() {
        let text = "Prêt à lire : le numéro 25 n'a pas été trouvé.\r\nÉchec : « délai dépassé » — 12 €\n";
        let western = latin(&text.replace('—', "-"));
        assert_eq!(TextEncoding::of(&western), TextEncoding::Windows1252);
        assert_eq!(decode_other(&western).unwrap(), text.replace('—', "-"));
        for (big, encoding) in [(false, TextEncoding::Utf16Le), (true, TextEncoding::Utf16Be)] {
            let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
            let plain: Vec<u8> = text.encode_utf16().flat_map(bytes).collect();
            assert_eq!(TextEncoding::of(&plain), encoding);
            assert_eq!(decode_other(&plain).unwrap(), text);
            assert_eq!(decode_other(&[&bytes(0xfeff), plain.as_slice()].concat()).unwrap(), text);
            assert_eq!(encoding.lines(&plain).count(), 2);
        }
    }

    #[test]
    fn invalid_utf8_and_binary_data_are_not_detected_as_another_encoding() {
        let cut = "naïve, and cut within é".as_bytes();
        for bytes in [
            &b"a line\n\x1b[31mred\x1b[0m \xff\xfe\nanother"[..],
            cut.get(..cut.len() - 1).unwrap(),
            "中文 and \u{e9}\u{e8} here\u{a0}".as_bytes(),
            &b"\xe4\xb8\xad\xe6\x96\x87 text with one bad \xe4 byte"[..],
            &[0x80; 40],
            &[0; 40],
        ] {
            assert_eq!(TextEncoding::of(bytes), TextEncoding::Utf8, "{bytes:?}");
        }
    }
}
