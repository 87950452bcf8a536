//! A summary of a parent's conversation, written without a model.

use super::handed::{Handoff, ParentRequest};
use crate::base::error::Error;
use crate::compaction::drive::read_view_texts;
use crate::lanes::context::Built;
use wunderblock_core::authority::Authority;
use wunderblock_core::decision::Injection;
use wunderblock_core::message::Body;
use wunderblock_core::policy::Template;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_summary::{Brief, Detail, Earlier, Material, ReadMaterial, extract};

/// Share of the delegate's limit that the summary may take, in percent.
const SHARE: u64 = 10;
/// Minimum and maximum of that room, in tokens.
const ROOM: (u64, u64) = (500, 4_000);

/// Returns a summary of what the parent's lane shows: its summaries, and the entries after them. `None` if there is
/// nothing to say. The goal of the brief steers the selection.
pub(super) async fn write(
    parent: &ParentRequest<'_>,
    handoff: &Handoff<'_>,
    first: &Built,
) -> Result<Option<Injection>, Error> {
    let planned = &parent.built.draft.planned;
    let view = &planned.decision.view;
    let mut texts = planned.texts.clone();
    read_view_texts(parent.session.engine(), view, &mut texts).await?;
    let earlier: Vec<Earlier<'_>> = view.nodes().filter_map(|node| Earlier::of(node, &texts)).collect();
    let summarised = earlier.iter().map(|node| node.to).max().unwrap_or(Seq::START);
    let is_said = |seq: Seq| seq > summarised && !view.hidden().contains(&seq) && !view.lane().is_ours(seq);
    let entries: Vec<_> = view.entries().filter(|entry| is_said(entry.seq)).collect();
    let bounds = earlier.iter().map(|node| node.from).chain(entries.iter().map(|entry| entry.seq));
    let Some(from) = bounds.min() else { return Ok(None) };
    let to = view.head();
    let redactor = &parent.session.engine().config.redactor;
    let material = Material { from, to, entries, bodies: &texts, earlier, redactor };
    let room = first.draft.report.limit.0 * SHARE / 100;
    let most = Tokens(room.clamp(ROOM.0, ROOM.1));
    let compactor = handoff.parent.compactor.as_ref();
    let usual = Template::default();
    let brief = Brief {
        template: compactor.map_or(&usual, |compactor| &compactor.policy.summary.template),
        target: Tokens(most.0 * 3 / 4),
        most,
        focus: Some(&handoff.brief.goal),
        detail: Detail::Full,
    };
    let text = extract(&ReadMaterial::of(&material), &brief, &first.draft.planned.costs).text;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let stream = parent.session.info().await?.handle;
    Ok(Some(Injection {
        section: Section::Recall,
        authority: Authority::Data,
        from_stream: Some(parent.session.id().clone()),
        from_seq: Seq::START,
        body: Body::Inline(format!("{}\n#N is a position, read as {stream}#N.", text.trim_end())),
        what: format!("summary of positions {from}–{to}").into(),
        why: "what your agent knows".into(),
        part_of: None,
    }))
}
