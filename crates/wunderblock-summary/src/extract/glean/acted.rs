//! Commands that a model writes at the end of its text, as the model in SWE-agent does. The result of these commands
//! is the environment's next output.

use super::Found;
use crate::extract::calls::act::{Kind, OPEN, open_file};
use wunderblock_core::units::Seq;

/// Beginning of SWE-agent's output after it has rejected an edit. The reasons for the rejection follow on lines that
/// begin with a dash.
const REFUSED: &str = "Your proposed edit has introduced new syntax error";
/// SWE-agent commands that only show another part of the open file.
const LOOKS: [&str; 3] = ["goto", "scroll_down", "scroll_up"];

impl Found<'_> {
    /// Reads the command at the end of the newest reply as a call, and `shown` as its result. Returns false if the
    /// reply ends without a command.
    pub(super) fn acted(&mut self, at: Seq, shown: &str) -> bool {
        let is_done = |reply: &Seq| self.steps.last().is_some_and(|step| step.at >= *reply);
        let Some((asked, reply)) = self.newest_replies().next_back().map(|reply| (reply.at, &reply.text))
        else {
            return false;
        };
        let Some(command) = command_of(reply).filter(|_| !is_done(&asked)).map(str::to_owned) else {
            return false;
        };
        let (word, given) = command.split_once([' ', '\n']).unwrap_or((&command, ""));
        let path = given.split_whitespace().next().unwrap_or_default();
        let whole = open_file(shown).filter(|whole| word == "edit" || whole.ends_with(path));
        let (tool, gist) = match word {
            "edit" => (word, whole),
            "open" | "create" => (word, whole.or(Some(path))),
            "find_file" | "search_dir" | "search_file" => (word, Some(given)),
            _ if LOOKS.contains(&word) => return true,
            _ => ("bash", Some(command.as_str())),
        };
        self.call(asked, tool, gist, "");
        if let Some(step) = self.steps.last_mut() {
            step.is_typed = step.kind == Kind::Run;
        }
        let failed = shown.starts_with(REFUSED);
        let why = shown.lines().find_map(|line| line.strip_prefix("- ")).filter(|_| failed);
        // Each result ends with the state of the environment, which says nothing about the command.
        let end = shown.find(&format!("\n{OPEN}")).unwrap_or(shown.len());
        let text = why.unwrap_or_else(|| shown.get(..end).unwrap_or_default());
        self.ended(at, self.steps.len().saturating_sub(1), std::iter::once(text), failed);
        true
    }
}

/// Returns the fenced block that a text ends with.
fn command_of(text: &str) -> Option<&str> {
    let (_, block) = text.trim_end().strip_suffix("```")?.rsplit_once("```")?;
    let (_, command) = block.split_once('\n')?;
    Some(command.trim()).filter(|command| !command.is_empty())
}
