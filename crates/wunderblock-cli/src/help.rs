//! The first page of the help, and its topics. All help is made from the list with which the arguments are parsed.

mod words;

use crate::args::Args;
use crate::drawing::columns::{columns, pad, wrap};
use crate::drawing::terminal::width;
use crate::output::console::print;
use crate::output::exit::{Exit, wrong};
use clap::builder::StyledStr;
use clap::{Command, CommandFactory};
use std::fmt::Write;
use std::process::ExitCode;
pub(crate) use words::WORDS;
use wunderblock::nearest;

/// A row of the first page: commands of one kind. A row without its own text has the text of its only command.
type Row = (&'static [&'static str], &'static str);

/// The commands, grouped by purpose. If a command is missing from this list, a test fails.
const GROUPS: [(&str, &[Row]); 5] = [
    (
        "Look",
        &[
            (&["import"], ""),
            (&["index", "unindex"], "Add files that search finds, such as guides; remove them"),
            (&["init", "wrap", "hook"], "Connect agents, or only one run; what they call"),
            (&["sessions", "memory"], "List sessions, the latest first; what outlives them"),
            (&["show", "status", "cost"], "Show a session; one line about it; what sessions cost"),
            (&["search", "grep"], "Search, best match first; find an exact text"),
            (&["read", "expand"], "Read what a handle names; what a summary replaces"),
            (&["describe", "agents"], "Describe a session or a summary; who does delegated work"),
        ],
    ),
    (
        "Build",
        &[
            (&["context", "explain"], "Build the next model request; explain it, record nothing"),
            (&["replay", "diff"], "Rebuild a recorded request; compare two of them"),
            (&["simulate", "eval"], "Play a session under policies; measure what search finds"),
            (&["append"], ""),
            #[cfg(feature = "mcp")]
            (&["mcp"], ""),
        ],
    ),
    (
        "Compact",
        &[
            (&["compact", "undo"], "Compact a session, or show what that would do; undo it"),
            (&["pin", "unpin"], "Keep a message in every request; remove a pin"),
            (&["hide", "unhide"], "Keep a message out of every request; show it again"),
            (&["reduce", "run", "gain"], "Shorten a text, or what a command writes; what that saved"),
        ],
    ),
    (
        "Keep",
        &[
            (&["export", "doctor"], "Write a session out; check the ledger, or repair it"),
            (&["backup", "restore"], "Copy the ledger to a file; replace it by such a copy"),
            (&["erase"], ""),
        ],
    ),
    ("Help", &[(&["help"], ""), (&["completions", "man"], "Write completions for a shell; the manual page")]),
];

/// The text after the commands on the first page: at most 80 columns wide, so that the page has 40 lines on any
/// terminal.
const AFTER: &str = "
Every command:  --db PATH  --config FILE  --tenant NAME  --json  -q  -v

Start with:
  wunderblock import
  wunderblock context session.jsonl --window 32000 --out request.json

Exit codes: 0 done, 1 failed or nothing found, 2 wrong usage, 3 refused
";

/// The last line of each command's page.
const OTHERS: &str = "Every command also takes --json, --db and others: `wunderblock help options`.";

/// Returns the commands as they are parsed, with our help pages.
pub(crate) fn command() -> Command {
    let plain = Args::command();
    let page = first_page(&plain);
    plain.override_help(page).mut_subcommands(|command| {
        let after = command.get_after_help().map(ToString::to_string);
        let after =
            after.map_or_else(String::new, |text| format!("{}\n\n", unwrapped(&text, width().min(100))));
        command.after_help(format!("{after}{OTHERS}"))
    })
}

/// Formats a text for a width in columns. Each paragraph becomes one line, which is broken at the terminal's width later.
/// Explanations of examples move above their commands if one of them is too wide beside its command.
fn unwrapped(text: &str, wide: usize) -> String {
    let is_prose = |line: &str| line.starts_with(|c: char| !c.is_whitespace());
    let is_wide = text.lines().any(|line| !is_prose(line) && columns(line) > wide);
    let mut out = String::with_capacity(text.len());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        match line.trim_start().split_once("  ").filter(|_| is_wide && !is_prose(line)) {
            Some((command, about)) => out.push_str(&format!("  # {}\n  {command}", about.trim_start())),
            None => out.push_str(line),
        }
        let goes_on = lines.peek().is_some_and(|next| is_prose(line) && is_prose(next));
        out.push(if goes_on { ' ' } else { '\n' });
    }
    out.truncate(out.trim_end().len());
    out
}

/// Returns the commands for the manual page and for completions, in one list with nothing hidden.
pub(crate) fn listed() -> Command {
    ["db", "config", "tenant", "json", "quiet", "verbose"]
        .into_iter()
        .fold(Args::command(), |command, name| command.mut_arg(name, |arg| arg.hide(false)))
}

