//! Compares a request's beginning with the lane's previous request, and estimates what the provider's cache saves.
//!
//! A provider caches the beginning of a request. Whether two requests begin alike is measured, not assumed: a build
//! records digests of its beginning at several places, and the next build hashes its own bytes up to the same places.

use crate::request::input::snapshot::Snapshot;
use crate::request::input::target::Target;
use crate::rules::catalog::{BilledTokens, CacheMode, CacheRule, MicroDollars};
use wunderblock_core::event::{ContextBuilt, Stem, UsageMeasured};
use wunderblock_core::request::CachePoint;
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
use wunderblock_wire::{Encoded, without_marks};

/// Approximate number of places at which digests of a beginning are recorded.
const MARKS: usize = 16;
/// Number of blocks that Anthropic searches back from a cache mark for a cached beginning. Source: "Prompt caching",
/// lookback window.
const LOOKBACK: u64 = 20;

/// Expected cache hits of a request, and its cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CachePlan {
    /// Places up to which the provider is asked to cache.
    pub points: Vec<CachePoint>,
    /// Minimum number of tokens that the provider caches.
    pub minimum: Tokens,
    /// Number of bytes of the previous request's beginning that this request repeats, and number of bytes that it
    /// could repeat. Cache marks are not counted. `None` if there is no previous request.
    pub common: Option<(Bytes, Bytes)>,
    /// Number of tokens that the provider should find in its cache.
    pub expected: Tokens,
    /// Whether the cache has expired since the previous request, so that no hits are expected.
    pub is_cold: bool,
    /// Cache hits according to the provider's latest report.
    pub recorded: Option<ReportedCache>,
    /// Cost of sending the request, without the answer. `None` if the price is unknown.
    pub cost: Option<MicroDollars>,
    /// Cost if nothing were cached.
    pub uncached_cost: Option<MicroDollars>,
}

/// Cache hits that a provider reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedCache {
    /// Position of the report.
    pub seq: Seq,
    /// Total input tokens.
    pub input: Tokens,
    /// Input tokens found in the cache.
    pub cached: Tokens,
    /// Tokens that should have been found in the cache, namely those of the previous request and its answer,
    /// according to the provider's report. `None` if there is no such report.
    pub expected: Option<Tokens>,
}

/// Previous request of the lane: time of its build, and its record.
type Before<'a> = Option<(Millis, &'a ContextBuilt)>;

/// Returns digests of a request's beginning at about [`MARKS`] places.
pub(in crate::request) fn stem(encoded: &Encoded) -> Stem {
    let bytes = without_marks(encoded.bytes.get(..encoded.stem).unwrap_or_default());
    let stride = (bytes.len() / MARKS).next_power_of_two().max(256);
    let mut hasher = blake3::Hasher::new();
    let mut marks = Vec::with_capacity(MARKS + 2);
    let mut at = 0;
    for chunk in bytes.chunks(stride) {
        hasher.update(chunk);
        at += chunk.len();
        marks.push((Bytes(at as u64), short(&hasher)));
    }
    // Thinking in the reply is bound to exactly the bytes before the reply, so a separate digest is taken at their
    // end.
    let asked = without_marks(encoded.bytes.get(..encoded.asked).unwrap_or_default());
    Stem { blocks: encoded.blocks, marks, asked: Some(digest(&asked)) }
}

/// Returns the length and the digest of a request's beginning.
pub(in crate::request) fn digest(beginning: &[u8]) -> (Bytes, Box<str>) {
    let mut hasher = blake3::Hasher::new();
    hasher.update(beginning);
    (Bytes(beginning.len() as u64), short(&hasher))
}

fn short(hasher: &blake3::Hasher) -> Box<str> {
    hasher.finalize().to_hex().chars().take(16).collect::<String>().into()
}

/// Returns the number of bytes of the previous request's beginning that a request repeats. The number is rounded down
/// to a recorded place, and is exact if the whole stem is repeated.
pub(in crate::request) fn common(bytes: &[u8], before: &Stem) -> Bytes {
    let bytes = without_marks(bytes);
    let mut hasher = blake3::Hasher::new();
    let mut same = Bytes::ZERO;
    for (end, digest) in &before.marks {
        let range = usize::try_from(same.0).ok().zip(usize::try_from(end.0).ok());
        let Some(chunk) = range.and_then(|(from, to)| bytes.get(from..to)) else { break };
        hasher.update(chunk);
        if short(&hasher) != *digest {
            break;
        }
        same = *end;
    }
    same
}

