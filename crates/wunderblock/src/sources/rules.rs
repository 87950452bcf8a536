//! Which files are instruction files, and where they are looked for.

use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Which files are instruction files, where they are looked for, and what keeps them out.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InstructionRules {
    /// Names in a directory, in order. Of each list the first that is there is taken.
    pub names: Vec<Vec<String>>,
    /// What marks a project's root. None: the working directory is the root.
    pub markers: Vec<String>,
    /// Files of managed policy. No ignore rule keeps them out; one that does not exist is passed over.
    pub managed: Vec<PathBuf>,
    /// The person's own files. No ignore rule keeps them out; one that does not exist is passed over.
    pub user: Vec<PathBuf>,
    /// Directories, in any directory, whose `.md` files are rules at any depth: with `paths:` in their front matter they
    /// apply when a path is touched that one of those patterns names, without it always.
    pub rule_dirs: Vec<String>,
    /// Names of ignore files, of gitignore syntax, each with its switch. What a config file says is laid over the
    /// defaults.
    #[serde(deserialize_with = "over_defaults")]
    pub ignore: BTreeMap<String, bool>,
    /// Directories that files may be imported from, besides the project and the directory of the person's file that
    /// imports.
    pub roots: Vec<PathBuf>,
    /// What `~/` means in an import. Without it, such an import is refused.
    pub home: Option<PathBuf>,
    /// Look for instruction files in the whole project, not only where work happens.
    pub scan: bool,
    /// How many imports may lead from one to the next.
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
            // As Claude Code does.
            depth: 4,
        }
    }
}

/// The ignore files of coding agents that name what no model may see: ours, Gemini CLI's, Gemini Code Assist's, the
/// JetBrains assistant's and Cursor's. Those of other agents also serve to keep an index small; they are off.
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
