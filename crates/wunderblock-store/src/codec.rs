//! Encoding of facts as stored records: JSON payloads, commitments, and bodies moved into blobs.
//!
//! A record is the JSON of a fact's fields, stored with the fact's kind and a version. JSON keeps the ledger readable
//! for decades with nothing more than a SQLite shell. Bodies of [`INLINE_MAX`] bytes or more are stored separately as
//! compressed blobs. An event's commitment covers its full content, including bodies, regardless of where they are
//! stored.

mod identity;

pub use identity::{
    body_hash, erased_id, erased_key, erased_name, handle, is_erased_name, is_nameless, name_handle,
    nameless_key, record_key, revision_handle,
};

use crate::row::{Chunk, StoredEvent, StreamNo};
use crate::write::{EventMark, PackedBlob, PackedChunk, PackedEvent};
use serde::Serialize;
use std::cell::RefCell;
use wunderblock_core::author;
use wunderblock_core::event::{Event, EventSource, Fact, NewEvent, Remains};
use wunderblock_core::id::{EventId, Handle, StreamId, TenantId};
use wunderblock_core::message::{Body, Part, Role, count_lines};
use wunderblock_core::units::{Bytes, Millis, Seq};

/// Version of the records that this program writes. The program reads this version and all earlier ones.
pub const VERSION: u32 = 1;
/// Version of the data that a record's proof covers. Version 1 covers kind and content as format 1 wrote them; for a
/// message in a provider's form, they include every field of the line. Version 2 covers kind and content without the
/// line's own `id`, `at` and `session`.
pub const COVERS: u32 = 2;
/// Minimum length, in bytes, of a body stored as a blob. Shorter bodies stay in their record.
pub const INLINE_MAX: usize = 512;
/// Compression level. Compression is the most expensive part of an import. Level 3 takes 50 % longer and makes a
/// ledger only 5 % smaller (`xtask bench`, 100,000 events).
const ZSTD_LEVEL: i32 = 1;

/// Reason why a record cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The fact cannot be encoded as JSON.
    #[error("the event cannot be written as a record: {0}")]
    Encode(String),
    /// The record is damaged.
    #[error("the record of kind `{kind}` cannot be read: {why}")]
    Decode {
        /// Kind of the record.
        kind: String,
        /// Description of the damage.
        why: String,
    },
    /// A newer version of the program wrote the record.
    #[error("the record has version {0}; this program reads versions up to {VERSION}")]
    TooNew(u32),
    /// The compressed bytes of a body are damaged.
    #[error("a body cannot be unpacked: {0}")]
    Unpack(String),
    /// The checksum of a record or of bytes does not match.
    #[error("{0} is not what was written: its checksum differs")]
    Altered(String),
    /// The caller passed a body's handle instead of its text.
    #[error("a new event must carry its texts; it names the body {0} instead")]
    NamedBody(Handle),
}

thread_local! {
    // Contexts are kept per thread, so that packing many bodies does not allocate a context for each of them.
    static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

const RAW: u8 = 0;
const ZSTD: u8 = 1;

/// Packs bytes as a form byte, the length if the data is compressed, and the data.
#[must_use]
pub fn pack(bytes: &[u8]) -> Vec<u8> {
    let compressed = COMPRESSOR.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = zstd::bulk::Compressor::new(ZSTD_LEVEL).ok();
        }
        slot.as_mut().and_then(|compressor| compressor.compress(bytes).ok())
    });
    match compressed {
        // The header of compressed data has 9 bytes: the form and the length.
        Some(short) if short.len() + 9 < bytes.len() => {
            let mut out = Vec::with_capacity(short.len() + 9);
            out.push(ZSTD);
            out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            out.extend_from_slice(&short);
            out
        }
        _ => {
            let mut out = Vec::with_capacity(bytes.len() + 1);
            out.push(RAW);
            out.extend_from_slice(bytes);
            out
        }
    }
}

