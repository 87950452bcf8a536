//! Delegates whose work has not ended: started by a call or by a report of the agent, and neither returned nor answered.

use super::plain::{Escaping, head, line, readable};
use crate::summarize::task::Material;
use std::collections::{HashMap, HashSet};
use wunderblock_core::event::{Fact, SubagentReturned, SubagentSpawned};
use wunderblock_core::id::{CallId, StreamId};
use wunderblock_core::message::{Body, MessageOrigin, Part};
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::Seq;
use wunderblock_core::view::{View, ViewEntry, delegated};
use wunderblock_core::work::{DelegateAtWork, Span, WorkLog};
use wunderblock_wire::hook;

/// Maximum number of delegates that a log keeps. The latest are kept.
const DELEGATES_MAX: usize = 24;
/// Maximum number of bytes of a task.
const TASK_MAX: usize = 120;

/// Returns the delegates at work after `material`, which contains the entries after `before`. `spans` gives the exchange
/// of each entry. The view has the reports of starts and ends.
pub(crate) fn delegates_at_work(
    material: &Material<'_>,
    (before, view): (&WorkLog, &View),
    spans: &HashMap<Seq, Span>,
) -> Vec<DelegateAtWork> {
    let mut pass = DelegatePass {
        bodies: material.bodies,
        spans,
        through: before.through,
        at_work: before.delegates.clone(),
        tools: HashMap::new(),
        ended: HashSet::new(),
        returned: HashSet::new(),
        answered: None,
    };
    let mut facts = delegated(view).filter(|(seq, _)| *seq > before.through).peekable();
    for entry in &material.entries {
        while let Some((seq, fact)) = facts.next_if(|(seq, _)| *seq < entry.seq) {
            pass.fact(seq, fact);
        }
        pass.entry(entry);
    }
    facts.for_each(|(seq, fact)| pass.fact(seq, fact));
    let excess = pass.at_work.len().saturating_sub(DELEGATES_MAX);
    pass.at_work.drain(..excess);
    pass.at_work
}

struct DelegatePass<'a> {
    bodies: &'a dyn Bodies,
    spans: &'a HashMap<Seq, Span>,
    through: Seq,
    at_work: Vec<DelegateAtWork>,
    /// Tools of the calls that delegate.
    tools: HashMap<&'a CallId, &'a str>,
    /// Calls whose delegates have ended.
    ended: HashSet<&'a CallId>,
    /// Sessions of delegates that have returned.
    returned: HashSet<&'a StreamId>,
    /// Position of the latest result of a delegating tool, and its call. An import of an earlier version recorded the
    /// start of the delegate directly after the result, without the call.
    answered: Option<(Seq, &'a CallId)>,
}

impl<'a> DelegatePass<'a> {
    fn span(&self, at: Seq) -> Span {
        self.spans.get(&at).copied().unwrap_or((at, at))
    }

    fn entry(&mut self, entry: &'a ViewEntry) {
        if matches!(entry.message.standing, MessageOrigin::Aside(_)) {
            return;
        }
        for part in &entry.message.parts {
            match part {
                Part::ToolCall { call, name, input, .. } if hook::delegates(name) => {
                    self.tools.insert(call, name);
                    self.called(entry.seq, call, name, input);
                }
                Part::ToolResult { call, content, failed, .. } => {
                    self.result(entry.seq, call, (content, *failed));
                }
                _ => {}
            }
        }
    }

    fn called(&mut self, at: Seq, call: &'a CallId, tool: &str, input: &Body) {
        // An exchange that goes on is read again; what is known about its earlier calls stays.
        let is_known = at <= self.through || self.at_work.iter().any(|one| one.call.as_ref() == Some(call));
        let work = self.bodies.of(input).and_then(|input| hook::delegation(tool, input)).unwrap_or_default();
        if !is_known && !self.ended.contains(call) {
            self.at_work.push(DelegateAtWork {
                agent: work.kind.as_deref().map(words).unwrap_or_default(),
                task: work.prompt.as_deref().map(words).unwrap_or_default(),
                call: Some(call.clone()),
                session: None,
                at,
                span: self.span(at),
            });
        }
    }

    fn result(&mut self, at: Seq, call: &'a CallId, (content, failed): (&'a [Part], bool)) {
        let is_delegate = self.at_work.iter().any(|one| one.call.as_ref() == Some(call));
        if !is_delegate && !self.tools.contains_key(call) {
            return;
        }
        self.answered = Some((at, call));
        let text = content.iter().find_map(|part| match part {
            Part::Text { text, .. } => self.bodies.of(text),
            _ => None,
        });
        let tool = self.tools.get(call).copied().unwrap_or_default();
        if hook::outcome(tool, text.unwrap_or_default(), failed).is_some() {
            self.end(Some(call), None);
        }
    }

    fn fact(&mut self, at: Seq, fact: &'a Fact) {
        match fact {
            Fact::SubagentSpawned(spawned) => self.spawned(at, spawned),
            Fact::SubagentReturned(SubagentReturned { session, call, .. }) => {
                self.end(call.as_ref(), Some(session));
            }
            // No delegate goes on after its parent's session.
            Fact::SessionClosed(_) => self.at_work.clear(),
            _ => {}
        }
    }

    fn spawned(&mut self, at: Seq, spawned: &'a SubagentSpawned) {
        let beside = self.answered.filter(|(before, _)| before.next() == at).map(|(_, call)| call);
        let call = spawned.call.as_ref().or(beside);
        if call.is_some_and(|call| self.ended.contains(call)) || self.returned.contains(&spawned.session) {
            return self.end(call, Some(&spawned.session));
        }
        let agent = spawned.agent.as_deref().map(words).unwrap_or_default();
        let by_session = |one: &DelegateAtWork| one.session.as_ref() == Some(&spawned.session);
        let by_call = |one: &DelegateAtWork| call.is_some() && one.call.as_ref() == call;
        // A report without a call belongs to the first call of the type that has no report yet.
        let by_type = |one: &DelegateAtWork| {
            let same = agent.is_empty() || one.agent.is_empty() || one.agent.eq_ignore_ascii_case(&agent);
            call.is_none() && one.session.is_none() && same
        };
        let found = self.at_work.iter().position(by_session);
        let found = found.or_else(|| self.at_work.iter().position(by_call));
        let found = found.or_else(|| self.at_work.iter().position(by_type));
        let text = spawned.prompt.as_ref().and_then(|prompt| self.bodies.of(prompt));
        let (task, span) = (text.map(words).unwrap_or_default(), self.span(at));
        match found.and_then(|found| self.at_work.get_mut(found)) {
            Some(one) => {
                one.session = Some(spawned.session.clone());
                if one.agent.is_empty() {
                    one.agent = agent;
                }
                one.call = one.call.take().or_else(|| call.cloned());
            }
            None => {
                let (call, session) = (call.cloned(), Some(spawned.session.clone()));
                self.at_work.push(DelegateAtWork { agent, task, call, session, at, span });
            }
        }
    }

    fn end(&mut self, call: Option<&'a CallId>, session: Option<&'a StreamId>) {
        self.ended.extend(call);
        self.returned.extend(session);
        let is = |one: &DelegateAtWork| {
            call.is_some() && one.call.as_ref() == call
                || session.is_some() && one.session.as_ref() == session
        };
        self.at_work.retain(|one| !is(one));
    }
}

/// Returns the beginning of a text on one line, without secrets and in a form that can be put in a request.
fn words(text: &str) -> Box<str> {
    head(&line(&readable(head(text, 4 * TASK_MAX).as_ref()), Escaping::Speakers), TASK_MAX).into()
}
