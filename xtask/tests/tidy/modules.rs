//! Finds the modules of a package that are compiled for users: reachable from its root file, not under
//! `#[cfg(test)]`.

use crate::root;
use crate::tokens::{Token, production, tokens};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Names that lead to a module from its package's root.
pub(crate) type ModulePath = Vec<String>;

/// A module in a separate file.
pub(crate) struct ModuleFile {
    pub(crate) module: ModulePath,
    /// Path relative to the repository.
    pub(crate) path: String,
    pub(crate) tokens: Vec<Token<'static>>,
}

/// A package of the workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) modules: Vec<ModuleFile>,
}

/// Returns the workspace's packages. The packages are parsed only once, because parsing takes most of the tests'
/// time.
pub(crate) fn packages() -> &'static [Package] {
    static PACKAGES: LazyLock<Vec<Package>> = LazyLock::new(|| {
        let entries = fs::read_dir(root().join("crates")).expect("the packages").flatten();
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        folders.push(root().join("xtask"));
        folders.sort();
        let name = |folder: &Path| folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        folders
            .iter()
            .map(|folder| Package { name: name(folder), modules: modules(&folder.join("src")) })
            .collect()
    });
    &PACKAGES
}

/// Follows the module declarations from a package's root file.
fn modules(folder: &Path) -> Vec<ModuleFile> {
    let root = ["lib.rs", "main.rs"].map(|name| folder.join(name)).into_iter().find(|path| path.exists());
    let mut open = vec![(ModulePath::new(), root.expect("a package has a root"))];
    let mut found = Vec::new();
    while let Some((module, path)) = open.pop() {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let below = folder_below(&path);
        let tokens = production(text.leak());
        for name in declarations(&tokens) {
            let file = below.join(format!("{name}.rs"));
            let file = if file.exists() { file } else { below.join(&name).join("mod.rs") };
            open.push((module.iter().cloned().chain([name]).collect(), file));
        }
        let path = path.strip_prefix(crate::root()).unwrap_or(&path).to_string_lossy().into_owned();
        found.push(ModuleFile { module, path, tokens });
    }
    found
}

/// Returns the names of declared modules that are in separate files.
pub(crate) fn declarations(tokens: &[Token<'_>]) -> Vec<String> {
    let is_declared = |part: &&[Token<'_>]| part[0].text == "mod" && part[2].text == ";";
    tokens.windows(3).filter(is_declared).map(|part| part[1].text.to_owned()).collect()
}

/// Returns the folder that contains a file's modules.
fn folder_below(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default();
    let parent = path.parent().expect("a folder");
    if ["lib", "main", "mod"].iter().any(|name| stem == *name) {
        parent.to_owned()
    } else {
        parent.join(stem)
    }
}

/// Returns the files that no declaration leads to, and that therefore are never compiled.
fn left_behind(files: &[(PathBuf, String)]) -> Vec<PathBuf> {
    let mut declared = BTreeSet::new();
    for (path, text) in files {
        let tokens = tokens(text);
        // `#[path = "other.rs"]` names a file in the same folder.
        for named in tokens.windows(3).filter(|part| part[0].text == "path" && part[1].text == "=") {
            declared.insert(path.with_file_name(named[2].text.trim_matches('"')));
        }
        for name in declarations(&tokens) {
            let below = folder_below(path);
            declared.extend([below.join(format!("{name}.rs")), below.join(name).join("mod.rs")]);
        }
    }
    let is_root = |path: &Path| ["lib.rs", "main.rs", "build.rs"].iter().any(|name| path.ends_with(name));
    let paths = files.iter().map(|(path, _)| path);
    paths.filter(|path| !is_root(path) && !declared.contains(*path)).cloned().collect()
}

#[test]
fn every_file_is_compiled() {
    let found = left_behind(&crate::all());
    crate::refuse(&found.iter().map(|path| path.display().to_string()).collect::<Vec<_>>());
}

#[test]
fn a_file_that_nothing_declares_is_found() {
    let file = |path: &str, text: &str| (PathBuf::from(path), text.to_owned());
    let files = [
        file("src/lib.rs", "mod a; #[cfg(test)] mod b;"),
        file("src/a.rs", "#[path = \"d.rs\"] pub(crate) mod c;"),
        file("src/a/c.rs", ""),
        file("src/b.rs", ""),
        file("src/c.rs", ""),
        file("src/d.rs", ""),
    ];
    assert_eq!(left_behind(&files), [PathBuf::from("src/c.rs")]);
}
