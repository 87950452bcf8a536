//! What a request has in common with the one before, and what that is worth.
//!
//! A provider caches a request's beginning. Whether two requests begin alike is measured, not believed: a build records
//! digests of its own beginning at some places, and the next build hashes its own bytes up to the same places.

use super::snapshot::Snapshot;
use super::target::Target;
use crate::catalog::{BilledTokens, CacheMode, CacheRule, MicroDollars};
use wunderblock_core::event::{ContextBuilt, Stem, UsageMeasured};
use wunderblock_core::request::CachePoint;
use wunderblock_core::units::{Bytes, Millis, Seq, Tokens};
use wunderblock_wire::{Encoded, without_marks};

/// About so many places of a beginning are recorded.
const MARKS: usize = 16;
/// Anthropic looks so many blocks back from a mark for a beginning it has cached ("Prompt caching": lookback window).
const LOOKBACK: u64 = 20;

/// What is expected of the provider's cache for a request, and what the request costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CachePlan {
    /// Where the provider is told to cache up to.
    pub points: Vec<CachePoint>,
    /// The least number of tokens it caches.
    pub minimum: Tokens,
    /// How many bytes of the beginning are those of the lane's request before, marks aside, and how many bytes of that one
    /// could have been; none if there was none.
    pub common: Option<(Bytes, Bytes)>,
    /// How many tokens the provider should find in its cache.
    pub expected: Tokens,
    /// Too much time has passed since the request before: nothing is expected.
    pub is_cold: bool,
    /// What the provider found in its cache, by its newest report.
    pub recorded: Option<ReportedCache>,
    /// What sending the request costs, the answer not counted; none if no price is known.
    pub cost: Option<MicroDollars>,
    /// What it would cost if nothing were cached.
    pub uncached_cost: Option<MicroDollars>,
}

/// What a provider reported of its cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedCache {
    /// Where.
    pub seq: Seq,
    /// All it took in.
    pub input: Tokens,
    /// What of that it found in its cache.
    pub cached: Tokens,
    /// What it should have found: the request and the answer before, by its own report; none if there is no such report.
    pub expected: Option<Tokens>,
}

/// The lane's request before: when it was built, and its record.
type Before<'a> = Option<(Millis, &'a ContextBuilt)>;

/// Digests of a request's beginning.
pub(super) fn stem(encoded: &Encoded) -> Stem {
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
    let asked = without_marks(encoded.bytes.get(..encoded.asked).unwrap_or_default());
    Stem { blocks: encoded.blocks, marks, asked: Some(digest(&asked)) }
}

/// How long a beginning is, and the digest of it.
pub(super) fn digest(beginning: &[u8]) -> (Bytes, Box<str>) {
    let mut hasher = blake3::Hasher::new();
    hasher.update(beginning);
    (Bytes(beginning.len() as u64), short(&hasher))
}

fn short(hasher: &blake3::Hasher) -> Box<str> {
    hasher.finalize().to_hex().chars().take(16).collect::<String>().into()
}

/// How many bytes at the beginning are those of the request before: at least so many, exactly if it is all of its stem.
pub(super) fn common(bytes: &[u8], before: &Stem) -> Bytes {
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

/// How large a request is.
pub(super) struct RequestSize {
    /// Parts of its messages.
    pub(super) blocks: u64,
    pub(super) tokens: Tokens,
}

/// Where a provider that wants to be told is told to cache up to.
pub(super) fn points(
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
    // From the end it would not find what was cached last: it is told where that ended.
    let last = before.and_then(|(_, built)| built.stem.as_ref()).map(|stem| stem.blocks);
    if let Some(last) = last.filter(|last| *last > 0 && blocks > last + LOOKBACK)
        && let Ok(block) = usize::try_from(last - 1)
    {
        points.push(CachePoint::Block(block));
    }
    points.push(CachePoint::End);
    points
}

/// What is expected of the cache, and what the request costs.
pub(super) fn plan(
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

/// How many tokens of a request a provider finds in its cache, where the request begins with `again` tokens of one that is
/// still there.
pub(crate) fn cached(rule: &CacheRule, again: Tokens, total: Tokens) -> Tokens {
    let stepped = Tokens(again.0 - again.0 % rule.step.0.max(1));
    let is_cached = rule.mode != CacheMode::None && stepped >= rule.minimum;
    if is_cached { stepped.min(total) } else { Tokens::ZERO }
}

/// How a request is billed of which so many tokens are in the cache, its answer not counted.
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

/// The newest report, beside the one before it.
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
