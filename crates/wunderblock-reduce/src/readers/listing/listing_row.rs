//! The rows of a listing, and the formats of listings.

use crate::part::PartOfList;
use crate::readers::line::fingerprint;
use crate::text::lines::{TextLines, TextPart};
use crate::text::word_list::WordList;

/// Folders that tools fill.
static FOLDERS: WordList = WordList::new("vendored folders");

/// The format of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListingFormat {
    /// `ls -l`, with or without `-R`.
    Long,
    /// A path per line: `find`, `fd`, `git ls-files`.
    Paths,
    /// A size and a path per line: `du`.
    Sizes,
    /// Lines drawn as a tree: `tree`, `cargo tree`, `npm ls`.
    Tree,
    /// `ps`, `top`: a header with `PID`.
    Processes,
    /// `dpkg -l`, `pip list`, `apt list`: a package per line.
    Packages,
    /// `df`.
    Disks,
}

/// The rows of a listing, one per line.
pub(super) struct ListingRows<'r, 't> {
    lines: &'r TextLines<'t>,
    kept: Vec<StoredRow>,
}

/// A stored row. A row is small, because there are as many rows as lines.
struct StoredRow {
    size: u64,
    folder: TextPart,
    name: TextPart,
    time: u32,
    depth: u8,
    is_head: bool,
    is_odd: bool,
    sorted: SeriesKey,
}

impl<'t> ListingRows<'_, 't> {
    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    pub(super) fn item(&self, at: usize) -> Option<ListingRow<'t>> {
        self.kept.item(at).map(|kept| self.row(kept))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = ListingRow<'t>> {
        self.kept.iter().map(|kept| self.row(kept))
    }

    fn row(&self, kept: &StoredRow) -> ListingRow<'t> {
        let StoredRow { size, time, depth, is_head, is_odd, sorted, .. } = *kept;
        let (folder, name) = (self.lines.part(kept.folder), self.lines.part(kept.name));
        ListingRow { is_head, is_odd, folder, name, size, time, depth, sorted }
    }
}

/// The property that decides the sort of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SeriesKey {
    /// The extension of a file name.
    #[default]
    End,
    /// The first part of a package name.
    Prefix,
    /// The command of a process.
    Command,
}

/// An item, as its line describes it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ListingRow<'t> {
    /// Whether the lines below belong to this line: a header, a folder's name, or a total.
    pub(super) is_head: bool,
    /// Whether the item has a problem: a broken package, a full disk, or a zombie.
    pub(super) is_odd: bool,
    pub(super) folder: &'t str,
    pub(super) name: &'t str,
    /// Size in bytes, or resource use in hundredths of a per cent.
    pub(super) size: u64,
    /// A number that increases with time.
    pub(super) time: u32,
    pub(super) depth: u8,
    sorted: SeriesKey,
}

impl<'t> ListingRow<'t> {
    /// Returns a hash of the sort of an entry: of the end of a file's name, the first part of a package's name, or a
    /// command.
    pub(super) fn sort(&self) -> u64 {
        if self.sorted == SeriesKey::Command {
            // The program and its argument: `python3 serve.py` and `python3 test.py` are different commands.
            let mut words = self.name.split(' ').filter(|word| !word.is_empty());
            let mut program = words.next().unwrap_or("").split(['/', ':']).filter(|part| !part.is_empty());
            let runs = words.find(|word| !word.starts_with('-')).unwrap_or("");
            let kernel = self.name.starts_with('[');
            let program = if kernel { program.next() } else { program.next_back() };
            return fingerprint::masked_hash(program.unwrap_or("")).rotate_left(1)
                ^ fingerprint::masked_hash(runs);
        }
        if self.sorted == SeriesKey::Prefix {
            // Libraries are one sort: there are hundreds of them, and few readers look for one.
            if self.name.starts_with("lib") {
                return 0;
            }
            let prefix = self.name.split(['-', '_', '.', ':', ' ']).next().unwrap_or("");
            return fingerprint::masked_hash(prefix.trim_end_matches(|c: char| c.is_ascii_digit()));
        }
        let end = self
            .name
            .rsplit_once('.')
            .map_or("", |(stem, end)| if stem.is_empty() { self.name } else { end });
        let folder = self.name.ends_with('/');
        fingerprint::masked_hash(if folder { "/" } else { end })
    }

