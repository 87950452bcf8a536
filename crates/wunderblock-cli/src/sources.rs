//! Collects the sources of a request from outside the ledger. Flags take precedence over the settings file.

use crate::args::SourceArgs;
use crate::config::SourceFiles;
use crate::exit::{Failure, wrong};
use crate::input::{read, refused, structured};
use crate::resources::Resources;
use crate::terminal::clean;
use crate::tools::tools;
use std::path::{Path, PathBuf};
use wunderblock::sources::{InstructionRules, SkillFile, Workspace, skills};
use wunderblock::{Given, Instructions, Skill, Sources, StateProvider};
use wunderblock_core::message::Dialect;
use wunderblock_core::state::WorkState;

/// Returns all sources of a request. For a past request (`is_past`), only flags count, because the settings are the
/// current ones.
pub(crate) fn sources(
    typed: &SourceArgs,
    (files, rules): (&SourceFiles, &InstructionRules),
    (dialect, is_past): (Option<Dialect>, bool),
) -> Result<Sources, Failure> {
    let none = SourceFiles::default();
    let files = if is_past { &none } else { files };
    let mut sources = Sources {
        safety: given(typed.safety.iter().chain(&files.safety))?,
        system: given(typed.system.iter().chain(&files.system))?,
        memory: given(typed.memory.iter().chain(&files.memory))?,
        now: typed.now,
        ..Sources::default()
    };
    if let Some(path) = typed.tools.as_ref().or(files.tools.as_ref()) {
        sources.tools = Some(tools(path, dialect)?);
    }
    if let Some(path) = typed.resources.as_ref().or(files.resources.as_ref()) {
        sources.resources = Some(structured::<Resources>(path)?.0);
    }
    if let Some(path) = typed.state.as_ref().or(files.state.as_ref()) {
        sources.state = Some(structured::<WorkState>(path)?);
    }
    // Only directories given by flags must exist; the directories from the settings and the standard directories may
    // be missing.
    if let Some(missing) = typed.skills.iter().find(|dir| !dir.is_dir()) {
        return Err(refused(missing, "is not a directory of skills; give one that holds NAME/SKILL.md"));
    }
    let cwd = typed.cwd.as_deref();
    if let Some(cwd) = cwd {
        let mut rules = rules.clone();
        rules.scan |= typed.scan;
        let workspace =
            Workspace::find(cwd, &rules.markers).map_err(|error| wrong(clean(&error.to_string())))?;
        let session = given(typed.instructions.iter())?.unwrap_or_default();
        let dirs = skill_dirs(&workspace, typed, files, &rules);
        found(&dirs, &mut sources);
        sources.instructions = Some(Instructions { workspace, rules, session });
    } else if !typed.instructions.is_empty() || typed.scan {
        return Err(wrong("--instructions and --scan require --cwd DIR, the working directory"));
    } else if !typed.skills.is_empty() || !files.skills.is_empty() {
        let dirs: Vec<PathBuf> = typed.skills.iter().chain(&files.skills).cloned().collect();
        found(&dirs, &mut sources);
    }
    if !is_past {
        let place = cwd.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
        let named = files.providers.iter();
        sources.providers = named
            .map(|one| StateProvider::command(one.name.as_str(), one.command.clone(), place.clone()))
            .collect();
    }
    Ok(sources)
}

/// Returns the directories of skills: those named, then those of the project, then the user's.
fn skill_dirs(
    workspace: &Workspace,
    typed: &SourceArgs,
    files: &SourceFiles,
    rules: &InstructionRules,
) -> Vec<PathBuf> {
    let named = typed.skills.iter().chain(&files.skills).cloned();
    let upward = workspace.cwd.ancestors().take_while(|place| place.starts_with(&workspace.root));
    let project = upward.map(|place| place.join(".claude/skills"));
    let person = rules.home.iter().map(|home| home.join(".claude/skills"));
    named.chain(project).chain(person).collect()
}

/// Loads the skills in these directories. Skills that cannot be used become findings in the report.
fn found(dirs: &[PathBuf], sources: &mut Sources) {
    let (skills, mut findings) = skills(dirs);
    sources.findings.append(&mut findings);
    let skill = |file: SkillFile| Skill { name: file.name, description: file.description, body: file.body };
    sources.skills = Some(skills.into_iter().map(skill).collect());
}

fn given<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> Result<Option<Vec<Given>>, Failure> {
    let read = |path: &PathBuf| Ok(Given { name: path.to_string_lossy().into_owned(), text: read(path)? });
    let given: Vec<Given> = paths.map(read).collect::<Result<_, Failure>>()?;
    Ok((!given.is_empty()).then_some(given))
}
