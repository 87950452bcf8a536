//! Decides whether a turn needs the content of a named thing, or only names it.
//!
//! A body that left the request is recalled when its details are needed, for example to read, explain, compare or fix
//! them. A body is not recalled when it is only named, for example to say that it exists, or that it should be moved
//! or committed.

/// English words that ask for the content of something, in their dictionary form. Inflections of these words count;
/// longer words that contain them do not ("already" does not count as "read").
#[rustfmt::skip]
const CUES: [&str; 40] = [
    "read", "look", "show", "see", "check", "view", "open", "print", "what", "why", "how", "where", "which", "explain",
    "describe", "fix", "edit", "change", "update", "implement", "refactor", "rewrite", "write", "line", "content",
    "detail", "compare", "analyse", "analyze", "analysis", "review", "error", "bug", "fail", "failure", "test", "find",
    "say", "port", "use",
];
/// Chinese cues. Chinese cues are searched for as substrings, because Chinese has no spaces between words.
const CUES_ZH: [&str; 11] = ["看", "读", "内容", "细节", "为什么", "解释", "分析", "修", "改", "检查", "错"];
/// Endings of English inflections, longest first.
const ENDINGS: [&str; 5] = ["ing", "es", "ed", "s", "d"];
/// Characters that end a sentence.
const ENDS: [char; 7] = ['\n', '。', '！', '？', '!', '?', ';'];

/// Returns whether a turn asks for the details of a named thing. A handle always asks for details; so does a name
/// that is followed by line numbers, or that is alone in its sentence.
pub(in crate::request) fn needs_details(turn: &str, name: &str) -> bool {
    let is_asked = |sentence: &str| {
        let lower = sentence.replace(name, " ").to_lowercase();
        lower.split(|c: char| !c.is_alphabetic()).any(is_cue)
            || CUES_ZH.iter().any(|cue| lower.contains(cue))
            || lower.chars().all(|c| !c.is_alphanumeric())
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

/// Returns whether a word is a cue or an inflection of one, such as "looks", "failed" or "changing".
fn is_cue(word: &str) -> bool {
    let is_stem = |stem: &str| CUES.contains(&stem);
    let before = |ending: &str| word.strip_suffix(ending);
    is_stem(word)
        || ENDINGS.iter().filter_map(|ending| before(ending)).any(is_stem)
        || before("ing").is_some_and(|stem| CUES.iter().any(|cue| cue.strip_suffix('e') == Some(stem)))
}

/// Splits a text into sentences. A full stop ends a sentence only before a space, so that paths stay whole.
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
            ("Changing src/parser.rs fails two tests", true),
            ("It shows src/parser.rs?", true),
            ("Thanks, src/parser.rs is already done.", false),
            ("Because src/parser.rs is important, commit it now.", false),
            ("The user of src/parser.rs is overlooked, I am afraid", false),
        ] {
            assert_eq!(needs_details(turn, name), needed, "{turn}");
        }
        assert!(needs_details("Thanks for wb:0123456789abcdef.", "wb:0123456789abcdef"));
    }
}
