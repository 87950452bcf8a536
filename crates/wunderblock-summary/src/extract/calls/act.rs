//! Reads what a tool call does, from the tool's name and its arguments.

use super::check::Check;
use super::shell::{self, Shell};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Operation on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// The file was read.
    Read,
    /// The whole file was written.
    Created,
    /// The file was changed.
    Changed,
    /// The file was moved from this path to its current one.
    MovedFrom(String),
    /// The file was removed.
    Removed,
    /// Changes to the file were reverted.
    Reverted,
    /// Changes to the file were reverted, if there is a changed file of this name. Otherwise, the name may be a branch.
    MaybeReverted,
    /// All changes were committed.
    Committed,
}

/// Kind of tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Reads a file.
    Read,
    /// Changes files.
    Write,
    /// Runs a command.
    Run,
    /// Keeps a list of tasks.
    Plan,
    /// Does anything else, such as a search or a fetch.
    Other,
}

/// A parsed tool call.
#[derive(Clone, Debug)]
pub(in crate::extract) struct ParsedCall {
    pub(in crate::extract) kind: Kind,
    /// Description in one line.
    pub(in crate::extract) what: String,
    /// Key that is equal for calls that do the same thing.
    pub(in crate::extract) key: String,
    /// Program that a command runs.
    pub(in crate::extract) program: String,
    /// Last program of a command, which has the exit code.
    pub(in crate::extract) last: String,
    pub(in crate::extract) files: Vec<(Deed, String)>,
    /// Whether the result is content, in which `error` is a word like any other.
    pub(in crate::extract) shows: bool,
    /// Whether the last command shows content, whatever the commands before it do.
    pub(in crate::extract) ends_showing: bool,
    /// Whether a command only looks at something.
    pub(in crate::extract) looks: bool,
    /// Whether a success of the command line is one of all its commands.
    pub(in crate::extract) is_proved: bool,
    /// Checks that a command runs.
    pub(in crate::extract) checks: Vec<Check>,
}

impl ParsedCall {
    /// Creates a call that runs no command and names no file.
    const fn of(kind: Kind, what: String, key: String) -> Self {
        Self {
            kind,
            what,
            key,
            program: String::new(),
            last: String::new(),
            files: Vec::new(),
            shows: true,
            ends_showing: true,
            looks: false,
            is_proved: true,
            checks: Vec::new(),
        }
    }
}

/// Words by which calls are read; `act.toml` explains each list.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ActWords {
    paths: Vec<String>,
    plan: Vec<String>,
    write: Vec<String>,
    create: Vec<String>,
    delete: Vec<String>,
    other: Vec<String>,
    read: Vec<String>,
    run: Vec<String>,
    talks: Vec<String>,
    reports: Vec<String>,
    acts: Vec<String>,
    looks: Vec<String>,
    delegates: Vec<String>,
}

// Tests check that the embedded words parse.
static WORDS: LazyLock<ActWords> =
    LazyLock::new(|| toml::from_str(include_str!("act.toml")).unwrap_or_default());

/// Reads a call. Parses `input` only if the name and the gist do not say enough.
pub(in crate::extract) fn read(name: &str, gist: Option<&str>, input: &str) -> ParsedCall {
    let gist = gist.unwrap_or_default();
    let kind = kind(name);
    match kind {
        Kind::Run => {
            // A gist is cut, and the end of a command says whose exit code it has.
            let given = command(input).unwrap_or_else(|| gist.to_owned());
            let Shell { program, mut files, shows, ends_showing, looks, is_proved, checks, last, .. } =
                shell::read(&given);
            if program == PATCH {
                files.extend(patched(&command(input).unwrap_or_default()));
            }
            let words = if gist.is_empty() { given.as_str() } else { gist };
            let what = if words.is_empty() { name.to_owned() } else { words.to_owned() };
            let key = format!("run {}", given.trim());
            ParsedCall {
                program,
                last,
                files,
                shows,
                ends_showing,
                looks,
                is_proved,
                checks,
                ..ParsedCall::of(kind, what, key)
            }
        }
        Kind::Plan => plain(kind, name, String::new()),
        Kind::Other => plain(kind, name, gist.to_owned()),
        Kind::Read | Kind::Write => file(name, gist, input),
    }
}

