//! `agents listing`: the lines that a main agent is told, or what changed since an earlier listing.

use crate::args::{Global, ListingArgs};
use crate::drawing::terminal::clean;
use crate::output::console::{print, say};
use crate::output::exit::Exit;
use crate::resolve::definitions::{load, offered, report_problems};
use std::process::ExitCode;
use wunderblock_core::delegate::listing::{Lines, ListingDelta, lines, text};
use wunderblock_settings::Settings;
use wunderblock_settings::input::read;

pub(super) fn run(global: &Global, settings: &Settings, wanted: &ListingArgs) -> Exit {
    let found = load(&wanted.definitions)?;
    report_problems(global, &found);
    let rules = settings.delegate_rules()?;
    let mut all = Lines::new();
    for registry in found.products.values() {
        all.extend(lines(offered(registry, &rules, &wanted.conditions).0));
    }
    let Some(path) = &wanted.since else {
        print(&clean_lines(&text(&all)))?;
        return Ok(ExitCode::SUCCESS);
    };
    let before = read(path)?;
    let named = |line: &str| {
        let name = line.strip_prefix("- ")?.split_once(": ")?.0;
        Some((Box::from(name), Box::from(line)))
    };
    let delta = ListingDelta::between(&before.lines().filter_map(named).collect(), &all);
    if delta.is_empty() {
        say(global, "nothing changed");
    }
    print(&clean_lines(&delta.text()))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a text whose lines are safe for terminals.
pub(super) fn clean_lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", clean(line))).collect()
}
