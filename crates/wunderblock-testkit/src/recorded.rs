//! A ledger of each older format, written by the program of that time, and what that program gave for everything in it.
//!
//! Every later version opens a copy of it, upgrades it, and gives the same: each session's events, each imported file,
//! each recorded request byte for byte. `cargo run -p xtask -- record-ledger` writes it; it is never written again for an
//! older format, since only the program of that time can.

use futures_executor::block_on;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use wunderblock::{Config, Engine, Error, Session};
use wunderblock_core::id::{StreamId, TenantId};
use wunderblock_core::units::Seq;

/// A recorded ledger.
#[derive(Clone, Copy, Debug)]
pub struct Recording {
    /// The format of the file.
    pub format: i64,
    ledger: &'static [u8],
    manifest: &'static str,
}

/// A ledger of each older format, the oldest first.
pub const RECORDINGS: [Recording; 2] = [
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
];

/// What a program gave for a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version that wrote the ledger.
    pub version: String,
    /// Every session of every tenant.
    pub sessions: Vec<SessionRecord>,
}

/// What a program gave for a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// Whose it is.
    pub tenant: String,
    /// Its id.
    pub id: String,
    /// Its newest position.
    pub head: u64,
    /// What it forked from, and where.
    pub fork: Option<(String, u64)>,
    /// [`line_digest`] of each line of `export`.
    pub events: Vec<String>,
    /// BLAKE3 of what `export --original` gave; nothing for a session that was not imported.
    pub original: Option<String>,
    /// BLAKE3 of the file it was imported from, where `original` is another: the path held something else later.
    pub file: Option<String>,
    /// Its import was killed: `original` is what had been written by then.
    pub unfinished: bool,
    /// Every recorded request.
    pub requests: Vec<RequestRecord>,
}

/// What `replay` gave for a recorded request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestRecord {
    /// Where it is recorded.
    pub seq: u64,
    /// What `replay` said of it.
    pub verdict: ReplayVerdict,
    /// Its format.
    pub dialect: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// BLAKE3 of the bytes; empty if there were none.
    pub blake3: String,
}

/// What `replay` says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayVerdict {
    /// The bytes are those that were recorded.
    Proved,
    /// Content of it has been erased; the bytes say where.
    Erased,
    /// It could not be rebuilt.
    Failed,
}

impl Recording {
    /// The manifest.
    ///
    /// # Errors
    /// When it does not hold what [`Manifest`] says.
    pub fn manifest(&self) -> serde_json::Result<Manifest> {
        serde_json::from_str(self.manifest)
    }

    /// Puts a copy of the ledger into a folder.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn unpack(&self, folder: &Path) -> std::io::Result<PathBuf> {
        let path = folder.join("ledger.db");
        std::fs::write(&path, zstd::decode_all(self.ledger)?)?;
        Ok(path)
    }
}

/// 16 digits of BLAKE3 of an exported line. Whether the line of an erased event says its kind does not count: the first
/// version left it out.
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

/// Opens a ledger for each tenant of a manifest and compares what it gives. Answers the differences, one a line.
///
/// # Errors
/// When the ledger cannot be opened at all.
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
        if line_digest(line) != *digest {
            found.push(format!("exported otherwise: {}", line.chars().take(300).collect::<String>()));
        }
    }
    found
}

fn original_difference(session: &Session, wanted: &SessionRecord) -> Option<String> {
    let mut bytes = Vec::new();
    match (&wanted.original, block_on(session.export_original(None, &mut bytes))) {
        // The first version gave what there was of a file whose import was killed, as if it were the file.
        (Some(_), _) if wanted.unfinished => None,
        (Some(original), Ok(_)) => {
            let digest = blake3::hash(&bytes).to_hex().to_string();
            // Where the path held something else later, it gave that.
            (digest != *original && Some(&digest) != wanted.file.as_ref())
                .then(|| format!("the original is {} bytes of another hash", bytes.len()))
        }
        (Some(_), Err(error)) => Some(format!("no original: {error}")),
        (None, Ok(_)) => Some(format!("an original of {} bytes where there was none", bytes.len())),
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
    // What could not be rebuilt had lost content that nothing counted as missing; a later version may say so.
    let told = wanted.verdict == ReplayVerdict::Failed && found.verdict == ReplayVerdict::Erased;
    (found != *wanted && !told).then(|| format!("the request at {} is {found:?}", wanted.seq))
}