/// Size of a request.
pub(in crate::request) struct RequestSize {
    /// Number of parts in the request's messages.
    pub(in crate::request) blocks: u64,
    pub(in crate::request) tokens: Tokens,
}

/// Returns the places up to which a provider is asked to cache, if the provider needs explicit marks.
pub(in crate::request) fn points(
    target: &Target,
    preamble: &[CachePoint],
    size: &RequestSize,
    before: Before<'_>,
) -> Vec<CachePoint> {
    let RequestSize { blocks, tokens } = *size;
    let rule = &target.row.cache;
    if rule.mode != CacheMode::Explicit || tokens < rule.minimum {
        return Vec::new();
    }
    let mut points = preamble.to_vec();
    // The lookback window from the end of this request does not reach the end of the previous one, so a mark is set
    // there.
    let last = before.and_then(|(_, built)| built.stem.as_ref()).map(|stem| stem.blocks);
    if let Some(last) = last.filter(|last| *last > 0 && blocks > last + LOOKBACK)
        && let Ok(block) = usize::try_from(last - 1)
    {
        points.push(CachePoint::Block(block));
    }
    points.push(CachePoint::End);
    points
}

/// Returns the expected cache hits and the cost of a request.
pub(in crate::request) fn plan(
    target: &Target,
    encoded: &Encoded,
    total: Tokens,
    snapshot: &Snapshot,
    now: Millis,
) -> CachePlan {
    let rule = target.row.cache;
    let before = snapshot.before();
    let alike = before.filter(|(_, built)| built.dialect == target.dialect && *built.model == *target.model);
    let stem = alike.and_then(|(_, built)| built.stem.as_ref());
    let common = stem.map(|stem| (common(&encoded.bytes, stem), stem.bytes()));
    let is_cold = alike.is_some_and(|(at, _)| now.0.saturating_sub(at.0) > rule.lifetime.0);
    // The repeated share of bytes is applied to the tokens of the previous request.
    let again = match (alike, common) {
        (Some((_, built)), Some((same, all))) if all > Bytes::ZERO => Tokens(
            u64::try_from(u128::from(built.total_tokens.0) * u128::from(same.0) / u128::from(all.0))
                .unwrap_or(u64::MAX),
        ),
        _ => Tokens::ZERO,
    };
    let expected = if is_cold { Tokens::ZERO } else { cached(&rule, again, total) };
    let price = target.row.price_at(now);
    let spent = billed(&rule, expected, total);
    let plain = BilledTokens { input: total, ..BilledTokens::default() };
    CachePlan {
        points: Vec::new(),
        minimum: rule.minimum,
        common,
        expected,
        is_cold,
        recorded: recorded(&snapshot.reports),
        cost: price.map(|price| price.cost(spent)),
        uncached_cost: price.map(|price| price.cost(plain)),
    }
}

/// Returns the number of tokens that a provider finds in its cache. `again` is the number of leading tokens that a
/// cached request shares.
pub(crate) fn cached(rule: &CacheRule, again: Tokens, total: Tokens) -> Tokens {
    let stepped = Tokens(again.0 - again.0 % rule.step.0.max(1));
    let is_cached = rule.mode != CacheMode::None && stepped >= rule.minimum;
    if is_cached { stepped.min(total) } else { Tokens::ZERO }
}

/// Returns how a request with a given number of cached tokens is billed, not counting its answer.
pub(crate) fn billed(rule: &CacheRule, cached: Tokens, total: Tokens) -> BilledTokens {
    let fresh = total.saturating_sub(cached);
    let writes = rule.mode != CacheMode::None && total >= rule.minimum;
    BilledTokens {
        input: if writes { Tokens::ZERO } else { fresh },
        cache_read: cached,
        cache_write: if writes { fresh } else { Tokens::ZERO },
        output: Tokens::ZERO,
    }
}

/// Returns the latest report, with the expectation that follows from the report before it.
fn recorded(usage: &[(Seq, UsageMeasured)]) -> Option<ReportedCache> {
    let taken_in = |usage: &UsageMeasured| usage.input + usage.cache_read + usage.cache_write;
    let (seq, newest) = usage.last()?;
    let before = usage
        .iter()
        .rev()
        .skip(1)
        .find(|(_, other)| other.api_id != newest.api_id || newest.api_id.is_none());
    let alike = before.filter(|(_, other)| other.model == newest.model);
    Some(ReportedCache {
        seq: *seq,
        input: taken_in(newest),
        cached: newest.cache_read,
        expected: alike.map(|(_, other)| taken_in(other)),
    })
}
