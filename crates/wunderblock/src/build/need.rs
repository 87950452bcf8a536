//! Whether a turn needs what a thing says, or only names it.
//!
//! A body that left the request comes back when its details are wanted: it is to be read, explained, compared, mended. It
//! does not when it is only named: that it exists, that it is to be moved, committed, thanked for.

/// Words in a sentence that ask for what something says.
const CUES: [&str; 48] = [
    "read",
    "look",
    "show",
    "see ",
    "check",
    "view",
    "open",
    "print",
    "what",
    "why",
    "how",
    "where",
    "which",
    "explain",
    "describe",
    "fix",
    "edit",
    "change",
    "update",
    "implement",
    "refactor",
    "rewrite",
    "write",
    "line",
    "content",
    "detail",
    "compare",
    "analy",
    "review",
    "error",
    "bug",
    "fail",
    "test",
    "find",
    "say",
    "port",
    "use",
    "看",
    "读",
    "内容",
    "细节",
    "为什么",
    "解释",
    "分析",
    "修",
    "改",
    "检查",
    "错",
];
/// Where sentences end.
const ENDS: [char; 7] = ['\n', '。', '！', '？', '!', '?', ';'];

/// Whether a turn's words need the details of what goes by a name. A handle is asked for, whatever is said of it; a name
/// with lines behind it, or alone in a turn, is, too.
pub(super) fn needs_details(turn: &str, name: &str) -> bool {
    let is_asked = |sentence: &str| {
        let lower = sentence.replace(name, " ").to_lowercase();
        CUES.iter().any(|cue| lower.contains(cue)) || lower.chars().all(|c| !c.is_alphanumeric())
    };
    let has_lines = |sentence: &str| {
        let behind = sentence.find(name).and_then(|at| sentence.get(at + name.len()..));
        behind.is_some_and(|rest| {
            rest.strip_prefix([':', '#'])
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == 'L'))
        })
    };
    name.starts_with("wb:")
        || sentences(turn)
            .filter(|sentence| sentence.contains(name))
            .any(|sentence| is_asked(sentence) || has_lines(sentence))
}

/// Sentences; a full stop ends one only where a space follows, so that paths stay whole.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(ENDS).flat_map(|part| part.split(". "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_needed_where_they_are_asked_for() {
        let name = "src/parser.rs";
        for (turn, needed) in [
            ("Please look at src/parser.rs again.", true),
            ("Why does src/parser.rs do that?", true),
            ("Fix the brace in src/parser.rs", true),
            ("src/parser.rs:88", true),
            ("src/parser.rs", true),
            ("看一下 src/parser.rs", true),
            ("src/parser.rs 里为什么会这样？", true),
            ("Is src/parser.rs still there?", false),
            ("Thanks, src/parser.rs is done.", false),
            ("Commit src/parser.rs and push. Then tell me what is next.", false),
            ("把 src/parser.rs 提交。", false),
        ] {
            assert_eq!(needs_details(turn, name), needed, "{turn}");
        }
        assert!(needs_details("Thanks for wb:0123456789abcdef.", "wb:0123456789abcdef"));
    }
}
