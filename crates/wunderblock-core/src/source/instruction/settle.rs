//! Resolution of named blocks across files: blocks that replace, add to, or lock each other.

use super::file::{InstructionFile, Mode};
use super::finding::{Finding, FindingKind};
use crate::source::authority::{Authority, InstructionLevel};
use std::collections::HashMap;

/// Effect of a later definition of a block on the earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redefinition {
    /// Both definitions apply.
    Added,
    /// The later definition applies, and the earlier one is removed.
    Replaced,
    /// The earlier definition applies, and the later one is dropped.
    Refused,
}

/// Effect of each redefinition: each row holds the mode of the existing block, the mode of the later definition, and
/// what happens.
///
/// The table is complete, except for two rules of rank. Only managed policy may change a block that managed policy
/// has defined. A mode binds only files with the same or lower authority: a block locked by a project binds the
/// project's directories, but not the person's own text for the session.
pub const RULES: [(Mode, Mode, Redefinition); 9] = [
    (Mode::Override, Mode::Override, Redefinition::Replaced),
    (Mode::Override, Mode::Append, Redefinition::Added),
    (Mode::Override, Mode::Locked, Redefinition::Replaced),
    (Mode::Append, Mode::Override, Redefinition::Refused),
    (Mode::Append, Mode::Append, Redefinition::Added),
    (Mode::Append, Mode::Locked, Redefinition::Refused),
    (Mode::Locked, Mode::Override, Redefinition::Refused),
    (Mode::Locked, Mode::Append, Redefinition::Refused),
    (Mode::Locked, Mode::Locked, Redefinition::Refused),
];

/// Returns the effect of a redefinition according to the rules of rank and the table [`RULES`]. `mode` and
/// `by` are the mode and level of the existing block, `later` and `of` those of the later definition.
#[must_use]
pub fn outcome(mode: Mode, by: InstructionLevel, later: Mode, of: InstructionLevel) -> Redefinition {
    if by == InstructionLevel::Managed && of.authority() < Authority::Operator {
        return Redefinition::Refused;
    }
    let mode = if of.authority() > by.authority() { Mode::Override } else { mode };
    let row = RULES.iter().find(|(earlier, next, _)| (*earlier, *next) == (mode, later));
    row.map_or(Redefinition::Refused, |(_, _, outcome)| *outcome)
}

/// Maximum number of listed findings. One additional finding gives the number of unlisted findings.
pub const MAX_SETTLED: usize = 256;

/// Parts of instruction files that apply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Text of each file that still applies, in the given order; empty if no part of the file applies.
    pub texts: Vec<String>,
    /// Findings about content that was rejected, replaced, in conflict, or already present.
    pub findings: Vec<Finding>,
}

/// Decides which parts of the files apply. The files must be ordered from the broadest to the closest. The running
/// time is linear in the total length of the files.
///
/// A file with the same bytes as an earlier file is left out if the earlier one still applies as a whole and has at
/// least the same authority. A block that a file defines more than once is one block with the strictest of its modes.
#[must_use]
pub fn settle(files: &[InstructionFile]) -> Settled {
    let mut table = Resolution {
        files,
        blocks: HashMap::new(),
        holds: Vec::new(),
        whole: HashMap::new(),
        findings: Vec::new(),
        more: 0,
    };
    for at in 0..files.len() {
        table.take(at);
    }
    let texts = files.iter().zip(&table.holds).map(|(file, holds)| {
        let kept = file.pieces.iter().zip(holds).filter(|(_, holds)| **holds);
        kept.map(|(piece, _)| piece.text.as_str()).collect()
    });
    let texts = texts.collect();
    let mut findings = table.findings;
    if table.more > 0 {
        let detail = format!("{} more blocks were refused or replaced and are not listed", table.more).into();
        findings.push(Finding {
            source: "instructions".into(),
            line: None,
            what: FindingKind::Refused,
            detail,
        });
    }
    Settled { texts, findings }
}

