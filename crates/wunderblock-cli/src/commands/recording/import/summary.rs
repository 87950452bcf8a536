//! Reports an import of many files: folders, notices, totals, and what to do next, in about ten lines.

use crate::drawing::columns::{columns, fit, pad, plural, size};
use crate::drawing::terminal::{clean, width};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use wunderblock::{ImportNotice, Imported};
use wunderblock_core::id::StreamId;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Bytes;
use wunderblock_wire::transcript::Format;

/// Maximum number of folders that have a row of their own, so that the whole report has about ten lines.
const FOLDERS: usize = 4;
/// Maximum number of agents that have a row of their own.
const AGENTS: usize = 20;
/// Minimum width of a folder's name, in columns.
const NAME: usize = 24;

/// Totals of an import of many files.
#[derive(Debug, Default)]
pub(super) struct ImportSummary {
    /// Name of the first column.
    head: &'static str,
    /// Maximum number of rows.
    rows: usize,
    folders: BTreeMap<PathBuf, FolderTotal>,
    notices: BTreeMap<ImportNotice, (u64, u64)>,
    /// Number of files that contain no transcript.
    pub(super) skipped: u64,
    /// Number of symbolic links, which are not followed.
    pub(super) links: u64,
}

/// The files of one folder.
#[derive(Debug, Default)]
struct FolderTotal {
    files: u64,
    sessions: BTreeSet<StreamId>,
    events: u64,
    bytes: u64,
    formats: BTreeMap<&'static str, u64>,
}

impl FolderTotal {
    fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.sessions.extend(other.sessions.iter().cloned());
        self.events += other.events;
        self.bytes += other.bytes;
        for (format, files) in &other.formats {
            *self.formats.entry(format).or_default() += files;
        }
    }

    /// Returns the files, sessions and new events, one cell each.
    fn cells(&self) -> [String; 3] {
        [grouped(self.files), grouped(self.sessions.len() as u64), grouped(self.events)]
    }

    /// Returns the formats, the one with the most files first.
    fn formats(&self) -> String {
        let mut formats: Vec<(&str, u64)> =
            self.formats.iter().map(|(name, files)| (*name, *files)).collect();
        formats.sort_by_key(|(_, files)| std::cmp::Reverse(*files));
        let more = formats.len().saturating_sub(2);
        let shown: Vec<&str> = formats.into_iter().take(2).map(|(name, _)| name).collect();
        let more = if more > 0 { format!(", +{more}") } else { String::new() };
        format!("{}{more}", shown.join(", "))
    }
}

impl ImportSummary {
    /// Creates empty totals with a row per folder.
    pub(super) fn of_folders() -> Self {
        Self { head: "folder", rows: FOLDERS, ..Self::default() }
    }

    /// Creates empty totals with a row per agent.
    pub(super) fn of_agents() -> Self {
        Self { head: "agent", rows: AGENTS, ..Self::default() }
    }

    /// Adds the outcome of one file to a row.
    pub(super) fn add(&mut self, row: PathBuf, imported: &Imported) {
        let total = self.folders.entry(row).or_default();
        total.files += 1;
        total.sessions.extend(imported.sessions.iter().cloned());
        total.events += imported.appended;
        total.bytes += imported.bytes;
        *total.formats.entry(format_name(imported.format)).or_default() += 1;
        for (notice, count) in &imported.notices {
            let (all, files) = self.notices.entry(*notice).or_default();
            *all += count;
            *files += 1;
        }
    }

