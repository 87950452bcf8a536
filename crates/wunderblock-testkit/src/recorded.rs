//! Ledgers of older formats, each written by the program of its time, together with everything the program returned
//! for the ledger.
//!
//! Every later version opens a copy of each ledger, upgrades it, and must return the same results: the events of each
//! session, each imported file, and each recorded request byte for byte. `cargo run -p xtask -- record-ledger` writes
//! a recorded ledger. A ledger of an older format is never rewritten, because only the program of its own time can
//! write it.

use futures_executor::block_on;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use wunderblock::{Config, Engine, Error, Session};
use wunderblock_core::author::Author;
use wunderblock_core::id::{StreamId, TenantId};
use wunderblock_core::units::Seq;

/// A recorded ledger of one format.
#[derive(Clone, Copy, Debug)]
pub struct Recording {
    /// Format version of the ledger file.
    pub format: i64,
    ledger: &'static [u8],
    manifest: &'static str,
}

/// Recorded ledgers of all older formats, oldest first.
pub const RECORDINGS: [Recording; 7] = [
    Recording {
        format: 1,
        ledger: include_bytes!("../fixtures/format1/ledger.db.zst"),
        manifest: include_str!("../fixtures/format1/manifest.json"),
    },
    Recording {
        format: 2,
        ledger: include_bytes!("../fixtures/format2/ledger.db.zst"),
        manifest: include_str!("../fixtures/format2/manifest.json"),
    },
    Recording {
        format: 3,
        ledger: include_bytes!("../fixtures/format3/ledger.db.zst"),
        manifest: include_str!("../fixtures/format3/manifest.json"),
    },
    Recording {
        format: 4,
        ledger: include_bytes!("../fixtures/format4/ledger.db.zst"),
        manifest: include_str!("../fixtures/format4/manifest.json"),
    },
    Recording {
        format: 5,
        ledger: include_bytes!("../fixtures/format5/ledger.db.zst"),
        manifest: include_str!("../fixtures/format5/manifest.json"),
    },
    Recording {
        format: 6,
        ledger: include_bytes!("../fixtures/format6/ledger.db.zst"),
        manifest: include_str!("../fixtures/format6/manifest.json"),
    },
    Recording {
        format: 7,
        ledger: include_bytes!("../fixtures/format7/ledger.db.zst"),
        manifest: include_str!("../fixtures/format7/manifest.json"),
    },
];

/// Everything that a program returned for a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the program that wrote the ledger.
    pub version: String,
    /// Every session of every tenant.
    pub sessions: Vec<SessionRecord>,
}

/// Everything that a program returned for a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// Name of the tenant that owns the session.
    pub tenant: String,
    /// Id of the session.
    pub id: String,
    /// Latest position of the session.
    pub head: u64,
    /// Parent session and position of the fork, if the session is a fork.
    pub fork: Option<(String, u64)>,
    /// [`line_digest`] of each line that `export` wrote.
    pub events: Vec<String>,
    /// BLAKE3 of the output of `export --original`; `None` for a session that was not imported.
    pub original: Option<String>,
    /// BLAKE3 of the imported file if it differs from `original`, because the path later contained another file.
    pub file: Option<String>,
    /// Whether the import was killed. If the import was killed, `original` covers only the bytes written up to that
    /// moment.
    pub unfinished: bool,
    /// Every recorded request of the session.
    pub requests: Vec<RequestRecord>,
}

/// Output of `replay` for a recorded request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestRecord {
    /// Position at which the request is recorded.
    pub seq: u64,
    /// Result of the replay.
    pub verdict: ReplayVerdict,
    /// Name of the request's dialect.
    pub dialect: String,
    /// Length of the request in bytes.
    pub bytes: u64,
    /// BLAKE3 of the bytes; empty if the request could not be rebuilt.
    pub blake3: String,
}

/// Result of replaying a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayVerdict {
    /// The rebuilt bytes equal the recorded ones.
    Proved,
    /// Some content of the request has been erased; the rebuilt bytes show where.
    Erased,
    /// The request could not be rebuilt.
    Failed,
}

impl Recording {
    /// Parses the manifest of the recording.
    ///
    /// # Errors
    /// Returns an error if the file is not a valid [`Manifest`].
    pub fn manifest(&self) -> serde_json::Result<Manifest> {
        serde_json::from_str(self.manifest)
    }

    /// Writes a copy of the ledger to a folder and returns its path.
    ///
    /// # Errors
    /// Returns an error if the copy cannot be unpacked or written.
    pub fn unpack(&self, folder: &Path) -> std::io::Result<PathBuf> {
        let path = folder.join("ledger.db");
        std::fs::write(&path, zstd::decode_all(self.ledger)?)?;
        Ok(path)
    }
}

/// First 16 hex digits of the BLAKE3 hash of an exported line. The fields `kind` and `erased` of an erased event are
/// ignored, because the first version left out the kind.
#[must_use]
pub fn line_digest(line: &str) -> String {
    const OF_ALL: [&str; 8] = ["tenant", "stream", "seq", "id", "at", "source", "kind", "erased"];
    let erased = match serde_json::from_str(line) {
        Ok(Value::Object(mut event)) if event.keys().all(|key| OF_ALL.contains(&key.as_str())) => {
            event.shift_remove("kind");
            event.shift_remove("erased");
            Some(Value::Object(event).to_string())
        }
        _ => None,
    };
    blake3::hash(erased.as_deref().unwrap_or(line).as_bytes()).to_hex().chars().take(16).collect()
}

