//! Delegates whose work has not ended, for the work log.

use super::language::plain::{Escaping, head, line, readable};
use crate::task::Material;
use std::collections::HashMap;
use wunderblock_core::units::{Millis, Seq};
use wunderblock_core::view::View;
use wunderblock_core::work::{DelegateAtWork, Span, WorkLog};
use wunderblock_redact::Redactor;
use wunderblock_wire::delegation::Delegation;
use wunderblock_wire::delegation::fold::DelegationFold;
use wunderblock_wire::delegation::link::in_flight;

/// Maximum number of delegates that a log keeps. The latest are kept.
const DELEGATES_MAX: usize = 24;
/// Maximum number of bytes of a task.
const TASK_MAX: usize = 120;
/// Time of what a view contains, which no log needs.
const NO_TIME: Millis = Millis(0);

/// Returns the delegates at work after `material`, which contains the entries after `before`. `spans` gives the exchange
/// of each entry. The view has the reports of starts and ends.
pub fn delegates_at_work(
    material: &Material<'_>,
    before: &WorkLog,
    view: &View,
    spans: &HashMap<Seq, Span>,
) -> Vec<DelegateAtWork> {
    let (known, words) = (&before.delegates, |text: &str| words(text, material.redactor));
    let mut fold = DelegationFold::resume(known, before.through);
    let mut facts = view.lane().delegated().filter(|(seq, _)| *seq > before.through).peekable();
    for entry in &material.entries {
        while let Some((seq, fact)) = facts.next_if(|(seq, _)| *seq < entry.seq) {
            fold.fact(seq, NO_TIME, fact, material.bodies);
        }
        fold.message(entry.seq, NO_TIME, &entry.message, material.bodies);
    }
    facts.for_each(|(seq, fact)| fold.fact(seq, NO_TIME, fact, material.bodies));
    let logged = |(index, one, prompt): (usize, _, Option<String>)| {
        let Delegation { at, agent, call, session, .. } = one;
        let agent = agent.as_deref().map(words).unwrap_or_default();
        match known.get(index) {
            // What the log says of it stays, so that its text does not change.
            Some(was) if !was.agent.is_empty() => DelegateAtWork { call, session, ..was.clone() },
            Some(was) => DelegateAtWork { agent, call, session, ..was.clone() },
            None => {
                let (task, span) = (prompt.as_deref().map(words).unwrap_or_default(), spans.get(&at));
                DelegateAtWork { agent, task, call, session, at, span: span.copied().unwrap_or((at, at)) }
            }
        }
    };
    let mut at_work: Vec<DelegateAtWork> = in_flight(fold).into_iter().map(logged).collect();
    let excess = at_work.len().saturating_sub(DELEGATES_MAX);
    at_work.drain(..excess);
    at_work
}

/// Returns the beginning of a text on one line, without secrets and in a form that can be put in a request.
fn words(text: &str, redactor: &Redactor) -> Box<str> {
    head(&line(&readable(head(text, 4 * TASK_MAX).as_ref(), redactor), Escaping::Speakers), TASK_MAX).into()
}
