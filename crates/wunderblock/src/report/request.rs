//! What is in a request, and what was done about it.

use super::compaction::{CompactionReport, DueReport};
use crate::context::Built;
use crate::request::draft::Draft;
use crate::request::prefix::CachePlan;
use serde::Serialize;
use wunderblock_core::budget::{BudgetReport, EntryLine};
use wunderblock_core::instruction::Finding;
use wunderblock_core::preamble::{Deferral, Inclusion, PreambleBlock, PreambleChange, ToolBlock};
use wunderblock_core::request::CachePoint;
use wunderblock_core::section::Section;
use wunderblock_core::units::Tokens;
use wunderblock_core::usage::{Calibration, Overhead};

/// The account of a request.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RequestReport {
    /// Where every token went.
    #[serde(flatten)]
    pub budget: BudgetReport,
    /// The session.
    pub session: String,
    /// The lane.
    pub lane: String,
    /// The name of the policy by which it is compacted.
    pub policy: String,
    /// The model.
    pub model: String,
    /// Whether the catalog knows the model.
    pub model_known: bool,
    /// The format.
    pub dialect: &'static str,
    /// Bytes of the encoded request.
    pub encoded_bytes: usize,
    /// Their BLAKE3, hexadecimal.
    pub digest: String,
    /// The newest position it was built from.
    pub through: u64,
    /// Where it is recorded, if it is.
    pub recorded: Option<u64>,
    /// Why the lane took a step with it, if it did.
    pub step: Option<&'static str>,
    /// The compaction that was made for it.
    pub compaction: Option<CompactionReport>,
    /// Levels of the policy that can never fire in this window, each in a sentence.
    pub out_of_reach: Vec<String>,
    /// That a compaction is due.
    pub compaction_due: Option<DueReport>,
    /// Whether it ends with the assistant's words, so that nothing asks for an answer.
    pub ends_with_reply: bool,
    /// What the format could not carry.
    pub dropped: Vec<DroppedReport>,
    /// What stands before the conversation.
    pub blocks: Vec<BlockReport>,
    /// Tools, declared or named.
    pub tools: Vec<ToolReport>,
    /// What of that changed with this request.
    pub changes: Vec<PreambleChange>,
    /// What waits for the lane's next step.
    pub pending: Vec<PreambleChange>,
    /// What is to be known about the sources.
    pub findings: Vec<Finding>,
    /// The size of the context as its provider measured it last.
    pub anchor: Option<AnchorReport>,
    /// What our counts were multiplied by.
    pub calibration: Option<Calibration>,
    /// What the program that made the session's requests added to them.
    pub overhead: Option<Overhead>,
    /// What is expected of the provider's cache.
    pub cache: CacheReport,
    /// What sending it costs, in dollars.
    pub cost_usd: Option<String>,
    /// What it would cost without a cache.
    pub uncached_cost_usd: Option<String>,
    /// The highest threshold it has passed, in hundredths of the limit.
    pub warned: Option<u8>,
}

/// A part that the format could not carry.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DroppedReport {
    /// The message's number; none for what stands outside messages.
    pub message: Option<usize>,
    /// The part's number.
    pub part: usize,
    /// Why.
    pub reason: &'static str,
    /// What it was.
    pub what: String,
}

/// A text that stands before the conversation.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct BlockReport {
    /// Its section.
    pub section: &'static str,
    /// What it is called.
    pub name: Box<str>,
    /// What it weighs.
    pub authority: &'static str,
    /// Its level in the hierarchy of instructions.
    pub level: Option<&'static str>,
    /// Why it is there.
    pub reason: String,
    /// The digest of its source.
    pub digest: Box<str>,
    /// Its tokens; none if it is not shown.
    pub tokens: Option<u64>,
    /// Whether it is shown whole.
    pub shown: Inclusion,
    /// How to read it.
    pub handle: Option<String>,
}

/// A tool that stands before the conversation.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ToolReport {
    /// Its name.
    pub name: Box<str>,
    /// Its tokens.
    pub tokens: Option<u64>,
    /// Why only its name is declared, if so.
    pub deferred: Option<Deferral>,
    /// Whether nobody offered it: it is declared because the conversation calls it.
    pub inferred: bool,
}

/// What a provider measured of the context.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AnchorReport {
    /// Where.
    pub seq: u64,
    /// The model that counted.
    pub model: String,
    /// Its count.
    pub measured: u64,
    /// Our estimate of what has come since.
    pub since: u64,
    /// Both.
    pub total: u64,
}

/// What is expected of a provider's cache.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CacheReport {
    /// Where the provider is told to cache up to.
    pub points: Vec<CachePoint>,
    /// The least number of tokens it caches.
    pub minimum: u64,
    /// Bytes at the beginning that are those of the request before.
    pub common_bytes: Option<u64>,
    /// Bytes of that request that could have been.
    pub previous_bytes: Option<u64>,
    /// Tokens that should be found in the cache.
    pub expected_tokens: u64,
    /// Whether the cache's time is over.
    pub cold: bool,
    /// What the provider found last.
    pub recorded: Option<FoundInCache>,
}

