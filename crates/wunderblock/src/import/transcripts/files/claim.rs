//! Ownership of a revision: only one import at a time writes the revision, and a dead import does not block others
//! for long.
//!
//! Every commit of an import contains its token, and a store rejects commits with another token, so the bytes of
//! different imports never mix. The lease only limits how long other imports wait. A lock on the transcript reveals
//! sooner than the lease that an owner is dead, because the system releases the lock when the process ends. If files
//! cannot be locked, other imports wait until the lease expires.

use crate::base::error::Error;
use crate::ledger::engine::{Engine, random, unexpected};
use crate::ledger::reading::originals::source_handle;
use crate::limits::IMPORT_LEASE;
use std::fs::File;
use std::path::Path;
use wunderblock_core::units::Millis;
use wunderblock_store::{Begin, Commit, Epoch, Owner, SourceNo, Write, Written, codec};

/// A revision that this import may write.
pub(in crate::import::transcripts) struct Claim {
    pub(in crate::import::transcripts) source: SourceNo,
    pub(in crate::import::transcripts) revision: u32,
    pub(in crate::import::transcripts) token: String,
    /// Length of the revision once the batch in progress is stored.
    pub(in crate::import::transcripts) len: u64,
    /// Epoch of the snapshot in which the file's stored state was read.
    pub(in crate::import::transcripts) epoch: Epoch,
}

impl Claim {
    /// Returns the owner with a lease that starts now.
    pub(in crate::import::transcripts) fn owner(&self, now: Millis) -> Owner {
        owner(&self.token, now)
    }
}

fn owner(token: &str, now: Millis) -> Owner {
    Owner { token: token.to_owned(), until: Millis(now.0.saturating_add(IMPORT_LEASE)) }
}

/// Returns whether this import could lock the file. If the lock succeeds, no other import of the file is alive.
pub(in crate::import::transcripts) fn lock(file: &File) -> bool {
    file.try_lock().is_ok()
}

/// Returns whether no live import has a file locked.
pub(crate) fn is_abandoned(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| lock(&file))
}

/// Returns whether a lease ends later than any lease can, so that its owner had a wrong clock.
pub(crate) fn is_void(owner: &Owner, now: Millis) -> bool {
    owner.until.0 > now.0.saturating_add(2 * IMPORT_LEASE)
}

/// A revision to be claimed.
pub(in crate::import::transcripts) struct ToWrite<'a> {
    pub(in crate::import::transcripts) path: &'a Path,
    pub(in crate::import::transcripts) format: &'a str,
    /// Revision to be extended, and its length; if `None`, a new revision is started after the newest one.
    pub(in crate::import::transcripts) grow: Option<(u32, u64)>,
    /// Number of the file's newest revision; 0 if there is no revision.
    pub(in crate::import::transcripts) newest: u32,
    /// Whether this import holds the file's lock, so that no other import of the file is alive.
    pub(in crate::import::transcripts) locked: bool,
    pub(in crate::import::transcripts) epoch: Epoch,
}

/// Claims a revision of a file for writing.
pub(in crate::import::transcripts) async fn claim_source(
    engine: &Engine,
    revision: ToWrite<'_>,
) -> Result<Claim, Error> {
    let ToWrite { path, format, grow, newest, locked, epoch } = revision;
    let handle = source_handle(engine, path);
    let token: String = random::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect();
    let begin = match grow {
        Some((revision, len)) => Begin::Grow { revision, len },
        None => Begin::New {
            after: newest,
            handle: codec::revision_handle(&engine.tenant.key, handle, newest + 1),
        },
    };
    let write = Write::Source {
        tenant: engine.tenant.no,
        key: path.to_string_lossy().into_owned(),
        handle,
        format: format.to_owned(),
        begin,
        owner: owner(&token, engine.now()),
        now: engine.now(),
        takes_over: locked,
    };
    let Some(Written::Source(source, revision)) =
        engine.storage.commit(Commit::raw(vec![write])).await?.pop()
    else {
        return Err(unexpected());
    };
    Ok(Claim { source, revision, token, len: grow.map_or(0, |(_, len)| len), epoch })
}

/// Releases an incomplete revision, so that other imports do not wait for it.
pub(in crate::import::transcripts) async fn give_back(engine: &Engine, claim: &Claim) {
    let Claim { source, revision, token, .. } = claim;
    let write = Write::Disown { source: *source, revision: *revision, token: token.clone() };
    // If the release fails, the lease expires.
    let _ = engine.storage.commit(Commit::raw(vec![write])).await;
}