/// Shows the first page, a command's page, or a topic.
pub(crate) fn run(topic: Option<&str>) -> Exit {
    let mut command = command();
    command.build();
    match topic {
        None => command.print_help()?,
        Some("words") => print(&words_page())?,
        Some("options") => print(&options_page())?,
        Some(name) => match command.find_subcommand_mut(name) {
            Some(found) => found.print_help()?,
            None => return Err(unknown(&command, name)),
        },
    }
    Ok(ExitCode::SUCCESS)
}

fn unknown(command: &Command, name: &str) -> crate::output::exit::Failure {
    let names = command.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
    let names: Vec<&str> = names.chain(["words", "options"]).collect();
    let meant = nearest(name, names.iter().copied());
    let meant = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
    wrong(format!("unknown help topic `{name}`{meant} `wunderblock help` lists the commands"))
}

fn first_page(command: &Command) -> StyledStr {
    let styles = clap::builder::Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = StyledStr::new();
    // Writing to a `StyledStr` cannot fail: it is a `String` inside.
    let _ = write!(
        page,
        "{}\n{header}Usage:{header:#} {literal}wunderblock{literal:#} [OPTIONS] <COMMAND>\n\n",
        wrap(&format!("{about}."), 80, 0)
    );
    let wide = GROUPS.iter().flat_map(|(_, rows)| *rows).map(|(names, _)| columns(&names.join(", ")));
    let wide = wide.max().unwrap_or_default();
    for (name, rows) in GROUPS {
        let _ = writeln!(page, "{header}{name}{header:#}");
        for (names, text) in rows {
            let own = command.find_subcommand(names.first().copied().unwrap_or_default());
            let own = own.and_then(Command::get_about).map(ToString::to_string).unwrap_or_default();
            let text = if text.is_empty() { own.as_str() } else { text };
            let _ = writeln!(page, "  {literal}{}{literal:#}  {text}", pad(&names.join(", "), wide));
        }
    }
    let _ = write!(page, "{AFTER}");
    page
}

fn words_page() -> String {
    let wide = WORDS.iter().map(|(word, _)| columns(word)).max().unwrap_or_default() + 2;
    let mut out = String::from("The words of reports, help and guides:\n\n");
    for (word, meaning) in WORDS {
        let lines = wrap(meaning, width().min(100), wide);
        out.push_str(&pad(word, wide));
        out.push_str(lines.get(wide..).unwrap_or(&lines));
    }
    out
}

fn options_page() -> String {
    let mut out = String::from("Options of every command, before or after its name:\n\n");
    for arg in listed().get_arguments().filter(|arg| arg.is_global_set()) {
        let long = arg.get_long().unwrap_or_default();
        let short = arg.get_short().map_or_else(|| "    ".to_owned(), |short| format!("-{short}, "));
        let value = arg.get_value_names().filter(|_| arg.get_action().takes_values());
        let value = value.and_then(|names| names.first()).map(|name| format!(" <{name}>"));
        let name = format!("  {short}--{long}{}", value.unwrap_or_default());
        let mut about = arg.get_help().map(ToString::to_string).unwrap_or_default();
        if let Some(variable) = arg.get_env() {
            about.push_str(&format!(" [env: {}]", variable.to_string_lossy()));
        }
        let indent = 24;
        let lines = wrap(&about, width().min(100), indent);
        out.push_str(&format!("{}{}", pad(&name, indent), lines.get(indent..).unwrap_or(&lines)));
    }
    out.push_str("\nSettings that hold for every run: config.toml, described in docs/config.toml.\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_one_line_and_examples_stay() {
        assert_eq!(
            unwrapped("Examples:\n  a\n  b\n\nOne\ntwo.\n\nThree.", 80),
            "Examples:\n  a\n  b\n\nOne two.\n\nThree."
        );
    }

    #[test]
    fn explanations_that_are_too_wide_stand_above() {
        let text = "Examples:\n  a b    what it does\n  c      more";
        assert_eq!(unwrapped(text, 80), text);
        assert_eq!(unwrapped(text, 16), "Examples:\n  # what it does\n  a b\n  # more\n  c");
    }

    #[test]
    fn every_command_is_in_one_group() {
        let command = Args::command();
        let mut listed: Vec<&str> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        let rows = || GROUPS.iter().flat_map(|(_, rows)| *rows);
        let mut grouped: Vec<&str> = rows().flat_map(|(names, _)| *names).copied().collect();
        listed.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(listed, grouped);
        assert!(rows().all(|(names, text)| text.is_empty() == (names.len() == 1)), "one text per row");
    }
}
