//! Collects the sources of a request from outside the ledger. Files that the caller names take precedence over the
//! settings file.

use crate::error::SettingsError;
use crate::input::{read, structured};
use crate::options::RequestChoice;
use crate::resources::Resources;
use crate::sections::root::File;
use crate::sections::sources::SourceFiles;
use crate::tools::tools;
use std::path::{Path, PathBuf};
use wunderblock::sources::{InstructionRules, SkillFile, Workspace, skills};
use wunderblock::{Given, Instructions, Skill, Sources, StateProvider};
use wunderblock_core::state::WorkState;

/// Inputs from outside the ledger, as a caller names them. Inputs that are not given stay as they are recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceChoice {
    /// Working directory, whose instruction files and skills enter.
    pub cwd: Option<PathBuf>,
    /// Whether to find instruction files in the whole project of the working directory.
    pub scan: bool,
    /// The user's own instructions for this session.
    pub instructions: Vec<PathBuf>,
    /// Safety policy.
    pub safety: Vec<PathBuf>,
    /// System text, after that of the transcript.
    pub system: Vec<PathBuf>,
    /// Tools to declare.
    pub tools: Option<PathBuf>,
    /// Directories of skills.
    pub skills: Vec<PathBuf>,
    /// Product whose types of delegates are listed.
    pub agents: Option<String>,
    /// Memory that is always present.
    pub memory: Vec<PathBuf>,
    /// List of resources.
    pub resources: Option<PathBuf>,
    /// State of the work.
    pub state: Option<PathBuf>,
    /// Whether changed tools, skills, agents, memory and resources apply at once, at the cost of the cache.
    pub now: bool,
}

/// Returns all sources of a request, except types of delegates. For a past request, only files that the caller names
/// count, because the settings are the current ones.
pub(crate) fn sources(file: &File, request: &RequestChoice) -> Result<Sources, SettingsError> {
    let (named, none) = (&request.sources, SourceFiles::default());
    let files = if request.at.is_some() { &none } else { &file.sources };
    let mut sources = Sources {
        safety: given(named.safety.iter().chain(&files.safety))?,
        system: given(named.system.iter().chain(&files.system))?,
        memory: given(named.memory.iter().chain(&files.memory))?,
        now: named.now,
        ..Sources::default()
    };
    if let Some(path) = named.tools.as_ref().or(files.tools.as_ref()) {
        sources.tools = Some(tools(path, request.dialect)?);
    }
    if let Some(path) = named.resources.as_ref().or(files.resources.as_ref()) {
        sources.resources = Some(structured::<Resources>(path)?.0);
    }
    if let Some(path) = named.state.as_ref().or(files.state.as_ref()) {
        sources.state = Some(structured::<WorkState>(path)?);
    }
    // Only directories that the caller names must exist; the directories from the settings and the standard directories
    // may be missing.
    if let Some(missing) = named.skills.iter().find(|dir| !dir.is_dir()) {
        let why = "is not a directory of skills; give one that holds NAME/SKILL.md";
        return Err(SettingsError::file(missing, why));
    }
    if let Some(cwd) = &named.cwd {
        let instructions = instructions(named, cwd, &file.instructions)?;
        let dirs = skill_dirs(&instructions, named, files);
        found(&dirs, &mut sources);
        sources.instructions = Some(instructions);
    } else if !named.instructions.is_empty() || named.scan {
        return Err(SettingsError::NoDirectory);
    } else if !named.skills.is_empty() || !files.skills.is_empty() {
        let dirs: Vec<PathBuf> = named.skills.iter().chain(&files.skills).cloned().collect();
        found(&dirs, &mut sources);
    }
    if request.at.is_none() {
        let place = named.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
        let providers = files.providers.iter();
        sources.providers = providers
            .map(|one| StateProvider::command(one.name.as_str(), one.command.clone(), place.clone()))
            .collect();
    }
    Ok(sources)
}

/// Returns where the instruction files of a working directory are, and the caller's own instructions.
fn instructions(
    named: &SourceChoice,
    cwd: &Path,
    rules: &InstructionRules,
) -> Result<Instructions, SettingsError> {
    let mut rules = rules.clone();
    rules.scan |= named.scan;
    let workspace =
        Workspace::find(cwd, &rules.markers).map_err(|error| SettingsError::Directory(error.to_string()))?;
    let session = given(named.instructions.iter())?.unwrap_or_default();
    Ok(Instructions { workspace, rules, session })
}

/// Returns the directories of skills: those named, then those of the project, then the user's.
fn skill_dirs(instructions: &Instructions, named: &SourceChoice, files: &SourceFiles) -> Vec<PathBuf> {
    let Instructions { workspace, rules, .. } = instructions;
    let given = named.skills.iter().chain(&files.skills).cloned();
    let upward = workspace.cwd.ancestors().take_while(|place| place.starts_with(&workspace.root));
    let project = upward.map(|place| place.join(".claude/skills"));
    let person = rules.home.iter().map(|home| home.join(".claude/skills"));
    given.chain(project).chain(person).collect()
}

/// Loads the skills in these directories. Skills that cannot be used become findings in the report.
fn found(dirs: &[PathBuf], sources: &mut Sources) {
    let (skills, mut findings) = skills(dirs);
    sources.findings.append(&mut findings);
    let skill = |file: SkillFile| Skill { name: file.name, description: file.description, body: file.body };
    sources.skills = Some(skills.into_iter().map(skill).collect());
}

fn given<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> Result<Option<Vec<Given>>, SettingsError> {
    let read = |path: &PathBuf| Ok(Given { name: path.to_string_lossy().into_owned(), text: read(path)? });
    let given: Vec<Given> = paths.map(read).collect::<Result<_, SettingsError>>()?;
    Ok((!given.is_empty()).then_some(given))
}