    /// Returns the path of the tool-filled folder that contains the entry, if there is one.
    pub(super) fn vendor(&self) -> Option<&'t str> {
        let mut end = 0;
        for part in self.folder.split_inclusive('/') {
            end += part.len();
            if end > part.len() && FOLDERS.has(part.trim_end_matches('/')) {
                return self.folder.get(..end);
            }
        }
        None
    }
}

/// Returns the format of a listing, and how certain it is that the text is a listing.
pub(super) fn detect_format(lines: &[&str]) -> Option<(ListingFormat, u32)> {
    let said: Vec<&str> = lines.iter().copied().filter(|line| !line.trim().is_empty()).collect();
    if said.len() < 4 {
        return None;
    }
    let share =
        |such: &dyn Fn(&str) -> bool| said.iter().filter(|line| such(line)).count() * 100 / said.len();
    let head: Vec<&str> = said.iter().copied().take(12).collect();
    // Lines above the header are written by the tool itself, and are short. Sentences cannot be among the lines above
    // the header.
    let header = head.iter().position(|line| is_process_header(line));
    let processes = header.is_some_and(|at| !head.iter().take(at).any(|line| line.contains(": ")));
    let top = head.first().is_some_and(|line| line.starts_with("top - "))
        && head.iter().any(|line| is_process_header(line));
    if processes || top {
        return Some((ListingFormat::Processes, 92));
    }
    if head.first().is_some_and(|line| line.starts_with("Filesystem ")) {
        return Some((ListingFormat::Disks, 90));
    }
    let packages = share(&|line| parse_dpkg(line).is_some());
    let pip = head.first().is_some_and(|line| line.starts_with("Package ") && line.contains(" Version"));
    let apt = share(&|line| {
        line.contains("/")
            && (line.contains(" amd64") || line.contains(" all") || line.contains(" arm64"))
            && line.split(' ').count() <= 6
    });
    if packages >= 80 || pip || apt >= 80 {
        return Some((ListingFormat::Packages, 88));
    }
    let long = share(&|line| parse_long(line).is_some() || is_long_head(line));
    if long >= 85 && said.iter().any(|line| super::listing_row::parse_long(line).is_some()) {
        return Some((ListingFormat::Long, if long >= 95 { 95 } else { 75 }));
    }
    let tree = share(&|line| tree_depth(line).is_some());
    if tree >= 80 {
        return Some((ListingFormat::Tree, if tree >= 90 { 90 } else { 62 }));
    }
    // Tables of counts (`uniq -c`) also have numbers before words, but paths have slashes.
    let is_size_of_path = |line: &str| {
        split_size(line).is_some_and(|(_, path)| path.contains('/') || matches!(path, "." | "total"))
    };
    if share(&is_size_of_path) >= 95 {
        return Some((ListingFormat::Sizes, 88));
    }
    let paths = share(&is_path);
    let slashes = share(&|line| line.contains('/'));
    if paths >= 95 && slashes >= 60 {
        return Some((ListingFormat::Paths, 86));
    }
    if said.len() >= 40 && paths >= 99 && share(&is_name) >= 98 && share(&|line| is_file_name(line)) >= 70 {
        return Some((ListingFormat::Paths, 60));
    }
    None
}

fn is_process_header(line: &str) -> bool {
    let words = || line.split_whitespace();
    words().any(|word| word == "PID")
        && words().any(|word| matches!(word, "COMMAND" | "CMD" | "TTY" | "USER"))
}

/// Returns whether a line is a path and nothing else.
fn is_path(line: &str) -> bool {
    !line.starts_with([' ', '\t', '#', '/']) | (line.starts_with('/') && !line.starts_with("//"))
        && !line.bytes().any(|byte| b"\t\";({<=|`,".contains(&byte))
        && !(line.contains(':') && (line.contains(": ") || line.contains("://")))
        && memchr::memchr_iter(b' ', line.as_bytes()).nth(1).is_none()
        && !line.ends_with([':', '.', '!', '?'])
        && line.len() < 400
}

