//! A context of its own: a session of the delegate, kept in memory from its beginning.

use super::handed::{DelegateContext, HandedEntry, Handoff, ParentRequest};
use crate::base::error::Error;
use crate::lanes::context::{Built, build_aside};
use crate::ledger::reading::stored::read_texts;
use crate::ledger::session::Session;
use crate::ledger::texts::Texts;
use crate::request::input::options::ContextOptions;
use crate::request::input::sources::{Given, OfferedTool};
use wunderblock_core::cost;
use wunderblock_core::decision::Injection;
use wunderblock_core::delegate::context::ContextMode;
use wunderblock_core::delegate::tools::ToolPattern;
use wunderblock_core::event::{Fact, SessionOpened};
use wunderblock_core::id::StreamId;
use wunderblock_core::preamble_text::declared;
use wunderblock_core::section::Section;
use wunderblock_core::units::Tokens;

/// Beginning of a delegate's session.
pub(super) struct Start {
    session: Session,
    opened: SessionOpened,
    options: ContextOptions,
    /// See [`DelegateContext::unmatched`].
    pub(super) unmatched: Vec<ToolPattern>,
}

impl Start {
    /// Returns the beginning that a definition and a brief ask for.
    pub(super) fn of(parent: &ParentRequest<'_>, handoff: &Handoff<'_>) -> Result<Self, Error> {
        let session = parent.session.engine().session_by_id(aside_id(parent.session.id())?);
        let opened = SessionOpened { parent: Some(parent.session.id().clone()), ..SessionOpened::default() };
        let mut options = handoff.own.clone();
        options.model = Some(handoff.model.to_owned());
        options.prompt = Some(parent.message.clone());
        let sources = &mut options.sources;
        if sources.tools.is_none() {
            sources.tools = Some(tools_of(parent)).filter(|tools| !tools.is_empty());
        }
        let mut unmatched = Vec::new();
        if let Some(definition) = handoff.definition {
            if !definition.prompt.trim().is_empty() {
                let name = definition.name.to_string();
                let own = Given { name, text: definition.prompt.to_string() };
                sources.system =
                    Some(sources.system.take().unwrap_or_default().into_iter().chain([own]).collect());
            }
            if definition.omits_instructions {
                sources.instructions = None;
            }
            if let Some(tools) = &mut sources.tools {
                let names: Vec<String> = tools.iter().map(|tool| tool.tool.name.to_string()).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let grant = definition.tools.grant(&names);
                if grant.tools.is_empty() {
                    let rules = definition.tools.describe();
                    return Err(Error::Config(format!(
                        "none of the {} tools is left for `{}`, whose tools are {rules}: offer a tool that it may use",
                        names.len(),
                        definition.name
                    )));
                }
                tools.retain(|tool| grant.tools.iter().any(|granted| granted.name == tool.tool.name));
                unmatched = grant.unmatched;
            }
        }
        Ok(Self { session, opened, options, unmatched })
    }

    /// Builds the first request, with texts of the parent.
    pub(super) async fn build(&self, handed: Vec<Injection>) -> Result<Built, Error> {
        let aside = self.session.aside_new();
        aside.append(Fact::SessionOpened(self.opened.clone())).await?;
        build_aside(&aside, ContextOptions { handed, ..self.options.clone() }).await
    }

    /// Builds the first request with the texts of the parent that fit. The first ones are preferred; in the request,
    /// they are in the order of their positions.
    pub(super) async fn with(
        &self,
        mode: ContextMode,
        first: &Built,
        pieces: Vec<Injection>,
    ) -> Result<DelegateContext, Error> {
        let (texts, pieces) = self.texts(pieces).await?;
        let report = &first.draft.report;
        let costs = &first.draft.planned.costs;
        for (handle, text) in texts.iter().filter(|(handle, _)| !costs.knows(*handle)) {
            costs.learn(handle, costs.measure(text));
        }
        let free = Tokens(report.limit.0.saturating_sub(report.total_tokens.0) / 2);
        let mut room = free.min(self.options.shares.most(Section::Recall, report.limit));
        let (mut chosen, mut left_out): (Vec<Injection>, Vec<HandedEntry>) = Default::default();
        for piece in pieces {
            let size = cost::injection(&piece, costs).tokens;
            if size <= room {
                room = room.saturating_sub(size);
                chosen.push(piece);
            } else {
                left_out.push(entry(&piece, size));
            }
        }
        chosen.sort_by_key(|piece| piece.from_seq);
        let built = self.build(chosen.clone()).await?;
        let injected = &built.draft.planned.decision.plan.inject;
        let (handed, more): (Vec<_>, Vec<_>) = chosen.iter().partition(|piece| {
            injected.iter().any(|item| (&item.what, item.from_seq) == (&piece.what, piece.from_seq))
        });
        let size = |piece: &&Injection| entry(piece, cost::injection(piece, costs).tokens);
        left_out.extend(more.iter().map(size));
        let handed = handed.iter().map(size).collect();
        Ok(DelegateContext { handed, left_out, ..DelegateContext::new(mode, built, None) })
    }
}

impl Start {
    /// Loads the texts of pieces, and leaves out pieces whose texts were erased.
    async fn texts(&self, mut pieces: Vec<Injection>) -> Result<(Texts, Vec<Injection>), Error> {
        let handles: Vec<_> = pieces.iter().filter_map(|piece| piece.body.handle()).collect();
        let texts = read_texts(self.session.engine(), handles).await?;
        pieces.retain(|piece| piece.body.handle().is_none_or(|handle| texts.has(handle)));
        Ok((texts, pieces))
    }
}

fn entry(piece: &Injection, tokens: Tokens) -> HandedEntry {
    HandedEntry { seq: piece.from_seq, what: piece.what.clone(), why: piece.why.clone(), tokens }
}

/// Returns the tools that the parent's lane declares.
fn tools_of(parent: &ParentRequest<'_>) -> Vec<OfferedTool> {
    let draft = &parent.built.draft;
    let tools = draft.preamble.iter().flat_map(|preamble| &preamble.tools);
    let offered = |tool: &_| OfferedTool::from(declared(tool, &draft.planned.texts));
    tools.filter(|tool| !tool.inferred && tool.deferred.is_none()).map(offered).collect()
}

/// Returns an id for a delegate's session that is kept in memory.
fn aside_id(parent: &StreamId) -> Result<StreamId, Error> {
    Ok(StreamId::new(format!("{}.delegate", parent.root()))?)
}
