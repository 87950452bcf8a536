//! Advice about errors, as data, which each door phrases for its own users.

use wunderblock_core::units::Tokens;

/// Advice about an error, to be worded by a door.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hint {
    /// List the sessions, or import one.
    ListSessions,
    /// Give more characters of the id: several ids begin with the prefix.
    LengthenId,
    /// Make room, for example with a larger window, a smaller reserve for the answer, fewer tools and instructions,
    /// or fewer pins.
    RaiseWindow {
        /// Maximum number of tokens that the sections may use.
        limit: Tokens,
        /// Number of tokens that the smallest request would take.
        needed: Tokens,
    },
    /// Append events of the [kinds open to callers](wunderblock_core::event::Fact::OPEN_KINDS), or import an export.
    AppendOpenKinds,
    /// Omit the opening event, or append to a session that does not exist yet.
    OmitOpening,
    /// Give the event an id that does not begin like the engine's own ids.
    ChooseOwnId,
    /// Give the event an id that no other event has.
    ChooseNewId,
    /// Check the path and its permissions.
    CheckPath,
    /// Check the permissions of the ledger's file and its folder.
    CheckPermissions,
    /// Check which ledger and which tenant are in use: a handle is valid only in one ledger and for one tenant.
    CheckLedger,
    /// Build and record a request first.
    BuildRequest,
    /// Append messages first, or look at a later position.
    AppendMessages,
    /// Read the exact content at the address.
    Read {
        /// Address to read.
        address: String,
    },
    /// Expand the address to show the messages there.
    Expand {
        /// Address to expand.
        address: String,
    },
    /// Match the pattern literally.
    MatchLiterally,
    /// List the summaries, or look at another lane.
    ListSummaries,
    /// Use a larger window, or rewrite the summary with a focus.
    RewriteInstead,
    /// Repeat the call to continue where it stopped.
    GoOn,
    /// Repeat the call.
    Retry,
    /// Import the file again to complete the import.
    FinishImport {
        /// Path of the file.
        path: String,
    },
    /// Wait for the other import, or end it.
    WaitForImport,
    /// Wait for the other process that is writing.
    WaitForWriter,
    /// Free space on the disk; no acknowledged event is lost.
    FreeSpace,
    /// Remove the other names of the ledger's file, or put a copy in its place.
    GiveOneName,
    /// Use the newer program version that wrote the ledger or record.
    UseNewerProgram,
    /// Open the ledger once for writing to upgrade it.
    UpgradeLedger,
    /// Check what can be recovered from the damaged ledger, or restore a backup.
    InspectLedger,
    /// Rebuild the text index: it is derived from the messages.
    RebuildIndex,
    /// Open another file: this one is not a ledger.
    ChooseLedger,
    /// Inspect the previous ledger, which was kept next to its replacement.
    LookBesideLedger,
    /// End the other program; the next write, or a repair, then completes the erasure.
    FinishErasure,
    /// Restore the latest of the kept files.
    RestoreNewest,
    /// Give a path where no file exists.
    ChooseFreePath,
    /// Create the ledger first, or open another one.
    CreateLedger,
}