/// Unpacks the output of [`pack`].
///
/// # Errors
/// Fails if the bytes are damaged.
pub fn unpack(data: &[u8]) -> Result<Vec<u8>, CodecError> {
    let mut room = Vec::new();
    match unpack_into(data, &mut room)? {
        Some(bytes) => Ok(bytes.to_vec()),
        None => Ok(room),
    }
}

/// Unpacks into `room`, whose memory is reused. Returns uncompressed bytes directly, without a copy.
fn unpack_into<'d>(data: &'d [u8], room: &mut Vec<u8>) -> Result<Option<&'d [u8]>, CodecError> {
    let wrong = |why: &str| CodecError::Unpack(why.to_owned());
    room.clear();
    match data.split_first() {
        Some((&RAW, bytes)) => Ok(Some(bytes)),
        Some((&ZSTD, rest)) => {
            let (len, short) = rest.split_at_checked(8).ok_or_else(|| wrong("it ends early"))?;
            let len = u64::from_le_bytes(len.try_into().map_err(|_| wrong("it ends early"))?);
            // zstd has a maximum compression ratio, so a length beyond that ratio means damage. Without this check,
            // damaged bytes could request a huge allocation.
            if len > (short.len() as u64 + 64).saturating_mul(1 << 16) {
                return Err(wrong("its stated length is impossible"));
            }
            let len = usize::try_from(len).map_err(|_| wrong("it is larger than memory"))?;
            room.try_reserve(len).map_err(|_| wrong("it is larger than memory"))?;
            DECOMPRESSOR.with_borrow_mut(|slot| {
                if slot.is_none() {
                    *slot = zstd::bulk::Decompressor::new().ok();
                }
                let Some(decompressor) = slot.as_mut() else { return Err(wrong("no memory for unpacking")) };
                decompressor.decompress_to_buffer(short, room).map_err(|error| wrong(&error.to_string()))
            })?;
            if room.len() == len { Ok(None) } else { Err(wrong("its length differs from the stated length")) }
        }
        Some((form, _)) => Err(wrong(&format!("unknown form {form}"))),
        None => Err(wrong("it is empty")),
    }
}

/// Unpacks bodies one after another into a reused buffer.
#[derive(Debug, Default)]
pub struct Unpacker(Vec<u8>);

impl Unpacker {
    /// Unpacks a stored body.
    ///
    /// # Errors
    /// Fails if the body is damaged or its hash differs.
    pub fn body<'b>(&'b mut self, key: &[u8; 32], blob: &'b PackedBlob) -> Result<&'b [u8], CodecError> {
        let bytes = unpack_into(&blob.data, &mut self.0)?.unwrap_or(&self.0);
        if body_hash(key, bytes) == blob.hash {
            Ok(bytes)
        } else {
            Err(CodecError::Altered(format!("the body {}", blob.handle)))
        }
    }
}

/// Returns unpacked bytes as text.
///
/// # Errors
/// Fails if the bytes are not UTF-8.
pub fn utf8(bytes: &[u8]) -> Result<&str, CodecError> {
    std::str::from_utf8(bytes).map_err(|_| CodecError::Unpack("it is not UTF-8".to_owned()))
}

/// Unpacks UTF-8 text.
///
/// # Errors
/// Fails if the bytes are damaged or not UTF-8.
pub fn unpack_text(data: &[u8]) -> Result<String, CodecError> {
    String::from_utf8(unpack(data)?).map_err(|_| CodecError::Unpack("it is not UTF-8".to_owned()))
}

/// Returns a checksum of bytes: the first 64 bits of their BLAKE3 hash. The checksum detects damage, not forgery.
#[must_use]
pub fn checksum(parts: &[&[u8]]) -> i64 {
    let mut hasher = blake3::Hasher::new();
    parts.iter().for_each(|part| {
        hasher.update(part);
    });
    i64::from_be_bytes(identity::first(hasher.finalize().as_bytes()))
}