/// What a provider found in its cache.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FoundInCache {
    /// Where it is recorded.
    pub seq: u64,
    /// All tokens it took in.
    pub input: u64,
    /// Those it found in its cache.
    pub cached: u64,
    /// Those it should have found.
    pub expected: Option<u64>,
}

impl RequestReport {
    /// The report of a request.
    #[must_use]
    pub fn new(session: &str, built: &Built) -> Self {
        let draft = &built.draft;
        let preamble = draft.preamble.as_deref();
        let blocks = preamble.into_iter().flat_map(|preamble| &preamble.blocks);
        let tools = preamble.into_iter().flat_map(|preamble| &preamble.tools);
        let dropped = draft.dropped.iter().map(|dropped| DroppedReport {
            message: dropped.message,
            part: dropped.part,
            reason: dropped.reason.label(),
            what: dropped.what.to_string(),
        });
        let anchor = draft.anchor.as_ref().map(|anchor| AnchorReport {
            seq: anchor.seq.0,
            model: anchor.model.to_string(),
            measured: anchor.measured.0,
            since: anchor.since.0,
            total: anchor.total().0,
        });
        Self {
            budget: draft.report.clone(),
            session: session.to_owned(),
            lane: built.draft.lane().to_string(),
            policy: built.draft.policy.clone(),
            model: draft.model.clone(),
            model_known: draft.model_known,
            dialect: draft.dialect.name(),
            encoded_bytes: draft.body.len(),
            digest: draft.digest.clone(),
            through: draft.through.0,
            recorded: built.recorded.map(|seq| seq.0),
            step: draft.step.map(|step| step.label()),
            compaction: built.compacted.as_ref().map(|done| CompactionReport::new(session, done)),
            out_of_reach: built.out_of_reach.iter().map(ToString::to_string).collect(),
            compaction_due: built.due.as_ref().map(DueReport::new),
            ends_with_reply: draft.ends_with_reply,
            dropped: dropped.collect(),
            blocks: blocks.map(|block| BlockReport::new(block, draft)).collect(),
            tools: tools.map(|tool| ToolReport::new(tool, draft)).collect(),
            changes: draft.changes.clone(),
            pending: draft.pending.clone(),
            findings: draft.findings.clone(),
            anchor,
            calibration: draft.calibration,
            overhead: draft.overhead,
            cache: CacheReport::new(&draft.cache),
            cost_usd: draft.cache.cost.map(|cost| cost.to_string()),
            uncached_cost_usd: draft.cache.uncached_cost.map(|cost| cost.to_string()),
            warned: draft.warned,
        }
    }
}

impl Draft {
    /// Tokens of a text that stands before the conversation; none if it is not shown.
    #[must_use]
    pub fn tokens_of(&self, block: &PreambleBlock) -> Option<Tokens> {
        let is_it = |entry: &&EntryLine| {
            entry.seq.is_none() && entry.section == block.section && *entry.what == *block.name
        };
        let entry = self.report.entries.iter().find(is_it);
        entry.filter(|_| block.shown != Inclusion::Out).map(|entry| entry.tokens)
    }
}

impl BlockReport {
    fn new(block: &PreambleBlock, draft: &Draft) -> Self {
        Self {
            section: block.section.name(),
            name: block.name.clone(),
            authority: block.authority.label(),
            level: block.level.map(|level| level.label()),
            reason: block.reason.label().to_string(),
            digest: block.digest.clone(),
            tokens: draft.tokens_of(block).map(|tokens| tokens.0),
            shown: block.shown,
            handle: block.body.as_ref().unwrap_or(&block.text).handle().map(|handle| handle.to_string()),
        }
    }
}

impl ToolReport {
    fn new(tool: &ToolBlock, draft: &Draft) -> Self {
        let name = format!("tool {}", tool.name);
        let is_it = |entry: &&EntryLine| entry.section == Section::Tools && entry.what == name;
        let entry = draft.report.entries.iter().find(is_it);
        Self {
            name: tool.name.clone(),
            tokens: entry.map(|entry| entry.tokens.0),
            deferred: tool.deferred,
            inferred: tool.inferred,
        }
    }
}

impl CacheReport {
    fn new(cache: &CachePlan) -> Self {
        Self {
            points: cache.points.clone(),
            minimum: cache.minimum.0,
            common_bytes: cache.common.map(|(same, _)| same.0),
            previous_bytes: cache.common.map(|(_, all)| all.0),
            expected_tokens: cache.expected.0,
            cold: cache.is_cold,
            recorded: cache.recorded.map(|found| FoundInCache {
                seq: found.seq.0,
                input: found.input.0,
                cached: found.cached.0,
                expected: found.expected.map(|tokens| tokens.0),
            }),
        }
    }
}
