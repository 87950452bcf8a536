//! Classifies the lines of a diff by their context.
use crate::part::PartOfList;

/// The class of a line of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiffLine {
    /// `commit 3f9c…`, or the `From` line of a mail.
    Commit,
    /// Author, date, or merged parents.
    Person,
    /// The first line of a commit's message.
    Subject,
    Message,
    /// ` src/a.rs | 3 +-`.
    Stat,
    /// ` 2 files changed, …`.
    Total,
    /// `diff --git a/x b/x`, or the `---` line of a plain diff.
    File,
    /// `--- a/x` and `+++ b/x` below a `diff` line.
    Path,
    /// `index 1234..5678`.
    Index,
    /// A change of the file as a whole: to its mode or its name, or a note that the file is binary.
    FileChange,
    /// `@@ -1,3 +1,4 @@`.
    Place,
    Added,
    Removed,
    Same,
    NoNewline,
    Other,
}

/// The state of a diff before its next line.
#[derive(Debug, Default)]
pub(super) struct DiffParser {
    /// Number of lines of the hunk that have not been read yet on the old sides. `new` counts the lines of the new
    /// side.
    olds: u64,
    new: u64,
    /// Number of signs at the start of each line of the hunk.
    signs: usize,
    /// Whether a `diff` line has been read, but no hunk has followed it.
    in_head: bool,
    in_commit: bool,
    subject: bool,
    /// Whether the previous line is a `---` line.
    old_path: bool,
}

impl DiffParser {
    pub(super) fn read(&mut self, text: &str) -> DiffLine {
        if (self.olds > 0 || self.new > 0)
            && let Some(line) = self.within(text)
        {
            return line;
        }
        let old_path = std::mem::take(&mut self.old_path);
        if let Some(line) = self.head(text, old_path) {
            return line;
        }
        if self.in_commit {
            return self.commit(text);
        }
        match text {
            _ if text.starts_with('\\') && self.signs > 0 => DiffLine::NoNewline,
            // The output of `diff --stat` alone.
            _ if is_stat(text) => DiffLine::Stat,
            _ if text.starts_with(' ') && is_total(text) => DiffLine::Total,
            _ => DiffLine::Other,
        }
    }

    /// Classifies a line of a hunk that is not complete yet.
    fn within(&mut self, text: &str) -> Option<DiffLine> {
        if text.starts_with('\\') {
            return Some(DiffLine::NoNewline);
        }
        let signs = text.as_bytes().part(..self.signs.min(text.len()));
        let line = if signs.contains(&b'+') {
            DiffLine::Added
        } else if signs.contains(&b'-') {
            DiffLine::Removed
        } else if signs.iter().all(|sign| *sign == b' ') {
            // Some programs remove the spaces of an empty line.
            DiffLine::Same
        } else {
            (self.olds, self.new) = (0, 0);
            return None;
        };
        if line != DiffLine::Added {
            self.olds = self.olds.saturating_sub(1);
        }
        if line != DiffLine::Removed {
            self.new = self.new.saturating_sub(1);
        }
        // A combined hunk has several old sides of different lengths, so only the new side is counted.
        if self.signs > 1 {
            self.olds = u64::from(self.new > 0);
        }
        Some(line)
    }

    fn head(&mut self, text: &str, old_path: bool) -> Option<DiffLine> {
        if let Some((signs, olds, new)) = parse_hunk_header(text) {
            (self.signs, self.olds, self.new) = (signs, olds, new);
            (self.in_head, self.in_commit) = (false, false);
            return Some(DiffLine::Place);
        }
        if text.starts_with("diff --git ")
            || text.starts_with("diff --cc ")
            || text.starts_with("diff --combined ")
            || text.starts_with("Index: ")
            || (text.starts_with("diff -") && text.contains(' '))
        {
            (self.in_head, self.in_commit) = (true, false);
            return Some(DiffLine::File);
        }
        if is_commit(text) {
            *self = Self { in_commit: true, ..Self::default() };
            return Some(DiffLine::Commit);
        }
        if text.starts_with("--- ") {
            self.old_path = true;
            return Some(if self.in_head { DiffLine::Path } else { DiffLine::File });
        }
        if text.starts_with("+++ ") && old_path {
            self.in_commit = false;
            return Some(DiffLine::Path);
        }
        if !self.in_head {
            return None;
        }
        const CHANGES: [&str; 14] = [
            "old mode ",
            "new mode ",
            "new file mode ",
            "deleted file mode ",
            "rename ",
            "copy ",
            "similarity index ",
            "dissimilarity index ",
            "Binary files ",
            "GIT binary patch",
            "Submodule ",
            "literal ",
            "delta ",
            "mode ",
        ];
        if text.starts_with("index ") || text.starts_with("=====") {
            return Some(DiffLine::Index);
        }
        CHANGES.iter().any(|fate| text.starts_with(fate)).then_some(DiffLine::FileChange)
    }

