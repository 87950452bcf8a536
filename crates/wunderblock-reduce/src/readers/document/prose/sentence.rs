//! Finds the ends of sentences, in any script.
use crate::part::PartOfText;

/// Returns the ends of the sentences in a line, in bytes from its start. The last position is the end of the line.
pub(super) fn sentence_ends(line: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut ended = false;
    let mut word = 0;
    let (mut start, mut ticks) = (0, false);
    for (at, c) in line.char_indices() {
        // Closing quotes and spaces belong to the sentence before them.
        let before = line.part(..at);
        let after_space = before.ends_with(char::is_whitespace);
        let closes = matches!(c, '"' | '\'' | ')' | '”' | '’' | '」' | '』' | '）' | '.' | '!' | '?');
        if ended && !c.is_whitespace() && (after_space || !closes) {
            let dense = before.ends_with(['。', '！', '？', '｡', '」', '』', '”', '）']);
            // A lower-case letter after a full stop means that the full stop ended an abbreviation.
            if (after_space && !c.is_lowercase() || dense) && at > start {
                ends.push(at);
                start = at;
            }
            ended = false;
        }
        match c {
            '`' => ticks = !ticks,
            '。' | '！' | '？' | '｡' | '…' => ended = true,
            '.' | '!' | '?' | '।' | '؟' | '۔' if !ticks => ended |= word > 1 || c != '.',
            _ => {}
        }
        word = if c.is_alphanumeric() || (word > 0 && matches!(c, ')' | '`' | '"')) {
            word + 1
        } else if c.is_whitespace() {
            0
        } else {
            word
        };
    }
    ends.push(line.len());
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_readers_think_so() {
        let cases = [
            ("One is here. Two is there! Is it? Yes.", 4),
            ("See e.g. the file a.rs for it. Then go on.", 2),
            ("第一句。第二句！第三句", 3),
            ("Call `a. B` now. Done", 2),
            ("no end", 1),
            ("Version 1.2.3 came. \"It works.\" He left.", 3),
        ];
        for (text, count) in cases {
            assert_eq!(sentence_ends(text).len(), count, "{text} {:?}", sentence_ends(text));
            assert_eq!(sentence_ends(text).last(), Some(&text.len()));
        }
    }
}
