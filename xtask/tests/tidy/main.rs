//! The house rules, as tests. Raise a limit only with a written reason.

// A file that cannot be read means a broken checkout, so a test may panic.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod circles;
mod folders;
mod idioms;
mod messages;
mod methods;
mod modules;
mod names;
mod parameters;
mod tokens;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// Returns every Rust file under a folder with its text. Tests, benchmarks and examples have no limits.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let Ok(entries) = fs::read_dir(&next) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() && !["target", "tests", "benches", "examples", ".git"].contains(&name.as_str()) {
                folders.push(path);
            } else if name.ends_with(".rs") && name != "tests.rs" {
                let text = fs::read_to_string(&path).expect("a readable source");
                found.push((path, text));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no sources under {}", folder.display());
    found
}

/// Returns a file's text before its tests.
fn code(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text)
}

fn crate_sources(name: &str) -> Vec<(PathBuf, String)> {
    sources(&root().join("crates").join(name).join("src"))
}

fn all() -> Vec<(PathBuf, String)> {
    let mut all = sources(&root().join("crates"));
    all.extend(sources(&root().join("xtask").join("src")));
    all
}

fn refuse(broken: &[String]) {
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn no_file_is_too_long_to_love() {
    let long = all().into_iter().filter_map(|(path, text)| {
        let lines = code(&text).lines().filter(|line| !line.trim().is_empty()).count();
        (lines > 500).then(|| format!("{}: {lines} lines; the maximum is 500", path.display()))
    });
    refuse(&long.collect::<Vec<_>>());
}

#[test]
fn files_are_short_in_general() {
    let mut lines: Vec<usize> = all().iter().map(|(_, text)| code(text).lines().count()).collect();
    lines.sort_unstable();
    let median = lines[lines.len() / 2];
    assert!(median <= 200, "the median file has {median} lines; the maximum is 200");
}

/// Words that must not occur in crates that are useful on their own.
const SELF_CONTAINED: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "SystemTime",
    "Instant::now",
    "wunderblock_",
    "wunderblock::",
];

/// Words that must not occur in the reduction: like [`SELF_CONTAINED`], but `wunderblock-text` may be used.
const REDUCTION: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "SystemTime",
    "Instant::now",
    "wunderblock_core",
    "wunderblock_wire",
    "wunderblock::",
];

/// Words that the code of a crate must not contain.
const ABSENT: [(&str, &[&str]); 16] = [
    ("wunderblock-redact", SELF_CONTAINED),
    (
        "wunderblock-summary",
        &["wunderblock_store", "wunderblock::", "std::fs", "std::env", "std::net", "async fn"],
    ),
    (
        "wunderblock-sources",
        &["wunderblock_store", "wunderblock::", "println!", "std::env", "home_dir", "std::net"],
    ),
    ("wunderblock-embed", SELF_CONTAINED),
    ("wunderblock-index", SELF_CONTAINED),
    ("wunderblock-tokens", SELF_CONTAINED),
    ("wunderblock-reduce", REDUCTION),
    ("wunderblock-text", SELF_CONTAINED),
    ("wunderblock-testkit", &["rusqlite", "clap", "println!", "std::env", "home_dir"]),
    (
        "wunderblock-core",
        &[
            "serde_json",
            "tokio",
            "rusqlite",
            "std::fs",
            "std::env",
            "std::net",
            "SystemTime",
            "Instant::now",
            "rand::",
        ],
    ),
    (
        "wunderblock-wire",
        &["std::fs", "std::env", "std::net", "rusqlite", "tokio", "async fn", "SystemTime", "wunderblock::"],
    ),
    (
        "wunderblock-store",
        &["wunderblock_wire", "wunderblock::", "println!", "std::env", "home_dir", "std::net"],
    ),
    ("wunderblock", &["clap", "println!", "eprintln!", "print!(", "env::var", "home_dir", "std::net"]),
    (
        "wunderblock-settings",
        &[
            "clap",
            "println!",
            "eprintln!",
            "print!(",
            "IsTerminal",
            "ExitCode",
            "rusqlite",
            "std::net",
            "rmcp",
        ],
    ),
    ("wunderblock-cli", &["rusqlite", "SELECT ", "INSERT ", "reqwest"]),
    (
        "wunderblock-mcp",
        &["rusqlite", "println!", "std::env", "std::fs", "std::net", "std::process", "home_dir", "macros"],
    ),
];

#[test]
fn crates_lack_what_they_must_lack() {
    let mut broken = Vec::new();
    for (name, absent) in ABSENT {
        for (path, text) in crate_sources(name) {
            for (number, line) in code(&text).lines().enumerate() {
                let line = line.trim_start();
                // Comments may name what the code must not use.
                if line.starts_with("//") {
                    continue;
                }
                for word in absent {
                    if line.contains(word) {
                        broken.push(format!("{}:{}: must not contain `{word}`", path.display(), number + 1));
                    }
                }
            }
        }
    }
    refuse(&broken);
}

