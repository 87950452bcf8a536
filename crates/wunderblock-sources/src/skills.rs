//! Skills: directories with a `SKILL.md` whose front matter describes their purpose.

use super::file::{describe_error, read, resolve};
use super::front_matter;
use super::instructions::loader::FindingList;
use crate::limits::{MAX_SKILLS, MAX_SOURCE_FILE};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use wunderblock_core::instruction::{Finding, FindingKind};

/// A skill with its full text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFile {
    /// Name of the skill, taken from its front matter or, if missing there, from its directory.
    pub name: String,
    /// Purpose of the skill, on one line.
    pub description: String,
    /// Path under which the file was found.
    pub path: PathBuf,
    /// BLAKE3 hash of the file's bytes, in hexadecimal.
    pub digest: String,
    /// The whole file, including front matter.
    pub body: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SkillFrontMatter {
    name: Option<String>,
    description: Option<String>,
}

/// Returns the skills of some directories, `DIR/*/SKILL.md`, sorted by name. If two skills have the same name, the
/// one in the earlier directory is used. A missing directory is ignored. Skills that cannot be used are omitted and
/// reported as findings.
#[must_use]
pub fn skills(dirs: &[PathBuf]) -> (Vec<SkillFile>, Vec<Finding>) {
    let mut findings = FindingList::default();
    let mut found: BTreeMap<String, SkillFile> = BTreeMap::new();
    let mut paths = Vec::new();
    for directory in dirs {
        paths.append(&mut files(directory, &mut findings));
    }
    for path in paths {
        let shown = path.to_string_lossy().into_owned();
        match skill(&path) {
            Ok(None) => {}
            Err((line, why)) => findings.unusable(&shown, line, why),
            Ok(Some(skill)) => match found.get(&skill.name) {
                Some(first) => {
                    let detail =
                        format!("\"{}\" is there already, from {}", skill.name, first.path.display());
                    findings.add(&shown, None, FindingKind::Repeated, detail);
                }
                None if found.len() >= MAX_SKILLS => {
                    let detail = format!("is left out: {MAX_SKILLS} skills are enough");
                    findings.unusable(&shown, None, detail);
                }
                None => {
                    found.insert(skill.name.clone(), skill);
                }
            },
        }
    }
    (found.into_values().collect(), findings.into_vec())
}

fn files(directory: &Path, findings: &mut FindingList) -> Vec<PathBuf> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => {
            if error.kind() != std::io::ErrorKind::NotFound {
                let shown = directory.to_string_lossy();
                findings.unusable(
                    &shown,
                    None,
                    format!("as a directory of skills: {}", describe_error(&error)),
                );
            }
            return Vec::new();
        }
    };
    // The limit bounds the work in a directory with many other entries.
    let mut files: Vec<PathBuf> =
        entries.flatten().take(8 * MAX_SKILLS).map(|entry| entry.path().join("SKILL.md")).collect();
    files.sort();
    files
}

fn skill(path: &Path) -> Result<Option<SkillFile>, (Option<u64>, String)> {
    let Some(canonical) = resolve(path).map_err(|why| (None, why))? else { return Ok(None) };
    let file = read(&canonical, MAX_SOURCE_FILE).map_err(|why| (None, why))?;
    let front =
        front_matter::read::<SkillFrontMatter>(&file.text).map_err(|bad| (Some(bad.line), bad.detail))?.front;
    let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name = front.name.map(one_line).filter(|name| !name.is_empty()).or(folder).unwrap_or_default();
    let description = front.description.map(one_line).filter(|text| !text.is_empty());
    let Some(description) = description else {
        let why = "has no `description` in its front matter: nothing would tell a model what it is for";
        return Err((Some(1), why.to_owned()));
    };
    Ok(Some(SkillFile { name, description, path: path.to_owned(), digest: file.digest, body: file.text }))
}
