//! Facts that a summary of a range must state.

use super::condense;
use super::form::SummaryForm;
use super::pick::opens_something;
use crate::extract::glean::Found;
use crate::extract::language::cue::Cue;
use crate::extract::language::words::{HEAD, SummaryLines};
use crate::task::{Brief, Material};
use std::cell::LazyCell;
use std::collections::HashSet;
use wunderblock_core::compact::Detail;
use wunderblock_core::compaction::FactKind;
use wunderblock_core::grounding::SourceNames;
use wunderblock_core::literal::{Literal, LiteralKind, literals};
use wunderblock_core::policy::Fill;
use wunderblock_core::units::Seq;

/// A fact that a summary must state, with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    pub(crate) kind: FactKind,
    /// A name, or words that some line must contain.
    pub(crate) text: String,
    pub(crate) fill: Fill,
    pub(crate) at: Seq,
}

impl Demand {
    /// Returns whether the fact is a name, which must be spelt exactly.
    pub(crate) fn is_name(&self) -> bool {
        matches!(self.kind, FactKind::File | FactKind::Name | FactKind::Error)
    }
}

/// Maximum number of names that are demanded.
const NAMES_MAX: usize = 32;
/// Maximum number of names from one source.
const EACH_MAX: usize = 12;
/// Maximum number of errors whose codes are demanded, counted from the newest.
const ERRORS_MAX: usize = 3;
/// Maximum number of rules that are demanded, counted from the newest.
const RULES_MAX: usize = 12;
/// Maximum number of decisions that are demanded, counted from the newest.
const DECISIONS_MAX: usize = 6;
/// Maximum number of bytes in a demanded name; a longer name is not worth its room.
const LONGEST: usize = 120;
/// Maximum share of a summary that demanded names may take, given as a divisor.
const SHARE: u64 = 8;
/// Maximum share of a summary that demanded sentences may take, given as a divisor.
const SENTENCES_SHARE: u64 = 3;
/// Approximate number of bytes per token.
const TOKEN_BYTES: u64 = 4;

/// Returns the facts that a summary of this size and template must state: the first request, standing rules, open
/// tasks, decisions, open errors, changed files, and names in the newest request. Facts of the most serious kinds
/// come first, with the newest first within each kind, until the facts' share of the summary is used up.
pub(crate) fn demands(found: &Found<'_>, material: &Material<'_>, brief: &Brief<'_>) -> Vec<Demand> {
    if matches!(brief.detail, Detail::Statistics | Detail::Catalogue) {
        return Vec::new();
    }
    let size = brief.most.0.min(brief.target.0.max(1) * 2);
    let form = SummaryForm::new(brief);
    let mut list = DemandList {
        seen: HashSet::new(),
        names: Vec::new(),
        sentences: Vec::new(),
        bytes: 0,
        most: size * 3 / SHARE,
        sentence_room: size * TOKEN_BYTES / SENTENCES_SHARE,
    };
    list.said(found, material, &form);
    list.named(found, &form);
    list.sentences.sort_by_key(|demand| demand.kind);
    list.sentences.append(&mut list.names);
    list.sentences
}

struct DemandList {
    seen: HashSet<u64>,
    names: Vec<Demand>,
    sentences: Vec<Demand>,
    bytes: u64,
    most: u64,
    sentence_room: u64,
}

impl DemandList {
    /// Adds facts that were said: the task, rules, decisions and open tasks.
    fn said(&mut self, found: &Found<'_>, material: &Material<'_>, form: &SummaryForm) {
        let earlier = condense::kept(&material.earlier, form);
        let has_words = |fill: Fill| form.has(fill) || form.has(Fill::UserMessages);
        let place = |fill: Fill| if form.has(fill) { fill } else { Fill::UserMessages };
        if has_words(Fill::Intent) {
            let own = found.users.iter().find(|said| opens_something(&said.text)).or(found.users.first());
            let first = earlier.request.clone().or_else(|| own.map(|said| (said.at, said.text.to_string())));
            first
                .into_iter()
                .for_each(|(at, text)| self.sentence(FactKind::Request, &text, place(Fill::Intent), at));
        }
        if has_words(Fill::Constraints) {
            let own = found.sentences(Cue::Constraint).iter().rev().map(|rule| (rule.at, rule.text.clone()));
            for (at, text) in own.chain(earlier.rules).take(RULES_MAX) {
                self.sentence(FactKind::Rule, &text, place(Fill::Constraints), at);
            }
        }
        if form.has(Fill::Todos)
            && let Some((at, plan)) = &found.plan
        {
            for (text, _) in plan.open.iter().take(EACH_MAX) {
                self.sentence(FactKind::Todo, text, Fill::Todos, *at);
            }
        }
        if form.has(Fill::Decisions) {
            for answer in found.answers.iter().rev().take(DECISIONS_MAX) {
                self.sentence(FactKind::Decision, &answer.answer, Fill::Decisions, answer.said);
            }
        }
    }

