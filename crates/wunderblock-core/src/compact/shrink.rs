//! The rung that keeps head and tail of long texts.

use super::guard::RungInput;
use super::stub::newest_results;
use crate::cost;
use crate::decision::PartPosition;
use crate::event::ContentReduced;
use crate::message::{Body, Part};
use crate::plan::PlanInput;
use crate::policy::Permille;
use crate::stub::{ends, head, tail};
use crate::units::{Bytes, Tokens};

/// Shorter texts for what is not protected and not among the newest results. The rules are those of
/// [`Action::Shrink`](crate::policy::Action::Shrink).
pub(super) fn shrink(
    input: RungInput<'_>,
    over: Tokens,
    to: Tokens,
    head: Permille,
    keep: u64,
) -> Vec<(PartPosition, ContentReduced)> {
    let ask = input.ask;
    let newest = newest_results(keep, Tokens::ZERO, input);
    let mut reduced = Vec::new();
    for exchange in input.free() {
        for at in crate::presentation::parts(exchange, ask.view) {
            let is_result = |part: &&Part| matches!(part, Part::ToolResult { .. });
            let Some(part) = ask.view.part(at).filter(is_result) else { continue };
            if crate::presentation::shown(at, ask.view.trim(), ask.view).is_some() || at >= newest {
                continue;
            }
            if let Some(text) = shortened(ask, part, (over, to, head)) {
                let short = ContentReduced {
                    target: at.0,
                    part: u32::try_from(at.1).unwrap_or(u32::MAX),
                    text,
                    reducer: "head-tail".into(),
                    bytes_before: texts(part).unwrap_or_default().iter().map(|body| body.bytes()).sum(),
                    standing: false,
                    how: None,
                };
                reduced.push((at, short));
            }
        }
    }
    reduced
}

/// Head and tail of a part's texts, if that is shorter. None of a part with content that a text cannot stand for.
fn shortened(
    ask: &PlanInput<'_>,
    part: &Part,
    (over, to, head_part): (Tokens, Tokens, Permille),
) -> Option<Body> {
    let bodies = texts(part)?;
    let whole: Tokens = bodies.iter().map(|body| cost::text(body, ask.costs).tokens).sum();
    if whole <= over {
        return None;
    }
    let mut texts = Vec::with_capacity(bodies.len());
    for body in &bodies {
        texts.push(ask.bodies.of(body)?);
    }
    let text = texts.join("\n");
    // As dense as the whole.
    let bytes = Bytes(text.len() as u64 * to.0 / whole.0.max(1));
    let front = usize::try_from(bytes.0 * u64::from(head_part.0) / 1_000).unwrap_or(usize::MAX);
    let back = usize::try_from(bytes.0).unwrap_or(usize::MAX).saturating_sub(front);
    // Head and tail together must leave something out.
    if head(&text, front).len() + tail(&text, back).len() >= text.len() {
        return None;
    }
    let largest = bodies.into_iter().max_by_key(|body| body.bytes());
    let short = ends(&text, (front, back), largest.and_then(Body::handle));
    (ask.costs.text(&short).tokens < whole).then(|| short.into())
}

/// The texts of a part whose place one text can take: pictures stand beside it.
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
