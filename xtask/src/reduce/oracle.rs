//! What one reads an output for, found by simple rules, kind by kind.
//!
//! A fact is a text that must be visible. The rules know nothing of how the readers choose: they are what a person would
//! write down with a pencil beside the output.

use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use wunderblock_reduce::Kind;

/// Something that must be visible.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fact {
    pub(super) text: String,
    /// Whether it speaks of something that failed.
    pub(super) error: bool,
}

impl Fact {
    /// Whether a text shows it.
    pub(super) fn is_in(&self, text: &str) -> bool {
        text.contains(&self.text)
    }
}

/// Facts of one file at most: beyond that a sample, spread evenly, says as much.
const MAX_FACTS: usize = 2_000;

/// The facts of an output of that kind.
pub(super) fn facts(text: &str, kind: Kind) -> Vec<Fact> {
    let text = &plain(text);
    let mut found = BTreeSet::new();
    match kind {
        Kind::Json => json(text, &mut found),
        Kind::Log => log(text, &mut found),
        Kind::Search => search(text, &mut found),
        Kind::Listing => {
            table(text, &mut found);
            listing(text, &mut found);
        }
        Kind::Table => table(text, &mut found),
        Kind::Markdown => headings(text, &mut found),
        kind => {
            for (rule, error) in rules(kind) {
                for line in text.lines() {
                    if let Some(part) = rule.captures(line) {
                        let whole = part.get(1).or_else(|| part.get(0)).map_or("", |part| part.as_str());
                        add(&mut found, whole, *error);
                    }
                }
            }
        }
    }
    let every = found.len().div_ceil(MAX_FACTS).max(1);
    found.into_iter().step_by(every).collect()
}

fn add(found: &mut BTreeSet<Fact>, text: &str, error: bool) {
    let text = text.trim();
    if text.len() >= 2 {
        found.insert(Fact { text: text.to_owned(), error });
    }
}

type Rule = (Regex, bool);

fn compile(rules: &[(&str, bool)]) -> Vec<Rule> {
    rules.iter().filter_map(|(rule, error)| Some((Regex::new(rule).ok()?, *error))).collect()
}

static TESTS: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    compile(&[
        (r"^test (\S+) \.\.\. FAILED", true),
        (r"^(?:FAILED|ERROR) (\S+)", true),
        (r"^\s*--- FAIL: (\S+)", true),
        (r"^\s*(?:✕|×|✗|FAIL) +(.{3,60}?)(?: \(\d+ ?ms\))?$", true),
        (r"^(?:E  +)(\S.{3,80})", true),
        (r"panicked at (\S+:\d+)", true),
        (r"^\s*(not ok \d+ - .*)", true),
        (r"^\s+(\S+_test\.go:\d+: .{0,60}(?:want|got|expected|fail).{0,40})", true),
        (r"^(FAIL\t\S+)", true),
        (r"^(ok  \t\S+)", false),
        (r"^(\d+\) \S+::\S+)", true),
        (r"^(rspec \./\S+:\d+)", true),
        (r#"<testcase [^>]*?name="([^"]+)"[^>/]*><(?:failure|error)"#, true),
        (r#"<(?:failure|error)[^>]*? message="([^"&\n]{3,60})"#, true),
        (r#"<testsuites? [^>]*?((?:errors|failures)="\d+")"#, false),
        (r"^(Tests run: .*)", false),
        (r"^(\d+ examples?, .*)", false),
        (r"^(Ran \d+ tests?.*|FAILED \(.*\))", false),
        (r"^(test result: .*)", false),
        (r"^=+ (.*(?:passed|failed|error).*) in [\d.]+s", false),
        (r"^(Tests:? .*)", false),
        (r"^(?:not ok) (.*)", true),
    ])
});

static BUILD: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    compile(&[
        (r"^(error(?:\[E\d+\])?: .*)", true),
        (r"^\s*--> (\S+:\d+)", true),
        (r"^(\S+:\d+:\d+): (?:fatal )?error", true),
        (r"^(\S+\(\d+,\d+\)): error", true),
        (r"^(\S+:\d+(?::\d+)?): (?:(?:fatal )?error|[A-Z]{1,5}\d{2,5})", true),
        (r"^\S+:\d+(?::\d+)?: (?:fatal )?error: (.{3,60})", true),
        (r"^(\.?/?\S+\.go:\d+:\d+: .{3,60})", true),
        (r"^\s+(\d+:\d+\s+error\s.{3,60})", true),
        (r"^\[ERROR\] (.{6,80})", true),
        (r"^#\d+ (?:[\d.]+ )?(ERROR.{3,80})", true),
        (r"^(#\d+ \[[^\]]+\] .{3,80})", false),
        (r"^(Step \d+/\d+ : .*)", false),
        (r"^(> Task \S+ FAILED)", true),
        (r"^(BUILD .*|\[INFO\] BUILD .*)", false),
        (r"^(added \d+ packages.*|Successfully installed .{3,60})", false),
        (r"^(Found \d+ errors?.*)", false),
        (r"^npm (?:ERR!|error) (.*)", true),
        (r"^(warning: .*)", false),
        (r"^\s*(Finished .*)", false),
    ])
});

