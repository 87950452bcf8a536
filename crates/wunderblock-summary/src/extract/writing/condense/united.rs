//! Merges lines of several summaries that say the same thing.

use crate::extract::calls::change::ADDED_LISTED;
use crate::extract::writing::item::{ADDS, ANSWERED, ItemText, SummaryItem, split_added};
use std::collections::HashMap;
use wunderblock_core::policy::Fill;

/// Merges items that say the same thing.
pub(super) fn united(all: Vec<SummaryItem>) -> Vec<SummaryItem> {
    let mut places: HashMap<(Fill, String), usize> = HashMap::new();
    let mut out: Vec<SummaryItem> = Vec::new();
    for item in all {
        let same = item.same();
        if same.0 == Fill::Statistics {
            add_up(&mut out, item);
            continue;
        }
        match places.get(&same).and_then(|place| out.get_mut(*place)) {
            Some(before) => {
                // What was done last to a file stands alone: changes do not count as removals.
                let goes_on = verb(&before.text) == verb(&item.text);
                let earlier = if goes_on { count_of(&before.text) } else { 0 };
                let count = count_of(&item.text).saturating_add(earlier);
                let text = if goes_on { with_added(&before.text, item.text) } else { item.text };
                before.weight = before.weight.max(item.weight);
                before.order = item.order;
                before.refs = item.refs;
                before.text = with_count(text, count);
            }
            None => {
                places.insert(same, out.len());
                out.push(item);
            }
        }
    }
    out
}

/// Returns the words of a line before its first name.
fn verb(text: &ItemText) -> &str {
    match text {
        ItemText::Line { lead, .. } => lead.split('`').next().unwrap_or_default(),
        ItemText::Block(_) | ItemText::Packed { .. } => "",
    }
}

/// Returns the count of a line: the number after its first `×`, or 1.
fn count_of(text: &ItemText) -> u32 {
    let (ItemText::Line { lead: text, .. } | ItemText::Packed { name: text, .. }) = text else { return 1 };
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
    text.split_once(" ×").and_then(|(_, rest)| digits(rest).parse().ok()).unwrap_or(1)
}

/// Returns the line of a file with the names that its earlier line says the file gained.
fn with_added(earlier: &ItemText, text: ItemText) -> ItemText {
    let (ItemText::Line { lead: old, .. }, ItemText::Line { lead, quote, tail }) = (earlier, &text) else {
        return text;
    };
    let added = |lead: &str| -> Vec<String> {
        split_added(lead).1.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let new = added(lead);
    let names: Vec<String> =
        added(old).into_iter().filter(|name| !new.contains(name)).chain(new.clone()).collect();
    if names.len() == new.len() {
        return text;
    }
    let what = split_added(lead).0.trim_end_matches([':', ' ']);
    let end = if quote.is_empty() { "" } else { ": " };
    let newest = names.get(names.len().saturating_sub(ADDED_LISTED)..).unwrap_or_default();
    let listed = newest.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    ItemText::Line { lead: format!("{what}{ADDS}{listed}{end}"), quote: quote.clone(), tail: tail.clone() }
}

fn with_count(text: ItemText, count: u32) -> ItemText {
    let counted = |text: String| {
        // A question is quoted before its answer: its backticks are the speaker's.
        if !text.contains('`') || text.contains(ANSWERED) {
            return text;
        }
        let once = match text.split_once(" ×") {
            Some((before, rest)) => {
                format!("{before}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
            }
            None => text,
        };
        // What a file gained follows its name.
        let named = split_added(&once).0.rfind('`').and_then(|at| once.split_at_checked(at + 1));
        match named {
            Some((name, rest)) if count > 1 => format!("{name} ×{count}{rest}"),
            _ => once,
        }
    };
    match text {
        ItemText::Line { lead, quote, tail } => ItemText::Line { lead: counted(lead), quote, tail },
        ItemText::Packed { label, name } => ItemText::Packed { label, name: counted(name) },
        block @ ItemText::Block(_) => block,
    }
}

/// Adds the counts of a statistics line to those of the line before.
fn add_up(out: &mut Vec<SummaryItem>, item: SummaryItem) {
    let ItemText::Line { lead, .. } = &item.text else { return };
    let is_counts = lead.contains('×');
    let before = out.iter_mut().find(|before| {
        before.fill == Fill::Statistics
            && matches!(&before.text, ItemText::Line { lead, .. } if lead.contains('×') == is_counts && (is_counts || lead.starts_with("from ")))
    });
    let Some(before) = before else {
        out.push(item);
        return;
    };
    let ItemText::Line { lead: old, .. } = &mut before.text else { return };
    if is_counts {
        let parse = |text: &str| -> Vec<(String, u64)> {
            let pair = |piece: &str| {
                let (name, count) = piece.split_once('×')?;
                Some((name.trim().to_owned(), count.trim().parse().ok()?))
            };
            text.split(',').filter_map(pair).collect()
        };
        let mut sums = parse(old);
        for (name, count) in parse(lead) {
            match sums.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += count,
                None => sums.push((name, count)),
            }
        }
        *old = sums.iter().map(|(name, count)| format!("{name} ×{count}")).collect::<Vec<_>>().join(", ");
    } else if let (Some((since, _)), Some((_, until))) = (old.split_once(" to "), lead.split_once(" to ")) {
        *old = format!("{since} to {until}");
    }
    before.refs = item.refs;
}
