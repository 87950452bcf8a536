//! Rebuilds recorded requests, and compares two of them.

use super::load::load_lane;
use crate::base::error::Error;
use crate::base::future::BoxFuture;
use crate::ledger::engine::Engine;
use crate::ledger::reading::query_batch::{NEWEST, marked};
use crate::ledger::reading::stored::{decode_event, read_more_texts, read_texts};
use crate::ledger::session::Session;
use crate::ledger::texts::Texts;
use crate::limits;
use crate::request::input::lane::LaneChoice;
use crate::request::input::snapshot::LaneWanted;
use crate::request::input::target::Target;
use crate::request::steps::draft;
use crate::rules::token_costs::TokenCosts;
use std::sync::Arc;
use wunderblock_core::event::{ContextBuilt, Fact, ViewTrimmed};
use wunderblock_core::id::LaneId;
use wunderblock_core::message::{Body, Dialect};
use wunderblock_core::ports::Bodies as _;
use wunderblock_core::preamble::PreambleChange;
use wunderblock_core::render::{self, RenderInput, render};
use wunderblock_core::request::Tool;
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
use wunderblock_store::{Answer, Marked};
use wunderblock_wire::Encoded;

/// Request rebuilt from its record.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// Position of the record.
    pub seq: Seq,
    /// Time of the build.
    pub at: Millis,
    /// Lane of the request.
    pub lane: LaneId,
    /// Name of the model.
    pub model: String,
    /// Format of the request.
    pub dialect: Dialect,
    /// Bytes of the request.
    pub body: Vec<u8>,
    /// Number of bytes at the beginning that a later request repeats if that request only adds to this one. Cache
    /// marks are not counted.
    pub stem: Bytes,
    /// BLAKE3 hash of the bytes as recorded, in hexadecimal. The bytes are proved to match this hash unless `erased`
    /// is true.
    pub digest: String,
    /// Whether content of the request has been erased since it was sent, so that the bytes cannot match the sent
    /// ones.
    pub erased: bool,
}

/// Comparison of two requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Number of bytes that are equal at the beginning.
    pub common: u64,
    /// Lengths of both requests in bytes.
    pub lengths: (u64, u64),
    /// Whether the second request only adds to the first, not counting cache marks and closing brackets.
    pub append_only: bool,
    /// Excerpts of both requests around the first difference.
    pub around: (String, String),
    /// Recorded events between the requests that explain the difference, with their positions.
    pub causes: Vec<(Seq, String)>,
}

impl Session {
    /// Rebuilds the latest request recorded at or before a position, and proves that its bytes are the recorded ones.
    ///
    /// # Errors
    /// Returns an error if no request is recorded, or if the rebuilt request differs from the recorded one.
    pub fn replay<'a>(&'a self, at: Option<Seq>) -> BoxFuture<'a, Replayed> {
        Box::pin(async move {
            let to = at.unwrap_or(Seq(i64::MAX.unsigned_abs()));
            let query = marked(&self.engine, &self.id, Marked::Kind("context.built"), to, 1);
            let mut rows = self.engine.ask(query, Answer::events).await?;
            let Some(row) = rows.pop() else { return Err(Error::NoRequest(at.unwrap_or(Seq::START))) };
            let event = decode_event(&self.engine, &self.id, &row)?;
            let Some(Fact::ContextBuilt(built)) = event.fact else {
                return Err(Error::Erased(format!("the record of the request at position {}", row.seq)));
            };
            if built.render > render::VERSION {
                let why = format!("a newer program rendered it: unsupported render version {}", built.render);
                return Err(Error::Replay { at: row.seq, why });
            }
            let (Encoded { bytes: body, stem, .. }, erased) = rebuild_request(self, row.seq, &built).await?;
            let digest = blake3::hash(&body).to_hex().to_string();
            // Erased content may also have been part of a summary in the request.
            let erased = erased || digest != *built.digest && was_erased_after(self, row.seq).await?;
            if digest != *built.digest && !erased {
                let why = format!("its hash is {digest}, expected {}", built.digest);
                return Err(Error::Replay { at: row.seq, why });
            }
            Ok(Replayed {
                seq: row.seq,
                at: event.at,
                lane: built.lane,
                model: built.model.into(),
                dialect: built.dialect,
                body,
                stem: Bytes(stem as u64),
                digest: built.digest.into(),
                erased,
            })
        })
    }

    /// Compares the requests recorded at or before two positions, and finds the causes of their difference.
    ///
    /// # Errors
    /// See [`Session::replay`].
    pub fn diff<'a>(&'a self, first: Seq, second: Seq) -> BoxFuture<'a, (Replayed, Replayed, Difference)> {
        Box::pin(async move {
            let (a, b) = (self.replay(Some(first)).await?, self.replay(Some(second)).await?);
            let mut difference = compare(&a, &b);
            if !difference.append_only {
                difference.causes = find_causes(self, &a, &b).await?;
            }
            Ok((a, b, difference))
        })
    }
}

/// Returns whether anything was erased after a position.
async fn was_erased_after(session: &Session, seq: Seq) -> Result<bool, Error> {
    let query = marked(&session.engine, &session.id, Marked::Kind("content.erased"), NEWEST, 1);
    let rows = session.engine.ask(query, Answer::events).await?;
    Ok(rows.first().is_some_and(|receipt| receipt.seq > seq))
}

