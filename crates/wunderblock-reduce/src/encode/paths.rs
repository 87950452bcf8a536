//! Groups lines that begin with a path under that path: search results under their file, paths under their directory.
//!
//! ```text
//! ⟨=under⟩              ⟨=dirs /usr/share/⟩
//! src/a.rs              doc/
//! 12:fn main() {        changelog
//! 13-    run();         copyright
//! --                    man/man1/
//! 40:fn run() {         ls.1
//!                       ⟨=⟩
//! src/b.rs
//! 7:fn main() {
//! ⟨=⟩
//! ```
//!
//! In `under`, an empty line ends the lines of a file, and `--` is kept as it is. In `dirs`, a line that ends with
//! `/` is a directory within the one that the tag names, and `/` alone is that directory itself.

use super::rewrite::Rewrite;
use super::tags::{self, CLOSE, EncodedBlock};
use crate::part::{PartOfList, PartOfText};
use crate::result::mark::OPEN;
use crate::result::sink::TextSink;
use crate::text::lines::NewlineSplit;

/// Minimum number of lines in a run that is encoded.
const MIN_LINES: usize = 4;

/// Encodes runs of search results as headings and lines.
pub(super) fn encode_results(text: &str) -> Option<String> {
    let lines = NewlineSplit::of(text);
    let paths = result_paths(&lines);
    let separates = |at: usize| lines.get(at) == Some("--") && paths.get(at + 1).is_some_and(Option::is_some);
    let within = |at: usize| paths.get(at).is_some_and(Option::is_some) || (at > 0 && separates(at));
    encode_runs(&lines, text, within, |run, body| {
        body.push_str("⟨=under⟩\n");
        let mut last = None;
        for (line, path) in lines.within(run.clone()).zip(paths.get(run)?) {
            let Some(path) = path else {
                body.push_str("--\n");
                continue;
            };
            if last != Some(path) {
                // An empty line ends the lines of the previous file, if there is one.
                if last.is_some() {
                    body.push('\n');
                }
                body.push_str(path);
                body.push('\n');
                last = Some(path);
            }
            body.push_str(line.get(path.len() + 1..)?);
            body.push('\n');
        }
        Some(())
    })
}

/// Returns the path of each line that is a search result: `path:12:…`, or `path-12-…` next to lines of the first
/// form.
fn result_paths<'t>(lines: &NewlineSplit<'t>) -> Vec<Option<&'t str>> {
    let mut paths: Vec<Option<&str>> = lines.iter().map(result_path).collect();
    let is_near = |line: &str, path: &str| {
        let rest = line.strip_prefix(path).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(|rest| after_number(rest).is_some_and(|after| after.starts_with('-')))
            && !line.contains(OPEN)
    };
    let mut last: Option<&str> = None;
    for (line, path) in lines.iter().zip(&mut paths) {
        if path.is_none() {
            *path = last.filter(|last| is_near(line, last));
        }
        last = path.or(last).filter(|_| path.is_some() || line == "--");
    }
    // Context lines may also precede their match, so a second pass goes backwards.
    let mut next: Option<&str> = None;
    for (line, path) in lines.iter().zip(&mut paths).rev() {
        if path.is_none() {
            *path = next.filter(|next| is_near(line, next));
        }
        next = *path;
    }
    paths
}

fn result_path(line: &str) -> Option<&str> {
    let (path, rest) = line.split_once(':')?;
    let plausible = !path.is_empty()
        && !path.starts_with([' ', '\t'])
        && path.bytes().any(|byte| matches!(byte, b'/' | b'.'));
    let after = after_number(rest)?.strip_prefix(':')?;
    // In `node.log_13:53:08`, the number after the colon belongs to a time.
    let digits = |text: &str, at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let timed = rest.len() - after.len() == 3
        && digits(path, path.len().wrapping_sub(1))
        && digits(after, 0)
        && digits(after, 1);
    (plausible && !timed && !line.contains(OPEN)).then_some(path)
}

/// Returns the text after the number at its start, or `None` if it does not start with a number.
fn after_number(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < text.len()).then_some(rest)
}

