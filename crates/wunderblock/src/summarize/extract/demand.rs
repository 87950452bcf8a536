//! The literals a summary of a range has to have.

use super::glean::Found;
use crate::summarize::task::Brief;
use std::collections::HashSet;
use wunderblock_core::compact::Detail;
use wunderblock_core::grounding::SourceNames;
use wunderblock_core::literal::{Literal, LiteralKind, literals};
use wunderblock_core::policy::Fill;
use wunderblock_core::units::Seq;

/// A literal that has to be there, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Demand {
    pub(in super::super) text: String,
    pub(in super::super) fill: Fill,
    pub(in super::super) at: Seq,
}

/// So many are demanded, at most.
const DEMANDS_MAX: usize = 32;
/// Of one source, at most.
const EACH_MAX: usize = 12;
/// Codes of so many of the newest errors.
const ERRORS_MAX: usize = 3;
/// A longer one is not worth its room, in bytes.
const LONGEST: usize = 120;
/// What is demanded takes up no more than this part of the summary: one in …
const SHARE: u64 = 8;

/// What a summary of this size and template has to name: files changed, names in the newest request, in what is open, and
/// of errors nothing has mended. Newest first; as many as an eighth of the summary holds.
pub(in super::super) fn demands(found: &Found<'_>, brief: &Brief<'_>) -> Vec<Demand> {
    if brief.detail == Detail::Statistics {
        return Vec::new();
    }
    let has = |fill: Fill| brief.template.sections.iter().any(|section| section.fill.contains(&fill));
    let mut list = DemandList {
        seen: HashSet::new(),
        demands: Vec::new(),
        bytes: 0,
        most: brief.most.0.min(brief.target.0.max(1) * 2) * 3 / SHARE,
    };
    if let Some(asked) =
        found.users.last().filter(|_| has(Fill::Current) || has(Fill::Intent) || has(Fill::UserMessages))
    {
        list.take(&asked.text, Fill::Current, asked.at, |literal| literal.kind != LiteralKind::Number);
    }
    if has(Fill::FilesModified) {
        let mut files: Vec<_> = found.files.iter().filter(|file| file.is_changed()).collect();
        files.sort_by_key(|file| std::cmp::Reverse(file.last_changed));
        for file in files.into_iter().take(EACH_MAX) {
            list.add(&file.path, Fill::FilesModified, file.last_changed);
        }
    }
    if has(Fill::Todos)
        && let Some((at, plan)) = &found.plan
    {
        for (text, _) in plan.open.iter().take(EACH_MAX) {
            list.take(text, Fill::Todos, *at, |literal| literal.kind != LiteralKind::Number);
        }
    }
    if has(Fill::Errors) {
        let open = found.troubles.iter().rev().filter(|trouble| trouble.is_open());
        for trouble in open.take(ERRORS_MAX) {
            list.take(&trouble.line, Fill::Errors, trouble.at, |literal| literal.kind == LiteralKind::Code);
        }
    }
    list.demands
}

struct DemandList {
    seen: HashSet<u64>,
    demands: Vec<Demand>,
    bytes: u64,
    most: u64,
}

impl DemandList {
    fn take(&mut self, text: &str, fill: Fill, at: Seq, wanted: impl Fn(&Literal<'_>) -> bool) {
        let entities = literals(text).filter(Literal::is_entity).filter(wanted);
        let mut added = 0;
        for literal in entities.take(4 * EACH_MAX) {
            if added < EACH_MAX && self.add(literal.normal(), fill, at) {
                added += 1;
            }
        }
    }

    fn add(&mut self, text: &str, fill: Fill, at: Seq) -> bool {
        // What is not one name as a whole cannot be looked for as one.
        let Some(literal) =
            literals(text).find(|literal| literal.at == 0 && literal.normal().len() == text.len())
        else {
            return false;
        };
        let size = text.len() as u64 + 8;
        let fits =
            text.len() <= LONGEST && self.demands.len() < DEMANDS_MAX && self.bytes + size <= self.most;
        if !fits || !self.seen.insert(literal.key()) {
            return false;
        }
        self.bytes += size;
        self.demands.push(Demand { text: text.to_owned(), fill, at });
        true
    }
}

/// Whether a text names it; a path may stand there without the folders it begins with.
pub(in super::super) fn has(text: &str, demand: &Demand) -> bool {
    if text.contains(&demand.text) {
        return true;
    }
    let known = SourceNames::new([text]);
    let is_there = |name: &str| literals(name).next().is_some_and(|literal| known.has(&literal));
    if is_there(&demand.text) {
        return true;
    }
    let mut folders = demand.text.rsplit('/');
    match (folders.next(), folders.next()) {
        (Some(file), Some(folder)) => text.contains(&format!("{folder}/{file}")),
        _ => false,
    }
}