#[test]
fn dependencies_point_downwards() {
    let rules: [(&str, &[&str]); 15] = [
        ("wunderblock-redact", &["wunderblock", "rusqlite", "tokio"]),
        (
            "wunderblock-summary",
            &["wunderblock-store", "wunderblock =", "wunderblock.", "rusqlite", "ureq", "tokio"],
        ),
        (
            "wunderblock-sources",
            &["wunderblock-wire", "wunderblock-store", "wunderblock =", "wunderblock.", "rusqlite"],
        ),
        ("wunderblock-embed", &["wunderblock", "serde", "rusqlite", "tokio", "tokenizers"]),
        ("wunderblock-index", &["wunderblock", "serde", "rusqlite", "tokio"]),
        ("wunderblock-tokens", &["wunderblock", "serde", "rusqlite", "tokio", "tiktoken"]),
        (
            "wunderblock-reduce",
            &[
                "wunderblock-core",
                "wunderblock-wire",
                "wunderblock =",
                "wunderblock.",
                "serde",
                "rusqlite",
                "tokio",
            ],
        ),
        ("wunderblock-text", &["wunderblock", "serde", "rusqlite", "tokio"]),
        ("wunderblock-testkit", &["wunderblock-cli", "rusqlite", "clap", "tokio"]),
        ("wunderblock-core", &["wunderblock-wire", "wunderblock =", "wunderblock.", "serde_json"]),
        ("wunderblock-wire", &["wunderblock =", "wunderblock.", "rusqlite", "wunderblock-cli"]),
        ("wunderblock-store", &["wunderblock-wire", "wunderblock =", "wunderblock.", "clap", "tokio"]),
        (
            "wunderblock",
            &["wunderblock-cli", "wunderblock-mcp", "wunderblock-settings", "clap", "axum", "tokio", "rmcp"],
        ),
        (
            "wunderblock-settings",
            &["wunderblock-cli", "wunderblock-mcp", "clap", "indicatif", "rusqlite", "tokio", "rmcp"],
        ),
        ("wunderblock-mcp", &["wunderblock-cli", "clap", "rusqlite"]),
    ];
    let mut broken = Vec::new();
    for (name, absent) in rules {
        let manifest =
            fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).expect("a manifest");
        let normal = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        let normal = normal.split("[dependencies]").nth(1).unwrap_or_default();
        for line in normal.lines() {
            for word in absent {
                if line.starts_with(word) {
                    broken.push(format!("{name} must not depend on {word}"));
                }
            }
        }
    }
    refuse(&broken);
}

#[test]
fn one_folder_knows_the_library_of_the_protocol() {
    let broken = all().into_iter().filter(|(path, text)| {
        let is_there =
            path.ends_with("protocol/mod.rs") || path.parent().is_some_and(|up| up.ends_with("protocol"));
        !is_there
            && code(text).lines().any(|line| !line.trim_start().starts_with("//") && line.contains("rmcp"))
    });
    refuse(&broken.map(|(path, _)| path.display().to_string()).collect::<Vec<_>>());
}

#[test]
fn the_second_store_knows_the_port_alone() {
    let mut broken = Vec::new();
    for (path, text) in crate_sources("wunderblock-testkit") {
        let is_store = path
            .components()
            .any(|part| ["memory", "conformance"].map(Some).contains(&part.as_os_str().to_str()));
        let own = code(&text).split("wunderblock").skip(1).filter(|rest| {
            let allowed = ["_core::", "_store::"].iter().any(|name| rest.starts_with(name));
            rest.starts_with(['_', ':']) && !allowed || rest.starts_with("_store::sqlite")
        });
        if is_store && own.count() > 0 {
            broken.push(format!("{}: may use only the store's port and the core", path.display()));
        }
    }
    refuse(&broken);
}

#[test]
fn names_say_something() {
    let empty = ["utils", "util", "common", "helpers", "helper", "manager", "misc", "v2"];
    let broken = all().into_iter().filter_map(|(path, _)| {
        let stem = path.file_stem()?.to_string_lossy().into_owned();
        let folder = path.parent()?.file_name()?.to_string_lossy().into_owned();
        (empty.contains(&stem.as_str()) || empty.contains(&folder.as_str()))
            .then(|| path.display().to_string())
    });
    refuse(&broken.collect::<Vec<_>>());
}