/// Encodes runs of paths as directories and names.
pub(super) fn encode_paths(text: &str) -> Option<String> {
    let lines = NewlineSplit::of(text);
    let parts: Vec<Option<PathParts>> = lines.iter().map(PathParts::of).collect();
    let has_empty_names = memchr::memmem::find(text.as_bytes(), b"//").is_some();
    encode_runs(
        &lines,
        text,
        |at| parts.item(at).is_some_and(Option::is_some),
        |run, body| {
            let known = parts.part(run.clone()).iter().flatten();
            let all =
                || lines.within(run.clone()).zip(known.clone()).filter_map(|(line, parts)| parts.split(line));
            let shared = all().map(|(_, directory, _)| directory).reduce(common_directory)?;
            // A directory must not be written as `/` alone, because that means the shared directory.
            let alone = |directory: &str| directory.get(shared.len()..) == Some("/");
            let is_alone = has_empty_names && all().any(|(_, directory, _)| alone(directory));
            let shared = if is_alone { "" } else { shared };
            body.push_str(&format!("⟨={}⟩\n", format!("dirs {shared}").trim_end()));
            let mut last = None;
            for (size, directory, name) in all() {
                if last != Some(directory) {
                    let within = directory.get(shared.len()..)?;
                    body.push_str(if within.is_empty() { "/" } else { within });
                    body.push('\n');
                    last = Some(directory);
                }
                body.push_str(size);
                body.push_str(name);
                body.push('\n');
            }
            Some(())
        },
    )
}

/// Positions of the parts of a line that holds a path, possibly after a size (as printed by `du`). The positions take
/// few bytes, because all lines are stored at the same time.
struct PathParts {
    path: u32,
    name: u32,
}

impl PathParts {
    fn of(line: &str) -> Option<Self> {
        let path = line.find('\t').map_or(0, |tab| tab + 1);
        let name = line.rfind('/').filter(|slash| *slash >= path)? + 1;
        let odd = |c: char| c.is_whitespace() || c == '⟨' || c == '⟩';
        let rest = line.part(path..);
        let plain = match rest.is_ascii() {
            true => !rest.bytes().any(|byte| matches!(byte, b' ' | b'\t'..=b'\r')),
            false => !rest.contains(odd),
        };
        let is_path = plain && name < line.len() && !line.part(..path).contains(['/', '⟨', '⟩']);
        let place = |at: usize| u32::try_from(at).ok();
        is_path.then_some(Self { path: place(path)?, name: place(name)? })
    }

    /// Returns the size with its tab, the directory, and the name.
    fn split<'t>(&self, line: &'t str) -> Option<(&'t str, &'t str, &'t str)> {
        let (start, name) = line.split_at_checked(self.name as usize)?;
        let (size, directory) = start.split_at_checked(self.path as usize)?;
        Some((size, directory, name))
    }
}

/// Returns the longest common start of two directories that ends at a whole name.
fn common_directory<'t>(one: &'t str, other: &str) -> &'t str {
    if other.starts_with(one) {
        return one;
    }
    let alike = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let end = one.as_bytes().get(..alike).and_then(|alike| alike.iter().rposition(|byte| *byte == b'/'));
    end.and_then(|end| one.get(..=end)).unwrap_or("")
}

/// Encodes each run of matching lines if its encoding saves enough. Returns `None` if no run is encoded. `write`
/// writes a block without its closing tag.
fn encode_runs(
    lines: &NewlineSplit<'_>,
    text: &str,
    within: impl Fn(usize) -> bool,
    write: impl Fn(std::ops::Range<usize>, &mut String) -> Option<()>,
) -> Option<String> {
    let mut instead = Rewrite::of(text);
    let mut at = 0;
    while at < lines.len() {
        let mut end = at;
        while end < lines.len() && within(end) {
            end += 1;
        }
        if end - at >= MIN_LINES {
            instead.replace_if_worthwhile(lines.span(at..end), |out| {
                write(at..end, out)?;
                out.push_str(CLOSE);
                Some(())
            });
        }
        at = end.max(at + 1);
    }
    instead.finish()
}