/// Returns the files that a call reads, and the files that it affects in any other way.
pub fn files_touched(name: &str, gist: Option<&str>, input: &str) -> (Vec<String>, Vec<String>) {
    let files = read(name, gist, input).files;
    let (seen, changed): (Vec<_>, Vec<_>) = files.into_iter().partition(|(deed, _)| *deed == Deed::Read);
    let paths = |files: Vec<(Deed, String)>| files.into_iter().map(|(_, path)| path).collect();
    (paths(seen), paths(changed))
}

fn plain(kind: Kind, name: &str, gist: String) -> ParsedCall {
    let what = if gist.is_empty() { name.to_owned() } else { format!("{name} {gist}") };
    ParsedCall::of(kind, what.clone(), what)
}

/// Program with which agents apply patches. A patch names its files.
const PATCH: &str = "apply_patch";

/// Returns the file operations of a patch, as its own markers state them.
fn patched(text: &str) -> Vec<(Deed, String)> {
    let mut files: Vec<(Deed, String)> = Vec::new();
    for line in text.lines() {
        let Some((mark, path)) = line.strip_prefix("*** ").and_then(|line| line.split_once(": ")) else {
            continue;
        };
        let path = path.trim().to_owned();
        match mark {
            "Add File" => files.push((Deed::Created, path)),
            "Update File" => files.push((Deed::Changed, path)),
            "Delete File" => files.push((Deed::Removed, path)),
            "Move to" => {
                if let Some((_, from)) = files.pop() {
                    files.push((Deed::MovedFrom(from), path));
                }
            }
            _ => {}
        }
    }
    files
}

/// Reads a call of a tool that works on files. Some tools have several functions and name one of them in an argument.
fn file(name: &str, gist: &str, input: &str) -> ParsedCall {
    let says = |word: &str| {
        matches!(word, "view" | "create" | "str_replace" | "insert" | "undo_edit" | "write" | "read" | "edit")
    };
    // A gist of arguments (`filePath=a.rs limit=5`) says less than the arguments.
    let is_bare =
        gist.is_empty() || says(gist) || gist.split(' ').next().is_some_and(|word| word.contains('='));
    let fields = if is_bare { fields(input) } else { BTreeMap::new() };
    let field = |name: &str| fields.get(name).and_then(|raw| text(raw));
    let mode = ["command", "action", "mode"].into_iter().find_map(field).unwrap_or_default();
    let kind = match mode.as_str() {
        "view" | "read" => Kind::Read,
        mode if says(mode) => Kind::Write,
        _ => self::kind(name),
    };
    let paths = WORDS
        .paths
        .iter()
        .find_map(|name| field(name))
        .unwrap_or_else(|| if says(gist) { String::new() } else { gist.to_owned() });
    let deed = match kind {
        Kind::Read => Deed::Read,
        _ if has_word(name, &WORDS.delete) => Deed::Removed,
        _ if mode == "create" || mode == "write" || has_word(name, &WORDS.create) => Deed::Created,
        _ => Deed::Changed,
    };
    // Patches separate multiple paths with spaces. Each piece between spaces must look like a path, because a single
    // path may contain spaces.
    let several = name.contains("patch") && paths.split(' ').all(|path| path.contains(['/', '.']));
    let marked = if name.contains("patch") {
        patched(&command(input).unwrap_or_else(|| input.to_owned()))
    } else {
        Vec::new()
    };
    let pieces: Vec<&str> = if several { paths.split(' ').collect() } else { vec![paths.as_str()] };
    let files: Vec<(Deed, String)> = pieces
        .into_iter()
        .map(|path| without_lines(path).to_owned())
        .filter(|path| !path.is_empty() && !path.contains('='))
        .map(|path| (deed.clone(), path))
        .collect();
    let files = if marked.is_empty() { files } else { marked };
    let first = files.first().map(|(_, path)| path.clone()).unwrap_or_default();
    let word = if kind == Kind::Read { "read" } else { "edit" };
    let what = if is_bare { format!("{name} {first}") } else { format!("{name} {gist}") };
    let key = format!("{word} {first}");
    ParsedCall { files, ..ParsedCall::of(kind, what, key) }
}

