//! Folders and variables of a user, in which agents are looked for.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Folders and variables of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Home directory.
    pub home: PathBuf,
    /// Environment variables.
    pub variables: BTreeMap<String, OsString>,
    /// Folders of projects, for agents that keep their history in the project.
    pub projects: Vec<PathBuf>,
}

impl Places {
    /// Returns the folders that `base` names: the first alternative whose variable is set, or that needs no variable.
    /// `.` names every project and the home directory.
    pub fn folders(&self, base: &[Box<str>]) -> Vec<PathBuf> {
        for one in base {
            if **one == *"." {
                let mut all = self.projects.clone();
                all.push(self.home.clone());
                all.sort();
                all.dedup();
                return all;
            }
            if let Some(folder) = self.folder(one) {
                return vec![folder];
            }
        }
        Vec::new()
    }

    /// Returns the folder that a text such as `$CODEX_HOME`, `$XDG_CONFIG_HOME/opencode`, `~/.codex` or `~/` names; `None`
    /// if its variable is not set.
    #[must_use]
    pub fn folder(&self, base: &str) -> Option<PathBuf> {
        if let Some(rest) = base.strip_prefix('$') {
            let (name, rest) = rest.split_once('/').unwrap_or((rest, ""));
            let value = self.variables.get(name).filter(|value| !value.is_empty())?;
            return Some(below(Path::new(value), rest));
        }
        Some(below(&self.home, base.strip_prefix("~/").unwrap_or(base)))
    }
}

fn below(folder: &Path, rest: &str) -> PathBuf {
    if rest.is_empty() { folder.to_owned() } else { folder.join(rest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(variables: &[(&str, &str)], base: &[&str]) -> Vec<PathBuf> {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), value.into())).collect();
        let places = Places { home: "/home/ann".into(), variables, projects: vec!["/srv/garden".into()] };
        places.folders(&base.iter().map(|base| Box::from(*base)).collect::<Vec<_>>())
    }

    #[test]
    fn a_variable_that_is_set_has_preference() {
        let base = ["$GEMINI_CLI_HOME/.gemini", "~/.gemini"];
        assert_eq!(folders(&[], &base), ["/home/ann/.gemini"].map(PathBuf::from));
        assert_eq!(folders(&[("GEMINI_CLI_HOME", "/x")], &base), ["/x/.gemini"].map(PathBuf::from));
        assert_eq!(folders(&[("GEMINI_CLI_HOME", "")], &base), ["/home/ann/.gemini"].map(PathBuf::from));
        assert_eq!(folders(&[("CODEX_HOME", "/y z")], &["$CODEX_HOME", "~/.codex"]), [PathBuf::from("/y z")]);
    }

    #[test]
    fn a_dot_stands_for_every_project() {
        assert_eq!(folders(&[], &["."]), ["/home/ann", "/srv/garden"].map(PathBuf::from));
    }
}