/// Returns whether a line is a single name, like those that `ls` prints into a pipe.
fn is_name(line: &str) -> bool {
    !line.contains([' ', '\t', ':', '\'', '[', ']', '*', '>']) && line.len() < 200
}

/// Returns whether a name cannot be a word of a language because it has an extension or several parts.
fn is_file_name(line: &str) -> bool {
    line.trim_start_matches('.')
        .bytes()
        .any(|byte| matches!(byte, b'.' | b'-' | b'_' | b'/') || byte.is_ascii_digit())
        && line.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn is_long_head(line: &str) -> bool {
    line.strip_prefix("total ")
        .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.'))
        || (line.ends_with(':') && !line.contains(": ") && (line.contains('/') || line.starts_with('.')))
}

/// Parses a line of `ls -l`: mode, size, time, and name. `find -ls` puts the inode and its blocks before the mode.
/// `tar -tv` and archives write the owner and the group as one word.
fn parse_long(line: &str) -> Option<ListingRow<'_>> {
    let mut words = SpacedWords { rest: line };
    let numbers = words.by_ref().take(2).filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    let line = if numbers.count() == 2 { words.rest.trim_start_matches(' ') } else { line };
    let mode = line.get(..10)?.as_bytes();
    let kind = mode.first()?;
    let rights = mode
        .get(1..)?
        .iter()
        .all(|byte| matches!(byte, b'r' | b'w' | b'x' | b'-' | b's' | b'S' | b't' | b'T' | b'?'));
    if !matches!(kind, b'-' | b'd' | b'l' | b'c' | b'b' | b'p' | b's') || !rights {
        return None;
    }
    let mut words = SpacedWords { rest: line.get(10..)?.trim_start_matches(['.', '+', '@']) };
    let links = words.next()?;
    if !links.contains('/') {
        links.parse::<u64>().ok()?;
        let (_, _) = (words.next()?, words.next()?);
    }
    let mut size = words.next()?;
    // Devices have two numbers instead of a size.
    if size.ends_with(',') {
        size = words.next()?;
    }
    let (first, second) = (words.next()?, words.next()?);
    let iso = first.len() == 10 && first.as_bytes().get(4) == Some(&b'-');
    let time = if iso {
        // `2024-05-01 12:00:00.000 +0000 name` or `2024-05-01 12:00 name`.
        if second.len() > 8 {
            words.next()?;
        }
        let date = digits_value(first);
        order_of_time(date / 10_000, date / 100 % 100, date % 100, second)
    } else {
        let third = words.next()?;
        let month = MONTHS.iter().position(|month| *month == first).unwrap_or(0) as u32;
        // A time without a year lies in the last few months, and is therefore newer than any time with a year.
        let recent = third.contains(':');
        let (year, clock) = if recent { (u32::MAX, third) } else { (digits_value(third), "") };
        order_of_time(year, month, digits_value(second), clock)
    };
    let name = words.rest.trim_start_matches(' ');
    let size = if *kind == b'-' { parse_size(size) } else { 0 };
    let is_head = matches!(name, "." | "..") && *kind == b'd';
    Some(ListingRow {
        name,
        size,
        time: if is_head { 0 } else { time },
        is_head: false,
        ..ListingRow::default()
    })
    .filter(|_| !name.is_empty())
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Returns an approximate number of minutes that preserves the order of times, but not the distance between them.
/// `clock` begins with a time of the form `12:00`.
fn order_of_time(year: u32, month: u32, day: u32, clock: &str) -> u32 {
    let clock = digits_value(clock.get(..5).unwrap_or(clock));
    let days = (year.min(4_095) * 13 + month.min(12)) * 32 + day.min(31);
    days * 24 * 60 + clock / 100 % 24 * 60 + clock % 100 % 60
}

/// Returns the number that the digits of a text form. At most eight digits are used, the number of digits in a date.
fn digits_value(text: &str) -> u32 {
    text.bytes()
        .filter(u8::is_ascii_digit)
        .take(8)
        .fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
}

/// Parses a size as people or programs write it: `123`, `4.0K`, `1,2M`.
fn parse_size(size: &str) -> u64 {
    let end = size.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(size.len());
    let (number, unit) = size.split_at(end);
    let number: f64 = number.parse().unwrap_or(0.0);
    let factor = match unit.bytes().next() {
        Some(b'K' | b'k') => 1e3,
        Some(b'M') => 1e6,
        Some(b'G') => 1e9,
        Some(b'T') => 1e12,
        _ => 1.0,
    };
    (number * factor) as u64
}

/// Iterates over words between spaces. The rest of the line is always available.
struct SpacedWords<'t> {
    rest: &'t str,
}

