//! Logs: what each template says stays visible, repeats between its first and last line do not.

use crate::detect::Sample;
use crate::lines::Lines;
use crate::severity::{self, Said, Severity};
use crate::template::{Template, Templates};
use crate::unit::{Rank, Unit};

use super::stamp;

/// A template with so few lines stays whole.
const RARE: u32 = 3;

pub(crate) fn vote(sample: &Sample<'_>) -> u32 {
    if sample.lines.len() < 3 {
        return 0;
    }
    let begun = sample.share(|line| stamp::prefix(line) > 0);
    let dated = sample.share(is_head);
    // Records of several lines: what follows a head belongs to it.
    let follows = sample.share(|line| line.starts_with([' ', '\t']) || is_head(line));
    let all = if dated >= 25 { dated.max(follows * 9 / 10) } else { dated };
    let sure = if begun * 2 >= dated { 88 } else { 80 };
    all * sure / 100
}

/// Whether a record begins here: a time near the line's beginning, or a level before its message.
fn is_head(line: &str) -> bool {
    !line.starts_with([' ', '\t']) && (stamp::dated(line) || is_levelled(line))
}

fn is_levelled(line: &str) -> bool {
    let mut end = line.len().min(100);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    severity::said(line.get(..end).unwrap_or(line)).level.is_some()
}

/// What a line is in its log.
#[derive(Clone, Copy)]
struct Entry {
    template: u32,
    said: Said,
    head: bool,
}

pub(crate) fn units(lines: &Lines<'_>) -> Vec<Unit> {
    let mut templates = Templates::default();
    let heads = lines.iter().take(400).filter(|line| is_head(line)).count();
    let by_head = heads * 4 >= lines.len().min(400);
    let mut entries: Vec<Entry> = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        let said = severity::said(line);
        let head = if by_head { !line.starts_with([' ', '\t']) && (said.level.is_some() || stamp::dated(line)) } else { !line.starts_with([' ', '\t']) };
        let template = templates.learn(at, line, said.weight() as u8);
        entries.push(Entry { template, said, head });
    }
    let mut units = Vec::with_capacity(lines.len());
    let mut stays = false;
    for (at, entry) in entries.iter().enumerate() {
        let Some(template) = templates.get(entry.template) else { continue };
        let mut unit = Unit::new(lines.span(at), Rank::Filler);
        unit.label = entry.said.label();
        judge(&mut unit, at, *entry, template);
        if lines.get(at).trim().is_empty() {
            unit.rank = if stays { Rank::Context } else { Rank::Filler };
            unit.note = None;
        } else if !entry.head && stays && unit.rank == Rank::Filler && template.count <= 40 {
            unit.rank = Rank::Context;
        }
        if entry.head {
            stays = unit.rank > Rank::Filler;
        }
        units.push(unit);
    }
    frame(&mut units);
    units
}

/// What a line is worth as one of its template's.
fn judge(unit: &mut Unit, at: usize, entry: Entry, template: &Template) {
    let weight = entry.said.weight();
    let (first, last) = (template.first as usize == at, template.last as usize == at);
    let whole = template.count <= RARE;
    let example = match (first, last) {
        (true, _) => 60,
        (_, true) => 20,
        _ => 0,
    };
    if first || last || whole {
        unit.rank = if weight > Severity::Info { Rank::Must } else { Rank::Frame };
        unit.score = example + weight as u16 * 100 + if whole { 10 } else { 0 };
        if entry.head || weight > Severity::Info || first || whole {
            if first && !whole && (entry.head || weight > Severity::Info) {
                let last = template.last as u64 + 1;
                let same = if template.differ { "" } else { " the same" };
                unit.note = Some(format!("⟨×{}{same}, last line {last}⟩", template.count));
            }
        } else {
            unit.rank = Rank::Filler;
        }
    } else {
        unit.score = weight as u16 * 10;
    }
}

/// A log's first and last lines show its span of time.
fn frame(units: &mut [Unit]) {
    let last = units.len().saturating_sub(1);
    for at in [0, last] {
        if let Some(unit) = units.get_mut(at) {
            unit.rank = unit.rank.max(Rank::Frame);
            unit.score = unit.score.max(150);
        }
    }
}