#[test]
fn handles_have_few_methods_and_the_workspace_few_traits() {
    let mut traits = 0;
    let mut methods = std::collections::BTreeMap::<String, usize>::new();
    for name in ["wunderblock-core", "wunderblock-wire", "wunderblock"] {
        for (_, text) in crate_sources(name) {
            traits += code(&text).lines().filter(|line| line.starts_with("pub trait ")).count();
            let mut owner = String::new();
            for line in code(&text).lines() {
                if let Some(rest) = line.strip_prefix("impl") {
                    let rest = rest.rsplit(" for ").next().unwrap_or(rest);
                    let rest = rest.rsplit("::").next().unwrap_or(rest);
                    owner = rest.trim_end_matches(" {").trim().to_owned();
                } else if line.starts_with("    pub fn ") || line.starts_with("    pub async fn ") {
                    *methods.entry(owner.clone()).or_default() += 1;
                }
            }
        }
    }
    assert!(traits <= 12, "{traits} public traits; the maximum is 12");
    for handle in ["Engine", "Session"] {
        let count = methods.get(handle).copied().unwrap_or_default();
        assert!(count > 0 && count <= 20, "{handle} has {count} public methods; expected 1 to 20");
    }
}

/// Maximum number of keys of the sections that there were when each section got a maximum of its own. Tests of the
/// settings hold each section to its `MAX_KEYS`.
const MAX_FIRST_KEYS: usize = 40;

/// Names of these sections: the keys before the first table, and five tables.
const FIRST_SECTIONS: [&str; 6] = ["", "context", "sources", "instructions", "budget", "compaction"];

#[test]
fn there_are_few_knobs() {
    let settings = fs::read_to_string(root().join("docs/config.toml")).expect("the default settings file");
    let (mut section, mut keys) = ("", 0);
    for line in settings.lines() {
        section = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(section);
        let is_key = line.trim_start_matches("# ").contains(" = ");
        keys += usize::from(is_key && FIRST_SECTIONS.contains(&section));
    }
    assert!(keys <= MAX_FIRST_KEYS, "{keys} keys; the maximum is {MAX_FIRST_KEYS}");
    let args = fs::read_to_string(root().join("crates/wunderblock-cli/src/args.rs")).expect("the arguments");
    let variables = args.matches("env = \"").count();
    assert!(variables <= 6, "{variables} environment variables; the maximum is 6");
}

#[test]
fn nothing_is_put_off() {
    // Only comments are checked, because the same words are data in the readers of code. Lints reject the macros.
    let words = ["TODO", "FIXME", "XXX", "HACK"];
    let mut broken = Vec::new();
    for (path, text) in all() {
        for (number, line) in text.lines().enumerate() {
            let found = words.iter().find(|word| comment(line).contains(**word));
            let found = found.or_else(|| line.trim_start().starts_with("#[ignore").then_some(&"ignored"));
            broken.extend(found.map(|word| format!("{}:{}: {word}", path.display(), number + 1)));
        }
    }
    refuse(&broken);
}

/// Returns the comment on a line. A `//` inside a string does not start a comment.
fn comment(line: &str) -> &str {
    let is_comment = |at: usize| line[..at].matches('"').count().is_multiple_of(2);
    line.match_indices("//").map(|(at, _)| at).find(|at| is_comment(*at)).map_or("", |at| &line[at..])
}

#[test]
fn the_code_map_names_every_module() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the architecture");
    let mut broken = Vec::new();
    for name in [
        "wunderblock-core",
        "wunderblock-wire",
        "wunderblock-reduce",
        "wunderblock-text",
        "wunderblock-tokens",
        "wunderblock-embed",
        "wunderblock-index",
        "wunderblock-redact",
        "wunderblock-settings",
        "wunderblock-sources",
        "wunderblock-store",
        "wunderblock-summary",
        "wunderblock",
        "wunderblock-cli",
        "wunderblock-mcp",
        "wunderblock-testkit",
        "xtask",
    ] {
        let row = map.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
        let words: Vec<&str> =
            row.unwrap_or_default().split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let folder = if name == "xtask" { root().join(name) } else { root().join("crates").join(name) };
        for entry in fs::read_dir(folder.join("src")).expect("sources").flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            let module = file.strip_suffix(".rs").unwrap_or(&file);
            let is_module = entry.path().is_dir() || file.ends_with(".rs");
            if is_module && !["lib", "main", "tests"].contains(&module) && !words.contains(&module) {
                broken.push(format!("{name}: {module}"));
            }
        }
    }
    refuse(&broken);
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let mut documents: Vec<PathBuf> =
        ["README.md", "README.zh-CN.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
            .iter()
            .map(|name| root().join(name))
            .collect();
    for folder in ["docs", "docs/design", "examples"] {
        let entries = fs::read_dir(root().join(folder)).expect("a folder of documents");
        documents.extend(
            entries
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|end| end == "md")),
        );
    }
    let mut broken = Vec::new();
    for document in documents {
        let text =
            fs::read_to_string(&document).unwrap_or_else(|error| panic!("{}: {error}", document.display()));
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            if !document.parent().expect("a folder").join(target).exists() {
                broken.push(format!("{}: {target}", document.display()));
            }
        }
    }
    refuse(&broken);
}