/// Returns the checksum of a record: of its payload and origin, and of the event's time, kind and id. Neither payload nor
/// origin contains a zero byte, because both are JSON, so no other record has the same bytes.
#[must_use]
pub fn record_checksum(payload: &[u8], origin: Option<&[u8]>, id: &EventId, at: Millis, kind: &str) -> i64 {
    let origin = origin.unwrap_or_default();
    checksum(&[payload, origin, &[0], &at.0.to_be_bytes(), kind.as_bytes(), &[0], id.as_str().as_bytes()])
}

/// Returns whether a row is what was written. The checksum of older rows covers payload and origin alone, and is valid,
/// too.
fn is_intact(row: &StoredEvent) -> bool {
    let (Some(stated), Some(payload)) = (row.checksum, &row.payload) else { return true };
    let origin = row.origin.as_deref();
    stated == record_checksum(payload, origin, &row.id, row.at, &row.kind)
        || stated == checksum(&[payload, origin.unwrap_or_default()])
}

/// Packs bytes of a source as a chunk to be stored.
#[must_use]
pub fn pack_chunk(offset: u64, bytes: &[u8]) -> PackedChunk {
    PackedChunk { offset, len: bytes.len() as u64, data: pack(bytes), checksum: checksum(&[bytes]) }
}

/// Returns the bytes of a chunk.
///
/// # Errors
/// Fails if the bytes are damaged or their checksum differs.
pub fn unpack_chunk(chunk: &Chunk) -> Result<Vec<u8>, CodecError> {
    let bytes = unpack(&chunk.data)?;
    match chunk.checksum {
        Some(stated) if stated != checksum(&[&bytes]) => {
            Err(CodecError::Altered(format!("a part of an original, from byte {}", chunk.offset)))
        }
        _ => Ok(bytes),
    }
}

/// Returns the text of a stored body.
///
/// # Errors
/// Fails if the body is damaged or its hash differs.
pub fn unpack_body(key: &[u8; 32], blob: &PackedBlob) -> Result<String, CodecError> {
    let text = unpack_text(&blob.data)?;
    if body_hash(key, text.as_bytes()) == blob.hash {
        Ok(text)
    } else {
        Err(CodecError::Altered(format!("the body {}", blob.handle)))
    }
}

/// Returns an event as it is stored at a position of a stream. Its bodies are stored apart.
#[must_use]
pub fn stored(event: PackedEvent, stream: StreamNo, seq: Seq) -> StoredEvent {
    StoredEvent {
        stream,
        seq,
        id: event.id,
        at: event.at,
        kind: event.kind.to_owned(),
        authors: event.facets.authors,
        lane: event.facets.lane,
        version: VERSION,
        origin: event.origin,
        payload: Some(event.payload),
        proof: Some((event.salt, commitment(&event.salt, &event.content))),
        checksum: Some(event.checksum),
        counts: Vec::new(),
    }
}

/// Returns the value stored in place of a content hash. The value reveals nothing about the content once the salt is
/// erased.
#[must_use]
pub fn commitment(salt: &[u8; 16], content: &[u8; 32]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(salt).update(content);
    *hasher.finalize().as_bytes()
}

/// Packs text as a body to be stored.
#[must_use]
pub fn pack_blob(key: &[u8; 32], text: &str) -> PackedBlob {
    packed(body_hash(key, text.as_bytes()), text)
}

fn packed(hash: [u8; 32], text: &str) -> PackedBlob {
    PackedBlob { handle: handle(&hash), hash, bytes: Bytes(text.len() as u64), data: pack(text.as_bytes()) }
}

