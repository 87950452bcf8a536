//! `[instructions]`: which instruction files are used. The keys are those of [`InstructionRules`].

use super::Section;
use crate::home::Person;
use std::path::PathBuf;
use wunderblock::sources::InstructionRules;

/// Lists of files that a settings file names. An empty list states that there are no such files, so the standard files
/// are used only if the key is missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedLists {
    /// Whether the file has the key `managed`.
    pub(crate) managed: bool,
    /// Whether the file has the key `user`.
    pub(crate) user: bool,
}

/// Adds the standard paths of managed policy and of the user's files, unless the settings name other paths.
pub(crate) fn fill_in(rules: &mut InstructionRules, person: &Person, named: NamedLists) {
    let home = &person.home;
    if !named.managed {
        rules.managed =
            ["/etc/wunderblock/AGENTS.md", "/etc/claude-code/CLAUDE.md"].map(PathBuf::from).to_vec();
    }
    if !named.user {
        // As in Codex, `AGENTS.override.md` replaces `AGENTS.md`.
        let instead = Some(home.join(".codex/AGENTS.override.md")).filter(|path| path.exists());
        rules.user = vec![
            person.config.join("wunderblock/AGENTS.md"),
            instead.unwrap_or_else(|| home.join(".codex/AGENTS.md")),
            home.join(".claude/CLAUDE.md"),
            home.join(".gemini/GEMINI.md"),
        ];
    }
    rules.home.get_or_insert_with(|| home.clone());
}

impl Section for InstructionRules {
    const NAME: &'static str = "instructions";
    const MAX_KEYS: usize = 10;

    fn paths(&mut self) -> Vec<&mut PathBuf> {
        let many = [&mut self.managed, &mut self.user, &mut self.roots];
        self.home.iter_mut().chain(many.into_iter().flatten()).collect()
    }
}