impl<'t> Iterator for SpacedWords<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = self.rest.trim_start_matches([' ', '\t']);
        let end = rest.find([' ', '\t']).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }
}

/// Returns the depth of a line in a drawn tree, from 1. Returns `None` for a line that is not drawn, such as the
/// root.
fn tree_depth(line: &str) -> Option<u8> {
    let name = line.find(|c: char| {
        !matches!(c, ' ' | '\u{a0}' | '│' | '├' | '└' | '─' | '┬' | '|' | '`' | '+' | '-' | '\\')
    })?;
    let drawn = line.get(..name)?;
    let is_drawn = drawn.contains(['├', '└', '│'])
        || drawn.contains("|-- ")
        || drawn.contains("`-- ")
        || drawn.contains("+-- ")
        || drawn.contains("+- ");
    is_drawn.then(|| u8::try_from(drawn.chars().count().div_ceil(4).max(1)).unwrap_or(u8::MAX))
}

/// Splits a line into a size and a path: `4.0K\t./src`.
fn split_size(line: &str) -> Option<(&str, &str)> {
    let (size, path) = line.split_once(['\t', ' '])?;
    let size_only = size.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
        && size.starts_with(|c: char| c.is_ascii_digit());
    let path = path.trim_start();
    (size_only && !path.contains("  ") && size.len() < 14).then_some((size, path))
}

/// Returns the state and the name in a line of `dpkg -l`.
fn parse_dpkg(line: &str) -> Option<(&str, &str)> {
    let (state, rest) = line.split_once(' ')?;
    let is_state = (2..=3).contains(&state.len())
        && state.starts_with(['i', 'r', 'u', 'h', 'p'])
        && state.bytes().skip(1).all(|byte| b"ncHUFWtiR".contains(&byte));
    let rest = rest.trim_start();
    is_state.then(|| (state, rest.split(' ').next().unwrap_or(rest))).filter(|_| rest.contains("  "))
}

pub(super) fn parse_rows<'r, 't>(lines: &'r TextLines<'t>, form: ListingFormat) -> ListingRows<'r, 't> {
    let mut folder = "";
    let mut columns = ProcessColumns::default();
    let read = |line: &'t str| match form {
        ListingFormat::Long => {
            if line.ends_with(':') && is_long_head(line) {
                folder = line.trim_end_matches(':');
            }
            let mut row = parse_long(line).unwrap_or(ListingRow { is_head: true, ..ListingRow::default() });
            let inner = parse_path(row.name);
            row.folder = folder;
            // A link names its target, so slashes in the name of a link do not separate folders. Any other name with
            // slashes contains its folder.
            if folder.is_empty() && !inner.folder.is_empty() && !row.name.contains(" -> ") {
                (row.folder, row.name) = (inner.folder, inner.name);
            }
            row
        }
        ListingFormat::Paths => parse_path(line),
        ListingFormat::Sizes => {
            split_size(line).map_or(ListingRow { is_head: true, ..ListingRow::default() }, |(size, line)| {
                let total = line == "." || line == "total";
                ListingRow { size: parse_size(size), is_head: total, ..parse_path(line) }
            })
        }
        ListingFormat::Tree => {
            let depth = tree_depth(line);
            let name =
                line.trim_start_matches([' ', '\u{a0}', '│', '├', '└', '─', '┬', '|', '`', '+', '-', '\\']);
            ListingRow { is_head: depth.is_none(), depth: depth.unwrap_or(0), name, ..ListingRow::default() }
        }
        ListingFormat::Processes => columns.process(line),
        ListingFormat::Packages => parse_package(line),
        ListingFormat::Disks => parse_disk(line),
    };
    let keep = |row: ListingRow<'t>| {
        let ListingRow { is_head, is_odd, folder, name, size, time, depth, sorted } = row;
        let (folder, name) = (lines.place(folder), lines.place(name));
        StoredRow { size, folder, name, time, depth, is_head, is_odd, sorted }
    };
    ListingRows { lines, kept: lines.iter().map(read).map(keep).collect() }
}