/// The current definition of a block.
struct BlockDefinition {
    mode: Mode,
    /// Index of the file that defined the block.
    file: usize,
    /// Pieces of the block: for each, the index of the file, and of the piece in the file.
    pieces: Vec<(usize, usize)>,
}

struct Resolution<'a> {
    files: &'a [InstructionFile],
    blocks: HashMap<&'a str, BlockDefinition>,
    /// Whether each piece of each file applies.
    holds: Vec<Vec<bool>>,
    /// Latest file with each digest, except files left out as repetitions.
    whole: HashMap<&'a str, usize>,
    findings: Vec<Finding>,
    /// Number of findings that are not listed.
    more: u64,
}

impl<'a> Resolution<'a> {
    fn take(&mut self, at: usize) {
        let Some(file) = self.files.get(at) else { return };
        let first = self.whole.get(&*file.digest).copied();
        if let Some(first) = first.filter(|first| self.makes_redundant(*first, file)) {
            self.holds.push(vec![false; file.pieces.len()]);
            if !file.pieces.is_empty() {
                self.find(at, None, FindingKind::Repeated, format!("says the same as {}", self.name(first)));
            }
            return;
        }
        // An earlier file with this digest, if any, has a lower authority or no longer applies as a whole.
        self.whole.insert(&file.digest, at);
        self.holds.push(vec![true; file.pieces.len()]);
        for (place, piece) in file.pieces.iter().enumerate() {
            if let Some((name, mode)) = &piece.block {
                self.define(name, *mode, at, place);
            }
        }
    }

    fn makes_redundant(&self, first: usize, file: &InstructionFile) -> bool {
        let weighs =
            self.files.get(first).is_some_and(|first| first.level.authority() >= file.level.authority());
        weighs && self.holds.get(first).is_some_and(|holds| holds.iter().all(|holds| *holds))
    }

    fn define(&mut self, name: &'a str, mode: Mode, file: usize, place: usize) {
        let fresh = BlockDefinition { mode, file, pieces: vec![(file, place)] };
        let Some(block) = self.blocks.get_mut(name) else {
            self.blocks.insert(name, fresh);
            return;
        };
        if block.file == file {
            block.mode = strictest(block.mode, mode);
            block.pieces.push((file, place));
            return;
        }
        let (Some(by), Some(of)) = (self.files.get(block.file), self.files.get(file)) else { return };
        let definer = block.file;
        match outcome(block.mode, by.level, mode, of.level) {
            Redefinition::Added => block.pieces.push((file, place)),
            Redefinition::Replaced => {
                let gone = std::mem::replace(block, fresh).pieces;
                let what = if same_place(by, of) { FindingKind::Conflict } else { FindingKind::Replaced };
                for (file, place) in gone {
                    self.drop_piece(file, place);
                    let why = match what {
                        FindingKind::Conflict => {
                            format!(
                                "the block \"{name}\" is defined by {} in the same directory, too, which holds",
                                of.path
                            )
                        }
                        _ => format!("the block \"{name}\" is replaced by {}", of.path),
                    };
                    self.find(file, Some(place), what, why);
                }
            }
            Redefinition::Refused => {
                let held = match (block.mode, by.level) {
                    (_, InstructionLevel::Managed) if of.level != InstructionLevel::Managed => {
                        "is managed policy, set"
                    }
                    (Mode::Append, _) => "may only be added to, as set",
                    _ => "is locked",
                };
                self.drop_piece(file, place);
                let why = format!(
                    "the block \"{name}\" {held} by {}: this definition ({}) is dropped",
                    self.name(definer),
                    mode.word()
                );
                self.find(file, Some(place), FindingKind::Refused, why);
            }
        }
    }

    fn drop_piece(&mut self, file: usize, place: usize) {
        if let Some(holds) = self.holds.get_mut(file).and_then(|holds| holds.get_mut(place)) {
            *holds = false;
        }
    }

