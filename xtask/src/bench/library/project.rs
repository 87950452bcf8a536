//! Requests in a large project with 50,000 files and 200 nested instruction files.

use crate::bench::figure::Figure;
use crate::bench::measure::{Durations, SEED, note};
use crate::program::ChoreResult;
use futures_executor::block_on;
use std::fs;
use std::path::Path;
use wunderblock::sources::{InstructionRules, Workspace};
use wunderblock::store::sqlite::Access;
use wunderblock::{Config, ContextOptions, Engine, Instructions, Sources};
use wunderblock_core::id::StreamId;
use wunderblock_core::units::Tokens;
use wunderblock_testkit::generate;

const FOLDERS: usize = 1_000;
const FILES: usize = 50;
/// One in this many folders has an instruction file.
const NESTED: usize = 5;
const BUILDS: usize = 20;
const EVENTS: usize = 1_000;

fn lay_out(root: &Path) -> ChoreResult<()> {
    fs::create_dir_all(root.join(".git"))?;
    fs::write(root.join("AGENTS.md"), "# The project\n\nRun the tests before you commit.\n")?;
    for folder in 0..FOLDERS {
        let place = root.join(format!("crates/c{}/src/m{folder}", folder / 20));
        fs::create_dir_all(&place)?;
        for file in 0..FILES {
            fs::write(place.join(format!("f{file}.rs")), "pub fn f() {}\n")?;
        }
        if folder % NESTED == 0 {
            let rules: String = (0..12)
                .map(|rule| format!("- Rule {rule} of module {folder}: keep it small and tested.\n"))
                .collect();
            fs::write(place.join("AGENTS.md"), format!("# Module {folder}\n\n{rules}"))?;
        }
    }
    Ok(())
}

fn options(root: &Path, scan: bool) -> ChoreResult<ContextOptions> {
    let rules = InstructionRules { scan, ..InstructionRules::default() };
    let workspace = Workspace::find(&root.join("crates/c0"), &rules.markers)?;
    let instructions = Instructions { workspace, rules, session: Vec::new() };
    Ok(ContextOptions {
        window: Some(Tokens(200_000)),
        sources: Sources { instructions: Some(instructions), ..Sources::default() },
        ..ContextOptions::uncompacted()
    })
}

pub(in crate::bench) fn run(folder: &Path) -> ChoreResult<Vec<Figure>> {
    note("  a project of 50,000 files");
    let root = folder.join("project");
    lay_out(&root)?;
    let mut figures = Vec::new();
    for (scan, which) in [(true, "scanned"), (false, "not scanned")] {
        let options = options(&root, scan)?;
        let ledger = folder.join(format!("project-{scan}.db"));
        let stream = StreamId::new("work")?;
        let engine = block_on(Engine::open_with(&ledger, Access::Create, Config::default()))?;
        let all: Vec<_> = generate::session(EVENTS, SEED ^ 3).collect();
        block_on(engine.session_by_id(stream.clone()).append(all))?;
        let session = engine.session_by_id(stream);
        // The lane has no recorded request yet, so each build finds, reads and counts the files.
        let first = Durations::of(BUILDS / 2, || Ok(block_on(session.explain(&options))?))?;
        block_on(session.context(&options))?;
        let mut warm = Durations::default();
        let more =
            generate::session(4 * BUILDS, SEED ^ 4).filter(|event| event.fact.kind() == "message.appended");
        for event in more.take(BUILDS) {
            block_on(session.append(vec![event]))?;
            warm.take(|| block_on(session.explain(&options)))?;
            block_on(session.context(&options))?;
        }
        let figure = |what: &str, value: f64, most: f64| {
            let what = format!("context in a project of 50,000 files, {which}, {what}");
            Figure::millis(EVENTS, &what, value).at_most(most)
        };
        figures.push(figure("the lane's first, p50", first.percentile(50), 300.0));
        figures.push(figure("later, p50", warm.percentile(50), 30.0));
        figures.push(figure("later, p95", warm.percentile(95), 30.0));
    }
    Ok(figures)
}
