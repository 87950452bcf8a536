//! Reports about a request's content and the work done to build it.

use super::compaction::{CompactionReport, DueReport};
use crate::lanes::context::Built;
use crate::request::named::AskedFor;
use crate::request::named::unasked::UnaskedRecall;
use crate::request::steps::draft::Draft;
use crate::request::steps::prefix::CachePlan;
use serde::Serialize;
use wunderblock_core::budget::{BudgetReport, EntryLine, Uncovered};
use wunderblock_core::instruction::Finding;
use wunderblock_core::preamble::{Deferral, Inclusion, PreambleBlock, PreambleChange, ToolBlock};
use wunderblock_core::request::CachePoint;
use wunderblock_core::section::Section;
use wunderblock_core::units::Tokens;
use wunderblock_core::usage::{Calibration, Overhead};

/// Report of a request.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RequestReport {
    /// Use of every token.
    #[serde(flatten)]
    pub budget: BudgetReport,
    /// Messages that neither the request nor a summary in it tells of, by reason.
    pub uncovered: Vec<Uncovered>,
    /// Id of the session.
    pub session: String,
    /// Id of the lane.
    pub lane: String,
    /// Name of the policy that compacts the lane.
    pub policy: String,
    /// Name of the model.
    pub model: String,
    /// Whether the catalog knows the model.
    pub model_known: bool,
    /// Dialect of the request.
    pub dialect: &'static str,
    /// Size of the encoded request in bytes.
    pub encoded_bytes: usize,
    /// BLAKE3 of the encoded request, in hexadecimal.
    pub digest: String,
    /// Latest position that the request was built from.
    pub through: u64,
    /// Position at which the request is recorded, if it is.
    pub recorded: Option<u64>,
    /// Reason for the step that the lane took with this request, if it took one.
    pub step: Option<&'static str>,
    /// Compaction that was made for the request.
    pub compaction: Option<CompactionReport>,
    /// Policy levels that no request in this window can reach, each described in a sentence.
    pub out_of_reach: Vec<String>,
    /// Compaction that is due.
    pub compaction_due: Option<DueReport>,
    /// Whether the request ends with the assistant's message, so that nothing asks for an answer.
    pub ends_with_reply: bool,
    /// Texts that the newest turn asks for by name, and what became of each.
    pub asked: Vec<AskedFor>,
    /// What was recalled without being asked for; null if nothing was searched for.
    pub unasked: Option<UnaskedRecall>,
    /// Parts that the format cannot carry.
    pub dropped: Vec<DroppedReport>,
    /// Texts before the conversation.
    pub blocks: Vec<BlockReport>,
    /// Tools, declared in full or by name only.
    pub tools: Vec<ToolReport>,
    /// Changes to the content before the conversation since the lane's previous request.
    pub changes: Vec<PreambleChange>,
    /// Changes that wait for the lane's next step.
    pub pending: Vec<PreambleChange>,
    /// Notes about the sources.
    pub findings: Vec<Finding>,
    /// Size of the context as its provider last measured it.
    pub anchor: Option<AnchorReport>,
    /// Factor that was applied to our counts.
    pub calibration: Option<Calibration>,
    /// Number of tokens in the system prompt and tools that the recording program added to the session's requests.
    pub overhead: Option<Overhead>,
    /// Expected state of the provider's cache.
    pub cache: CacheReport,
    /// Cost of sending the request, in dollars.
    pub cost_usd: Option<String>,
    /// Cost without a cache, in dollars.
    pub uncached_cost_usd: Option<String>,
    /// Highest warning threshold that the request has passed, in hundredths of the limit.
    pub warned: Option<u8>,
}

/// A part that the format cannot carry.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DroppedReport {
    /// Index of the message, or null for a part outside of messages.
    pub message: Option<usize>,
    /// Index of the part.
    pub part: usize,
    /// Reason why the part was left out.
    pub reason: &'static str,
    /// Description of the part.
    pub what: String,
}

/// A text before the conversation.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct BlockReport {
    /// Section of the text.
    pub section: &'static str,
    /// Name of the text.
    pub name: Box<str>,
    /// Authority of the text.
    pub authority: &'static str,
    /// Level of the text in the hierarchy of instructions.
    pub level: Option<&'static str>,
    /// Reason why the text is in the request.
    pub reason: String,
    /// Digest of its source.
    pub digest: Box<str>,
    /// Number of tokens in the text, or null if the text is not shown.
    pub tokens: Option<u64>,
    /// Whether the text is shown in full.
    pub shown: Inclusion,
    /// Handle for reading the text.
    pub handle: Option<String>,
}

/// A tool that is declared before the conversation.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ToolReport {
    /// Name of the tool.
    pub name: Box<str>,
    /// Tokens of the tool.
    pub tokens: Option<u64>,
    /// Reason why only the name is declared, if that is the case.
    pub deferred: Option<Deferral>,
    /// Whether the tool is declared only because the conversation calls it, not because a caller offered it.
    pub inferred: bool,
}

/// Size of the context as a provider measured it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AnchorReport {
    /// Position of the measurement.
    pub seq: u64,
    /// Model that counted the tokens.
    pub model: String,
    /// Number of tokens that the provider counted.
    pub measured: u64,
    /// Estimated number of tokens added since the measurement.
    pub since: u64,
    /// Sum of measured and estimated tokens.
    pub total: u64,
}

/// Expected state of a provider's cache.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CacheReport {
    /// Points up to which the provider is asked to cache.
    pub points: Vec<CachePoint>,
    /// Minimum number of tokens that the provider caches.
    pub minimum: u64,
    /// Number of leading bytes that equal those of the previous request.
    pub common_bytes: Option<u64>,
    /// Number of the previous request's bytes that this request could have shared.
    pub previous_bytes: Option<u64>,
    /// Number of tokens that should be found in the cache.
    pub expected_tokens: u64,
    /// Whether the cache has expired.
    pub cold: bool,
    /// Cache use that the provider last reported.
    pub recorded: Option<FoundInCache>,
}

/// Cache use that a provider reported.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FoundInCache {
    /// Position of the report.
    pub seq: u64,
    /// Total input tokens.
    pub input: u64,
    /// Number of tokens found in the cache.
    pub cached: u64,
    /// Number of tokens that should have been found in the cache.
    pub expected: Option<u64>,
}

impl RequestReport {
    /// Creates the report of a request.
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
            uncovered: draft.report.uncovered(),
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
            asked: draft.asked.clone(),
            unasked: draft.unasked.clone(),
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
    /// Returns the number of tokens in a text before the conversation, or `None` if the text is not shown.
    #[must_use]
    pub fn tokens_of(&self, block: &PreambleBlock) -> Option<Tokens> {
        // Entries before the conversation have no position, so their section and name identify them.
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
