//! Measures recall on prompts: how often a prompt gets passages of its own project's past, and how often of a past that
//! it has nothing to do with.

use crate::program::ChoreResult;
use futures_executor::block_on;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use wunderblock::recap::{RECALL_FLOOR, recall_hits};
use wunderblock::{Engine, HitStrength, SearchOptions};
use wunderblock_core::author::typed;
use wunderblock_core::event::Fact;
use wunderblock_core::id::StreamId;
use wunderblock_core::message::{Part, Role};
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::units::{Bytes, Seq};

/// Maximum number of prompts of a project that are tried, evenly spread over it.
const PROMPTS: usize = 300;
/// Floors to compare: covered share and rarity, in thousandths.
const FLOORS: [HitStrength; 7] = [
    HitStrength { covered: 0, rarity: 0 },
    HitStrength { covered: 400, rarity: 0 },
    HitStrength { covered: 0, rarity: 1_200 },
    HitStrength { covered: 300, rarity: 1_000 },
    HitStrength { covered: 400, rarity: 1_200 },
    HitStrength { covered: 500, rarity: 1_500 },
    HitStrength { covered: 600, rarity: 2_000 },
];

/// Sessions of one project in a ledger of their own.
struct Project {
    name: String,
    engine: Engine,
    /// Each session with its number in the order of the files.
    order: HashMap<StreamId, usize>,
    /// What users typed, with the number of its session.
    prompts: Vec<(usize, String)>,
    /// Holds the ledger while it is open.
    _folder: tempfile::TempDir,
}

/// Strongest passages that the prompts of one project get from the past of another, or of their own.
struct Answered {
    past: usize,
    own: bool,
    best: Vec<HitStrength>,
}

/// Returns Markdown tables. Each path, a file or a folder of files, is a project.
pub(super) fn table(paths: &[PathBuf]) -> ChoreResult<String> {
    let projects = paths.iter().map(|path| project(path)).collect::<ChoreResult<Vec<_>>>()?;
    let mut all = Vec::new();
    for (past, of) in projects.iter().enumerate() {
        for (from, asked) in projects.iter().enumerate() {
            let own = past == from;
            let step = asked.prompts.len().div_ceil(PROMPTS).max(1);
            let best = asked.prompts.iter().step_by(step);
            let best = best.map(|(at, prompt)| strongest(of, prompt, own.then_some(*at)));
            all.push(Answered { past, own, best: best.collect::<ChoreResult<_>>()? });
        }
    }
    let floor = RECALL_FLOOR;
    let mut out = format!(
        "Floor {} ‰ covered, {} ‰ rarity:\n\n| past | sessions | own prompts | answered | unrelated | answered |\n|---|--:|--:|--:|--:|--:|\n",
        floor.covered, floor.rarity
    );
    for (at, project) in projects.iter().enumerate() {
        let [own, unrelated] = [true, false].map(|own| {
            let rows = all.iter().filter(|row| row.past == at && row.own == own);
            share(rows, floor)
        });
        let (name, sessions) = (&project.name, project.order.len());
        let _ = writeln!(
            out,
            "| {name} | {sessions} | {} | {} | {} | {} |",
            own.0, own.1, unrelated.0, unrelated.1
        );
    }
    out.push_str("\n| covered ‰ | rarity ‰ | own answered | unrelated answered | the worst past |\n|--:|--:|--:|--:|--:|\n");
    for floor in FLOORS {
        let (_, own) = share(all.iter().filter(|row| row.own), floor);
        let (_, unrelated) = share(all.iter().filter(|row| !row.own), floor);
        let worst = (0..projects.len())
            .map(|at| counted(all.iter().filter(|row| row.past == at && !row.own), floor))
            .map(|(tried, answered)| answered * 1_000 / tried.max(1))
            .max()
            .unwrap_or(0);
        let _ = writeln!(
            out,
            "| {} | {} | {own} | {unrelated} | {} |",
            floor.covered,
            floor.rarity,
            percent(worst)
        );
    }
    Ok(out)
}

/// Returns the number of prompts, and the share of them that gets a passage above a floor.
fn share<'a>(rows: impl Iterator<Item = &'a Answered>, floor: HitStrength) -> (usize, String) {
    let (tried, answered) = counted(rows, floor);
    (tried, percent(answered * 1_000 / tried.max(1)))
}

fn counted<'a>(rows: impl Iterator<Item = &'a Answered>, floor: HitStrength) -> (usize, usize) {
    let HitStrength { covered, rarity } = floor;
    let passes = |best: &&HitStrength| best.covered >= covered && best.rarity >= rarity && best.rarity > 0;
    rows.fold((0, 0), |(tried, answered), row| {
        (tried + row.best.len(), answered + row.best.iter().filter(passes).count())
    })
}

fn percent(thousandths: usize) -> String {
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

/// Returns the strength of the best passage of a past, in which only the sessions before `before` count.
fn strongest(past: &Project, prompt: &str, before: Option<usize>) -> ChoreResult<HitStrength> {
    let found =
        block_on(recall_hits(&past.engine, prompt, SearchOptions::default(), HitStrength::default()))?;
    let is_past = |session: &StreamId| {
        before.is_none_or(|before| past.order.get(session).is_some_and(|at| *at < before))
    };
    let best = found.passages.iter().find(|passage| is_past(&passage.hit.session));
    Ok(best.map(|passage| passage.hit.strength).unwrap_or_default())
}

fn project(path: &Path) -> ChoreResult<Project> {
    let folder = tempfile::tempdir()?;
    let engine = block_on(Engine::open(folder.path().join("ledger.db")))?;
    let (mut order, mut prompts) = (HashMap::new(), Vec::new());
    for id in imported(&engine, path)? {
        let at = order.len();
        prompts.extend(typed_in(&engine, &id)?.into_iter().map(|prompt| (at, prompt)));
        order.insert(id, at);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Project { name, engine, order, prompts, _folder: folder })
}

/// Imports a file, or the files of a folder, and indexes them. Returns the sessions.
pub(super) fn imported(engine: &Engine, path: &Path) -> ChoreResult<Vec<StreamId>> {
    let mut sessions = Vec::new();
    for file in files(path)? {
        // A file that is not a transcript is passed over.
        let Ok(done) = block_on(engine.import(&file, None, &mut |_, _| {})) else { continue };
        sessions.extend(done.sessions);
    }
    block_on(engine.maintenance().catch_up(&mut |_| {}))?;
    Ok(sessions)
}

/// Returns what a user typed in a session.
fn typed_in(engine: &Engine, id: &StreamId) -> ChoreResult<Vec<String>> {
    let session = engine.session_by_id(id.clone());
    let events = block_on(session.events(Seq(1), Seq(u64::MAX), 1_000_000, Bytes(1 << 30)))?;
    let bodies = block_on(engine.bodies(&events))?;
    let mut prompts = Vec::new();
    for event in &events {
        let Some(Fact::MessageAppended(said)) = &event.fact else { continue };
        if said.message.role != Role::User || !said.message.is_user_turn() {
            continue;
        }
        let texts = said.message.parts.iter().filter_map(|part| match part {
            Part::Text { text, .. } => bodies.of(text),
            _ => None,
        });
        let prompt: String = texts.flat_map(typed).map(|(_, piece)| format!("{}\n", piece.trim())).collect();
        prompts.extend(Some(prompt).filter(|prompt| !prompt.is_empty()));
    }
    Ok(prompts)
}

fn files(path: &Path) -> ChoreResult<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path)? {
        files.push(entry?.path());
    }
    files.retain(|path| path.is_file());
    files.sort();
    Ok(files)
}
