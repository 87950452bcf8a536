//! Places of definitions, as the data file lists them, and the files in them.

use crate::agents::Places;
use crate::limits::{MAX_DEFINITION_DEPTH, MAX_DEFINITIONS};
use crate::sources::resolve_knowing;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use wunderblock_core::delegate::definition::{Layer, Origin};

/// A place of definitions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DefinitionPlace {
    product: Box<str>,
    layer: Box<str>,
    base: Vec<Box<str>>,
    #[serde(default)]
    folder: Box<str>,
    #[serde(default)]
    ending: Box<str>,
    #[serde(default)]
    deep: bool,
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
#[derive(Clone, Debug, Default)]
pub struct DefinitionQuery {
    /// Home directory and variables of the user.
    pub places: Places,
    /// Working folder.
    pub folder: PathBuf,
    /// Products whose definitions are read; empty for all.
    pub products: Vec<Box<str>>,
    /// Files given for this call: definitions, or a JSON object of definitions by name.
    pub given: Vec<PathBuf>,
}

/// A file with definitions.
#[derive(Debug)]
pub(super) struct DefinitionFile {
    pub(super) path: PathBuf,
    /// Path in the folder of definitions, without the ending; empty for a settings file.
    pub(super) inner: PathBuf,
    /// Field of a settings file that holds the definitions; empty for a file with one definition.
    pub(super) key: Box<str>,
    pub(super) origin: Origin,
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
    pub(super) fn files(&self) -> Vec<DefinitionFile> {
        let mut files = Vec::new();
        for place in PLACES.iter().filter(|place| self.wants(&place.product)) {
            let bases: Vec<PathBuf> = if place.base.iter().any(|base| **base == *".") {
                self.project_folders().into_iter().map(Path::to_owned).collect()
            } else {
                place.base.iter().find_map(|base| self.places.folder(base)).into_iter().collect()
            };
            for (distance, base) in (0..).zip(bases) {
                place.files(&base, distance, &mut files);
            }
        }
        for path in &self.given {
            let product = match path.extension().and_then(|ending| ending.to_str()) {
                Some("toml") => "codex",
                _ => "claude-code",
            };
            if self.wants(product) {
                let origin = origin(product, Layer::Flag, 0, path);
                let inner = path.file_stem().map(PathBuf::from).unwrap_or_default();
                files.push(DefinitionFile { path: path.clone(), inner, key: Box::default(), origin });
            }
        }
        files
    }
}

impl DefinitionPlace {
    fn files(&self, base: &Path, distance: u32, files: &mut Vec<DefinitionFile>) {
        let layer = Layer::ALL.into_iter().find(|layer| layer.name() == &*self.layer).unwrap_or(Layer::User);
        let origin = |path: &Path| origin(&self.product, layer, distance, path);
        if !self.file.is_empty() {
            let path = base.join(&*self.file);
            if path.is_file() {
                let origin = origin(&path);
                files.push(DefinitionFile { path, inner: PathBuf::new(), key: self.key.clone(), origin });
            }
            return;
        }
        let folder = base.join(&*self.folder);
        for path in files_in(&folder, &self.ending, self.deep) {
            let inner = path.strip_prefix(&folder).unwrap_or(&path).with_extension("");
            let origin = origin(&path);
            files.push(DefinitionFile { path, inner, key: Box::default(), origin });
        }
    }
}

/// Returns the origin of a definition at a path.
pub(super) fn origin(product: &str, layer: Layer, distance: u32, path: &Path) -> Origin {
    Origin { layer, distance, product: product.into(), place: path.to_string_lossy().into() }
}

/// Returns the files with an ending in a folder, sorted by path. Links are followed; a file that is reached several
/// times counts once, at its own path if that is in the folder.
pub(super) fn files_in(folder: &Path, ending: &str, deep: bool) -> Vec<PathBuf> {
    if !folder.is_dir() {
        return Vec::new();
    }
    let mut walk = ignore::WalkBuilder::new(folder);
    walk.standard_filters(false).follow_links(true);
    walk.max_depth(Some(if deep { MAX_DEFINITION_DEPTH } else { 1 }));
    let entries = walk.build().flatten();
    let is_file = |entry: &ignore::DirEntry| entry.file_type().is_some_and(|kind| kind.is_file());
    let paths = entries.filter(is_file).map(ignore::DirEntry::into_path);
    let ends = |path: &PathBuf| path.extension().is_some_and(|own| own == ending);
    let mut known = HashMap::new();
    let resolved = paths.filter(ends).take(MAX_DEFINITIONS).map(|path| {
        let own = resolve_knowing(&path, &mut known).ok().flatten().unwrap_or_else(|| path.clone());
        (own, path)
    });
    let mut files: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for (own, path) in resolved {
        let kept = files.entry(own.clone()).or_insert_with(|| path.clone());
        if path == own {
            *kept = path;
        }
    }
    let mut paths: Vec<PathBuf> = files.into_values().collect();
    paths.sort();
    paths
}
