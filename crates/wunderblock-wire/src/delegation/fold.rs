//! Folds the events of a session, or the entries of a lane, into delegations.
//!
//! A delegation begins with a call of a delegating tool, or with the report of a start or an end without a known call.
//! Reports of hooks come before or after those of an import, and may repeat them, so each report is matched by its call,
//! by its session, or by its place directly after the result of a call.

use super::{DelegateText, Delegation, DelegationOutcome};
use crate::hook;
use std::collections::HashMap;
use wunderblock_core::event::{Event, Fact, SubagentReturned, SubagentSpawned};
use wunderblock_core::id::{CallId, Handle, StreamId};
use wunderblock_core::message::{Body, Message, MessageOrigin, Part};
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Millis, Seq};
use wunderblock_core::work::DelegateAtWork;

/// Delegations of a session, as far as its events have been folded.
pub struct DelegationFold {
    stream: Handle,
    /// Last position that an earlier fold has seen. An unknown call up to it is not in flight.
    through: Seq,
    /// Number of delegations that an earlier fold knew.
    pub known: usize,
    /// Delegations found, in order.
    pub found: Vec<Delegation>,
    /// Whole task of each delegation.
    pub prompts: Vec<Option<String>>,
    by_call: HashMap<CallId, usize>,
    tools: HashMap<CallId, Box<str>>,
    by_session: HashMap<StreamId, usize>,
    /// Recorded routes: position, type and chosen model.
    pub routes: Vec<(Seq, Box<str>, Box<str>)>,
    /// Position of the latest result of a delegating tool, and its delegation.
    answered: Option<(Seq, usize)>,
    /// Text of the event before the current one, if it is a message that starts with words.
    told: Option<(Seq, String)>,
}

impl DelegationFold {
    /// Creates the fold of a session whose addresses begin with a handle.
    pub fn new(stream: Handle) -> Self {
        Self {
            stream,
            through: Seq::START,
            known: 0,
            found: Vec::new(),
            prompts: Vec::new(),
            by_call: HashMap::new(),
            tools: HashMap::new(),
            by_session: HashMap::new(),
            routes: Vec::new(),
            answered: None,
            told: None,
        }
    }

    /// Continues after a position up to which the delegates at work are known. They come first, in the given order.
    pub fn resume(known: &[DelegateAtWork], through: Seq) -> Self {
        let mut fold = Self { through, known: known.len(), ..Self::new(Handle(0)) };
        for one in known {
            let index = fold.begin(one.at, Millis(0), None);
            fold.by_call.extend(one.call.iter().map(|call| (call.clone(), index)));
            fold.by_session.extend(one.session.iter().map(|session| (session.clone(), index)));
            if let Some(delegation) = fold.found.get_mut(index) {
                delegation.agent = Some(one.agent.clone()).filter(|agent| !agent.is_empty());
                delegation.call.clone_from(&one.call);
                delegation.session.clone_from(&one.session);
            }
        }
        fold
    }

    /// Returns the handles of the texts that the fold of events needs, the latest call or result included.
    pub fn needs(&self, events: &[Event]) -> Vec<Handle> {
        let mut handles = Vec::new();
        let mut calls: Vec<&CallId> = Vec::new();
        let mut before: Option<&Event> = None;
        for event in events {
            match &event.fact {
                Some(Fact::MessageAppended(said)) => {
                    for part in &said.message.parts {
                        match part {
                            Part::ToolCall { call, name, input, .. } if hook::delegates(name) => {
                                calls.push(call);
                                handles.extend(input.handle());
                            }
                            Part::ToolResult { call, content, .. }
                                if calls.contains(&call) || self.by_call.contains_key(call) =>
                            {
                                handles.extend(first_text(content).and_then(Body::handle));
                            }
                            _ => {}
                        }
                    }
                }
                Some(Fact::SubagentSpawned(spawned)) => {
                    handles.extend(spawned.prompt.as_ref().and_then(Body::handle));
                }
                Some(Fact::SubagentReturned(returned)) => {
                    handles.extend(returned.result.as_ref().and_then(Body::handle));
                    let said = before.and_then(|before| message_of(before)).map(|said| &said.parts);
                    handles.extend(said.and_then(|parts| first_text(parts)).and_then(Body::handle));
                }
                _ => {}
            }
            before = Some(event);
        }
        handles
    }

