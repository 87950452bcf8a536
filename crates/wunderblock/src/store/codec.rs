//! Between facts and stored records: encoding, commitments, moving bodies into blobs and back.
//!
//! A record is the JSON of a fact's fields, under the fact's kind and a version. JSON, because the ledger has to be
//! readable in twenty years with nothing but a SQLite shell; bodies of [`INLINE_MAX`] bytes and more stand beside it as
//! compressed blobs. What a caller's id commits to is the content, bodies included, whatever was moved where.

use crate::store::row::{Chunk, StoredEvent};
use crate::store::write::{EventMark, Facets, PackedBlob, PackedChunk, PackedEvent};
use serde::Serialize;
use std::cell::RefCell;
use wunderblock_core::event::{Event, EventSource, Fact, NewEvent, Remains};
use wunderblock_core::id::{Handle, StreamId, TenantId};
use wunderblock_core::message::{Body, MessageOrigin, Part, Role, count_lines};
use wunderblock_core::units::Bytes;

/// The version of the records this program writes. It reads this one and all before it.
pub const VERSION: u32 = 1;
/// The version of what a record's proof is made over. 1: kind and content, as format 1 wrote it; of a message in a
/// provider's form that is every field of the line. 2: kind and content, without the line's own `id`, `at` and `session`.
pub const COVERS: u32 = 2;
/// Bodies shorter than this stay in their record.
pub const INLINE_MAX: usize = 512;
/// Compressing is the largest part of an import's work. Level 3 takes half as long again and makes a ledger 5 % smaller
/// (`xtask bench`, 100,000 events).
const ZSTD_LEVEL: i32 = 1;

/// Why a record cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The fact cannot be written as JSON.
    #[error("the event cannot be written as a record: {0}")]
    Encode(String),
    /// The record is damaged.
    #[error("the record of kind `{kind}` cannot be read: {why}")]
    Decode {
        /// Its kind.
        kind: String,
        /// What is wrong.
        why: String,
    },
    /// Written by a newer program.
    #[error("the record has version {0}; this program reads versions up to {VERSION}")]
    TooNew(u32),
    /// A body's compressed bytes are damaged.
    #[error("a body cannot be unpacked: {0}")]
    Unpack(String),
    /// The record or bytes are not what was written.
    #[error("{0} is not what was written: its checksum differs")]
    Altered(String),
    /// The caller named a body instead of giving it.
    #[error("a new event must carry its texts; it names the body {0} instead")]
    NamedBody(Handle),
}

thread_local! {
    static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

const RAW: u8 = 0;
const ZSTD: u8 = 1;

/// Packs bytes: a form byte, and for compressed ones the length, before them.
#[must_use]
pub fn pack(bytes: &[u8]) -> Vec<u8> {
    let compressed = COMPRESSOR.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = zstd::bulk::Compressor::new(ZSTD_LEVEL).ok();
        }
        slot.as_mut().and_then(|compressor| compressor.compress(bytes).ok())
    });
    match compressed {
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

/// Unpacks what [`pack`] packed.
///
/// # Errors
/// When the bytes are damaged.
pub fn unpack(data: &[u8]) -> Result<Vec<u8>, CodecError> {
    let mut room = Vec::new();
    match unpack_into(data, &mut room)? {
        Some(bytes) => Ok(bytes.to_vec()),
        None => Ok(room),
    }
}

/// Unpacks into `room`, whose memory is used again; bytes that were never compressed are answered as they stand.
fn unpack_into<'d>(data: &'d [u8], room: &mut Vec<u8>) -> Result<Option<&'d [u8]>, CodecError> {
    let wrong = |why: &str| CodecError::Unpack(why.to_owned());
    room.clear();
    match data.split_first() {
        Some((&RAW, bytes)) => Ok(Some(bytes)),
        Some((&ZSTD, rest)) => {
            let (len, short) = rest.split_at_checked(8).ok_or_else(|| wrong("it ends early"))?;
            let len = u64::from_le_bytes(len.try_into().map_err(|_| wrong("it ends early"))?);
            // zstd's own ratio has a ceiling; a length beyond it was not written by us.
            if len > (short.len() as u64 + 64).saturating_mul(1 << 16) {
                return Err(wrong("the length it states cannot be true"));
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
            if room.len() == len { Ok(None) } else { Err(wrong("its length is not what it states")) }
        }
        Some((form, _)) => Err(wrong(&format!("unknown form {form}"))),
        None => Err(wrong("it is empty")),
    }
}

/// Unpacks one body after the other without asking for memory each time.
#[derive(Debug, Default)]
pub struct Unpacker(Vec<u8>);

