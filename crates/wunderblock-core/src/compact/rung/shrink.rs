//! Ladder rung that keeps the head and tail of long texts.

use super::stub::newest_results;
use crate::compact::guard::RungInput;
use crate::form::stub::{WholeText, ends, head, tail};
use crate::lane::pair::Exchange;
use crate::planning::plan::PlanInput;
use crate::planning::{cost, presentation};
use crate::policy::Permille;
use crate::record::decision::PartPosition;
use crate::record::event::ContentReduced;
use crate::record::message::{Body, Part};
use crate::units::{Bytes, Tokens};

/// Shorter texts, each with the position of its part.
pub(in crate::compact) type ShortTexts = Vec<(PartPosition, ContentReduced)>;

/// Returns shorter texts for unprotected tool results that are not among the newest. The rules are those of
/// [`Action::Shrink`](crate::policy::Action::Shrink).
pub(in crate::compact) fn shrink(
    input: RungInput<'_>,
    over: Tokens,
    to: Tokens,
    head: Permille,
    keep: u64,
) -> ShortTexts {
    let ask = input.ask;
    let newest = newest_results(keep, Tokens::ZERO, input);
    let mut reduced = Vec::new();
    for exchange in input.free() {
        for at in presentation::parts(exchange, ask.view) {
            let is_result = |part: &&Part| matches!(part, Part::ToolResult { .. });
            let Some(part) = ask.view.part(at).filter(is_result) else { continue };
            if presentation::shown(at, ask.view.trim(), ask.view).is_some() || at >= newest {
                continue;
            }
            if let Some(text) = shortened(ask, at, over, to, head) {
                reduced.push((at, as_event(at, part, text)));
            }
        }
    }
    reduced
}

/// Returns shorter texts for the largest texts and results of an exchange, so that the exchange takes `excess` fewer
/// tokens; `None` if nothing worth showing would remain. All texts are cut to one length, so that not only the
/// largest is cut. The remaining text may take somewhat more than planned.
pub(in crate::compact) fn cut(
    ask: &PlanInput<'_>,
    exchange: &Exchange,
    excess: Tokens,
) -> Option<ShortTexts> {
    let trim = ask.view.trim();
    let priced = presentation::Priced { trim, view: ask.view, costs: ask.costs };
    let whole = presentation::parts(exchange, ask.view).filter(|at| trim.form_of(*at).is_none());
    let parts = whole.filter_map(|at| Some((at, ask.view.part(at)?)));
    let parts = parts.filter(|(_, part)| matches!(part, Part::Text { .. } | Part::ToolResult { .. }));
    let mut parts: Vec<_> =
        parts.map(|(at, part)| (presentation::cost(at, part, priced, None).tokens, at, part)).collect();
    parts.sort_by_key(|(tokens, at, _)| (std::cmp::Reverse(*tokens), *at));
    let most = level(parts.iter().map(|(tokens, ..)| *tokens), excess).filter(|most| *most >= CUT_LEAST)?;
    let mut reduced = Vec::new();
    for (_, at, part) in parts.into_iter().filter(|(tokens, ..)| *tokens > most) {
        let of = |to: Tokens| {
            let text = shortened(ask, at, to, to, Permille(500))?;
            let now = ask.bodies.of(&text).map_or(most, |text| ask.costs.text(text).tokens);
            Some((text, now))
        };
        let mut cut = of(most)?;
        // The remaining text can be denser than the whole: the second cut corrects for the measured density, with a
        // tenth to spare.
        if cut.1 > most {
            let denser = Tokens(most.0.saturating_mul(most.0) * 9 / 10 / cut.1.0.max(1));
            cut = of(denser).unwrap_or(cut);
        }
        reduced.push((at, as_event(at, part, cut.0)));
    }
    (!reduced.is_empty()).then_some(reduced)
}

/// Returns the length to which the longest texts must be cut so that all together take `excess` fewer tokens.
/// `lengths` must descend.
fn level(lengths: impl Iterator<Item = Tokens>, excess: Tokens) -> Option<Tokens> {
    let mut lengths = lengths.peekable();
    let (mut sum, mut count) = (Tokens::ZERO, 0);
    while let Some(length) = lengths.next() {
        sum += length;
        count += 1;
        let level = Tokens(sum.saturating_sub(excess).0 / count);
        if sum >= excess && lengths.peek().is_none_or(|next| *next <= level) {
            return Some(level);
        }
    }
    None
}

/// Minimum number of tokens in a cut text. A shorter text says no more than its handle.
const CUT_LEAST: Tokens = Tokens(64);

fn as_event(at: PartPosition, part: &Part, text: Body) -> ContentReduced {
    ContentReduced {
        target: at.0,
        part: u32::try_from(at.1).unwrap_or(u32::MAX),
        text,
        reducer: "head-tail".into(),
        bytes_before: texts(part).unwrap_or_default().iter().map(|body| body.bytes()).sum(),
        standing: false,
        lane: None,
        how: None,
    }
}

/// Returns the head and tail of a part's texts if they are shorter; `None` for a part with content that text cannot
/// replace.
fn shortened(
    ask: &PlanInput<'_>,
    at: PartPosition,
    over: Tokens,
    to: Tokens,
    head_part: Permille,
) -> Option<Body> {
    let bodies = texts(ask.view.part(at)?)?;
    let whole: Tokens = bodies.iter().map(|body| cost::text(body, ask.costs).tokens).sum();
    if whole <= over {
        return None;
    }
    let mut texts = Vec::with_capacity(bodies.len());
    for body in &bodies {
        texts.push(ask.bodies.of(body)?);
    }
    let text = texts.join("\n");
    // Assume that the kept text is as dense as the whole.
    let bytes = Bytes(text.len() as u64 * to.0 / whole.0.max(1));
    let front = usize::try_from(bytes.0 * u64::from(head_part.0) / 1_000).unwrap_or(usize::MAX);
    let back = usize::try_from(bytes.0).unwrap_or(usize::MAX).saturating_sub(front);
    // Head and tail together must leave something out.
    if head(&text, front).len() + tail(&text, back).len() >= text.len() {
        return None;
    }
    let only = match bodies.as_slice() {
        [only] => only.handle(),
        _ => None,
    };
    let short = ends(&text, front, back, only.map_or(WholeText::Position(ask.stream, at.0), WholeText::Body));
    (ask.costs.text(&short).tokens < whole).then(|| short.into())
}

/// Returns the texts of a part that one text can replace; `None` if the part has other content. Media are skipped,
/// since they stay alongside the new text.
fn texts(part: &Part) -> Option<Vec<&Body>> {
    let content = match part {
        Part::ToolResult { content, .. } => content.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut texts = Vec::new();
    for inner in content {
        match inner {
            Part::Text { text, .. } => texts.push(text),
            Part::Media { .. } => {}
            _ => return None,
        }
    }
    Some(texts)
}
