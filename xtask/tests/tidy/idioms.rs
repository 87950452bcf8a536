//! Checks the language of code and documents: phrases that native readers read twice stay rare (CONTRIBUTING, *Words*).

use crate::{refuse, root};
use std::fs;
use std::path::{Path, PathBuf};

/// Phrases, word by word. A word may have alternatives.
const PHRASES: &[&[&str]] = &[
    &["so", "many|much"],
    &["anew"],
    &["whoever"],
    &["mend|mends|mended|mending"],
    &["but", "for"],
    &["go|goes", "before"],
    &["is|are|was|were", "none"],
    &["is|are", "no"],
    &["fewest"],
    &["newest", "one"],
    &["stand|stands", "for"],
];

/// Words after which "is no" is plain English: "there is no room".
const THERE: &str = "there";
/// Words before which "is no" is plain English: "is no longer", "are no more than".
const COMPARED: &[&str] = &["longer", "more", "less", "fewer", "other", "room", "better"];

/// Maximum number of listed phrases that may remain: in quoted texts of tests, in stored formats, and in places where
/// the phrase is the right one.
const MAX_PHRASES: usize = 60;

#[test]
fn private_idioms_stay_rare() {
    let mut found = Vec::new();
    for path in documents() {
        let text = fs::read_to_string(&path).expect("a readable file");
        for (number, line) in text.lines().enumerate() {
            let place = || format!("{}:{}: {}", path.display(), number + 1, line.trim());
            found.extend(std::iter::repeat_with(place).take(count(line)));
        }
    }
    if found.len() > MAX_PHRASES {
        found.push(format!("{} phrases; the maximum is {MAX_PHRASES}", found.len()));
        refuse(&found);
    }
}

/// Files whose language is ours: sources, tables and documents, except recorded material and other languages.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> =
        ["crates", "xtask", "docs", "examples", ".ci"].iter().map(|name| root().join(name)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a readable folder").flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() {
                if !["corpus", "project", "golden", "snapshots", "target"].contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if has_language(&path) {
                found.push(path);
            }
        }
    }
    let beside = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "Cargo.toml"];
    found.extend(beside.iter().map(|name| root().join(name)));
    // This file lists the phrases.
    found.retain(|path| !path.ends_with("tidy/idioms.rs"));
    found
}

fn has_language(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_none_or(|ending| ["rs", "md", "toml", "rules", "sql"].contains(&ending))
}

/// Returns how often a line has one of the phrases.
fn count(line: &str) -> usize {
    let words: Vec<&str> = line
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let is_phrase = |at: usize, phrase: &[&str]| {
        let same = phrase.iter().enumerate().all(|(offset, wanted)| {
            // Only the first word may begin a sentence: `None` is a value, and "none" is a word.
            let is_word = |word: &&str| {
                wanted.split('|').any(|one| one == *word || offset == 0 && one.eq_ignore_ascii_case(word))
            };
            words.get(at + offset).is_some_and(is_word)
        });
        let before = at.checked_sub(1).and_then(|before| words.get(before)).copied().unwrap_or_default();
        let after = words.get(at + phrase.len()).copied().unwrap_or_default();
        let is_plain =
            phrase.last() == Some(&"no") && (before.eq_ignore_ascii_case(THERE) || COMPARED.contains(&after));
        same && !is_plain
    };
    (0..words.len()).map(|at| PHRASES.iter().filter(|phrase| is_phrase(at, phrase)).count()).sum()
}

#[test]
fn phrases_are_counted_and_plain_english_is_not() {
    for (line, expected) in [
        ("So many bytes are read; the rest is built anew.", 2),
        ("A colour is no kind. There is no room, and it is no longer open.", 1),
        ("None if there is none; it is None", 1),
        ("all but for one, whoever asks", 2),
        ("sooner, amend, before, no one", 0),
    ] {
        assert_eq!(count(line), expected, "{line}");
    }
}
