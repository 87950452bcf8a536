//! Places of definitions, as the data file lists them, and the files in them.

use super::found::FoundDefinitions;
use super::inputs::Inputs;
use crate::limits::{MAX_DEFINITION_DEPTH, MAX_DEFINITIONS, MAX_SOURCE_FILE};
use crate::places::Places;
use crate::{read_text, resolve_inside};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::FileType;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use wunderblock_core::delegate::command::CommandKind;
use wunderblock_core::delegate::definition::{Layer, Origin};

/// A place of definitions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DefinitionPlace {
    #[serde(default)]
    what: Box<str>,
    product: Box<str>,
    layer: Box<str>,
    base: Vec<Box<str>>,
    #[serde(default)]
    folder: Box<str>,
    #[serde(default)]
    ending: Box<str>,
    #[serde(default)]
    depth: usize,
    #[serde(default)]
    preference: u32,
    #[serde(default)]
    file: Box<str>,
    #[serde(default)]
    key: Box<str>,
}

#[derive(Deserialize)]
struct PlaceTable {
    place: Vec<DefinitionPlace>,
}

static PLACES: LazyLock<Vec<DefinitionPlace>> = LazyLock::new(|| {
    let table: Result<PlaceTable, _> = toml::from_str(include_str!("places.toml"));
    table.map(|table| table.place).unwrap_or_default()
});

/// Where definitions are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefinitionQuery {
    /// Home directory and variables of the user.
    pub places: Places,
    /// Folder of the system's settings, which hold policies: `/etc`.
    pub system: PathBuf,
    /// Working folder.
    pub folder: PathBuf,
    /// Products whose definitions are read; empty for all.
    pub products: Vec<Box<str>>,
    /// Whether slash commands and skills are read, too.
    pub commands: bool,
    /// Files given for this call: definitions of agents, or a JSON object of definitions by name.
    pub given: Vec<PathBuf>,
}

/// A file with definitions.
#[derive(Clone, Debug)]
pub(super) struct DefinitionFile {
    pub(super) path: PathBuf,
    /// Path in the folder of definitions, without the ending; empty for a settings file.
    pub(super) inner: PathBuf,
    /// Field of a settings file that holds the definitions; empty for a file with one definition.
    pub(super) key: Box<str>,
    /// Kind of a command; `None` for an agent.
    pub(super) kind: Option<CommandKind>,
    /// Preference of the place among those of its layer.
    pub(super) preference: u32,
    pub(super) origin: Origin,
    /// Resolved root of the project whose definition it is; what it names must be inside.
    pub(super) root: Option<PathBuf>,
}

impl DefinitionFile {
    /// Returns a file in a folder of definitions.
    pub(super) fn in_folder(folder: &Path, path: PathBuf, kind: Option<CommandKind>, origin: Origin) -> Self {
        let inner = path.strip_prefix(folder).unwrap_or(&path).with_extension("");
        Self { path, inner, key: Box::default(), kind, preference: 0, origin, root: None }
    }

    /// Reads the file, or another one that it names.
    ///
    /// # Errors
    /// Returns a message if the file cannot be read, or if it is outside of the project that names it.
    pub(super) fn read(&self, path: &Path) -> Result<String, String> {
        if let Some(root) = &self.root {
            resolve_inside(path, root)?;
        }
        read_text(path, MAX_SOURCE_FILE)
    }
}

impl DefinitionQuery {
    pub(super) fn wants(&self, product: &str) -> bool {
        self.products.is_empty() || self.products.iter().any(|wanted| **wanted == *product)
    }

    /// Returns the folders from the working folder up to the root of its repository, closest first. The home directory is
    /// none of them, because its definitions are the user's.
    pub(super) fn project_folders(&self) -> Vec<&Path> {
        let root = self.folder.ancestors().position(|folder| folder.join(".git").exists());
        let folders = self.folder.ancestors().take(root.map_or(1, |root| root + 1));
        folders.filter(|folder| **folder != *self.places.home).collect()
    }

    /// Returns the resolved root of the project.
    fn project_root(&self) -> Option<PathBuf> {
        dunce::canonicalize(self.project_folders().last()?).ok()
    }

    /// Returns all files with definitions, and remarks on links that do not count.
    pub(super) fn files(&self, found: &mut FoundDefinitions) -> Vec<DefinitionFile> {
        let mut files = Vec::new();
        let root = self.project_root();
        self.folder.ancestors().for_each(|folder| found.inputs.note(&folder.join(".git")));
        let wanted = |place: &&DefinitionPlace| {
            self.wants(&place.product) && (self.commands || place.kind().is_none())
        };
        for place in PLACES.iter().filter(wanted) {
            let is_projects = place.base.iter().any(|base| **base == *".");
            let root = root.as_deref().filter(|_| is_projects);
            let bases: Vec<PathBuf> = if is_projects {
                self.project_folders().into_iter().map(Path::to_owned).collect()
            } else {
                let folder = |base: &str| match base.strip_prefix("@/") {
                    Some(rest) => Some(self.system.join(rest)),
                    None => self.places.folder(base),
                };
                place.base.iter().find_map(|base| folder(base)).into_iter().collect()
            };
            for (distance, base) in (0..).zip(bases) {
                files.extend(place.files(&base, distance, root, found));
            }
        }
        for path in &self.given {
            let product = match path.extension().and_then(|ending| ending.to_str()) {
                Some("toml") => "codex",
                _ => "claude-code",
            };
            if self.wants(product) {
                let origin = origin(product, Layer::Flag, 0, path);
                let folder = path.parent().unwrap_or(Path::new(""));
                files.push(DefinitionFile::in_folder(folder, path.clone(), None, origin));
            }
        }
        files
    }
}