impl Unpacker {
    /// Unpacks what [`pack`] packed.
    ///
    /// # Errors
    /// When the bytes are damaged.
    pub fn bytes<'b>(&'b mut self, data: &'b [u8]) -> Result<&'b [u8], CodecError> {
        Ok(unpack_into(data, &mut self.0)?.unwrap_or(&self.0))
    }
}

/// Unpacks a text.
///
/// # Errors
/// When the bytes are damaged or not UTF-8.
pub fn unpack_text(data: &[u8]) -> Result<String, CodecError> {
    String::from_utf8(unpack(data)?).map_err(|_| CodecError::Unpack("it is not UTF-8".to_owned()))
}

/// The checksum of bytes: the first 64 bits of their BLAKE3. It finds damage, not forgery.
#[must_use]
pub fn checksum(parts: &[&[u8]]) -> i64 {
    let mut hasher = blake3::Hasher::new();
    parts.iter().for_each(|part| {
        hasher.update(part);
    });
    i64::from_be_bytes(first(hasher.finalize().as_bytes()))
}

fn first(hash: &[u8; 32]) -> [u8; 8] {
    std::array::from_fn(|index| hash.get(index).copied().unwrap_or_default())
}

/// A hash of a transcript record's own id, by which it is found in any session. Even: see [`nameless_key`].
#[must_use]
pub fn record_key(id: &str) -> i64 {
    checksum(&[id.as_bytes()]) & !1
}

/// By what a record without an id is found in any session: a hash of its offset and its content, keyed with the tenant's
/// key. Odd, so that a store can tell it from a hash of an id: it is forgotten with the content.
#[must_use]
pub fn nameless_key(key: &[u8; 32], offset: u64, content: &[u8; 32]) -> i64 {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(b"record").update(&offset.to_be_bytes()).update(content);
    i64::from_be_bytes(first(hasher.finalize().as_bytes())) | 1
}

/// Whether a record's hash is one of [`nameless_key`].
#[must_use]
pub fn is_nameless(record: i64) -> bool {
    record & 1 == 1
}

/// By what a record without an id is found whose content was erased: its place and length, and nothing of what it said.
#[must_use]
pub fn erased_key(offset: u64, len: u64) -> i64 {
    record_key(&format!("\0{offset}+{len}"))
}

/// Bytes of a source as a stored chunk.
#[must_use]
pub fn pack_chunk(offset: u64, bytes: &[u8]) -> PackedChunk {
    PackedChunk { offset, len: bytes.len() as u64, data: pack(bytes), checksum: checksum(&[bytes]) }
}

/// The bytes of a chunk.
///
/// # Errors
/// When they are damaged or not what was written.
pub fn unpack_chunk(chunk: &Chunk) -> Result<Vec<u8>, CodecError> {
    let bytes = unpack(&chunk.data)?;
    match chunk.checksum {
        Some(stated) if stated != checksum(&[&bytes]) => {
            Err(CodecError::Altered(format!("a part of an original, from byte {}", chunk.offset)))
        }
        _ => Ok(bytes),
    }
}

/// The text of a stored body.
///
/// # Errors
/// When it is damaged or not what was written.
pub fn unpack_body(key: &[u8; 32], blob: &PackedBlob) -> Result<String, CodecError> {
    let text = unpack_text(&blob.data)?;
    if body_hash(key, text.as_bytes()) == blob.hash {
        Ok(text)
    } else {
        Err(CodecError::Altered(format!("the body {}", blob.handle)))
    }
}

/// The handle of a source's revision.
#[must_use]
pub fn revision_handle(key: &[u8; 32], source: Handle, revision: u32) -> Handle {
    name_handle(key, "revision", &format!("{source}:{revision}"))
}

/// The tenant-keyed hash of a body.
#[must_use]
pub fn body_hash(key: &[u8; 32], text: &[u8]) -> [u8; 32] {
    *blake3::keyed_hash(key, text).as_bytes()
}

/// The handle of a name that is no body: streams and sources. `domain` keeps the two apart.
#[must_use]
pub fn name_handle(key: &[u8; 32], domain: &str, name: &str) -> Handle {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(domain.as_bytes()).update(&[0]).update(name.as_bytes());
    handle(hasher.finalize().as_bytes())
}

/// The handle of a hash: its first 64 bits.
#[must_use]
pub fn handle(hash: &[u8; 32]) -> Handle {
    Handle(u64::from_be_bytes(first(hash)))
}

/// What is stored in place of a content hash: it tells nothing once the salt is gone.
#[must_use]
pub fn commitment(salt: &[u8; 16], content: &[u8; 32]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(salt).update(content);
    *hasher.finalize().as_bytes()
}

/// A text as a stored body.
#[must_use]
pub fn pack_blob(key: &[u8; 32], text: &str) -> PackedBlob {
    packed(body_hash(key, text.as_bytes()), text)
}