    fn name(&self, file: usize) -> &'a str {
        self.files.get(file).map_or("", |file| &file.path)
    }

    fn find(&mut self, file: usize, place: Option<usize>, what: FindingKind, detail: String) {
        if self.findings.len() >= MAX_SETTLED {
            self.more += 1;
            return;
        }
        let Some(source) = self.files.get(file) else { return };
        let line = place.and_then(|place| source.pieces.get(place)).map(|piece| piece.line);
        self.findings.push(Finding { source: source.path.clone(), line, what, detail: detail.into() });
    }
}

fn strictest(one: Mode, other: Mode) -> Mode {
    match (one, other) {
        (Mode::Locked, _) | (_, Mode::Locked) => Mode::Locked,
        (Mode::Append, _) | (_, Mode::Append) => Mode::Append,
        (Mode::Override, Mode::Override) => Mode::Override,
    }
}

fn same_place(one: &InstructionFile, other: &InstructionFile) -> bool {
    let parent = |path: &str| path.rsplit_once('/').map(|(parent, _)| parent.to_owned());
    one.level == other.level && parent(&one.path) == parent(&other.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::instruction::{LoadReason, pieces};

    fn file(path: &str, level: InstructionLevel, text: &str) -> InstructionFile {
        InstructionFile {
            path: path.into(),
            level,
            reason: LoadReason::SessionStart,
            digest: blake3::hash(text.as_bytes()).to_hex().as_str().into(),
            pieces: pieces(text).0,
        }
    }

    fn shown(settled: &Settled) -> Vec<String> {
        let finding = |finding: &Finding| {
            let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
            format!("{:?} {}{line}", finding.what, finding.source)
        };
        settled
            .texts
            .iter()
            .map(|text| text.trim().replace('\n', "|"))
            .chain(settled.findings.iter().map(finding))
            .collect()
    }

    /// Columns: the earlier mode, the later mode, the text of each definition that applies, and the findings.
    #[test]
    fn what_may_override_what() {
        let cases: [(&str, &str, [&str; 2], &[&str]); 9] = [
            ("override", "override", ["", "late"], &["Replaced AGENTS.md:1"]),
            ("override", "append", ["early", "late"], &[]),
            ("override", "locked", ["", "late"], &["Replaced AGENTS.md:1"]),
            ("append", "override", ["early", ""], &["Refused src/AGENTS.md:1"]),
            ("append", "append", ["early", "late"], &[]),
            ("append", "locked", ["early", ""], &["Refused src/AGENTS.md:1"]),
            ("locked", "override", ["early", ""], &["Refused src/AGENTS.md:1"]),
            ("locked", "append", ["early", ""], &["Refused src/AGENTS.md:1"]),
            ("locked", "locked", ["early", ""], &["Refused src/AGENTS.md:1"]),
        ];
        assert_eq!(cases.len(), RULES.len());
        for (earlier, later, texts, findings) in cases {
            let settled = settle(&[
                file("AGENTS.md", InstructionLevel::Project, &format!("<!-- block x {earlier} -->\nearly\n")),
                file(
                    "src/AGENTS.md",
                    InstructionLevel::Directory,
                    &format!("<!-- block x {later} -->\nlate\n"),
                ),
            ]);
            assert_eq!(shown(&settled), [&texts, findings].concat(), "{earlier} × {later}");
        }
    }

    /// A project file cannot change managed policy, and a project's lock does not bind the person's session.
    #[test]
    fn authority_takes_precedence_over_modes() {
        use InstructionLevel::{Directory, Managed, Project, Session, User};
        for earlier in [Mode::Override, Mode::Append, Mode::Locked] {
            for later in [Mode::Override, Mode::Append, Mode::Locked] {
                for level in [User, Project, Directory, Session] {
                    assert_eq!(outcome(earlier, Managed, later, level), Redefinition::Refused);
                }
                let plain = outcome(earlier, User, later, Project);
                for pair in [(Managed, Managed), (User, Session), (User, Directory), (Project, Directory)] {
                    assert_eq!(outcome(earlier, pair.0, later, pair.1), plain, "{pair:?}");
                }
                let free = outcome(Mode::Override, Project, later, Directory);
                assert_eq!(outcome(earlier, Project, later, Session), free);
            }
        }
    }

    #[test]
    fn a_replaced_block_takes_what_was_added_to_it_along() {
        let settled = settle(&[
            file("AGENTS.md", InstructionLevel::Project, "keep\n<!-- block x -->\none\n"),
            file("a/AGENTS.md", InstructionLevel::Directory, "<!-- block x append -->\ntwo\n"),
            file("a/b/AGENTS.md", InstructionLevel::Directory, "<!-- block x locked -->\nthree\n"),
            file(
                "a/b/c/AGENTS.md",
                InstructionLevel::Directory,
                "<!-- block x override -->\nfour\n<!-- end -->\nrest\n",
            ),
        ]);
        let expected = [
            "keep",
            "",
            "three",
            "rest",
            "Replaced AGENTS.md:2",
            "Replaced a/AGENTS.md:1",
            "Refused a/b/c/AGENTS.md:1",
        ];
        assert_eq!(shown(&settled), expected);
        assert!(
            settled.findings[2].detail.contains("is locked by a/b/AGENTS.md"),
            "{:?}",
            settled.findings[2]
        );
    }

    #[test]
    fn two_files_of_one_directory_are_in_conflict() {
        let settled = settle(&[
            file("AGENTS.md", InstructionLevel::Project, "<!-- block x -->\none\n"),
            file("CLAUDE.md", InstructionLevel::Project, "<!-- block x -->\ntwo\n"),
        ]);
        assert_eq!(shown(&settled), ["", "two", "Conflict AGENTS.md:1"]);
    }

    #[test]
    fn the_same_text_is_there_once() {
        let same = "<!-- block x -->\none\n";
        let settled = settle(&[
            file("AGENTS.md", InstructionLevel::Project, same),
            file("CLAUDE.md", InstructionLevel::Project, same),
            file("a/AGENTS.md", InstructionLevel::Directory, "<!-- block x -->\ntwo\n"),
            file("a/b/AGENTS.md", InstructionLevel::Directory, same),
            file("given", InstructionLevel::Session, same),
        ]);
        let expected = [
            "",
            "",
            "",
            "",
            "one",
            "Repeated CLAUDE.md",
            "Replaced AGENTS.md:1",
            "Replaced a/AGENTS.md:1",
            "Replaced a/b/AGENTS.md:1",
        ];
        assert_eq!(shown(&settled), expected);
    }

    #[test]
    fn what_is_told_is_bounded() {
        let many: String = (0..5_000).map(|at| format!("<!-- block b{at} locked -->\nx\n")).collect();
        let settled = settle(&[
            file("A.md", InstructionLevel::Project, &many),
            file("a/A.md", InstructionLevel::Directory, &format!("{many}y")),
        ]);
        assert_eq!(settled.findings.len(), MAX_SETTLED + 1);
        assert!(settled.findings[MAX_SETTLED].detail.starts_with("4744 more"));
        assert_eq!(settled.texts[1], "");
    }

    #[test]
    fn a_block_may_be_written_in_parts() {
        let settled = settle(&[
            file(
                "AGENTS.md",
                InstructionLevel::Project,
                "<!-- block x -->\none\n<!-- block x locked -->\ntwo\n",
            ),
            file("a/AGENTS.md", InstructionLevel::Directory, "<!-- block x -->\nthree\n"),
        ]);
        assert_eq!(shown(&settled), ["one|two", "", "Refused a/AGENTS.md:1"]);
    }
}