fn parse_path(line: &str) -> ListingRow<'_> {
    let trimmed = line.trim_end_matches('/');
    let (folder, _) = trimmed.rsplit_once('/').map_or(("", trimmed), |(folder, name)| (folder, name));
    let folder = line.get(..folder.len() + usize::from(!folder.is_empty())).unwrap_or(folder);
    let name = line.get(folder.len()..).unwrap_or(line);
    ListingRow { folder, name, is_head: line.is_empty(), ..ListingRow::default() }
}

fn parse_package(line: &str) -> ListingRow<'_> {
    if let Some((state, name)) = parse_dpkg(line) {
        return ListingRow {
            name,
            is_odd: state.trim() != "ii",
            sorted: SeriesKey::Prefix,
            ..ListingRow::default()
        };
    }
    let name = line.split([' ', '/']).next().unwrap_or("");
    let is_head = line.starts_with(['|', '+', '-', '/', ' '])
        || name == "Package"
        || name.ends_with("...")
        || name.is_empty();
    ListingRow { name, is_head, sorted: SeriesKey::Prefix, ..ListingRow::default() }
}

fn parse_disk(line: &str) -> ListingRow<'_> {
    let is_head = line.starts_with("Filesystem");
    let full = line
        .split_whitespace()
        .filter_map(|word| word.strip_suffix('%'))
        .any(|word| word.parse::<u32>().is_ok_and(|per_cent| per_cent >= 85));
    let name = line.split(' ').next().unwrap_or("");
    ListingRow { is_head, is_odd: full, name, sorted: SeriesKey::Prefix, ..ListingRow::default() }
}

/// The columns of a process table.
#[derive(Debug, Default)]
struct ProcessColumns {
    use_: Vec<usize>,
    command: Option<usize>,
    state: Option<usize>,
}

impl ProcessColumns {
    fn process<'t>(&mut self, line: &'t str) -> ListingRow<'t> {
        if is_process_header(line) {
            let at = |names: &[&str]| line.split_whitespace().position(|word| names.contains(&word));
            self.use_ = [at(&["%CPU", "PCPU", "C"]), at(&["%MEM", "PMEM"])].into_iter().flatten().collect();
            self.command = at(&["COMMAND", "CMD"]);
            self.state = at(&["STAT", "S"]);
            return ListingRow { is_head: true, ..ListingRow::default() };
        }
        let Some(command) = self.command else {
            return ListingRow { is_head: true, ..ListingRow::default() };
        };
        let mut words = SpacedWords { rest: line };
        let (mut size, mut is_odd) = (0, false);
        for at in 0..command {
            let Some(word) = words.next() else {
                return ListingRow { is_head: true, ..ListingRow::default() };
            };
            if self.use_.contains(&at) {
                size += (word.parse::<f64>().unwrap_or(0.0).clamp(0.0, 1e6) * 100.0) as u64;
            }
            is_odd |= self.state == Some(at) && word.starts_with(['Z', 'D']);
        }
        let name = words.rest.trim_start();
        ListingRow { name, size, is_odd, sorted: SeriesKey::Command, ..ListingRow::default() }
    }
}
