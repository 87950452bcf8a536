//! Turns the engine's hints into sentences about tools.

use std::borrow::Cow;
use wunderblock::Hint;

/// Returns the sentence for a hint, or `None` for a hint that means nothing to the caller of a tool.
pub(crate) fn sentence(hint: &Hint) -> Option<Cow<'static, str>> {
    let text = match hint {
        Hint::ListSessions => "`search` finds sessions by what was said in them",
        Hint::LengthenId => "give more of the id",
        Hint::CheckLedger => "use an address that a tool of this server returned",
        Hint::BuildRequest | Hint::AppendMessages => "the session has nothing to show yet; use another one",
        Hint::Read { address } | Hint::Expand { address } => {
            return Some(format!("`read` with the address {address} shows it").into());
        }
        Hint::MatchLiterally => "give `exact` as `text` to find the pattern literally",
        Hint::Retry | Hint::WaitForWriter | Hint::GoOn => "another process is writing; try again in a moment",
        Hint::CreateLedger => "ask the user to run `wunderblock import`, which creates it",
        Hint::UseNewerProgram => "ask the user to install the newer version of wunderblock that wrote it",
        Hint::UpgradeLedger | Hint::CheckPermissions => "ask the user to make the ledger writable",
        Hint::InspectLedger => "ask the user to run `wunderblock doctor`",
        Hint::RebuildIndex => "ask the user to run `wunderblock doctor --rebuild`",
        Hint::FreeSpace => "ask the user to free space on the disk",
        Hint::GiveOneName => {
            "ask the user to run `wunderblock doctor`, and to remove the other names of the file"
        }
        Hint::ChooseLedger => "ask the user to check the option --db of this server",
        Hint::LookBesideLedger => "call the tool again: it opens the new ledger",
        _ => return None,
    };
    Some(text.into())
}