impl DefinitionPlace {
    fn kind(&self) -> Option<CommandKind> {
        [CommandKind::Command, CommandKind::Skill].into_iter().find(|kind| kind.name() == &*self.what)
    }

    fn files(
        &self,
        base: &Path,
        distance: u32,
        root: Option<&Path>,
        found: &mut FoundDefinitions,
    ) -> Vec<DefinitionFile> {
        let layer = Layer::ALL.into_iter().find(|layer| layer.name() == &*self.layer).unwrap_or(Layer::User);
        let origin = |path: &Path| origin(&self.product, layer, distance, path);
        if !self.file.is_empty() {
            let path = base.join(&*self.file);
            found.inputs.note(&path);
            if !path.is_file() {
                return Vec::new();
            }
            let origin = origin(&path);
            let (inner, key) = (PathBuf::new(), self.key.clone());
            let (kind, preference, root) = (self.kind(), self.preference, root.map(Path::to_owned));
            return vec![DefinitionFile { path, inner, key, kind, preference, origin, root }];
        }
        let folder = base.join(&*self.folder);
        let inside = files_in(&folder, &self.ending, self.depth.max(1), root, found).into_iter();
        let file = |path: PathBuf| {
            let origin = origin(&path);
            let file = DefinitionFile::in_folder(&folder, path, self.kind(), origin);
            DefinitionFile { preference: self.preference, root: root.map(Path::to_owned), ..file }
        };
        inside.map(file).collect()
    }
}

/// Returns the origin of a definition at a path.
pub(super) fn origin(product: &str, layer: Layer, distance: u32, path: &Path) -> Origin {
    Origin { layer, distance, product: product.into(), place: path.to_string_lossy().into() }
}

/// Returns the files with an ending, or a name, in a folder and in its folders up to a depth, sorted by path. A depth of 1
/// is that of the folder itself. Links are followed, if there is a `root` only inside it; a file that is reached several
/// times counts once, at its own path if that is in the folder.
pub(super) fn files_in(
    folder: &Path,
    ending: &str,
    depth: usize,
    root: Option<&Path>,
    found: &mut FoundDefinitions,
) -> Vec<PathBuf> {
    let inputs = &mut found.inputs;
    inputs.note(folder);
    let depth = depth.min(MAX_DEFINITION_DEPTH);
    let mut walk =
        FolderWalk { ending, inputs, files: BTreeMap::new(), folders: BTreeSet::new(), links: Vec::new() };
    walk.links.push((folder.to_owned(), depth));
    let mut outside = Vec::new();
    while let Some((path, depth)) = walk.links.pop() {
        let Ok(own) = dunce::canonicalize(&path) else { continue };
        let Ok(metadata) = std::fs::metadata(&own) else { continue };
        if root.is_none_or(|root| own.starts_with(root)) {
            walk.visit(path, own, metadata.file_type(), depth);
        } else if metadata.is_dir() || walk.wants(&path) {
            outside.push(path);
        }
    }
    let mut paths: Vec<PathBuf> = walk.files.into_values().collect();
    paths.sort();
    for path in outside {
        found.remark(&path, "leads outside of the project, and is not read".to_owned());
    }
    paths
}

struct FolderWalk<'a> {
    ending: &'a str,
    inputs: &'a mut Inputs,
    /// Path of each file, by its path without links.
    files: BTreeMap<PathBuf, PathBuf>,
    /// Folders that were read, by their paths without links.
    folders: BTreeSet<PathBuf>,
    /// Paths to resolve, each with the number of folders that may still be entered. Links are followed last.
    links: Vec<(PathBuf, usize)>,
}

impl FolderWalk<'_> {
    fn wants(&self, path: &Path) -> bool {
        [path.extension(), path.file_name()].into_iter().flatten().any(|part| *part == *self.ending)
    }

    /// Visits a file or a folder, given its path and its path without links.
    fn visit(&mut self, path: PathBuf, own: PathBuf, kind: FileType, depth: usize) {
        if kind.is_file() && self.wants(&path) {
            if self.files.len() < MAX_DEFINITIONS {
                self.files.entry(own).or_insert(path);
            }
        } else if kind.is_dir() && depth > 0 && self.folders.insert(own.clone()) {
            self.inputs.note(&path);
            for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_symlink() => self.links.push((entry.path(), depth - 1)),
                    Ok(kind) => self.visit(entry.path(), own.join(entry.file_name()), kind, depth - 1),
                    Err(_) => {}
                }
            }
        }
    }
}
