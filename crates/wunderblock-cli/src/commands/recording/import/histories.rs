//! `import` without a path: finds the histories of the agents on this machine, shows them, and asks.

use super::many::ManyFiles;
use super::summary::ImportSummary;
use crate::drawing::columns::{columns, pad, plural, size};
use crate::drawing::terminal::clean;
use crate::output::console::{is_agreed, print, say};
use crate::output::exit::{Failure, wrong};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;
use wunderblock::machine::{Agent, AgentHistory, Places, agents, histories};
use wunderblock::store::StreamFilter;
use wunderblock::{Engine, HistoryFile, Transcripts};
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Bytes;
use wunderblock_settings::places;

/// The histories that were found, and what is needed to find them again.
pub(super) struct Histories {
    agents: Vec<&'static Agent>,
    places: Places,
    found: Vec<AgentHistory>,
}

impl Histories {
    /// Finds the histories of the agents with these names, or of all known agents if `names` is empty.
    pub(super) async fn find(engine: &Engine, names: &[String]) -> Result<Self, Failure> {
        let known = || agents().iter().map(|agent| &*agent.name).collect::<Vec<_>>().join(", ");
        let agent = |name: &String| {
            Agent::from_name(name)
                .ok_or_else(|| wrong(format!("unknown agent `{name}`; known are {}", known())))
        };
        let wanted = names.iter().map(agent).collect::<Result<Vec<_>, _>>()?;
        let agents = if names.is_empty() { agents().iter().collect() } else { wanted };
        let places = places(projects(engine).await?)?;
        let found = histories(&agents, &places);
        Ok(Self { agents, places, found })
    }

    /// Shows what was found and asks whether to import it. Returns whether to go on.
    pub(super) async fn is_wanted(&self, many: &ManyFiles<'_>, ledger: &Path) -> Result<bool, Failure> {
        let global = many.global;
        for (path, why) in self.found.iter().flat_map(|history| &history.unread) {
            say(global, &format!("not read: {}: {why}", clean(&path.to_string_lossy())));
        }
        if self.found.iter().all(|history| history.files.is_empty()) {
            let titles: Vec<&str> = self.agents.iter().map(|agent| &*agent.title).collect();
            let home = clean(&self.places.home.to_string_lossy());
            let text = format!("no histories of {} in {home}; give a file or a folder", titles.join(", "));
            return Err(Failure::Door(crate::output::exit::FAILED, text));
        }
        let mut new = 0;
        for history in &self.found {
            let known = transcripts(history).unchanged(many.engine).await?;
            new += known.iter().filter(|known| known.is_none()).count() as u64;
        }
        if !global.json && !global.quiet {
            print(&self.table())?;
        }
        if new == 0 && !many.wanted.verify {
            say(global, "nothing new since the last import");
            return Ok(many.wanted.watch);
        }
        if many.wanted.yes {
            return Ok(true);
        }
        let files = plural(new, "new file", "new files");
        let question = format!("Import {files} into {}?", clean(&ledger.to_string_lossy()));
        is_agreed(&question, &format!("{files} to import; --yes imports without asking"))
    }

    /// Imports all files and prints the totals. Returns the failures.
    pub(super) async fn import(&self, many: &ManyFiles<'_>, ledger: &Path) -> Result<Vec<Failure>, Failure> {
        let begun = Instant::now();
        let mut summary = ImportSummary::of_agents();
        let mut failed = Vec::new();
        for history in &self.found {
            let title = |_: &Path| PathBuf::from(&*history.agent.title);
            failed.extend(many.import(transcripts(history), &mut summary, title).await?);
        }
        if !many.global.json {
            print(&summary.text(Path::new(""), ledger, begun.elapsed()))?;
        }
        Ok(failed)
    }

    /// Returns the files that the histories contain now.
    pub(super) fn files_now(&self) -> Vec<HistoryFile> {
        histories(&self.agents, &self.places).into_iter().flat_map(|history| history.files).collect()
    }

    fn table(&self) -> String {
        let mut rows: Vec<[String; 4]> = Vec::new();
        let (mut files, mut bytes) = (0, 0);
        for history in self.found.iter().filter(|history| !history.files.is_empty()) {
            let count = history.files.len() as u64;
            let total = history.files.iter().map(|file| file.bytes).sum::<u64>();
            let folder = clean(&history.folder.to_string_lossy());
            rows.push([history.agent.title.to_string(), grouped(count), size(Bytes(total)), folder]);
            (files, bytes) = (files + count, bytes + total);
        }
        if rows.len() > 1 {
            rows.push(["in all".to_owned(), grouped(files), size(Bytes(bytes)), String::new()]);
        }
        let head = ["found", "files", "size", "folder"].map(str::to_owned);
        let wide = |column: usize| {
            let cells = rows.iter().chain([&head]).filter_map(|row| row.get(column));
            cells.map(|cell| columns(cell)).max().unwrap_or_default()
        };
        let [agent, files, bytes] = [wide(0), wide(1), wide(2)];
        let line = |[name, count, length, folder]: &[String; 4]| {
            let line = format!("{}  {count:>files$}  {length:>bytes$}  {folder}", pad(name, agent));
            format!("{}\n", line.trim_end())
        };
        std::iter::once(&head).chain(&rows).map(line).collect()
    }
}

fn transcripts(history: &AgentHistory) -> Transcripts {
    Transcripts { files: history.files.clone(), links: Vec::new() }
}

/// Returns the folders in which agents may have left a history: the current one, and those of the ledger's sessions.
async fn projects(engine: &Engine) -> Result<Vec<PathBuf>, Failure> {
    let sessions = engine.listed(StreamFilter::default(), u64::from(u32::MAX)).await?;
    let known: BTreeSet<PathBuf> =
        sessions.into_iter().filter_map(|session| session.scope.folder).map(PathBuf::from).collect();
    Ok(known.into_iter().filter(|folder| folder.is_absolute()).chain(std::env::current_dir().ok()).collect())
}
