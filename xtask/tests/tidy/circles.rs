//! Checks the graph of a package's files: an edge leads from a file to each file whose names it uses.
//!
//! The files of a circle can only be understood together, so a circle may have at most two files. A folder counts as all
//! of its files, so folders and the files beside them form no circle.

use crate::modules::{ModuleFile, ModulePath, declarations, packages};
use crate::refuse;
use crate::tokens::{Token, production};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of files in a circle. Two are allowed, so that a type and a file that extends it can name each
/// other.
const MAX_FILES: usize = 2;

/// The modules of a package that are files, each with the modules whose names it uses.
type Graph = BTreeMap<ModulePath, BTreeSet<ModulePath>>;

#[test]
fn no_circle_of_files_is_large() {
    let mut broken = Vec::new();
    for package in packages() {
        let graph = graph(&package.modules);
        let large = circles(&graph).into_iter().filter(|circle| circle.len() > MAX_FILES);
        broken.extend(large.map(|circle| told(&package.name, &circle, &graph)));
    }
    refuse(&broken);
}

#[test]
fn folders_form_no_circle() {
    let mut broken = Vec::new();
    for package in packages() {
        let graph = graph(&package.modules);
        for folder in graph.keys() {
            let siblings = siblings(&graph, folder);
            let is_folder = |module: &ModulePath| {
                graph
                    .keys()
                    .any(|other| other.split_last().is_some_and(|(_, folder)| folder == module.as_slice()))
            };
            let circles = circles(&siblings).into_iter().filter(|circle| circle.len() > 1);
            let circles = circles.filter(|circle| circle.iter().any(is_folder));
            broken.extend(circles.map(|circle| told(&package.name, &circle, &siblings)));
        }
    }
    refuse(&broken);
}

/// Returns the modules directly in a folder, each with those that it and the files in it use.
fn siblings(graph: &Graph, folder: &ModulePath) -> Graph {
    let within = |module: &ModulePath| {
        (module.len() > folder.len() && module.starts_with(folder)).then(|| module[..=folder.len()].to_vec())
    };
    let mut siblings = Graph::new();
    for (module, used) in graph {
        let Some(from) = within(module) else { continue };
        let to = used.iter().filter_map(within).filter(|to| *to != from);
        siblings.entry(from.clone()).or_default().extend(to);
    }
    siblings
}

fn told(package: &str, circle: &BTreeSet<ModulePath>, graph: &Graph) -> String {
    let mut lines = vec![format!(
        "{package}: a circle of {}; at most {MAX_FILES} files may name each other, and folders may not",
        circle.len()
    )];
    for module in circle {
        let named = graph[module].intersection(circle).map(|module| shown(module));
        lines.push(format!("  {} -> {}", shown(module), named.collect::<Vec<_>>().join(", ")));
    }
    lines.join("\n")
}

fn shown(module: &[String]) -> String {
    if module.is_empty() { "the root".to_owned() } else { module.join("::") }
}

/// Returns groups of modules that lead to each other.
fn circles(graph: &Graph) -> Vec<BTreeSet<ModulePath>> {
    let reached: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> =
        graph.keys().map(|module| (module, reach(graph, module))).collect();
    let mut left: BTreeSet<&ModulePath> = graph.keys().collect();
    let mut found = Vec::new();
    while let Some(module) = left.pop_first() {
        let back = |other: &&&ModulePath| reached[*other].contains(module);
        let others: BTreeSet<&ModulePath> = reached[module].iter().filter(back).copied().collect();
        left.retain(|other| !others.contains(other));
        found.push(others.into_iter().chain([module]).cloned().collect());
    }
    found
}

fn reach<'g>(graph: &'g Graph, from: &'g ModulePath) -> BTreeSet<&'g ModulePath> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(next) = open.pop() {
        open.extend(graph[next].iter().filter(|module| found.insert(*module)));
    }
    found
}

/// Returns each module with the modules whose names it uses.
fn graph(files: &[ModuleFile]) -> Graph {
    let children: BTreeMap<ModulePath, BTreeSet<String>> = files
        .iter()
        .map(|file| (file.module.clone(), declarations(&file.tokens).into_iter().collect()))
        .collect();
    let mut graph = Graph::new();
    for ModuleFile { module, tokens, .. } in files {
        let paths = names(tokens);
        let targets = paths.iter().filter_map(|path| target(path, module, &children));
        graph.insert(module.clone(), targets.filter(|target| target != module).collect());
    }
    graph
}

