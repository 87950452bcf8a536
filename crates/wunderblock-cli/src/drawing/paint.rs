//! Colour on terminals. A colour is never the only way in which a meaning is shown.

use std::io::IsTerminal;

/// Adds colours, or leaves text unchanged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint(bool);

impl Paint {
    /// Paints if stdout is a terminal and `NO_COLOR` (no-color.org) is not set.
    pub(crate) fn stdout() -> Self {
        Self(std::io::stdout().is_terminal() && wanted())
    }

    /// Paints if stderr is a terminal and `NO_COLOR` is not set.
    pub(crate) fn stderr() -> Self {
        Self(std::io::stderr().is_terminal() && wanted())
    }

    /// Never paints.
    #[cfg(test)]
    pub(crate) const fn none() -> Self {
        Self(false)
    }

    fn code(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.code("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.code("2", text)
    }

    /// Highlights the text that was searched for.
    pub(crate) fn hit(self, text: &str) -> String {
        self.code("1;33", text)
    }

    /// What failed.
    pub(crate) fn failed(self, text: &str) -> String {
        self.code("31", text)
    }

    /// Gives a speaker the colour of the section that contains the speaker's words.
    pub(crate) fn role(self, role: wunderblock_core::message::Role, text: &str) -> String {
        use wunderblock_core::message::Role;
        let code = match role {
            Role::System => "34",
            Role::User => "1;32",
            Role::Assistant => "36",
            Role::Tool => "35",
        };
        self.code(code, text)
    }

    /// Gives each section a colour, which is the same in every report.
    pub(crate) fn section(self, section: wunderblock_core::section::Section, text: &str) -> String {
        use wunderblock_core::section::Section;
        let code = match section {
            Section::Safety | Section::System | Section::Instructions => "34",
            Section::Tools | Section::Skills | Section::Agents => "35",
            Section::PinnedMemory | Section::Resources | Section::Recall | Section::State | Section::Work => {
                "33"
            }
            Section::Summaries => "90",
            Section::Transcript => "36",
            Section::Prompt => "32",
        };
        self.code(code, text)
    }
}

fn wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
