//! Turns the engine's hints and the errors of settings into sentences about commands and options of the command line.

use crate::drawing::terminal::clean;
use crate::output::exit::{FAILED, Failure, refused, wrong};
use std::borrow::Cow;
use wunderblock::Hint;
use wunderblock_settings::SettingsError;

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::Engine(error) => error.into(),
            SettingsError::File { path, why } => refused(&path, &why),
            SettingsError::Value(text) => wrong(text),
            SettingsError::Directory(text) => wrong(clean(&text)),
            SettingsError::NoDirectory => {
                wrong("--instructions and --scan require --cwd DIR, the working directory")
            }
            SettingsError::EmptyModel => {
                wrong("--model is empty; leave it out to use the transcript's model")
            }
            SettingsError::Summarizer { who, why } => wrong(format!("--summarizer {who}: {why}")),
            SettingsError::NoHome(why) => {
                Self::Door(FAILED, format!("no home directory ({why}); give --db PATH"))
            }
            SettingsError::Unusable(why) => Self::Door(FAILED, why),
        }
    }
}

/// Returns the sentence for a hint, or `None` for a hint that this program does not know.
pub(crate) fn sentence(hint: &Hint) -> Option<Cow<'static, str>> {
    let text = match hint {
        Hint::ListSessions => {
            "`wunderblock sessions` lists the sessions; `wunderblock import PATH` adds a transcript"
        }
        Hint::LengthenId => "give more of the id",
        Hint::RaiseWindow { .. } => {
            "use a larger --window, a smaller --reserve, fewer tools and instructions, or unpin what is pinned; the parts are listed above"
        }
        Hint::AppendOpenKinds => {
            "callers may append session.opened, session.closed, session.described, task.started, task.finished, message.appended, content.pinned, content.hidden, usage.measured, turn.completed, subagent.spawned and subagent.returned; `wunderblock import` reads a whole export"
        }
        Hint::OmitOpening => "append to a session id that does not exist yet, or leave the opening out",
        Hint::ChooseOwnId => "give the event an id that no other event has",
        Hint::ChooseNewId => "an id names one event permanently: give the new event another id",
        Hint::CheckPath => "check the path and its permissions",
        Hint::CheckPermissions => "check the permissions of the file and its folder",
        Hint::CheckLedger => "handles belong to one ledger and tenant; check --db and --tenant",
        Hint::BuildRequest => "`wunderblock context SESSION` builds and records a request",
        Hint::AppendMessages => {
            "`wunderblock append SESSION` adds messages; with --at, give a later position"
        }
        Hint::Read { address } => {
            return Some(format!("`wunderblock read {address}` prints the content byte for byte").into());
        }
        Hint::Expand { address } => {
            return Some(format!("`wunderblock expand {address}` shows what was said there").into());
        }
        Hint::MatchLiterally => "without --regex the pattern is taken literally",
        Hint::ListSummaries => {
            "`wunderblock describe SESSION` lists the summaries; --lane names another lane"
        }
        Hint::RewriteInstead => {
            "use a larger --window, or keep the summary and rewrite it: --rewrite POSITION --focus TEXT"
        }
        Hint::GoOn => "run the command again: it continues where it stopped",
        Hint::Retry => "another process is appending; try again",
        Hint::FinishImport { .. } => {
            "`wunderblock import PATH` finishes it, or waits for the import in progress"
        }
        Hint::WaitForImport => "wait for the other import, or end it; then import again",
        Hint::WaitForWriter => "another process is writing; try again when it is done",
        Hint::FreeSpace => "free some space and try again: nothing that was acknowledged is lost",
        Hint::GiveOneName => "remove the other names, or replace it by a copy of `wunderblock backup`",
        Hint::UseNewerProgram => "use the newer program that wrote this ledger",
        Hint::UpgradeLedger => {
            "upgrade it once: run any command as a user who may write the file and its folder, or copy the file to a folder of your own and give the copy with --db"
        }
        Hint::InspectLedger => {
            "`wunderblock doctor` reports what can be saved; `wunderblock restore` restores a backup"
        }
        Hint::RebuildIndex => "`wunderblock doctor --rebuild` rebuilds it",
        Hint::ChooseLedger => {
            "give the path of a Wunderblock database with --db, or a path that does not exist yet"
        }
        Hint::LookBesideLedger => {
            "events acknowledged before the restore are in the ledger that it kept beside the new one"
        }
        Hint::FinishErasure => {
            "end the other program: the next command that writes finishes it, or `wunderblock doctor --repair`"
        }
        Hint::RestoreNewest => {
            "`wunderblock restore FILE` with the highest number in its name brings back the ledger that was there last"
        }
        Hint::ChooseFreePath => {
            "give a path that does not exist; `restore --replace` keeps the existing ledger beside the new one"
        }
        Hint::CreateLedger => "`wunderblock import PATH` creates it; --db names another one",
        _ => return None,
    };
    Some(text.into())
}

/// Returns the text of a failure, with advice.
pub(crate) fn failure_text(failure: &Failure) -> String {
    match failure {
        Failure::Engine(error) => match error.hint().as_ref().and_then(sentence) {
            Some(hint) => format!("{error} ({hint})"),
            None => error.to_string(),
        },
        Failure::Door(_, text) => text.clone(),
        Failure::BrokenPipe => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wunderblock_core::event::Fact;

    #[test]
    fn the_hint_names_all_kinds_that_may_be_appended() {
        let sentence = sentence(&Hint::AppendOpenKinds).unwrap_or_default();
        assert!(Fact::OPEN_KINDS.iter().all(|kind| sentence.contains(kind)), "{sentence}");
    }
}
