//! Checks messages of the library to its callers. Advice is a `Hint`, which each door puts into words for its users;
//! a message that names a command or an option of the command line means nothing in a server.

use crate::tokens::strings;
use crate::{crate_sources, refuse};

/// Crates that other programs build on.
const LIBRARY: &[&str] = &[
    "wunderblock",
    "wunderblock-core",
    "wunderblock-embed",
    "wunderblock-index",
    "wunderblock-redact",
    "wunderblock-reduce",
    "wunderblock-settings",
    "wunderblock-sources",
    "wunderblock-store",
    "wunderblock-summary",
    "wunderblock-text",
    "wunderblock-tokens",
    "wunderblock-wire",
];

/// Texts that start the name of a command, or of a section of the command line's settings.
const OURS: &[&str] = &["`wunderblock ", "`doctor", "[budget]"];

/// Literals that contain options of other programs.
const FOREIGN: &[&str] = &[
    // Git writes these words before each file of a diff.
    "diff --git",
    "diff --cc",
    "diff --combined",
    // Recorded content, which a repeated import must produce word for word.
    "⟨a record of {len} bytes, too long to be parsed:",
];

#[test]
fn library_messages_name_nothing_of_the_command_line() {
    let mut broken = Vec::new();
    for name in LIBRARY {
        for (path, text) in crate_sources(name) {
            // This file contains tests only.
            if path.ends_with("readers/promises.rs") {
                continue;
            }
            let bad = strings(&text).into_iter().filter(|literal| named(literal.text).is_some());
            broken
                .extend(bad.map(|literal| format!("{}:{}: {}", path.display(), literal.line, literal.text)));
        }
    }
    refuse(&broken);
}

/// Returns the command or option of the command line that a literal names.
fn named(literal: &str) -> Option<&str> {
    let ours = OURS.iter().find(|ours| literal.contains(**ours)).copied();
    ours.or_else(|| {
        let options = literal.match_indices("--").map(|(at, _)| literal.split_at(at));
        let is_option = |(before, option): &(&str, &str)| {
            before.ends_with([' ', '`'])
                && option.trim_start_matches('-').starts_with(|first: char| first.is_ascii_lowercase())
        };
        let is_foreign = FOREIGN.iter().any(|foreign| literal.trim_matches('"').starts_with(foreign));
        options.filter(|_| !is_foreign).find(is_option).map(|(_, option)| option)
    })
}

#[test]
fn commands_and_options_are_found() {
    let text = r###"
        // Comments may say `wunderblock doctor --rebuild`.
        fn one() { say("rebuild it with `doctor --rebuild`"); }
        fn two() { say(r#"or leave --query out"#); }
        fn three() { say("`wunderblock read` shows it"); }
        fn four() { say("give [budget] more"); }
        fn five() { is("diff --git a b"); is("a -- b"); is("--all"); is("|--|"); }
        #[cfg(test)]
        mod tests { fn six() { is("run --all"); } }
    "###;
    let found: Vec<usize> = strings(text)
        .into_iter()
        .filter(|literal| named(literal.text).is_some())
        .map(|token| token.line)
        .collect();
    assert_eq!(found, [3, 4, 5, 6]);
}
