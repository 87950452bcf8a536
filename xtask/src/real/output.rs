//! Tokens that reduction saves on the tool results of real sessions, of any length, at the level `fold`.

use super::corpus::RealSession;
use super::table::{median, part, thousands};
use crate::program::ChoreResult;
use crate::reduce::{ToolSaving, savings};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Results of one session.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct OutputRow {
    session: String,
    all: Saved,
    /// Those that a command wrote, and not the read of a file or a selection.
    commands: Saved,
}

/// Sums over results.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Saved {
    results: u64,
    tokens: u64,
    folded: u64,
}

impl Saved {
    fn add(&mut self, other: Self) {
        self.results += other.results;
        self.tokens += other.tokens;
        self.folded += other.folded;
    }

    fn thousandths(self) -> u64 {
        self.tokens.saturating_sub(self.folded) * 1_000 / self.tokens.max(1)
    }
}

/// Reduces the tool results of a session.
pub(crate) fn row(session: &RealSession) -> ChoreResult<OutputRow> {
    let mut row =
        OutputRow { session: session.title().to_owned(), all: Saved::default(), commands: Saved::default() };
    for file in session.snapshots.last().into_iter().chain(&session.delegates) {
        for ToolSaving { is_command, tokens, folded } in savings(file)? {
            let one = Saved { results: 1, tokens, folded };
            row.all.add(one);
            row.commands.add(if is_command { one } else { Saved::default() });
        }
    }
    Ok(row)
}

/// Returns the project in a session's name: `AGENT__PROJECT__ID`.
fn project(name: &str) -> &str {
    name.trim_start_matches("chain__").split("__").nth(1).unwrap_or_default()
}

/// Returns the totals as Markdown.
pub(crate) fn totals(rows: &[OutputRow]) -> ChoreResult<String> {
    let mut projects: BTreeMap<&str, u64> = BTreeMap::new();
    for row in rows {
        *projects.entry(project(&row.session)).or_default() += row.commands.tokens;
    }
    let largest = projects.iter().max_by_key(|(_, tokens)| **tokens).map_or("", |(name, _)| name);
    let without = format!("commands, without {largest}");
    let mut out =
        String::from("| results | number | tokens | saved | median of sessions |\n|---|--:|--:|--:|--:|\n");
    let commands = |row: &OutputRow| row.commands;
    let other = rows.iter().filter(|row| project(&row.session) != largest);
    let kinds: [(&str, Vec<Saved>); 3] = [
        ("all", rows.iter().map(|row| row.all).collect()),
        ("commands", rows.iter().map(commands).collect()),
        (&without, other.map(commands).collect()),
    ];
    for (name, own) in kinds {
        let mut sum = Saved::default();
        own.iter().for_each(|one| sum.add(*one));
        let (tokens, middle) =
            (thousands(sum.tokens), median(own.iter().map(|one| one.thousandths()).collect()));
        writeln!(
            out,
            "| {name} | {} | {tokens} | {} | {} |",
            sum.results,
            part(sum.thousandths()),
            part(middle)
        )?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::project;

    #[test]
    fn the_project_is_the_second_part_of_a_name() {
        assert_eq!(project("codex__tool-shed__0a1b2c3d"), "tool-shed");
        assert_eq!(project("chain__pi__tool-shed__0a1b2c3d"), "tool-shed");
        assert_eq!(project("plain"), "");
    }
}
