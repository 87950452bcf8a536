//! Reduces every output of the corpus as its reader would see it.
//!
//! `corpus/NAME.in` is the output. A first line `$ command` is the command that wrote it, and not part of the text.
//! `NAME.out` is the exact result of `fold`; `UPDATE_GOLDEN=1` writes it. `NAME.why` states what must hold, one rule
//! per line:
//!
//! ```text
//! kind build        the kind as which it is reduced
//! claim selection  the claim of its command: file, selection, report, unknown; files and selections keep every line
//! saves 35         minimum share of the tokens that `fold` saves, in per cent
//! stays            every line is in the short text
//! must TEXT        TEXT is in the short text, unpacked or as it is
//! never TEXT       TEXT is not in the short text
//! wants RULE       a goal: a rule that is reported if it does not hold, but does not fail
//! ```

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at what cannot be"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use wunderblock_reduce::{Gap, Kind, Level, Options, Reduced, find_json, gaps, reduce, unpack};
use wunderblock_text::encoding::decode_other;

/// A handle as the engine would create it.
const HANDLE: &str = "wb:3f9c1a7be2d04c58";
/// Maximum bytes of all inputs together, so that the repository stays small.
const MAX_BYTES: usize = 1_500_000;
/// Minimum number of inputs.
const MIN_INPUTS: usize = 45;

/// An output of the corpus.
struct CorpusCase {
    name: String,
    command: Option<String>,
    text: Vec<u8>,
    rules: String,
}

impl CorpusCase {
    fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        let end = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let command =
            bytes.starts_with(b"$ ").then(|| String::from_utf8_lossy(&bytes[2..end]).trim().to_owned());
        let text = if command.is_some() { bytes[end..].to_vec() } else { bytes };
        let rules = fs::read_to_string(path.with_extension("why")).unwrap_or_default();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        Self { name, command, text, rules }
    }

    fn fold(&self) -> Reduced {
        let options =
            Options { handle: Some(HANDLE), command: self.command.as_deref(), ..Options::default() };
        reduce(&self.text, &options)
    }

    /// Returns the rules that do not hold, and the goals that are not reached.
    fn broken(&self, short: &Reduced) -> (Vec<String>, Vec<String>) {
        let shown = format!("{}\n{}", unpack(&short.text).unwrap_or_default(), short.text);
        let (mut broken, mut wanted) = (Vec::new(), Vec::new());
        for line in self.rules.lines().filter(|line| !line.trim().is_empty()) {
            let goal = line.strip_prefix("wants ");
            let Some(failure) = self.check(goal.unwrap_or(line), short, &shown) else { continue };
            let list = if goal.is_some() { &mut wanted } else { &mut broken };
            list.push(format!("{}: `{line}`: {failure}", self.name));
        }
        (broken, wanted)
    }

    /// Returns the reason why a rule does not hold, or `None` if it holds.
    fn check(&self, rule: &str, short: &Reduced, shown: &str) -> Option<String> {
        let (word, value) = rule.split_once(' ').unwrap_or((rule, ""));
        match word {
            "kind" => {
                assert!(Kind::named(value).is_some(), "{}: unknown kind in `{rule}`", self.name);
                (short.kind.name() != value).then(|| format!("it is {}", short.kind))
            }
            "claim" => self.claim(value, short, shown),
            "stays" => self.lost_line(shown),
            "saves" => {
                let wanted: u64 = value.parse().unwrap();
                let saved = saved(short);
                (saved < wanted).then(|| format!("saves {saved} %"))
            }
            "must" => (!shown.contains(value)).then(|| "not visible".to_owned()),
            "never" => shown.contains(value).then(|| "visible".to_owned()),
            _ => panic!("{}: unknown rule `{rule}`", self.name),
        }
    }

    /// Returns a message about a line that is not shown, if there is one.
    fn lost_line(&self, shown: &str) -> Option<String> {
        let source = String::from_utf8_lossy(&self.text);
        let lines: BTreeSet<&str> = shown.lines().collect();
        let lost = source.lines().find(|line| !lines.contains(line));
        lost.map(|line| format!("lost {line:?}"))
    }

    /// Checks what a claim promises: a file keeps its bytes, a selection keeps each line.
    fn claim(&self, claim: &str, short: &Reduced, shown: &str) -> Option<String> {
        let source = String::from_utf8_lossy(&self.text);
        match claim {
            // A note may precede a file that looks marked.
            "file" => (!short.text.ends_with(&*source)).then(|| "its bytes are changed".to_owned()),
            "selection" => self.lost_line(shown),
            "report" | "unknown" => None,
            _ => panic!("{}: unknown claim `{claim}`", self.name),
        }
    }
}

/// Returns the share of the tokens that a reduction saves, in per cent.
fn saved(short: &Reduced) -> u64 {
    short.tokens_before.saturating_sub(short.tokens_after) * 100 / short.tokens_before.max(1)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn cases() -> Vec<CorpusCase> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut inputs: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "in")).collect();
    inputs.sort();
    inputs.iter().map(|path| CorpusCase::read(path)).collect()
}