/// Beginning of the line with which SWE-agent names the open file, before the file's content.
const SHOWN: &str = "[File: ";
/// Beginning of the line with which SWE-agent names the open file, after the file's content.
pub(in crate::extract) const OPEN: &str = "(Open file: ";

/// Returns the open file, if a result names it.
pub(in crate::extract) fn open_file(shown: &str) -> Option<&str> {
    let line = |begin: &str| shown.lines().find_map(|line| line.strip_prefix(begin));
    let file = line(SHOWN).map(|rest| rest.rsplit_once(" (").map_or(rest, |(path, _)| path));
    file.or_else(|| line(OPEN).map(|rest| rest.trim_end_matches(')')))
}

/// Strips the line numbers that a gist adds to a path.
fn without_lines(path: &str) -> &str {
    let Some((file, lines)) = path.rsplit_once(':') else { return path };
    let is_range = !lines.is_empty() && lines.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_range && !file.is_empty() { file } else { path }
}

/// Returns the arguments of a call by name, or an empty map if they do not parse.
pub(super) fn fields(input: &str) -> BTreeMap<String, &RawValue> {
    serde_json::from_str(input).unwrap_or_default()
}

fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// Returns the first of the named arguments that is a string.
pub(super) fn argument(input: &str, names: &[String]) -> Option<String> {
    let fields = fields(input);
    names.iter().find_map(|name| fields.get(name.as_str()).and_then(|raw| text(raw)))
}

/// Returns the command of a call, which is given as a string or as a list of words.
pub(super) fn command(input: &str) -> Option<String> {
    let fields = fields(input);
    let raw = ["command", "cmd", "script", "code", "input", "patch", "patchText", "diff"]
        .iter()
        .find_map(|name| fields.get(*name))?;
    text(raw).or_else(|| serde_json::from_str::<Vec<String>>(raw.get()).ok().map(|words| words.join(" ")))
}

/// Splits a tool's name into lower-case words.
fn words_of(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && word.ends_with(char::is_lowercase) {
            words.push(std::mem::take(&mut word));
        }
        word.extend(c.to_lowercase().filter(|c| c.is_alphanumeric()));
    }
    words.push(word);
    words
}

pub(super) fn has_word(name: &str, any: &[String]) -> bool {
    words_of(name).iter().any(|word| any.contains(word))
}

/// Returns whether a tool only talks to other agents or to the harness.
pub(in crate::extract) fn talks(name: &str) -> bool {
    WORDS.talks.contains(&plain_name(name))
}

/// Returns whether the result of a tool is the report of a delegate.
pub(in crate::extract) fn reports(name: &str) -> bool {
    WORDS.reports.contains(&plain_name(name))
}

/// Returns a tool's name in lower case and without punctuation.
pub(super) fn plain_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns whether a command changes something outside the files of the work.
pub(in crate::extract) fn acts(command: &str) -> bool {
    let begins = |from: usize| {
        let before = command.get(..from).unwrap_or_default().trim_end();
        before.is_empty() || before.ends_with([';', '&', '|', '('])
    };
    WORDS.acts.iter().any(|words| command.match_indices(words.as_str()).any(|(at, _)| begins(at)))
}

/// Returns whether a command of a line only looks at something, by its words.
pub(in crate::extract) fn looks(words: &[String]) -> bool {
    let command = words.join(" ");
    let begins = |look: &String| {
        command.strip_prefix(look.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    WORDS.looks.iter().any(begins)
}

/// Returns whether a tool starts a delegate, by the words in the tool's name.
pub(in crate::extract) fn delegates(name: &str) -> bool {
    has_word(name, &WORDS.delegates)
}

/// Returns whether a tool changes files, by the words in its name.
pub fn changes_files(name: &str) -> bool {
    kind(name) == Kind::Write
}

/// Returns the kind of a call, by the words in the tool's name.
pub(in crate::extract) fn kind(name: &str) -> Kind {
    let words = words_of(name);
    let is = |any: &[String]| words.iter().any(|word| any.contains(word));
    if is(&WORDS.plan) {
        Kind::Plan
    } else if is(&WORDS.write) && !is(&WORDS.other) {
        Kind::Write
    } else if is(&WORDS.read) {
        Kind::Read
    } else if is(&WORDS.run) {
        Kind::Run
    } else {
        Kind::Other
    }
}
