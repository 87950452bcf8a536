//! Presets: the policies that are part of the program.

use super::finding::{PolicyError, PolicyFinding};
use super::lines::line_of_key;
use super::parse::{Bases, Parsed, parse, trusted};
use super::suggestion::{shortened, suggestion};
use std::sync::Arc;
use wunderblock_core::policy::{Policy, PolicyFault, Severity};

/// Name of the preset that applies if none is chosen.
pub const DEFAULT: &str = "balanced";
/// Name of the policy that never compacts, under any circumstances: [`Policy::never`].
pub const OFF: &str = "off";

macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        /// Name and file of every preset: our own presets first, and those for tests last.
        const PRESETS: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../../policies/", $name, ".toml")))),*];
        const NAMES: &[&str] = &[$($name,)* OFF];
        /// Presets that a policy can extend: all that have a file.
        const BASES: &[&str] = &[$($name),*];
    };
}

presets![
    "balanced",
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

/// Earlier names of presets. `thorough` recalled less than `balanced` does now, at a higher cost.
const ALIASES: &[(&str, &str)] = &[("thorough", "balanced")];

/// The presets, and the parser of other policies. A preset is parsed when it is requested, because a command needs
/// only one of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policies(());

impl Policies {
    /// Returns the presets that are part of the program.
    #[must_use]
    pub fn embedded() -> Self {
        Self(())
    }

    /// Returns the preset with this name, or with a new name in place of this one, if there is one.
    #[must_use]
    pub fn preset(&self, name: &str) -> Option<Arc<Policy>> {
        if name == OFF {
            return Some(Arc::new(Policy::never()));
        }
        // A test proves that each preset parses without a finding. At run time, a broken preset must not stop the
        // program, so it counts as missing.
        Some(Arc::new(trusted(text(name)?, &bases())?))
    }

    /// Returns the preset with this name.
    ///
    /// # Errors
    /// Returns a [`PolicyError`] with the nearest name and all known names.
    pub fn named(&self, name: &str) -> Result<Arc<Policy>, PolicyError> {
        self.preset(name).ok_or_else(|| {
            let what = format!("unknown policy{}", suggestion(name, NAMES));
            PolicyError::new(&format!("`{}`", shortened(name)), vec![PolicyFinding::error(None, "", what)])
        })
    }

    /// Returns the names of all presets: our own first, and those for tests and [`OFF`] last.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &'static str> {
        NAMES.iter().copied()
    }

    /// Returns the file of a preset, which gives the sources of its constants in comments. `None` for [`OFF`], which
    /// has no file.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&'static str> {
        text(name)
    }

    /// Parses a policy file. A file that begins with `extends = "balanced"` contains only its differences from that
    /// preset: tables are merged, and a list replaces the preset's list. `origin` names the file in errors, for
    /// example by its path.
    ///
    /// # Errors
    /// Returns a [`PolicyError`] with all errors in the file, by line.
    pub fn parse(&self, text: &str, origin: &str) -> Result<Parsed, PolicyError> {
        let mut parsed = parse(text, origin, &bases())?;
        if self.preset(&parsed.policy.name).is_some() {
            let what = "a preset has this name, so reports cannot tell the two apart; choose another name"
                .to_owned();
            let fault = PolicyFault { severity: Severity::Warning, key: "name".to_owned(), what };
            parsed.warnings.push(PolicyFinding { line: line_of_key(text, "name"), fault });
        }
        Ok(parsed)
    }
}

fn text(name: &str) -> Option<&'static str> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, preset)| preset);
    PRESETS.iter().find(|(preset, _)| *preset == name).map(|(_, text)| *text)
}

fn bases() -> Bases<'static> {
    Bases { names: BASES, text: &text }
}
