//! What to do next about an error, as data: each door says it in its own words.

use wunderblock_core::units::Tokens;

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hint {
    /// Look which sessions there are, or import one.
    ListSessions,
    /// Give more of the id: several begin like it.
    LengthenId,
    /// Make room: a larger window, less kept free for the answer, fewer tools and instructions, fewer pins.
    RaiseWindow {
        /// What the sections may use.
        limit: Tokens,
        /// What the smallest request would take.
        needed: Tokens,
    },
    /// Append events of the [kinds callers may write](wunderblock_core::event::Fact::OPEN_KINDS), or import an export.
    AppendOpenKinds,
    /// Leave the opening event out, or append to a session that does not exist yet.
    OmitOpening,
    /// Give the event an id that does not begin like the engine's own.
    ChooseOwnId,
    /// Give the event an id that no other event has.
    ChooseNewId,
    /// Check the path, and who may read or write there.
    CheckPath,
    /// Check the permissions of the ledger's file and its folder.
    CheckPermissions,
    /// Check which ledger and which tenant is in use: handles belong to one of each.
    CheckLedger,
    /// Build and record a request first.
    BuildRequest,
    /// Append messages first, or look at a later position.
    AppendMessages,
    /// Read the exact content of an address.
    Read {
        /// The address.
        address: String,
    },
    /// Expand an address: show what was said there.
    Expand {
        /// The address.
        address: String,
    },
    /// Match the pattern literally.
    MatchLiterally,
    /// List the summaries, or look at another lane.
    ListSummaries,
    /// Use a larger window, or write the summary again with a focus.
    RewriteInstead,
    /// Repeat the call: it goes on where it was.
    GoOn,
    /// Repeat the call.
    Retry,
    /// Import the file again, which finishes it.
    FinishImport {
        /// The file.
        path: String,
    },
    /// Wait for the other import, or end it.
    WaitForImport,
    /// Wait for the other process that writes.
    WaitForWriter,
    /// Free space on the disk; nothing that was acknowledged is lost.
    FreeSpace,
    /// Use the newer program that wrote it.
    UseNewerProgram,
    /// Open the ledger once for writing, which upgrades it.
    UpgradeLedger,
    /// Check what can be saved of a damaged ledger, or restore a backup.
    InspectLedger,
    /// Rebuild the text index: it is derived from what was said.
    RebuildIndex,
    /// Open another file: this one is no ledger.
    ChooseLedger,
    /// Look into the ledger that was kept beside the one that replaced it.
    LookBesideLedger,
    /// End the other program; the next write, or a repair, finishes the erasure.
    FinishErasure,
    /// Restore the newest of the files that were kept.
    RestoreNewest,
    /// Give a path where nothing is.
    ChooseFreePath,
    /// Create the ledger first, or open another one.
    CreateLedger,
}
