//! Names and places of instruction files.

use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Names and places of instruction files, and the ignore files that exclude them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InstructionRules {
    /// Names in a directory, in order. From each inner list, the first existing file is used.
    pub names: Vec<Vec<String>>,
    /// Names that mark a project's root. Without markers, the working directory is the root.
    pub markers: Vec<String>,
    /// Files of managed policy. Ignore rules do not apply to these files, and missing files are skipped.
    pub managed: Vec<PathBuf>,
    /// Files of the user. Ignore rules do not apply to these files, and missing files are skipped.
    pub user: Vec<PathBuf>,
    /// Names of rule directories, in any directory. The `.md` files in these directories, at any depth, are rules. A
    /// rule with `paths:` in its front matter applies if a touched path matches one of these patterns; any other rule
    /// always applies.
    pub rule_dirs: Vec<String>,
    /// Names of ignore files in gitignore syntax, each with a switch. The switches of a config file override the
    /// defaults.
    #[serde(deserialize_with = "over_defaults")]
    pub ignore: BTreeMap<String, bool>,
    /// Directories from which files may be imported, in addition to the project and the directory of the importing
    /// user file.
    pub roots: Vec<PathBuf>,
    /// Meaning of `~/` in an import. If unset, imports that begin with `~/` are rejected.
    pub home: Option<PathBuf>,
    /// Whether to search the whole project for instruction files, rather than only the directories of the work.
    pub scan: bool,
    /// Maximum number of imports in a chain.
    pub depth: u8,
}

impl Default for InstructionRules {
    fn default() -> Self {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        Self {
            names: vec![
                list(&["AGENTS.override.md", "AGENTS.md"]),
                list(&["CLAUDE.md", ".claude/CLAUDE.md"]),
                list(&["CLAUDE.local.md"]),
                list(&["GEMINI.md"]),
            ],
            markers: list(&[".git"]),
            managed: Vec::new(),
            user: Vec::new(),
            rule_dirs: list(&[".claude/rules"]),
            ignore: known_ignore_files(),
            roots: Vec::new(),
            home: None,
            scan: false,
            // The limit is the same as in Claude Code.
            depth: 4,
        }
    }
}

/// Returns the known ignore files of coding agents with their default switches. The files that list what no model may
/// see are switched on: those of Wunderblock, Gemini CLI, Gemini Code Assist, the JetBrains assistant and Cursor. The
/// files of other agents are switched off, because they also serve to keep an index small.
fn known_ignore_files() -> BTreeMap<String, bool> {
    let on = [".wunderblockignore", ".geminiignore", ".aiexclude", ".aiignore", ".cursorignore"];
    let off = [".aiderignore", ".clineignore", ".codeiumignore", ".rooignore"];
    let all = on.iter().map(|name| (name, true)).chain(off.iter().map(|name| (name, false)));
    all.map(|(name, on)| ((*name).to_owned(), on)).collect()
}

fn over_defaults<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, bool>, D::Error> {
    let mut switches = known_ignore_files();
    switches.extend(BTreeMap::<String, bool>::deserialize(from)?);
    Ok(switches)
}