fn packed(hash: [u8; 32], text: &str) -> PackedBlob {
    PackedBlob { handle: handle(&hash), hash, bytes: Bytes(text.len() as u64), data: pack(text.as_bytes()) }
}

/// Makes an event ready to be stored: its content hashed, its long bodies moved into blobs.
///
/// # Errors
/// When it names bodies instead of carrying them.
pub fn pack_event(key: &[u8; 32], salt: [u8; 16], event: NewEvent) -> Result<PackedEvent, CodecError> {
    let NewEvent { id, at, source, mut fact } = event;
    if let Some(handle) = fact.bodies().into_iter().find_map(Body::handle) {
        return Err(CodecError::NamedBody(handle));
    }
    let content = content_hash(&fact)?;
    // What a lane records is no text of the session: how far a window looks back must not depend on other lanes.
    let bodies = fact.bodies().into_iter().filter(|_| fact.lane().is_none());
    let text = bodies.map(Body::bytes).sum();
    let facets = facets(&fact);
    let mut blobs = Vec::new();
    move_out(key, &mut fact, &mut |blob, text| blobs.push(packed(blob, text)));
    let origin = match source {
        EventSource::Live => None,
        other => Some(json(&other)?),
    };
    let payload = encode(&fact)?;
    Ok(PackedEvent {
        id,
        at,
        kind: fact.kind(),
        mark: mark(&fact),
        checksum: checksum(&[&payload, origin.as_deref().unwrap_or_default()]),
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

/// What a fact can be filtered by. What stands beside the conversation has no role in it.
fn facets(fact: &Fact) -> Facets {
    let Fact::MessageAppended(said) = fact else {
        return Facets { lane: fact.lane().cloned(), ..Facets::default() };
    };
    let message = &said.message;
    let call = message.parts.iter().find_map(|part| match part {
        Part::ToolCall { name, input, .. } => Some((name.clone(), input.inline().and_then(path_of))),
        _ => None,
    });
    let (tool, path) = call.unzip();
    let role = (!matches!(message.standing, MessageOrigin::Aside(_))).then_some(message.role);
    Facets { role, tool, path: path.flatten(), lane: None }
}

/// The file that a tool call is about, by the names agents give that argument.
fn path_of(input: &str) -> Option<Box<str>> {
    #[derive(serde::Deserialize)]
    struct Input {
        #[serde(alias = "path", alias = "notebook_path", alias = "filePath", alias = "absolute_path")]
        file_path: Option<Box<str>>,
    }
    serde_json::from_str::<Input>(input).ok()?.file_path
}

/// Moves bodies out of a fact as they will stand beside its record: those that are read on demand, and all of
/// [`INLINE_MAX`] bytes and more.
pub(crate) fn move_out(key: &[u8; 32], fact: &mut Fact, each: &mut dyn FnMut([u8; 32], &str)) {
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
    // A text that was shown is found by its handle, however short it is.
    if let Fact::ContentReduced(reduced) = fact {
        out(&mut reduced.text, 0);
    }
    fact.bodies_mut().into_iter().for_each(|body| out(body, INLINE_MAX));
}

/// What a store must know of a fact.
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

/// BLAKE3 over kind and content. What the engine derives (gists) is not part of it.
///
/// # Errors
/// When the fact cannot be written as JSON.
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

/// A fact's fields as stored.
///
/// # Errors
/// When the fact cannot be written as JSON.
pub fn encode(fact: &Fact) -> Result<Vec<u8>, CodecError> {
    let mut payload = Vec::with_capacity(128);
    fact.serialize_fields(&mut serde_json::Serializer::new(&mut payload))
        .map_err(|error| CodecError::Encode(error.to_string()))?;
    Ok(payload)
}

/// A stored record as a fact.
///
/// # Errors
/// When it is damaged, or written by a newer program.
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

/// A stored row as an event.
///
/// # Errors
/// When the record is damaged.
pub fn event(tenant: &TenantId, stream: &StreamId, row: &StoredEvent) -> Result<Event, CodecError> {
    if let (Some(stated), Some(payload)) = (row.checksum, &row.payload)
        && stated != checksum(&[payload, row.origin.as_deref().unwrap_or_default()])
    {
        return Err(CodecError::Altered(format!("position {} of `{stream}`", row.seq)));
    }
    let source = match &row.origin {
        None => EventSource::Live,
        Some(bytes) => serde_json::from_slice(bytes)
            .map_err(|error| CodecError::Decode { kind: "source".to_owned(), why: error.to_string() })?,
    };
    let fact = row.payload.as_deref().map(|payload| decode(&row.kind, row.version, payload)).transpose()?;
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