/// Returns the module file that a path leads into, seen from `from`. `None` for a path into another package.
fn target(
    path: &[String],
    from: &ModulePath,
    children: &BTreeMap<ModulePath, BTreeSet<String>>,
) -> Option<ModulePath> {
    let supers = path.iter().take_while(|part| *part == "super").count();
    let first = path.first()?.as_str();
    let (mut at, rest) = match first {
        "crate" => (ModulePath::new(), &path[1..]),
        "self" => (from.clone(), &path[1..]),
        "super" => (from[..from.len().checked_sub(supers)?].to_vec(), &path[supers..]),
        _ if children[from].contains(first) => (from.clone(), path),
        _ => return None,
    };
    for part in rest {
        if !children[&at].contains(part) {
            break;
        }
        at.push(part.clone());
    }
    Some(at)
}

/// Returns the paths that a file mentions, with each import as a separate path.
fn names(tokens: &[Token<'_>]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut at = 0;
    let text = |at: usize| tokens.get(at).map_or("", |token: &Token<'_>| token.text);
    while at < tokens.len() {
        if text(at) == "use" && text(at + 1) != "<" {
            at += 1;
            import(tokens, &mut at, &[], &mut found);
        } else if text(at) == "(" && text(at + 1) == "in" {
            // A visibility such as `pub(in path)` names a module but uses nothing from it.
            at += tokens[at..].iter().take_while(|token| token.text != ")").count();
        } else if tokens[at].is_word() && text(at + 1) == "::" {
            let mut path = vec![text(at).to_owned()];
            while text(at + 1) == "::" && tokens.get(at + 2).is_some_and(|token| token.is_word()) {
                path.push(text(at + 2).to_owned());
                at += 2;
            }
            found.push(path);
            at += 1;
        } else if text(at) == "::" {
            // The path continues a type, or starts at the root of all packages.
            at += 2;
        } else {
            at += 1;
        }
    }
    found
}

/// Parses a tree of imports up to the token that ends it.
fn import(tokens: &[Token<'_>], at: &mut usize, before: &[String], found: &mut Vec<Vec<String>>) {
    let mut path = before.to_vec();
    while let Some(token) = tokens.get(*at) {
        match token.text {
            "::" => *at += 1,
            "as" => *at += 2,
            "{" => {
                *at += 1;
                while tokens.get(*at).is_some_and(|token| token.text != "}") {
                    import(tokens, at, &path, found);
                    *at += usize::from(tokens.get(*at).is_some_and(|token| token.text == ","));
                }
                *at += 1;
                return;
            }
            "," | "}" | ";" => break,
            word => {
                path.push(word.to_owned());
                *at += 1;
            }
        }
    }
    found.push(path);
}

#[test]
fn imports_and_paths_lead_to_files() {
    let text = "
        pub(in crate::far) use super::{b::C, d::{self, E as F}};
        mod own; // mod none;
        fn f(x: own::T) -> impl Iterator<Item = u8> + use<> { crate::g::h::<u8>(); <I as J>::k::l(); std::m(); }
    ";
    let tokens = production(text);
    let module = |text: &str| text.split("::").map(ToOwned::to_owned).collect::<ModulePath>();
    let mut children =
        BTreeMap::from([(ModulePath::new(), ["a", "b", "d", "g", "k"].map(str::to_owned).into())]);
    children.insert(module("a"), declarations(&tokens).into_iter().collect());
    children.extend(["b", "d", "g", "a::own"].map(|name| (module(name), BTreeSet::new())));
    let found: Vec<ModulePath> =
        names(&tokens).iter().filter_map(|path| target(path, &module("a"), &children)).collect();
    assert_eq!(found, ["b", "d", "d", "a::own", "g"].map(module));
}

#[test]
fn circles_are_found() {
    let module = |name: &str| vec![name.to_owned()];
    let edges = [("a", vec!["b"]), ("b", vec!["c", "d"]), ("c", vec!["a"]), ("d", vec![])];
    let graph = edges.map(|(from, to)| (module(from), to.into_iter().map(module).collect())).into();
    let sizes: Vec<usize> = circles(&graph).iter().map(BTreeSet::len).collect();
    assert_eq!(sizes, [3, 1]);
}
