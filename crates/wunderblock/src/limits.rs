//! Limits of the engine, in one place.

use std::time::Duration;
use wunderblock_core::units::{Bytes, Tokens};

/// Maximum size in bytes of a single document that is imported. Documents are read as a whole; line formats have no
/// limit.
pub(crate) const MAX_DOCUMENT: u64 = 64 << 20;
/// Maximum total size in bytes of the members of a session that is imported. They are read as a whole.
pub(crate) const MAX_MEMBERS: usize = 256 << 20;
/// Maximum time for which an import waits for another program's lock on a database.
#[cfg(feature = "sqlite")]
pub(crate) const DATABASE_WAIT: Duration = Duration::from_secs(5);
/// Maximum number of documents that are committed together, and of bytes of their files.
pub(crate) const DOCUMENT_BATCH: usize = 256;
pub(crate) const DOCUMENT_BATCH_BYTES: u64 = 8 << 20;
/// Maximum number of skipped files that a report names.
pub(crate) const MAX_SKIPPED: usize = 50;
/// Maximum size in bytes of a program's output that is kept as a message, and is therefore indexed. Writing a message
/// keeps several copies of it in memory, so larger output is kept as plain bytes, which a search scans.
pub const MAX_MESSAGE_OUTPUT: usize = 8 << 20;
/// Maximum number of levels below a session in the tree of its delegates.
pub(crate) const MAX_DELEGATION_DEPTH: usize = 16;
/// Maximum size in bytes of a note.
pub const NOTE_BYTES: usize = 16 << 10;
/// Maximum length in bytes of the writer's name in a note.
pub(crate) const NOTE_NAME: usize = 80;
/// Maximum number of sessions, latest first, among which the latest session of a project is sought.
pub(crate) const LATEST_SESSIONS: u64 = 2_000;
/// Maximum run time of a command that is run for a model.
pub const COMMAND_TIME: Duration = Duration::from_secs(600);
/// Maximum number of bytes that a command that is run for a model may write. They are held in memory.
pub(crate) const COMMAND_BYTES: Bytes = Bytes(256 << 20);
/// Number of tokens to which the output of a command that is run for a model is shortened.
pub const COMMAND_TOKENS: u64 = 2_000;
/// Maximum size in bytes of a transcript line that is parsed. The bytes of a longer line are kept, and its record
/// refers to them. A document may be one line, so the limit is that of documents.
pub const MAX_LINE: usize = 64 << 20;
/// Milliseconds after which an import that writes nothing loses its claim on a file. A lock on the file reveals a
/// dead import sooner; the lease is for files that cannot be locked.
pub(crate) const IMPORT_LEASE: i64 = 30_000;
/// Interval at which a waiting import checks whether the import it is waiting for has finished.
pub(crate) const IMPORT_POLL: Duration = Duration::from_millis(25);
/// Maximum time that an import waits for another one that makes no progress.
pub(crate) const IMPORT_WAIT: Duration = Duration::from_secs(60);
/// Maximum number of times that an import starts again because another import has changed the stored file in the
/// meantime.
pub(crate) const IMPORT_ATTEMPTS: usize = 16;
/// Number of bytes of imported sources that are compressed together.
pub(crate) const SOURCE_CHUNK: usize = 1 << 20;
/// Maximum number of events that an import commits together.
pub(crate) const IMPORT_BATCH_EVENTS: usize = 2_000;
/// Maximum number of bytes of text that an import commits together.
pub(crate) const IMPORT_BATCH_BYTES: u64 = 8 << 20;
/// Maximum number of chunks of a source that an import commits together.
pub(crate) const IMPORT_BATCH_CHUNKS: usize = 16;
/// Maximum size in bytes of a live batch whose tokens are counted while it is appended. Larger batches are counted in
/// the background.
pub(crate) const COUNT_AT_ONCE: Bytes = Bytes(64 << 10);
/// Maximum number of events per batch that is counted and indexed in the background: the size of a fresh index
/// segment.
pub(crate) const CATCH_UP_EVENTS: u64 = 1_024;
/// Maximum time that an erasure waits for an import of the content that it erases, and for writers to pause.
pub(crate) const ERASE_WAIT: Duration = Duration::from_secs(30);
/// Minimum number of attempts of an erasure, however long they take, before it gives up because of other writers.
pub(crate) const ERASE_TRIES: u32 = 3;
/// Maximum number of attempts to commit what was made from the ledger when content is erased in the meantime.
pub(crate) const COMMIT_RETRIES: usize = 3;
/// Maximum number of attempts by the background work or an erasure when another process changes the index in the
/// meantime.
pub(crate) const CATCH_UP_RETRIES: usize = 8;
/// Maximum number of bytes of text per batch of background work, except for a single longer event. Batches bound its
/// memory.
pub(crate) const CATCH_UP_BYTES: Bytes = Bytes(8 << 20);
/// Maximum number of waiting events that a search scans without indexing any of them first.
pub(crate) const SCAN_EVENTS: u64 = 4_096;
/// Maximum number of bytes of waiting text that a search scans without indexing any of it first. Scanning takes a
/// quarter of the time of indexing, so an answer waits for the index only if scanning would take as long.
pub(crate) const SCAN_BYTES: Bytes = Bytes(8 << 20);
/// Milliseconds after which brief background work starts no further batch. Running batches are completed, so it
/// writes for at most 200 ms.
pub(crate) const BRIEF_CATCH_UP: i64 = 120;
/// Maximum number of bytes of text per batch that a search indexes, except for a single longer event. This limit is
/// smaller than the limit for background batches, so that running batches end soon.
pub(crate) const SEARCH_BATCH_BYTES: Bytes = Bytes(1 << 20);
/// Maximum number of attempts by a search when the segments that it reads are joined with others in the meantime.
pub(crate) const SEARCH_RETRIES: usize = 4;
/// Time after which a search or a grep is given up, unless its caller wants to wait longer.
pub const SEARCH_TIME: Duration = Duration::from_secs(10);
/// Context window assumed while a session's own window is unknown, in tokens.
pub(crate) const USUAL_WINDOW: Tokens = Tokens(200_000);
/// Maximum number of events in a view's first load. Together with [`VIEW_BYTES_PER_TOKEN`], this number limits what a
/// build reads.
pub(crate) const VIEW_EVENTS: u64 = 4_000;
/// Number of bytes of text loaded into a view per token of the window. This number is enough for the densest text and
/// for the stubs that precede the text.
pub(crate) const VIEW_BYTES_PER_TOKEN: u64 = 12;
/// Maximum number of attempts by a build or an append when the session grows in the meantime.
pub(crate) const BUILD_RETRIES: usize = 16;
/// Number of tokens reserved for the answer, unless the model's own limit is smaller.
pub(crate) const DEFAULT_RESERVE: Tokens = Tokens(8_192);
/// Maximum share of the window reserved for the answer, as a divisor: a quarter.
pub(crate) const RESERVE_DIVISOR: u64 = 4;
/// Share of the window kept free if token counts are estimates, as a divisor: a twentieth.
pub(crate) const ESTIMATE_MARGIN_DIVISOR: u64 = 20;
/// Maximum number of older entries that a query can recall, before the budget decides.
pub(crate) const RECALL_HITS: usize = 24;
/// Bytes per page of `read`.
pub const PAGE_BYTES: u64 = 16 << 10;
/// Maximum number of events that `grep` reads at a time.
pub(crate) const GREP_PAGE: u64 = 2_048;
/// Number of events that `grep` searches before it reads the index to leave out others: about 0.1 s, so that the first
/// matches do not wait for the index.
pub(crate) const GREP_SCAN: u64 = 16_384;
/// Number of events that `grep` reads first, so that the first match does not wait for a large page.
pub(crate) const GREP_FIRST_PAGE: u64 = 64;
/// Minimum length in bytes of a text that is erased wherever it occurs.
pub const ERASE_TEXT_MIN: usize = 4;
/// Number of milliseconds within which a state provider must answer.
pub const PROVIDER_TIME: u64 = 2_000;
/// Maximum number of bytes of a provider's answer that are used. The rest is cut off.
pub const PROVIDER_BYTES: usize = 16 << 10;
/// Maximum number of places in the conversation that `Session::locate` returns.
pub const PLACEMENTS: usize = 200;
/// Maximum size in bytes of a policy file: many times the size of the largest meaningful one.
pub(crate) const MAX_POLICY: usize = 64 << 10;
/// Maximum number of findings shown for a policy file. Further findings are only counted.
pub(crate) const POLICY_FINDINGS: usize = 20;
/// Default number of tokens per page of `expand`.
pub const EXPAND_TOKENS: u64 = 2_000;
/// Minimum number of tokens per page of `expand`: a smaller page would hold little except marks.
pub const EXPAND_LEAST: u64 = 200;
/// Maximum number of tokens per page of `expand`.
pub const EXPAND_MOST: u64 = 100_000;
/// Milliseconds after which a worker loses its lease on a lane that it is compacting, unless it renews the lease.
pub const COMPACTION_LEASE: i64 = 120_000;
/// Maximum number of tokens in a stretch of text that a sweep adds to the summary before it, if it can.
pub(crate) const SWEEP_LEAST: u64 = 200;
/// Maximum size in bytes of a session that is swept completely when its lane is compacted for a request. A sweep of
/// this size takes about fifteen seconds, and leaves nothing uncovered.
pub(crate) const SWEEP_AT_ONCE: Bytes = Bytes(128 << 20);
/// Maximum number of user turns, latest first, that a compaction searches for standing rules if they have not been
/// searched yet.
pub(crate) const RULE_TURNS: u64 = 4_096;
/// Maximum number of warnings that an import lists; the notices count all of them.
pub const MAX_WARNINGS: usize = 20;
/// Maximum number of handles listed in an error about an ambiguous prefix.
pub(crate) const MAX_CANDIDATES: u64 = 8;
