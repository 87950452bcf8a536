//! Places of definitions, as the data file lists them, and the files in them.

use super::inputs::Inputs;
use crate::agents::Places;
use crate::limits::{MAX_DEFINITION_DEPTH, MAX_DEFINITIONS};
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
}

impl DefinitionFile {
    /// Returns a file in a folder of definitions.
    pub(super) fn in_folder(folder: &Path, path: PathBuf, kind: Option<CommandKind>, origin: Origin) -> Self {
        let inner = path.strip_prefix(folder).unwrap_or(&path).with_extension("");
        Self { path, inner, key: Box::default(), kind, preference: 0, origin }
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

    /// Returns all files with definitions.
    pub(super) fn files(&self, inputs: &mut Inputs) -> Vec<DefinitionFile> {
        let mut files = Vec::new();
        self.folder.ancestors().for_each(|folder| inputs.note(&folder.join(".git")));
        let wanted = |place: &&DefinitionPlace| {
            self.wants(&place.product) && (self.commands || place.kind().is_none())
        };
        for place in PLACES.iter().filter(wanted) {
            let bases: Vec<PathBuf> = if place.base.iter().any(|base| **base == *".") {
                self.project_folders().into_iter().map(Path::to_owned).collect()
            } else {
                let folder = |base: &str| match base.strip_prefix("@/") {
                    Some(rest) => Some(self.system.join(rest)),
                    None => self.places.folder(base),
                };
                place.base.iter().find_map(|base| folder(base)).into_iter().collect()
            };
            for (distance, base) in (0..).zip(bases) {
                place.files((&base, distance), &mut files, inputs);
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

    fn files(&self, (base, distance): (&Path, u32), files: &mut Vec<DefinitionFile>, inputs: &mut Inputs) {
        let layer = Layer::ALL.into_iter().find(|layer| layer.name() == &*self.layer).unwrap_or(Layer::User);
        let origin = |path: &Path| origin(&self.product, layer, distance, path);
        if !self.file.is_empty() {
            let path = base.join(&*self.file);
            inputs.note(&path);
            if path.is_file() {
                let origin = origin(&path);
                let (inner, key) = (PathBuf::new(), self.key.clone());
                let (kind, preference) = (self.kind(), self.preference);
                files.push(DefinitionFile { path, inner, key, kind, preference, origin });
            }
            return;
        }
        let folder = base.join(&*self.folder);
        for path in files_in(&folder, (&self.ending, self.depth.max(1)), inputs) {
            let origin = origin(&path);
            let file = DefinitionFile::in_folder(&folder, path, self.kind(), origin);
            files.push(DefinitionFile { preference: self.preference, ..file });
        }
    }
}

/// Returns the origin of a definition at a path.
pub(super) fn origin(product: &str, layer: Layer, distance: u32, path: &Path) -> Origin {
    Origin { layer, distance, product: product.into(), place: path.to_string_lossy().into() }
}

/// Returns the files with an ending, or a name, in a folder and in its folders up to a depth, sorted by path. A depth of 1
/// is that of the folder itself. Links are followed; a file that is reached several times counts once, at its own path if
/// that is in the folder.
pub(super) fn files_in(folder: &Path, (ending, depth): (&str, usize), inputs: &mut Inputs) -> Vec<PathBuf> {
    inputs.note(folder);
    let depth = depth.min(MAX_DEFINITION_DEPTH);
    let mut walk =
        FolderWalk { ending, inputs, files: BTreeMap::new(), folders: BTreeSet::new(), links: Vec::new() };
    walk.links.push((folder.to_owned(), depth));
    while let Some((path, depth)) = walk.links.pop() {
        let Ok(own) = dunce::canonicalize(&path) else { continue };
        let Ok(metadata) = std::fs::metadata(&own) else { continue };
        walk.visit(path, own, (metadata.file_type(), depth));
    }
    let mut paths: Vec<PathBuf> = walk.files.into_values().collect();
    paths.sort();
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
    /// Visits a file or a folder, given its path and its path without links.
    fn visit(&mut self, path: PathBuf, own: PathBuf, (kind, depth): (FileType, usize)) {
        let parts = [path.extension(), path.file_name()];
        if kind.is_file() && parts.into_iter().flatten().any(|part| *part == *self.ending) {
            if self.files.len() < MAX_DEFINITIONS {
                self.files.entry(own).or_insert(path);
            }
        } else if kind.is_dir() && depth > 0 && self.folders.insert(own.clone()) {
            self.inputs.note(&path);
            for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_symlink() => self.links.push((entry.path(), depth - 1)),
                    Ok(kind) => self.visit(entry.path(), own.join(entry.file_name()), (kind, depth - 1)),
                    Err(_) => {}
                }
            }
        }
    }
}