async fn rebuild_request(
    session: &Session,
    seq: Seq,
    built: &ContextBuilt,
) -> Result<(Encoded, bool), Error> {
    let engine = &session.engine;
    let wanted = LaneWanted {
        lane: LaneChoice::Named(built.lane.clone()),
        at: Some(seq.prev()),
        text: Bytes(built.budget.window.0.saturating_mul(limits::VIEW_BYTES_PER_TOKEN)),
        // Events recorded after the original load must not use up the text limit, so the view is loaded back to the
        // frontier in any case.
        reach: Some(built.plan.trim.drop_before),
        ignores_steps: false,
        names: false,
    };
    let view = load_lane(engine, &session.id, &wanted).await?.view;
    let needed = render::handles(&view, &built.plan.trim);
    let mut texts = read_texts(engine, needed.iter().copied()).await?;
    let tools = read_tools(engine, built, &mut texts).await?;
    let target = Target::recorded(&engine.config.catalog, built);
    let costs = TokenCosts::new(target.row.counter(), built.dialect, Arc::default());
    let scene = RenderInput {
        stream: engine.stream_handle(&session.id),
        bodies: &texts,
        costs: &costs,
        tools: &tools,
        version: built.render,
    };
    let rendered = render(&view, &built.plan.trim, scene);
    let erased = !texts.missing(needed).is_empty()
        || view.lane().preamble_at() != built.preamble
        || view.erased().next().is_some();
    // The first version of the renderer set no cache marks.
    let points = (built.render > 1).then_some(built.cache.as_slice());
    Ok((draft::bytes(rendered.request, &target, points)?, erased))
}

async fn find_causes(session: &Session, a: &Replayed, b: &Replayed) -> Result<Vec<(Seq, String)>, Error> {
    let mut causes = Vec::new();
    for (what, one, other) in [
        ("another lane", a.lane.to_string(), b.lane.to_string()),
        ("another model", a.model.clone(), b.model.clone()),
        ("another format", a.dialect.name().to_owned(), b.dialect.name().to_owned()),
    ] {
        if one != other {
            causes.push((b.seq, format!("{what}: {one}, then {other}")));
        }
    }
    let (low, high) = (a.seq.min(b.seq), a.seq.max(b.seq));
    let events =
        session.events(low.next(), high, u64::from(u32::MAX), Bytes(i64::MAX.unsigned_abs())).await?;
    for event in events {
        let why = match &event.fact {
            Some(Fact::ViewTrimmed(ViewTrimmed { lane, compaction: Some(done), .. })) if *lane == b.lane => {
                let (before, after) = (done.tokens_before, done.tokens_after);
                let tokens = match before.max(after) {
                    Tokens::ZERO => String::new(),
                    _ => format!(": {before} → {after} tokens"),
                };
                format!("compacted by `{}` ({}){tokens}", done.policy, done.trigger)
            }
            Some(Fact::ViewTrimmed(trimmed)) if trimmed.lane == b.lane => format!(
                "the lane left more out ({}): shown from position {}, verbatim from {}",
                trimmed.reason.label(),
                trimmed.trim.drop_before,
                trimmed.trim.stub_before
            ),
            Some(Fact::PreambleChanged(changed)) if changed.lane == b.lane => {
                preamble_words(&changed.changes)
            }
            Some(Fact::ContentPinned(pin)) => format!("position {} was pinned or unpinned", pin.target),
            Some(Fact::ContentHidden(hide)) => {
                let how = if hide.hidden { "hidden" } else { "shown again" };
                format!("position {} was {how}", hide.target)
            }
            Some(Fact::ContentErased(gone)) => {
                format!("positions {} to {} were erased", gone.from_seq, gone.to_seq)
            }
            _ => continue,
        };
        causes.push((event.seq, why));
    }
    Ok(causes)
}

/// Returns the tools of a recorded request.
async fn read_tools(engine: &Engine, built: &ContextBuilt, texts: &mut Texts) -> Result<Vec<Tool>, Error> {
    let text = match &built.inputs {
        None => return Ok(Vec::new()),
        Some(Body::Inline(text)) => text.clone(),
        Some(Body::Blob { blob, .. }) => {
            read_more_texts(engine, texts, [*blob]).await?;
            texts
                .text(*blob)
                .map(str::to_owned)
                .ok_or_else(|| Error::Erased("the request's tools".to_owned()))?
        }
    };
    serde_json::from_str(&text).map_err(|error| {
        Error::Codec(wunderblock_store::codec::CodecError::Decode {
            kind: "context.built".to_owned(),
            why: error.to_string(),
        })
    })
}

/// Describes the changes of a preamble in words.
fn preamble_words(changes: &[PreambleChange]) -> String {
    let words =
        |change: &PreambleChange| format!("{} {} {}", change.section.name(), change.name, change.how.label());
    let mut list: Vec<String> = changes.iter().take(CHANGES).map(words).collect();
    if changes.len() > CHANGES {
        list.push(format!("and {} more", changes.len() - CHANGES));
    }
    if list.is_empty() {
        list.push("it is the lane's first".to_owned());
    }
    format!("what stands before the conversation changed: {}", list.join(", "))
}

/// Maximum number of preamble changes that a difference names.
const CHANGES: usize = 6;
/// Maximum number of bytes of each request that are shown after the first difference. Half as many bytes are shown
/// before the difference.
const AROUND: usize = 48;

fn compare(first: &Replayed, second: &Replayed) -> Difference {
    let (a, b) = (&first.body, &second.body);
    let common = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let stem = usize::try_from(first.stem.0).unwrap_or(usize::MAX);
    let append_only = wunderblock_wire::continues(a, stem, b);
    let around = |bytes: &[u8]| {
        let from = common.saturating_sub(AROUND / 2);
        let end = (common + AROUND).min(bytes.len());
        String::from_utf8_lossy(bytes.get(from..end).unwrap_or_default()).into_owned()
    };
    Difference {
        common: common as u64,
        lengths: (a.len() as u64, b.len() as u64),
        append_only,
        around: (around(a), around(b)),
        causes: Vec::new(),
    }
}