/// Decodes search results under headings to lines.
pub(super) fn decode_results(code: EncodedBlock<'_>, out: &mut TextSink<'_>) -> Option<()> {
    let mut out = LineWriter { out, any: false };
    let mut path: Option<&str> = None;
    for row in tags::lines_of(code.body)? {
        match path {
            _ if row == "--" => out.line(&["--"])?,
            None => path = Some(row),
            Some(_) if row.is_empty() => path = None,
            Some(path) => {
                let join = after_number(row)?.get(..1)?;
                out.line(&[path, join, row])?;
            }
        }
    }
    out.any.then_some(())
}

/// Decodes names under directories to paths.
pub(super) fn decode_paths(code: EncodedBlock<'_>, out: &mut TextSink<'_>) -> Option<()> {
    let mut out = LineWriter { out, any: false };
    let mut directory = "";
    for row in tags::lines_of(code.body)? {
        if row.ends_with('/') {
            directory = if row == "/" && !code.args.is_empty() { "" } else { row };
        } else {
            let start = row.split_once('\t').map_or(0, |(size, _)| size.len() + 1);
            out.line(&[row.get(..start)?, code.args, directory, row.get(start..)?])?;
        }
    }
    out.any.then_some(())
}

/// Writes lines with newlines between them.
struct LineWriter<'o, 'e> {
    out: &'o mut TextSink<'e>,
    any: bool,
}

impl LineWriter<'_, '_> {
    fn line(&mut self, parts: &[&str]) -> Option<()> {
        self.out.push(if self.any { "\n" } else { "" })?;
        self.any = true;
        parts.iter().try_for_each(|part| self.out.push(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::decode;

    #[test]
    fn results_stand_under_their_file() {
        let text = "grep:\nlib/deep/parser.rs-11-\nlib/deep/parser.rs:12:fn parse() {\nlib/deep/parser.rs-13-    x-1-\n--\nlib/deep/parser.rs:40:fn run() {\nlib/deep/main.rs:7:fn main() {\nlib/deep/main.rs:9:fn end() {\nBinary file x matches\n";
        let packed = encode_results(text).unwrap();
        assert_eq!(
            packed,
            "grep:\n⟨=under⟩\nlib/deep/parser.rs\n11-\n12:fn parse() {\n13-    x-1-\n--\n40:fn run() {\n\nlib/deep/main.rs\n7:fn main() {\n9:fn end() {\n⟨=⟩\nBinary file x matches\n"
        );
        assert_eq!(decode(&packed).as_deref(), Some(text));
    }

    #[test]
    fn a_time_is_not_a_result_path() {
        assert_eq!(result_path("nova.log_13:53:08 started"), None);
        assert_eq!(result_path("12:34:56 a"), None);
        assert_eq!(result_path("a.rs:12: x"), Some("a.rs"));
    }

    #[test]
    fn paths_stand_under_their_directory() {
        let text = "/usr/share/doc/bash/copyright\n/usr/share/doc/bash/changelog\n/usr/share/man/ls.1\n12\t/usr/share/man/cat.1\n/usr/share/readme\n";
        let packed = encode_paths(text).unwrap();
        assert_eq!(
            packed,
            "⟨=dirs /usr/share/⟩\ndoc/bash/\ncopyright\nchangelog\nman/\nls.1\n12\tcat.1\n/\nreadme\n⟨=⟩\n"
        );
        assert_eq!(decode(&packed).as_deref(), Some(text));
    }

    #[test]
    fn an_empty_name_in_a_path_stays() {
        let names = |within: &str| -> String { (0..9).map(|n| format!("{within}notes.{n}\n")).collect() };
        let text = names("/usr/share/doc//") + &names("/usr/share/doc/");
        let packed = encode_paths(&text).unwrap();
        assert!(packed.starts_with("⟨=dirs⟩\n/usr/share/doc//\n"), "{packed}");
        assert_eq!(decode(&packed), Some(text));
    }
}