/// Prepares an event for storage: hashes its content and moves long bodies into blobs.
///
/// # Errors
/// Fails if the event names bodies by handle instead of containing them.
pub fn pack_event(key: &[u8; 32], salt: [u8; 16], event: NewEvent) -> Result<PackedEvent, CodecError> {
    let NewEvent { id, at, source, mut fact } = event;
    if let Some(handle) = fact.bodies().into_iter().find_map(Body::handle) {
        return Err(CodecError::NamedBody(handle));
    }
    let content = content_hash(&fact)?;
    settle(&mut fact);
    // Texts that a lane records do not count as text of the session. If texts recorded by lanes counted, one lane's
    // summaries would change how far another lane's window looks back.
    let bodies = fact.bodies().into_iter().filter(|_| fact.lane().is_none());
    let text = bodies.map(Body::bytes).sum();
    let facets = super::facets::facets(&id, &fact);
    let mut blobs = Vec::new();
    move_out(key, &mut fact, &mut |blob, text| blobs.push(packed(blob, text)));
    let origin = match source {
        EventSource::Live => None,
        other => Some(json(&other)?),
    };
    let payload = encode(&fact)?;
    let checksum = record_checksum(&payload, origin.as_deref(), &id, at, fact.kind());
    Ok(PackedEvent {
        id,
        at,
        kind: fact.kind(),
        mark: mark(&fact),
        checksum,
        origin,
        payload,
        content,
        salt,
        blobs,
        text,
        facets,
        records: Vec::new(),
    })
}

/// Settles the authors of a message whose caller or record stated none.
pub fn settle(fact: &mut Fact) {
    if let Fact::MessageAppended(said) = fact
        && said.message.authors.is_none()
    {
        author::settle(&mut said.message, None);
    }
}

/// Moves bodies of a fact into blobs: bodies that are read on demand, and all bodies of [`INLINE_MAX`] bytes or more.
pub fn move_out(key: &[u8; 32], fact: &mut Fact, each: &mut dyn FnMut([u8; 32], &str)) {
    let mut out = |body: &mut Body, least: usize| {
        if let Body::Inline(long) = body
            && long.len() >= least
        {
            let hash = body_hash(key, long.as_bytes());
            each(hash, long);
            let (bytes, lines) = (Bytes(long.len() as u64), count_lines(long));
            *body = Body::Blob { blob: handle(&hash), bytes, lines };
        }
    };
    fact.on_demand_mut().into_iter().for_each(|body| out(body, 0));
    // A reduced text must be findable by its handle, so it becomes a blob at any length.
    if let Fact::ContentReduced(reduced) = fact {
        out(&mut reduced.text, 0);
    }
    fact.bodies_mut().into_iter().for_each(|body| out(body, INLINE_MAX));
}

/// Returns the category of a fact.
fn mark(fact: &Fact) -> EventMark {
    match fact {
        Fact::MessageAppended(said) if said.message.is_user_turn() => EventMark::UserTurn,
        Fact::MessageAppended(said)
            if said.message.role == Role::System && said.message.standing.is_sendable() =>
        {
            EventMark::System
        }
        Fact::MessageAppended(_) => EventMark::Plain,
        _ => EventMark::Control,
    }
}

/// Returns the BLAKE3 hash over the kind and content. Gists are excluded because the engine derives them.
///
/// # Errors
/// Fails if the fact cannot be encoded as JSON.
pub fn content_hash(fact: &Fact) -> Result<[u8; 32], CodecError> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(fact.kind().as_bytes()).update(&[0]);
    let bare = without_gists(fact);
    hasher.update(&encode(bare.as_ref().unwrap_or(fact))?);
    Ok(*hasher.finalize().as_bytes())
}

fn without_gists(fact: &Fact) -> Option<Fact> {
    let Fact::MessageAppended(said) = fact else { return None };
    let has_gist = |part: &Part| matches!(part, Part::ToolCall { gist: Some(_), .. });
    if !said.message.parts.iter().any(has_gist) {
        return None;
    }
    let mut bare = said.clone();
    for part in &mut bare.message.parts {
        if let Part::ToolCall { gist, .. } = part {
            *gist = None;
        }
    }
    Some(Fact::MessageAppended(bare))
}