/// Opens a ledger once for each tenant of a manifest and returns the differences from the manifest, one per line.
///
/// # Errors
/// Returns an error if the ledger cannot be opened.
pub fn compare(
    open: impl Fn(Config) -> Result<Engine, Error>,
    manifest: &Manifest,
) -> Result<Vec<String>, Error> {
    let mut differences = Vec::new();
    let mut tenants: Vec<&str> = manifest.sessions.iter().map(|session| session.tenant.as_str()).collect();
    tenants.dedup();
    for tenant in tenants {
        let config = Config { tenant: TenantId::new(tenant)?, ..Config::default() };
        let engine = open(config)?;
        let mut there: Vec<String> = block_on(engine.streams("", u64::from(u32::MAX)))?
            .into_iter()
            .map(|info| info.id.to_string())
            .collect();
        for wanted in manifest.sessions.iter().filter(|session| session.tenant == tenant) {
            there.retain(|id| *id != wanted.id);
            let session = engine.session_by_id(StreamId::new(wanted.id.clone())?);
            let found = session_differences(&session, wanted);
            differences.extend(found.into_iter().map(|what| format!("{tenant} {}: {what}", wanted.id)));
        }
        differences.extend(there.into_iter().map(|id| format!("{tenant} {id}: was not there")));
    }
    Ok(differences)
}

fn session_differences(session: &Session, wanted: &SessionRecord) -> Vec<String> {
    let mut found = Vec::new();
    match block_on(session.info()) {
        Ok(info) => {
            let fork = info.fork.map(|(parent, at)| (parent.to_string(), at.0));
            if (info.head.0, &fork) != (wanted.head, &wanted.fork) {
                found.push(format!("head and fork are {} {fork:?}", info.head));
            }
        }
        Err(error) => found.push(error.to_string()),
    }
    let mut lines = Vec::new();
    match block_on(session.export(Seq(1), Seq(i64::MAX.unsigned_abs()), &mut lines)) {
        Ok(_) => found.extend(line_differences(&String::from_utf8_lossy(&lines), wanted)),
        Err(error) => found.push(format!("export: {error}")),
    }
    found.extend(original_difference(session, wanted));
    for request in &wanted.requests {
        found.extend(request_difference(session, request));
    }
    found
}

fn line_differences(lines: &str, wanted: &SessionRecord) -> Vec<String> {
    let count = lines.lines().count();
    let mut found = Vec::new();
    if count != wanted.events.len() {
        found.push(format!("{count} events exported, {} expected", wanted.events.len()));
    }
    for (line, digest) in lines.lines().zip(&wanted.events) {
        if line_digest(line) != *digest && line_digest(&without_author(line)) != *digest {
            found.push(format!("exported otherwise: {}", line.chars().take(300).collect::<String>()));
        }
    }
    found
}

/// Returns an exported line without the author that it names. Formats before 5 did not know the author.
fn without_author(line: &str) -> String {
    let (content, last) = line.rsplit_once(",\"author\":\"").unwrap_or((line, ""));
    if last.strip_suffix("\"}").is_some_and(|name| Author::named(name).is_some()) {
        return format!("{content}}}");
    }
    line.to_owned()
}

fn original_difference(session: &Session, wanted: &SessionRecord) -> Option<String> {
    let mut bytes = Vec::new();
    match (&wanted.original, block_on(session.export_original(None, &mut bytes))) {
        // If an import was killed, the first version returned the imported part of the file as if it were the whole
        // file.
        (Some(_), _) if wanted.unfinished => None,
        (Some(original), Ok(_)) => {
            let digest = blake3::hash(&bytes).to_hex().to_string();
            // If the path later contained another file, the first version returned that file.
            (digest != *original && Some(&digest) != wanted.file.as_ref())
                .then(|| format!("the original is {} bytes of another hash", bytes.len()))
        }
        (Some(_), Err(error)) => Some(format!("no original: {error}")),
        (None, Ok(_)) => {
            Some(format!("an original of {} bytes in a recorded ledger without one", bytes.len()))
        }
        (None, Err(_)) => None,
    }
}

fn request_difference(session: &Session, wanted: &RequestRecord) -> Option<String> {
    let found = match block_on(session.replay(Some(Seq(wanted.seq)))) {
        Ok(replayed) => RequestRecord {
            seq: replayed.seq.0,
            verdict: if replayed.erased { ReplayVerdict::Erased } else { ReplayVerdict::Proved },
            dialect: replayed.dialect.name().to_owned(),
            bytes: replayed.body.len() as u64,
            blake3: blake3::hash(&replayed.body).to_hex().to_string(),
        },
        Err(error) if wanted.verdict != ReplayVerdict::Failed => {
            return Some(format!("the request at {}: {error}", wanted.seq));
        }
        Err(_) => return None,
    };
    // The old program failed on a request whose erased content it did not count as missing. A later version may
    // report the request as erased instead.
    let told = wanted.verdict == ReplayVerdict::Failed && found.verdict == ReplayVerdict::Erased;
    (found != *wanted && !told).then(|| format!("the request at {} is {found:?}", wanted.seq))
}
