//! The policies that are part of the program.

use super::finding::{PolicyError, PolicyFinding};
use super::nearest::{shortened, suggestion};
use super::parse::{Bases, Parsed, line_of_key, parse};
use std::sync::Arc;
use wunderblock_core::policy::{Policy, PolicyFault, Severity};

/// The preset that applies where nobody chose.
pub const DEFAULT: &str = "balanced";
/// The policy that never compacts, whatever happens: [`Policy::never`].
pub const OFF: &str = "off";

macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        /// Every preset, ours first, those for tests last.
        const PRESETS: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../policies/", $name, ".toml")))),*];
        const NAMES: &[&str] = &[$($name,)* OFF];
        /// What can be extended: all that have a file.
        const BASES: &[&str] = &[$($name),*];
    };
}

presets![
    "balanced",
    "thorough",
    "frugal",
    "observations",
    "fresh-window",
    "claude-code",
    "gemini-cli",
    "codex",
    "pi",
    "manus",
    "openmanus",
    "letta-static",
    "letta-partial",
    "hermes",
    "openclaw",
    "lossless",
    "headroom",
    "leon-summary",
    "layered",
    "selective",
    "minimal",
    "always",
    "never",
];

/// The presets, and how other policies are read. A preset is parsed when it is asked for: a command needs one of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policies(());

impl Policies {
    /// The presets that are part of the program.
    #[must_use]
    pub fn embedded() -> Self {
        Self(())
    }

    /// The preset of that name.
    #[must_use]
    pub fn preset(&self, name: &str) -> Option<Arc<Policy>> {
        if name == OFF {
            return Some(Arc::new(Policy::never()));
        }
        // That each parses is what a test is for; a program is not stopped by its presets.
        Some(Arc::new(parse(text(name)?, name, &bases()).ok()?.policy))
    }

    /// The preset of that name.
    ///
    /// # Errors
    /// [`PolicyError`] with the nearest name and all there are.
    pub fn named(&self, name: &str) -> Result<Arc<Policy>, PolicyError> {
        self.preset(name).ok_or_else(|| {
            let what = format!("there is no such policy{}", suggestion(name, NAMES));
            PolicyError::new(&format!("`{}`", shortened(name)), vec![PolicyFinding::error(None, "", what)])
        })
    }

    /// The names of all presets, ours first, those for tests and [`OFF`] last.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &'static str> {
        NAMES.iter().copied()
    }

    /// The file of a preset, with the sources of its constants as comments. [`OFF`] has none.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&'static str> {
        text(name)
    }

    /// Reads a policy file. It may begin with `extends = "balanced"`: then it says only what differs from that preset;
    /// tables are merged, a list takes the place of the other. `origin` is how errors name it, such as its path.
    ///
    /// # Errors
    /// [`PolicyError`] with all that is wrong, by line.
    pub fn parse(&self, text: &str, origin: &str) -> Result<Parsed, PolicyError> {
        let mut parsed = parse(text, origin, &bases())?;
        if NAMES.contains(&&*parsed.policy.name) {
            let what = "a preset has this name: reports could not tell the two apart".to_owned();
            let fault = PolicyFault { severity: Severity::Warning, key: "name".to_owned(), what };
            parsed.warnings.push(PolicyFinding { line: line_of_key(text, "name"), fault });
        }
        Ok(parsed)
    }
}

fn text(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(preset, _)| *preset == name).map(|(_, text)| *text)
}

fn bases() -> Bases<'static> {
    Bases { names: BASES, text: &text }
}