#[test]
fn every_output_keeps_what_its_reader_needs() {
    let (mut broken, mut wanted) = (Vec::new(), Vec::new());
    for case in cases() {
        let short = case.fold();
        println!("{} {} saves {} %", case.name, short.kind, saved(&short));
        let (failures, goals) = case.broken(&short);
        broken.extend(failures);
        wanted.extend(goals);
    }
    println!("{} goals to reach:\n{}", wanted.len(), wanted.join("\n"));
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_output_is_shortened_as_recorded() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut changed = Vec::new();
    for case in cases() {
        let path = folder().join(&case.name).with_extension("out");
        let text = case.fold().text;
        if update {
            fs::write(&path, &text).unwrap();
        } else if fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
            changed.push(case.name);
        }
    }
    assert!(
        changed.is_empty(),
        "the shorter text of {} changed; write it with UPDATE_GOLDEN=1 and read the difference",
        changed.join(", ")
    );
}

fn decoded(bytes: &[u8]) -> String {
    decode_other(bytes).unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned())
}

/// Returns the bytes that a place names. They are found without the spans that the reduction returned.
fn read(bytes: &[u8], place: &str) -> Option<Vec<u8>> {
    let range = |range: &str| -> Option<(usize, usize)> {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some((first.parse().ok()?, last.parse().ok()?))
    };
    if let Some((first, last)) = place.strip_prefix('L').and_then(range) {
        let text = decoded(bytes);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        return Some(lines.get(first.checked_sub(1)?..last)?.concat().into());
    }
    if let Some((start, end)) = place.strip_prefix('B').and_then(range) {
        return bytes.get(start..end).map(<[u8]>::to_vec);
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let (path, part) = place.split_once("#B").map_or((place, None), |(path, part)| (path, Some(part)));
    let span = find_json(text, path).ok()?.span;
    let value = text.get(span)?;
    match part {
        None => Some(value.into()),
        Some(part) => {
            let (start, end) = range(part)?;
            value.trim_matches('"').get(start..end).map(Into::into)
        }
    }
}

/// Returns whether a gap's place names its bytes. Commas and spaces between values belong to no value.
fn is_read_back(bytes: &[u8], gap: &Gap) -> bool {
    let trim = |bytes: &[u8]| decoded(bytes).trim_matches([',', ' ', '\n', '\r', '\t']).to_owned();
    let left_out = bytes.get(gap.span.clone()).unwrap_or_default();
    read(bytes, &gap.place()).is_some_and(|read| trim(&read) == trim(left_out))
}

#[test]
fn what_a_mark_names_is_what_it_left_out() {
    let mut wrong = Vec::new();
    for case in cases() {
        let lines: Vec<&[u8]> = case.text.split_inclusive(|byte| *byte == b'\n').take(3).collect();
        for shown in [0, lines.concat().len()] {
            let whole = case.fold().tokens_before;
            for level in [Level::Fold, Level::Budget(whole / 4)] {
                let command = case.command.as_deref();
                let options = Options { handle: Some(HANDLE), level, command, shown, ..Options::default() };
                let short = reduce(&case.text, &options);
                let places: BTreeSet<String> = short.gaps.iter().map(Gap::place).collect();
                for gap in short.gaps.iter().filter(|gap| !is_read_back(&case.text, gap)) {
                    wrong.push(format!(
                        "{} {level:?} after {shown}: {}, bytes {:?}",
                        case.name,
                        gap.mark(None),
                        gap.span
                    ));
                }
                for mark in gaps(&short.text) {
                    if !places.contains(mark.place) || mark.handle != Some(HANDLE) {
                        wrong.push(format!("{} {level:?}: no gap for {mark:?}", case.name));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_corpus_has_every_kind_and_stays_small() {
    let cases = cases();
    let bytes: usize = cases.iter().map(|case| case.text.len()).sum();
    assert!(cases.len() >= MIN_INPUTS && bytes <= MAX_BYTES, "{} inputs, {bytes} bytes", cases.len());
    for case in &cases {
        assert!(
            case.rules.lines().any(|line| line.contains("kind ")),
            "{}: its rules name no kind",
            case.name
        );
        assert!((1_500..=40_000).contains(&case.text.len()), "{}: {} bytes", case.name, case.text.len());
        let names_a_home = ["/home/", "/root/", "/Users/"].iter().any(|path| {
            let found = case.text.windows(path.len()).any(|bytes| bytes == path.as_bytes());
            found && !case.name.starts_with("cat_")
        });
        assert!(!names_a_home, "{}: a path of somebody's home", case.name);
    }
    for kind in Kind::ALL {
        let named = format!("kind {}", kind.name());
        assert!(cases.iter().any(|case| case.rules.contains(&named)), "no output of the kind {kind}");
    }
}