    /// Classifies a line between `commit` and the first `diff`.
    fn commit(&mut self, text: &str) -> DiffLine {
        const PERSONS: [&str; 7] =
            ["Author:", "AuthorDate:", "Commit:", "CommitDate:", "Date:", "Merge:", "From:"];
        if PERSONS.iter().any(|person| text.starts_with(person)) {
            return DiffLine::Person;
        }
        if text.starts_with("Subject:") {
            self.subject = true;
            return DiffLine::Subject;
        }
        if text.trim().is_empty() || text == "---" {
            return DiffLine::Message;
        }
        if text.starts_with("    ") && !self.subject {
            self.subject = true;
            return DiffLine::Subject;
        }
        if is_total(text) {
            return DiffLine::Total;
        }
        if is_stat(text) { DiffLine::Stat } else { DiffLine::Message }
    }
}

/// Returns whether a line could be part of a hunk.
pub(super) fn is_body(text: &str) -> bool {
    text.starts_with([' ', '+', '-', '\\'])
}

/// Returns the number of signs and the old and new lengths in a hunk header of the form `@@ -1,3 +1,4 @@`, or in one
/// of a combined diff.
fn parse_hunk_header(text: &str) -> Option<(usize, u64, u64)> {
    let ats = text.bytes().take_while(|byte| *byte == b'@').count();
    if !(2..=9).contains(&ats) {
        return None;
    }
    let (ranges, _) = text.get(ats..)?.strip_prefix(' ')?.split_once(" @@")?;
    let mut olds = 0;
    let mut new = None;
    let mut seen = 0;
    for range in ranges.split(' ') {
        let (sign, range) = range.split_at_checked(1)?;
        let (first, length) = range.split_once(',').unwrap_or((range, "1"));
        first.parse::<u64>().ok()?;
        let length = length.parse::<u64>().ok()?;
        seen += 1;
        match sign {
            "-" => olds += length,
            "+" => new = Some(length),
            _ => return None,
        }
    }
    (seen == ats).then_some((ats - 1, olds, new?))
}

/// Returns whether a line is `commit` with a hash, or the first line of a mail written by `git format-patch`.
fn is_commit(text: &str) -> bool {
    let hash = text.strip_prefix("commit ").or_else(|| text.strip_prefix("From "));
    hash.is_some_and(|rest| {
        let hash = rest.split(' ').next().unwrap_or("");
        let full = hash.len() >= 7 && hash.len() <= 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        full && (text.starts_with("commit ") || rest.contains(" Mon Sep 17 "))
    })
}

/// Returns whether a line has the form ` src/a.rs | 12 ++--` or ` a.png | Bin 0 -> 3 bytes`.
fn is_stat(text: &str) -> bool {
    let Some((path, change)) = text.rsplit_once(" | ") else { return false };
    let change = change.trim_start();
    path.starts_with(' ')
        && !path.starts_with("    ")
        && (change.starts_with(|c: char| c.is_ascii_digit()) || change.starts_with("Bin"))
}

/// Returns whether a line has the form ` 3 files changed, 10 insertions(+)`.
fn is_total(text: &str) -> bool {
    let text = text.trim_start();
    let number = text.bytes().take_while(u8::is_ascii_digit).count();
    number > 0
        && text.get(number..).is_some_and(|rest| rest.starts_with(" file") && rest.contains(" changed"))
}