    /// Adds the names in open errors, the names of changed files, and the names in the newest request.
    fn named(&mut self, found: &Found<'_>, form: &SummaryForm) {
        if form.has(Fill::Errors) {
            let open = found.troubles.iter().rev().filter(|trouble| trouble.is_open());
            for trouble in open.take(ERRORS_MAX) {
                let is_code = |literal: &Literal<'_>| literal.kind == LiteralKind::Code;
                let codes = entities(&trouble.line).filter(is_code);
                self.take(FactKind::Error, codes, Fill::Errors, trouble.at);
            }
        }
        let asks = [Fill::Current, Fill::Intent, Fill::UserMessages].into_iter().any(|fill| form.has(fill));
        if let Some(asked) = found.users.last().filter(|_| asks) {
            let is_name = |literal: &Literal<'_>| literal.kind != LiteralKind::Number;
            let names = entities(&asked.text).filter(is_name);
            self.take(FactKind::Name, names, Fill::Current, asked.at);
        }
        if form.has(Fill::FilesModified) {
            let mut files: Vec<_> = found.files.iter().filter(|file| file.is_changed()).collect();
            files.sort_by_key(|file| std::cmp::Reverse(file.last_changed));
            for file in files.into_iter().take(EACH_MAX) {
                self.name(FactKind::File, &file.path, Fill::FilesModified, file.last_changed);
            }
        }
    }

    fn sentence(&mut self, kind: FactKind, text: &str, fill: Fill, at: Seq) {
        let size = text.len().min(HEAD) as u64;
        let known = self.sentences.iter().any(|demand| demand.text == text);
        // The task is demanded even if there is no room left.
        if text.trim().is_empty() || known || size > self.sentence_room && kind != FactKind::Request {
            return;
        }
        self.sentence_room = self.sentence_room.saturating_sub(size);
        self.sentences.push(Demand { kind, text: text.to_owned(), fill, at });
    }

    fn take<'t>(&mut self, kind: FactKind, entities: impl Iterator<Item = Literal<'t>>, fill: Fill, at: Seq) {
        let mut added = 0;
        for literal in entities.take(4 * EACH_MAX) {
            if added < EACH_MAX && self.name(kind, literal.normal(), fill, at) {
                added += 1;
            }
        }
    }

    fn name(&mut self, kind: FactKind, text: &str, fill: Fill, at: Seq) -> bool {
        // A text that is not a single name cannot be found as one.
        let Some(literal) =
            literals(text).find(|literal| literal.at == 0 && literal.normal().len() == text.len())
        else {
            return false;
        };
        let size = text.len() as u64 + 8;
        let fits = text.len() <= LONGEST && self.names.len() < NAMES_MAX && self.bytes + size <= self.most;
        if !fits || !self.seen.insert(literal.key()) {
            return false;
        }
        self.bytes += size;
        self.names.push(Demand { kind, text: text.to_owned(), fill, at });
        true
    }
}

/// Returns the demands that a text does not meet.
pub(crate) fn absent<'d>(text: &str, demands: &'d [Demand]) -> Vec<&'d Demand> {
    // Most demands are met word for word, so the words and names of the text are collected only if needed.
    let lines = LazyCell::new(|| SummaryLines::of(text));
    let known = LazyCell::new(|| SourceNames::new([text]));
    let is_there = |demand: &Demand| {
        let is_distinct = demand.is_name() || demand.text.contains(' ');
        if is_distinct && text.contains(&demand.text) {
            true
        } else if demand.is_name() {
            names(text, &known, &demand.text)
        } else {
            lines.says(&demand.text).unwrap_or(true)
        }
    };
    demands.iter().filter(|demand| !is_there(demand)).collect()
}

/// Returns the names in a text.
fn entities(text: &str) -> impl Iterator<Item = Literal<'_>> {
    literals(text).filter(Literal::is_entity)
}

/// Returns whether a text contains a name in another form. The first folders of a path may be missing.
fn names(text: &str, known: &SourceNames, name: &str) -> bool {
    if literals(name).next().is_some_and(|literal| known.has(&literal)) {
        return true;
    }
    let mut folders = name.rsplit('/');
    match (folders.next(), folders.next()) {
        (Some(file), Some(folder)) => text.contains(&format!("{folder}/{file}")),
        _ => false,
    }
}