static TRACE: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    compile(&[
        (
            r"^(?:Caused by: |Exception in thread \S+ )?((?:[\w$]+\.)*[\w$]*(?:Exception|Error)\b.{0,80})",
            true,
        ),
        (r"panicked at (.{3,80})", true),
    ])
});

static DIFF: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    compile(&[(r"^(@@ .* @@)", false), (r"^(?:\+\+\+|---) (.*)", false), (r"^[+-]([^+-].*)", false)])
});

static INFRA: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    compile(&[
        (r"# (\S+) (?:will be|must be)", false),
        (r"^(?:fatal|failed): (.{3,80})", true),
        (r"^(changed: \[[^\]]*\](?: => \(item=[^)]*\))?)", false),
        (r"^(Plan: .*|Apply complete!.*)", false),
        (r"^(\S+ +: ok=\d+.*)", false),
        (r"^(?:│ )?(Error: .*)", true),
        (r"^(TASK \[.*?\])", false),
    ])
});

static MARKUP: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    compile(&[(r"<h[1-6][^>]*>\s*([^<&]{3,80})<", false), (r"<title>([^<&]{3,80})<", false)])
});

static CODE: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    compile(&[
        (r"^\s*((?:pub(?:\([a-z]+\))? )?(?:async )?fn \w+)", false),
        (r"^\s*((?:async )?def \w+|class \w+)", false),
        (r"^(?:export )?((?:async )?function \w+|(?:interface|type|class) \w+)", false),
        (r"^\s*((?:pub )?(?:struct|enum|trait) \w+)", false),
        (r"^func (?:\([^)]*\) )?(\w+\()", false),
    ])
});

/// What counts in the kinds that are read line by line: the first group of each rule, or all it matches.
fn rules(kind: Kind) -> &'static [Rule] {
    match kind {
        Kind::Tests => &TESTS,
        Kind::Build => &BUILD,
        Kind::Trace => &TRACE,
        Kind::Diff => &DIFF,
        Kind::Infra => &INFRA,
        Kind::Html => &MARKUP,
        Kind::Code => &CODE,
        _ => &[],
    }
}

static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:error|fatal|failed|failure|exception|panic|denied|refused|timed? ?out|critical)\b")
        .ok()
});
static VALUE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:0x)?[0-9a-fA-F]{6,}|\d+(?:[.:,/-]\d+)*|\S*/\S+").ok());
static CONTROLS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("\x1b\\[[0-9;?]*[a-zA-Z]").ok());

fn plain(text: &str) -> String {
    CONTROLS.as_ref().map_or_else(|| text.to_owned(), |rule| rule.replace_all(text, "").into_owned())
}

fn speaks_of_failure(line: &str) -> bool {
    ERROR.as_ref().is_some_and(|rule| rule.is_match(line))
}

/// The longest stretch of a line without values: what all lines that differ in values only have in common.
fn wording(line: &str) -> &str {
    let Some(rule) = VALUE.as_ref() else { return line };
    rule.split(line).max_by_key(|part| part.len()).unwrap_or(line).trim()
}

