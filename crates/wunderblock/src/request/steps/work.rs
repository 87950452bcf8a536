//! Work log of a lane, shown at the tail. Each compaction makes the log from the previous log and later entries;
//! other steps that leave the log out inject it again.

use crate::ledger::texts::Texts;
use crate::request::packer::Packer;
use crate::rules::token_costs::TokenCosts;
use std::collections::HashMap;
use std::sync::Arc;
use wunderblock_core::authority::Authority;
use wunderblock_core::decision::Injection;
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Body, Role};
use wunderblock_core::pair::{Exchange, arrange};
use wunderblock_core::policy::Permille;
use wunderblock_core::section::Section;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_core::view::{View, ViewEntry};
use wunderblock_core::work::{FileChange, Span, WorkLog};
use wunderblock_core::{cost, fence};
use wunderblock_redact::Redactor;
use wunderblock_summary::{Material, delegates_at_work, work};

/// Name of the injected log.
const NAME: &str = "as of the newest compaction";
/// Maximum share of the limit at which a recorded log is injected again unchanged. A lane can have begun again in a
/// smaller window, in which the log would take too much room.
const MOST: Permille = Permille(100);

/// Returns the work log that a compaction records. `None` if the log is empty and none was recorded before. The next
/// request shows the work log, unless the latest entry is an unfinished reply. `texts` must hold the texts of the
/// whole view.
pub(crate) fn work_log(view: &View, texts: &Texts, share: Permille, redactor: &Redactor) -> Option<WorkLog> {
    let log = if share == Permille::ZERO { WorkLog::default() } else { log_of(view, texts, redactor) };
    let stood = view.lane().work().is_some_and(|work| !work.is_empty());
    (stood || !log.is_empty()).then_some(WorkLog { share, ..log })
}

/// Returns the previous log, extended by the later entries. Hidden entries are ignored.
pub(crate) fn log_of(view: &View, texts: &Texts, redactor: &Redactor) -> WorkLog {
    let before = view.lane().work().cloned().unwrap_or_else(|| Arc::new(WorkLog::default()));
    let arrangement = arrange(view);
    let is_new = |exchange: &&Exchange| exchange.last > before.through;
    let new: Vec<&Exchange> = arrangement.exchanges.iter().filter(is_new).collect();
    let mut spans: HashMap<Seq, Span> = HashMap::new();
    for exchange in &new {
        let first = exchange.members.first().copied().unwrap_or(exchange.key);
        spans.extend(exchange.members.iter().map(|seq| (*seq, (first, exchange.last))));
    }
    let entries: Vec<&ViewEntry> = view.entries().filter(|entry| spans.contains_key(&entry.seq)).collect();
    let from = entries.first().map_or(Seq::START, |entry| entry.seq);
    let (to, earlier) = (view.head(), Vec::new());
    let material = Material { from, to, entries, bodies: texts, earlier, redactor };
    let mut log = work(&material, &before, &spans);
    log.delegates = delegates_at_work(&material, &before, view, &spans);
    log
}

/// Returns the log as a text that fits its share. `None` if nothing fits. Parts that can be found elsewhere are
/// dropped first: files that were only read, old changes, the texts of skills, old checks, the end of the list.
fn to_say(log: &WorkLog, stream: Handle, limit: Tokens, costs: &TokenCosts) -> Option<String> {
    let (mut log, most) = (log.clone(), log.share.of(limit));
    if most == Tokens::ZERO {
        return None;
    }
    while !log.is_empty() {
        let text = log.text(stream);
        if weight(&injection(Body::Inline(text.clone())), costs) <= most {
            return Some(text);
        }
        shorten(&mut log);
    }
    None
}

/// Removes from a log that is not empty the part that is easiest to find elsewhere.
pub(crate) fn shorten(log: &mut WorkLog) {
    let read = log.files.iter().rposition(|file| file.change == FileChange::Read);
    if let Some(read) = read.filter(|_| log.files.len() > FILES_MIN) {
        log.files.remove(read);
    } else if log.files.len() > FILES_MIN {
        log.files.pop();
    } else if let Some(skill) = log.skills.iter_mut().rfind(|skill| !skill.text.is_empty()) {
        skill.text = Box::default();
    } else if log.checks.len() > 1 {
        log.checks.pop();
    } else if log.files.pop().is_none()
        && log.skills.pop().is_none()
        && log.checks.pop().is_none()
        && log.todo.pop().is_none()
    {
        log.delegates.pop();
    }
}

/// Minimum number of files that the log lists before other parts are shortened.
const FILES_MIN: usize = 6;

fn weight(item: &Injection, costs: &TokenCosts) -> Tokens {
    cost::message(&fence::injected(std::slice::from_ref(item)), costs).tokens
}

fn injection(body: Body) -> Injection {
    Injection {
        section: Section::Work,
        authority: Authority::of(Section::Work),
        from_stream: None,
        from_seq: Seq::START,
        body,
        what: NAME.into(),
        why: "".into(),
        part_of: None,
    }
}

/// Returns the work log to inject if the request does not show it. The recorded text is used again, unless it is
/// missing or too large now.
pub(in crate::request) fn standing(
    view: &View,
    stream: Handle,
    limit: Tokens,
    costs: &TokenCosts,
    packer: &Packer,
) -> Option<Injection> {
    if goes_on(view) {
        return None;
    }
    if let Some((_, body)) = view.lane().last_injected(Section::Work, NAME) {
        let item = injection(body.clone());
        if weight(&item, costs) <= MOST.of(limit) {
            return Some(item);
        }
    }
    to_say(view.lane().work()?, stream, limit, costs).map(|text| injection(packer.pack(text)))
}

/// Returns whether the latest entry is an unfinished reply. Later records of the reply would come before a log that
/// is injected now. Entries that the lane itself injected are ignored.
fn goes_on(view: &View) -> bool {
    let newest =
        view.entries().rev().find(|entry| !view.lane().is_ours(entry.seq)).map(|entry| &entry.message);
    newest.is_some_and(|said| said.role == Role::Assistant && said.api_id.is_some() && said.stop.is_none())
}

/// Returns the text that the next request will show for a log, and its number of tokens.
pub(crate) fn expected(
    log: &WorkLog,
    stream: Handle,
    limit: Tokens,
    costs: &TokenCosts,
) -> Option<(Injection, Tokens)> {
    let item = injection(Body::Inline(to_say(log, stream, limit, costs)?));
    let tokens = weight(&item, costs);
    Some((item, tokens))
}