    /// The account as text. `root` is the folder that was imported, and `time` is how long the import took.
    pub(super) fn text(&self, root: &Path, ledger: &Path, time: Duration) -> String {
        let mut folders: Vec<(&PathBuf, &FolderTotal)> = self.folders.iter().collect();
        folders.sort_by_key(|(_, total)| std::cmp::Reverse(total.events));
        let mut rows: Vec<(String, &FolderTotal)> = Vec::new();
        rows.extend(folders.iter().take(self.rows).map(|(path, total)| (name(root, path), *total)));
        let mut rest = FolderTotal::default();
        folders.iter().skip(self.rows).for_each(|(_, total)| rest.add(total));
        if rest.files > 0 {
            let count = folders.len() - self.rows;
            let (one, many) = (format!("{} more", self.head), format!("{}s more", self.head));
            rows.push((plural(count as u64, &one, &many), &rest));
        }
        let mut all = FolderTotal::default();
        folders.iter().for_each(|(_, total)| all.add(total));
        if rows.len() > 1 {
            rows.push(("in all".to_owned(), &all));
        }
        let mut out = table(self.head, &rows);
        out.push_str(&self.notices(&all));
        let seconds = format!("{}.{} s", time.as_secs(), time.subsec_millis() / 100);
        let ledger = clean(&ledger.to_string_lossy());
        out.push_str(&format!("\n{} in {seconds} → {ledger}\n", size(Bytes(all.bytes))));
        out
    }

    fn notices(&self, all: &FolderTotal) -> String {
        let mut lines: Vec<String> = Vec::new();
        for (notice, (count, files)) in &self.notices {
            let files = plural(*files, "file", "files");
            let (what, effect) = notice.words();
            lines.push(format!("{} × {what} in {files}: {effect}", grouped(*count)));
        }
        if self.skipped > 0 {
            lines.push(format!("{} skipped: no transcript", plural(self.skipped, "file", "files")));
        }
        if self.links > 0 {
            lines.push(format!(
                "{} skipped: give one by name to import it",
                plural(self.links, "link", "links")
            ));
        }
        if all.events == 0 {
            lines.push("nothing new".to_owned());
        }
        if lines.is_empty() {
            return String::new();
        }
        let mut out = String::from("\nnotes (-v lists files and warnings)\n");
        for line in lines {
            out.push_str(&format!("  {}\n", fit(&line, width() - 2)));
        }
        out
    }
}

fn format_name(format: Format) -> &'static str {
    match format {
        Format::JsonLines | Format::JsonDocument => "generic JSON",
        format => format.name(),
    }
}

/// Returns a folder's name within the imported folder, or only the end of a long name.
fn name(root: &Path, path: &Path) -> String {
    let inner = path.strip_prefix(root).ok().filter(|inner| !inner.as_os_str().is_empty());
    clean(&inner.unwrap_or(path).to_string_lossy())
}

fn table(head: &str, rows: &[(String, &FolderTotal)]) -> String {
    let heads = ["files", "sessions", "events"];
    let cells: Vec<[String; 3]> = rows.iter().map(|(_, total)| total.cells()).collect();
    let wide: [usize; 3] = std::array::from_fn(|column| {
        let widths = cells.iter().filter_map(|row| row.get(column)).map(|cell| columns(cell));
        widths.chain(heads.get(column).map(|head| head.len())).max().unwrap_or_default()
    });
    let formats = 22;
    let room = width().saturating_sub(wide.iter().map(|wide| wide + 2).sum::<usize>() + 2 + formats);
    let longest = rows.iter().map(|(name, _)| columns(name)).max().unwrap_or_default();
    let first = longest.clamp(head.len(), room.max(NAME));
    let [files, sessions, events] = wide;
    let line = |name: &str, [a, b, c]: [&str; 3], formats: &str| {
        let line = format!(
            "{}  {a:>files$}  {b:>sessions$}  {c:>events$}  {formats}",
            pad(&end(name, first), first)
        );
        format!("{}\n", line.trim_end())
    };
    let mut out = line(head, heads, "format");
    for ((name, total), [a, b, c]) in rows.iter().zip(&cells) {
        out.push_str(&line(name, [a, b, c], &total.formats()));
    }
    out
}

/// Returns the end of a text that is longer than its column.
fn end(text: &str, room: usize) -> String {
    let excess = columns(text).saturating_sub(room);
    if excess == 0 {
        return text.to_owned();
    }
    let mut used = 0;
    let kept = text.char_indices().find(|(_, c)| {
        let is_kept = used > excess;
        used += columns(c.encode_utf8(&mut [0; 4]));
        is_kept
    });
    format!("…{}", kept.and_then(|(at, _)| text.get(at..)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_shows_its_end() {
        assert_eq!(end("/home/ann/projects/garden", 10), "…ts/garden");
        assert_eq!(end("garden", 10), "garden");
    }
}