/// Each different failure, by its wording.
fn log(text: &str, found: &mut BTreeSet<Fact>) {
    let mut wordings: BTreeMap<&str, usize> = BTreeMap::new();
    for line in text.lines() {
        *wordings.entry(wording(line)).or_default() += 1;
    }
    for line in text.lines().filter(|line| speaks_of_failure(line)) {
        add(found, wording(line), true);
    }
    for (wording, count) in wordings {
        if count <= 2 && wording.len() >= 12 {
            add(found, wording, false);
        }
    }
}

/// Every file, and one match of each: the first.
fn search(text: &str, found: &mut BTreeSet<Fact>) {
    let mut paths: BTreeMap<&str, &str> = BTreeMap::new();
    let mut heading = "";
    for line in text.lines() {
        let (path, said) = line.split_once(':').unwrap_or((line, ""));
        // A line beside a match has `-` in place of the colons.
        let is_path =
            path.contains(['/', '.']) && !path.contains([' ', '\t', '"', '{']) && !path.ends_with('-');
        if is_path && said.is_empty() {
            heading = path;
            paths.entry(path).or_default();
        } else if is_path && path.parse::<u64>().is_err() {
            paths.entry(path).or_insert(said);
        } else if path.parse::<u64>().is_ok() && paths.get(heading) == Some(&"") {
            paths.insert(heading, said);
        }
    }
    for (path, said) in paths {
        add(found, path, false);
        let text = said.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
        add(found, text.get(..80).unwrap_or(text), false);
    }
}

/// The folders, things that are not as they should be, the total.
fn listing(text: &str, found: &mut BTreeSet<Fact>) {
    for line in text.lines() {
        let folder = line.strip_suffix(':').filter(|path| path.contains('/') && !path.contains(": "));
        let odd = [" <defunct>", " Z ", "CrashLoop", "OOMKilled"].iter().any(|odd| line.contains(odd));
        if odd || line.starts_with("total ") || folder.is_some() {
            add(found, line, odd);
        }
    }
}

/// Every heading. What begins with `#` between fences is none.
fn headings(text: &str, found: &mut BTreeSet<Fact>) {
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let words = line.trim_start_matches('#');
        if !fenced && (1..=6).contains(&(line.len() - words.len())) && words.starts_with(' ') {
            add(found, words, false);
        }
    }
}

/// The header, rows that speak of a failure, and the largest number of each column.
fn table(text: &str, found: &mut BTreeSet<Fact>) {
    if let Some(header) = text.lines().find(|line| !line.trim().is_empty()) {
        add(found, header, false);
    }
    let mut largest: BTreeMap<usize, (f64, &str)> = BTreeMap::new();
    for line in text.lines() {
        if speaks_of_failure(line) {
            add(found, line, true);
        }
        for (column, cell) in line.split([',', '\t', '|']).enumerate() {
            let cell = cell.trim();
            if let Ok(number) = cell.parse::<f64>()
                && largest.get(&column).is_none_or(|(known, _)| number > *known)
            {
                largest.insert(column, (number, cell));
            }
        }
    }
    for (_, cell) in largest.into_values() {
        add(found, cell, false);
    }
}

/// Every key, every value a key has rarely among few different ones, and texts that speak of a failure.
fn json(text: &str, found: &mut BTreeSet<Fact>) {
    let mut documents = Vec::new();
    let stream = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
    documents.extend(stream.map_while(Result::ok));
    let mut values: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    let mut todo: Vec<(&str, &serde_json::Value)> = documents.iter().map(|document| ("", document)).collect();
    while let Some((key, value)) = todo.pop() {
        match value {
            serde_json::Value::Object(members) => {
                todo.extend(members.iter().map(|(key, value)| (key.as_str(), value)));
            }
            serde_json::Value::Array(items) => todo.extend(items.iter().map(|item| (key, item))),
            serde_json::Value::String(text) if text.len() <= 60 => {
                *values.entry(key.to_owned()).or_default().entry(text.clone()).or_default() += 1;
            }
            _ => {}
        }
    }
    for (key, counts) in values {
        let all: usize = counts.values().sum();
        if all < 20 || counts.len() > 12 {
            continue;
        }
        add(found, &key, false);
        for (value, count) in counts {
            if count * 20 <= all {
                // As it is written in the document.
                let value = serde_json::Value::from(value).to_string();
                let value = value.trim_matches('"');
                add(found, value, speaks_of_failure(value));
            }
        }
    }
}
