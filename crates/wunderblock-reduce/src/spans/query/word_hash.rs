//! The words of a text, as hashes.

/// Start value of FNV-1a, which is computed over lower-case characters.
const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// A word that is being read: its hash, and the hash before its last letter.
#[derive(Clone, Copy)]
struct QueryWord {
    hash: u64,
    before: u64,
    letters: u32,
    last: char,
}

impl QueryWord {
    const NEW: Self = Self { hash: START, before: START, letters: 0, last: ' ' };

    fn push(&mut self, c: char) {
        self.before = self.hash;
        let lower = if c.is_ascii() { c.to_ascii_lowercase() } else { c.to_lowercase().next().unwrap_or(c) };
        self.hash = (self.hash ^ u64::from(u32::from(lower))).wrapping_mul(PRIME);
        // A word that ends with `ss` is not a plural.
        self.letters = self.letters.saturating_add(1);
        self.last = if self.last == 's' && lower == 's' { 'ß' } else { lower };
    }

    /// Returns the hash of the word, or of its singular if the word looks like a plural.
    fn number(&self) -> u64 {
        if self.last == 's' && self.letters >= 4 { self.before } else { self.hash }
    }
}

/// Calls `see` with the hash of each word of a text. An identifier is counted as a whole, without its joints (`_ - .
/// /`), and by its parts (split at joints and at `camelCase`). In scripts without spaces, each pair of characters
/// counts as a word.
pub(crate) fn for_each_word(text: &str, see: &mut impl FnMut(u64)) {
    let (mut whole, mut part) = (QueryWord::NEW, QueryWord::NEW);
    let mut parts = 0u32;
    let mut previous = ' ';
    let mut pair: Option<char> = None;
    for c in text.chars().chain(Some(' ')) {
        if is_dense(c) {
            end_part(&mut part, &mut parts, see);
            end_whole(&mut whole, &mut parts, see);
            if let Some(first) = pair {
                let mut both = QueryWord::NEW;
                both.push(first);
                both.push(c);
                see(both.hash);
            }
            pair = Some(c);
            previous = c;
            continue;
        }
        pair = None;
        if c.is_alphanumeric() {
            if c.is_uppercase() && previous.is_lowercase() {
                end_part(&mut part, &mut parts, see);
            }
            whole.push(c);
            part.push(c);
        } else {
            end_part(&mut part, &mut parts, see);
            if !matches!(c, '_' | '-' | '.' | '/') {
                end_whole(&mut whole, &mut parts, see);
            }
        }
        previous = c;
    }
}

fn end_part(part: &mut QueryWord, parts: &mut u32, see: &mut impl FnMut(u64)) {
    if part.letters > 0 {
        see(part.number());
        *parts += 1;
    }
    *part = QueryWord::NEW;
}

/// Ends an identifier, which counts as a whole only if it has more than one part.
fn end_whole(whole: &mut QueryWord, parts: &mut u32, see: &mut impl FnMut(u64)) {
    if *parts > 1 {
        see(whole.number());
    }
    *whole = QueryWord::NEW;
    *parts = 0;
}

/// Returns whether a character belongs to a script that is written without spaces: Han, Kana, Hangul.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<u64> {
        let mut words = Vec::new();
        for_each_word(text, &mut |word| words.push(word));
        words
    }

    #[test]
    fn identifiers_are_whole_and_in_parts() {
        assert_eq!(words("getUserById").len(), 5);
        assert!(
            words("get_user_by_id").contains(&words("getUserById")[4]),
            "joints do not matter for the whole"
        );
        assert_eq!(words("src/main.rs").len(), 4);
        assert_eq!(words("timeouts"), words("Timeout"));
        assert_ne!(words("class"), words("clas"));
        assert_eq!(words("数据库").len(), 2);
        assert!(words(" . ").is_empty());
    }
}
