//! `xtask lines`: counts the lines of code of each package.
//!
//! Counts the lines of `src` that are neither blank nor comments. Code under `cfg(test)` and the files of `tests` are
//! counted separately. The numbers measure how much code has to be read, so that a change can be judged by them.

use crate::program::ChoreResult;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Line counts of a package.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LineCount {
    production: usize,
    tests: usize,
    /// Lines of rule tables, which programs read.
    rules: usize,
    files: usize,
}

/// Returns the table for the repository in a folder.
pub(crate) fn table(root: &Path) -> ChoreResult<String> {
    let mut packages: BTreeMap<String, LineCount> = BTreeMap::new();
    for folder in packages_of(root)? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        packages.insert(name, package(&folder)?);
    }
    let mut out =
        format!("{:<24}{:>12}{:>10}{:>8}{:>8}\n", "package", "production", "tests", "rules", "files");
    let mut row = |name: &str, lines: LineCount| {
        let LineCount { production, tests, rules, files } = lines;
        writeln!(out, "{name:<24}{production:>12}{tests:>10}{rules:>8}{files:>8}")
    };
    let mut sum = LineCount::default();
    for (name, lines) in &packages {
        row(name, *lines)?;
        sum.production += lines.production;
        sum.tests += lines.tests;
        sum.rules += lines.rules;
        sum.files += lines.files;
    }
    row("all", sum)?;
    let reduce = packages.get("wunderblock-reduce").copied().unwrap_or_default();
    row("all but reduction", LineCount { production: sum.production - reduce.production, ..sum })?;
    Ok(out)
}

fn packages_of(root: &Path) -> ChoreResult<Vec<PathBuf>> {
    let mut folders = vec![root.join("xtask")];
    for entry in fs::read_dir(root.join("crates"))? {
        folders.push(entry?.path());
    }
    folders.retain(|folder| folder.join("Cargo.toml").is_file());
    Ok(folders)
}

fn package(folder: &Path) -> ChoreResult<LineCount> {
    let mut lines = LineCount::default();
    let mut files = Vec::new();
    for part in ["src", "tests", "examples", "build.rs"] {
        rust_files(&folder.join(part), &mut files)?;
    }
    let texts: Vec<(PathBuf, String)> = files
        .into_iter()
        .map(|path| Ok((path.clone(), fs::read_to_string(path)?)))
        .collect::<Result<_, std::io::Error>>()?;
    let hidden: Vec<PathBuf> = texts.iter().flat_map(|(path, text)| test_modules(path, text)).collect();
    for (path, text) in &texts {
        lines.files += 1;
        let is_test = !path.starts_with(folder.join("src")) && !path.ends_with("build.rs")
            || hidden.iter().any(|hidden| path == &hidden.with_extension("rs") || path.starts_with(hidden));
        let (production, tests) = count(text);
        if is_test {
            lines.tests += production + tests;
        } else {
            lines.production += production;
            lines.tests += tests;
        }
    }
    if let Ok(tables) = fs::read_dir(folder.join("rules")) {
        for table in tables {
            let table = table?.path();
            if table.extension().is_some_and(|end| end == "rules") {
                let text = fs::read_to_string(table)?;
                lines.rules += text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count();
            }
        }
    }
    Ok(lines)
}

fn rust_files(path: &Path, files: &mut Vec<PathBuf>) -> ChoreResult<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            rust_files(&entry?.path(), files)?;
        }
    } else if path.extension().is_some_and(|end| end == "rs") && path.is_file() {
        files.push(path.to_owned());
    }
    Ok(())
}

/// Returns the paths, without extension, of the module files that a file declares for tests only.
fn test_modules(path: &Path, text: &str) -> Vec<PathBuf> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let folder = match &*name {
        "mod" | "lib" | "main" => path.parent().unwrap_or(path).to_owned(),
        _ => path.with_extension(""),
    };
    let mut found = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        let module = line.trim_start_matches("pub(crate) ").strip_prefix("mod ");
        if let Some(name) = module.and_then(|module| module.strip_suffix(';')).filter(|_| is_test) {
            found.push(folder.join(name));
        }
        is_test = line == "#[cfg(test)]" || is_test && line.starts_with("#[");
    }
    found
}

/// Counts the lines of production code and of test modules that are neither blank nor a comment.
fn count(text: &str) -> (usize, usize) {
    let (mut production, mut tests) = (0, 0);
    // Indentation of the test module that is being read. The module's closing brace has the same indentation.
    let mut inside: Option<usize> = None;
    let mut is_marked = false;
    for line in text.lines() {
        let code = line.trim();
        if code.is_empty() || code.starts_with("//") {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        if is_marked && !code.starts_with("#[") {
            is_marked = false;
            if code.ends_with('{') {
                inside = Some(indent);
            }
            tests += 1;
            continue;
        }
        if inside.is_none() && code == "#[cfg(test)]" {
            is_marked = true;
        }
        match inside {
            Some(from) => {
                tests += 1;
                if indent == from && code.starts_with('}') {
                    inside = None;
                }
            }
            None if is_marked => tests += 1,
            None => production += 1,
        }
    }
    (production, tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blank_lines_and_tests_are_not_production_lines() {
        let text = "//! Doc.\n\nfn a() {\n    // why\n    b();\n}\n\n#[cfg(test)]\nmod tests {\n    fn c() {\n    }\n}\nfn d() {}\n";
        assert_eq!(count(text), (4, 5));
        assert_eq!(count("#[cfg(test)]\nmod tests;\nfn a() {}\n"), (1, 2));
    }

    #[test]
    fn modules_for_tests_are_found_where_they_lie() {
        let text = "mod a;\n#[cfg(test)]\n#[allow(dead_code)]\nmod tests;\nmod b;\n";
        assert_eq!(test_modules(Path::new("src/x/mod.rs"), text), [Path::new("src/x/tests")]);
        assert_eq!(test_modules(Path::new("src/x.rs"), text), [Path::new("src/x/tests")]);
    }
}