    /// Folds the next fact, with its position and time.
    pub fn fact(&mut self, at: Seq, time: Millis, fact: &Fact, texts: &dyn Bodies) {
        let told = self.told.take().filter(|(before, _)| before.next() == at);
        match fact {
            Fact::MessageAppended(said) => self.message(at, time, &said.message, texts),
            Fact::SubagentSpawned(spawned) => self.spawned(at, time, spawned, texts),
            Fact::SubagentReturned(returned) => {
                let index = self.returned(at, time, returned, texts);
                // Notifications about several delegates can be in one record.
                let result =
                    told.as_ref().and_then(|(said, text)| Some((said, hook::notified_result(text)?)));
                if let (Some((said, text)), Some(one)) = (result, self.found.get_mut(index)) {
                    let address = format!("{}#{said}", self.stream);
                    one.result.get_or_insert_with(|| DelegateText::new(text, address));
                }
                self.told = told.map(|(_, text)| (at, text));
            }
            Fact::RouteChosen(route) => {
                self.routes.push((at, route.agent.clone(), route.chosen.clone()));
            }
            Fact::SessionClosed(_) => {
                let open = |one: &&mut Delegation| one.outcome == DelegationOutcome::InFlight;
                let open = self.found.iter_mut().filter(open);
                open.for_each(|one| one.outcome = DelegationOutcome::Unknown);
            }
            _ => {}
        }
    }

    /// Folds the next message, with its position and time.
    pub fn message(&mut self, at: Seq, time: Millis, said: &Message, texts: &dyn Bodies) {
        let text = first_text(&said.parts).and_then(|text| texts.of(text));
        self.told = text.map(|text| (at, text.to_owned()));
        if matches!(said.standing, MessageOrigin::Aside(_)) {
            return;
        }
        for part in &said.parts {
            match part {
                Part::ToolCall { call, name, input, .. } if hook::delegates(name) => {
                    self.tools.insert(call.clone(), name.clone());
                    if self.by_call.contains_key(call) {
                        continue;
                    }
                    let work = texts.of(input).and_then(|input| hook::delegation(name, input));
                    let work = work.unwrap_or_default();
                    let index = self.begin(at, time, work.prompt);
                    self.by_call.insert(call.clone(), index);
                    if let Some(one) = self.found.get_mut(index) {
                        one.call = Some(call.clone());
                        one.agent = work.kind.map(Into::into);
                        one.asked = work.model.map(Into::into);
                        one.parent_model.clone_from(&said.model);
                        if at <= self.through {
                            one.outcome = DelegationOutcome::Unknown;
                        }
                    }
                }
                Part::ToolResult { call, content, failed, .. } => {
                    let text = first_text(content).and_then(|text| texts.of(text)).unwrap_or_default();
                    self.result(at, call, text, *failed);
                }
                _ => {}
            }
        }
    }

    fn result(&mut self, at: Seq, call: &CallId, text: &str, failed: bool) {
        let Some(index) = self.by_call.get(call).copied() else { return };
        let tool = self.tools.get(call).map_or("", |tool| tool);
        let Some(one) = self.found.get_mut(index) else { return };
        self.answered = Some((at, index));
        let Some(outcome) = hook::outcome(tool, text, failed) else { return };
        // A hook reports an end without its cause.
        if failed || matches!(one.outcome, DelegationOutcome::InFlight | DelegationOutcome::Unknown) {
            one.outcome = outcome.into();
        }
        if !text.is_empty() {
            one.result = Some(DelegateText::new(text, format!("{}#{at}", self.stream)));
        }
    }

    fn spawned(&mut self, at: Seq, time: Millis, spawned: &SubagentSpawned, texts: &dyn Bodies) {
        let index = self.known(at, spawned.call.as_ref(), &spawned.session);
        let prompt = spawned.prompt.as_ref().and_then(|prompt| texts.of(prompt)).map(ToOwned::to_owned);
        let index = index.unwrap_or_else(|| self.begin(at, time, prompt));
        self.name(index, spawned.call.as_ref(), &spawned.session);
        let Some(one) = self.found.get_mut(index) else { return };
        one.agent = one.agent.take().or_else(|| spawned.agent.clone());
        one.asked = one.asked.take().or_else(|| spawned.model.clone());
        one.mode = one.mode.take().or_else(|| spawned.mode.clone());
    }