fn json<T: Serialize>(value: &T) -> Result<Vec<u8>, CodecError> {
    serde_json::to_vec(value).map_err(|error| CodecError::Encode(error.to_string()))
}

/// Encodes a fact's fields as stored.
///
/// # Errors
/// Fails if the fact cannot be encoded as JSON.
pub fn encode(fact: &Fact) -> Result<Vec<u8>, CodecError> {
    let mut payload = Vec::with_capacity(128);
    fact.serialize_fields(&mut serde_json::Serializer::new(&mut payload))
        .map_err(|error| CodecError::Encode(error.to_string()))?;
    Ok(payload)
}

/// Decodes a stored record into a fact.
///
/// # Errors
/// Fails if the record is damaged or a newer program wrote it.
pub fn decode(kind: &str, version: u32, payload: &[u8]) -> Result<Fact, CodecError> {
    let damaged = |why: String| CodecError::Decode { kind: kind.to_owned(), why };
    if version > VERSION {
        return Err(CodecError::TooNew(version));
    }
    let mut fields = serde_json::Deserializer::from_slice(payload);
    let fact = Fact::deserialize_fields(kind, &mut fields).map_err(|error| damaged(error.to_string()))?;
    let fact = fact.ok_or_else(|| damaged("the kind is not known".to_owned()))?;
    fields.end().map_err(|error| damaged(error.to_string()))?;
    Ok(fact)
}

/// Returns the model that a stored record names for its whole session; `None` also if the record is damaged.
#[must_use]
pub fn model_of(kind: &str, payload: &[u8]) -> Option<Box<str>> {
    if !matches!(kind, "message.appended" | "usage.measured") {
        return None;
    }
    match decode(kind, VERSION, payload).ok()? {
        Fact::MessageAppended(said) => said.message.model,
        Fact::UsageMeasured(usage) => usage.model,
        _ => None,
    }
}

/// Decodes a stored row into an event.
///
/// # Errors
/// Fails if the record is damaged.
pub fn event(tenant: &TenantId, stream: &StreamId, row: &StoredEvent) -> Result<Event, CodecError> {
    if !is_intact(row) {
        return Err(CodecError::Altered(format!("position {} of `{stream}`", row.seq)));
    }
    let source = match &row.origin {
        None => EventSource::Live,
        Some(bytes) => serde_json::from_slice(bytes)
            .map_err(|error| CodecError::Decode { kind: "source".to_owned(), why: error.to_string() })?,
    };
    let mut fact =
        row.payload.as_deref().map(|payload| decode(&row.kind, row.version, payload)).transpose()?;
    if let Some(Fact::MessageAppended(said)) = &mut fact {
        said.message.authors.clone_from(&row.authors);
    }
    Ok(Event {
        tenant: tenant.clone(),
        stream: stream.clone(),
        seq: row.seq,
        id: row.id.clone(),
        at: row.at,
        source,
        erased: fact.is_none().then(|| Remains::of(row.kind.clone())),
        fact,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_packed_comes_back(bytes in proptest::collection::vec(any::<u8>(), 0..5000), repeat in 1usize..20) {
            let long: Vec<u8> = bytes.iter().copied().cycle().take(bytes.len() * repeat).collect();
            prop_assert_eq!(unpack(&pack(&long)).unwrap(), long);
        }

        #[test]
        fn damaged_bodies_are_errors_not_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = unpack(&bytes);
        }
    }

    #[test]
    fn a_gist_does_not_change_what_an_id_commits_to() {
        let call = |gist: Option<&str>| {
            let part = Part::ToolCall {
                call: "c".into(),
                name: "Bash".into(),
                input: "{}".into(),
                gist: gist.map(Into::into),
                extra: None,
            };
            let message = wunderblock_core::message::Message::new(Role::Assistant, vec![part]);
            Fact::MessageAppended(wunderblock_core::event::MessageAppended { message })
        };
        assert_eq!(content_hash(&call(None)).unwrap(), content_hash(&call(Some("ls"))).unwrap());
    }
}