    fn returned(&mut self, at: Seq, time: Millis, returned: &SubagentReturned, texts: &dyn Bodies) -> usize {
        let index = self.known(at, returned.call.as_ref(), &returned.session);
        let index = index.unwrap_or_else(|| self.begin(at, time, None));
        self.name(index, returned.call.as_ref(), &returned.session);
        let Some(one) = self.found.get_mut(index) else { return index };
        one.outcome = returned.outcome.into();
        one.model = returned.model.clone().or_else(|| one.model.take());
        one.tokens = returned.tokens.or(one.tokens);
        one.millis = returned.millis.or(one.millis);
        if let Some(result) = returned.result.as_ref().and_then(|result| texts.of(result)) {
            one.result = Some(DelegateText::new(result, format!("{}#{at}", self.stream)));
        }
        index
    }

    /// Returns the delegation to which a report belongs. Imports of earlier versions recorded the start directly after
    /// the result, without its call.
    fn known(&self, at: Seq, call: Option<&CallId>, session: &StreamId) -> Option<usize> {
        let by_call = call.and_then(|call| self.by_call.get(call)).copied();
        let beside = self.answered.filter(|(before, _)| call.is_none() && before.next() == at);
        by_call.or_else(|| self.by_session.get(session).copied()).or(beside.map(|(_, index)| index))
    }

    /// Records under which call and session a delegation is known. A hook may have reported the same session without
    /// the call; that report is merged.
    fn name(&mut self, index: usize, call: Option<&CallId>, session: &StreamId) {
        if let Some(call) = call {
            self.by_call.entry(call.clone()).or_insert(index);
        }
        let other = self.by_session.insert(session.clone(), index).filter(|other| *other != index);
        if let Some(other) = other.and_then(|other| self.found.get_mut(other)).filter(|it| it.call.is_none())
        {
            let other = std::mem::take(other);
            if let Some(one) = self.found.get_mut(index) {
                one.absorb(other);
            }
        }
        if let Some(one) = self.found.get_mut(index) {
            one.session = Some(session.clone());
            one.call = one.call.take().or_else(|| call.cloned());
        }
    }

    fn begin(&mut self, at: Seq, began: Millis, prompt: Option<String>) -> usize {
        let address = format!("{}#{at}", self.stream);
        let text = prompt.as_deref().map(|prompt| DelegateText::new(prompt, address));
        self.found.push(Delegation { at, began, prompt: text, ..Delegation::default() });
        self.prompts.push(prompt);
        self.found.len() - 1
    }
}

impl Delegation {
    /// Takes over what another report of the same work says. The other one is left without a position.
    pub fn absorb(&mut self, other: Self) {
        let is_open = |outcome| matches!(outcome, DelegationOutcome::InFlight | DelegationOutcome::Unknown);
        if is_open(self.outcome) && !is_open(other.outcome) {
            self.outcome = other.outcome;
        }
        self.call = self.call.take().or(other.call);
        self.session = self.session.take().or(other.session);
        self.agent = self.agent.take().or(other.agent);
        self.asked = self.asked.take().or(other.asked);
        self.mode = self.mode.take().or(other.mode);
        self.prompt = self.prompt.take().or(other.prompt);
        self.result = self.result.take().or(other.result);
        self.model = self.model.take().or(other.model);
        self.tokens = self.tokens.or(other.tokens);
        self.millis = self.millis.or(other.millis);
    }
}

fn message_of(event: &Event) -> Option<&Message> {
    match &event.fact {
        Some(Fact::MessageAppended(said)) => Some(&said.message),
        _ => None,
    }
}

fn first_text(parts: &[Part]) -> Option<&Body> {
    parts.iter().find_map(|part| match part {
        Part::Text { text, .. } => Some(text),
        _ => None,
    })
}
