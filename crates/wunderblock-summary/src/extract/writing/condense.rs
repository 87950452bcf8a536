//! Merges earlier summaries into a new one, item by item. A summary never contains another summary.
//!
//! A summary that our extractor wrote has its items beside its text. The text of any other summary is read line by
//! line: the headings tell what the lines are about, and each line is quoted.

use super::form::{SummaryForm, heading};
use super::item::{CountedName, ItemText, NO_RESULT, RUNNING, SummaryItem, UNCHECKED_LEGEND};
use super::log;
use crate::extract::glean::Found;
use crate::extract::language::cue;
use crate::extract::language::plain::{self, code, line};
use crate::task::{Earlier, Material};
use std::collections::{HashMap, HashSet};
use wunderblock_core::literal::literals;
use wunderblock_core::policy::Fill;
use wunderblock_core::units::Seq;

/// Maximum number of positions kept for a line; the last ones are kept.
const REFS_MAX: usize = 2;
/// Maximum number of bytes kept of a line written by a model.
const LINE_MAX: usize = 600;

/// Adds the lines of earlier summaries to the items. Newer lines outrank older ones. A line that occurs in several
/// summaries is kept once, with the newest position and the sum of the counts.
pub(in crate::extract) fn merge(
    items: &mut Vec<SummaryItem>,
    material: &Material<'_>,
    found: &Found<'_>,
    form: &SummaryForm,
) {
    if material.earlier.is_empty() {
        return;
    }
    let replaced: HashSet<Fill> = [
        (Fill::Todos, found.plan.is_some()),
        (Fill::Current, items.iter().any(|item| item.fill == Fill::Current)),
        (Fill::Next, items.iter().any(|item| item.fill == Fill::Next)),
        (Fill::Recent, items.iter().filter(|item| item.fill == Fill::Recent).count() >= 5),
    ]
    .into_iter()
    .filter_map(|(fill, is)| is.then_some(fill))
    .collect();
    let count = material.earlier.len();
    let mut all: Vec<SummaryItem> = Vec::new();
    for (number, earlier) in material.earlier.iter().enumerate() {
        // Current work in an earlier part is outdated once a later part reports what followed.
        let is_last = number + 1 == count;
        for mut item in read(earlier, form) {
            let passing = matches!(item.fill, Fill::Current | Fill::Next | Fill::Recent | Fill::Todos);
            // What waited for a result then has it by now, or never got one.
            let waited = (!is_last || found.tally.messages > 0) && waits(&item);
            if replaced.contains(&item.fill) || passing && !is_last || waited {
                continue;
            }
            let age = i64::try_from(number * 1_000 / count).unwrap_or(0);
            // Items from new entries, if there are any, outrank all items from earlier summaries.
            item.weight += age - if found.tally.messages > 0 { 1_000 } else { 0 };
            all.push(item);
        }
    }
    // The task is the first request overall, not the first one in the newest part.
    if all.iter().any(|item| item.fill == Fill::Intent) {
        items.iter_mut().filter(|item| item.fill == Fill::Intent).for_each(SummaryItem::follow);
    }
    all.append(items);
    *items = united(all);
}

/// Returns whether an item says that the result of a call was still to come.
fn waits(item: &SummaryItem) -> bool {
    matches!(&item.text, ItemText::Line { lead, quote, .. }
        if quote.is_empty() && [NO_RESULT, RUNNING].iter().any(|end| lead.trim_end().ends_with(end)))
}

/// Facts of earlier summaries that no later summary may lose.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The first request, with its position.
    pub(super) request: Option<(Seq, String)>,
    /// Standing rules with their positions, newest first.
    pub(super) rules: Vec<(Seq, String)>,
}

/// Reads the first request and the rules of earlier summaries.
pub(super) fn kept(earlier: &[Earlier<'_>], form: &SummaryForm) -> Kept {
    let mut kept = Kept::default();
    for summary in earlier {
        for item in read(summary, form) {
            let at = item.refs.first().copied().unwrap_or(summary.from);
            let Some(text) = item.quoted().map(str::to_owned) else { continue };
            match item.fill {
                Fill::Intent | Fill::UserMessages if kept.request.is_none() => {
                    kept.request = Some((at, text))
                }
                Fill::Constraints => kept.rules.insert(0, (at, text)),
                _ => {}
            }
        }
    }
    kept
}

/// Merges items that say the same thing.
fn united(all: Vec<SummaryItem>) -> Vec<SummaryItem> {
    let mut places: HashMap<(Fill, String), usize> = HashMap::new();
    let mut out: Vec<SummaryItem> = Vec::new();
    for item in all {
        let same = item.same();
        match places.get(&same).and_then(|place| out.get_mut(*place)) {
            Some(known) => {
                let weight = known.weight.max(item.weight);
                let earlier = std::mem::replace(known, SummaryItem { weight, ..item });
                known.text.add(earlier.text);
            }
            None => {
                places.insert(same, out.len());
                out.push(item);
            }
        }
    }
    out
}

/// Returns the items of an earlier summary by any writer.
fn read(earlier: &Earlier<'_>, form: &SummaryForm) -> Vec<SummaryItem> {
    let own = earlier.items.and_then(|items| serde_json::from_str::<Vec<SummaryItem>>(items).ok());
    let mut items = own.unwrap_or_else(|| foreign(earlier, form));
    // A template may have no part for a kind that another template has.
    items.retain_mut(|item| form.place_of(item.fill).map(|fill| item.fill = fill).is_some());
    for (place, item) in (1..).zip(&mut items) {
        if item.fill != Fill::UserMessages {
            item.refs.truncate(REFS_MAX);
        }
        item.order = item.refs.first().map_or(earlier.from.0, |at| at.0);
        // Lines of equal weight keep their order.
        item.weight = -place;
        if earlier.unchecked {
            item.name_unchecked();
        }
    }
    // The first request is the task, so it outranks other requests.
    if let Some(first) = items.iter_mut().find(|item| item.fill == Fill::Intent) {
        first.weight += 9_000;
    }
    items
}

/// Reads the text of a summary whose items are not known.
fn foreign(earlier: &Earlier<'_>, form: &SummaryForm) -> Vec<SummaryItem> {
    // A line before the first heading may be of any kind.
    let (mut here, mut is_guess) = (form.place_of(Fill::Findings), true);
    let mut items = Vec::new();
    let mut lines = earlier.text.lines().peekable();
    while let Some(text) = lines.next() {
        if let Some((fill, guessed)) = part_of(text, form) {
            (here, is_guess) = (Some(fill), guessed);
            continue;
        }
        let trimmed = text.trim();
        if trimmed.is_empty()
            || trimmed == UNCHECKED_LEGEND
            || trimmed.starts_with(log::DATE)
            || trimmed.starts_with("</")
            || trimmed.starts_with("```")
        {
            continue;
        }
        // A message that is quoted in full follows the line that gives its position.
        let mut block = String::new();
        while let Some(more) = lines.peek().and_then(|line| line.trim_start().strip_prefix('>')) {
            block.push_str(more.strip_prefix(' ').unwrap_or(more));
            block.push('\n');
            lines.next();
        }
        let (said, mut refs) = positions(log::bare(trimmed.trim_start_matches(['-', '*', '•', ' '])).0);
        let text = match () {
            () if !block.is_empty() => ItemText::Block(block.trim_end().to_owned()),
            () if is_one_name(said) => {
                ItemText::about(CountedName::new("", code(said, form.marks), 1), "", String::new())
            }
            () if is_guess && !cue::says_something(said) => continue,
            () if !said.contains(char::is_alphanumeric) => continue,
            () => ItemText::quote("", quotation(said, form)),
        };
        // A line without a position gets the first position of the range. The position of the summary's own record
        // would depend on what other lanes have recorded.
        if refs.is_empty() {
            refs.push(earlier.from);
        }
        items.extend(here.map(|fill| SummaryItem { refs, ..SummaryItem::new(fill, text, earlier.from, 0) }));
    }
    items
}

/// Returns the kind of the lines that a line introduces, if the line is a heading, and whether the kind is a guess.
fn part_of(text: &str, form: &SummaryForm) -> Option<(Fill, bool)> {
    use wunderblock_core::policy::SummaryFormat as As;
    let trimmed = text.trim();
    let named = trimmed.trim_start_matches(['#', '*', ' ', '<']).trim_end_matches(['*', ':', ' ', '>', '：']);
    let numbered = named.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(['.', ')', ' ']);
    // Headings written by other programs are Markdown headings, elements, bold lines or numbered lines.
    let is_heading = trimmed.starts_with('#') && trimmed.trim_start_matches('#').starts_with(' ')
        || trimmed.starts_with('<')
            && trimmed.ends_with('>')
            && !trimmed.starts_with("</")
            && !trimmed.contains(' ')
        || trimmed.starts_with("**") && trimmed.trim_end_matches(':').ends_with("**")
        || numbered.len() < named.len()
            && trimmed.ends_with(':')
            && text.starts_with(|c: char| c.is_ascii_digit());
    if !is_heading || named.len() > 80 {
        return None;
    }
    let folded = |text: &str| text.to_lowercase().replace(['_', '-'], " ");
    for part in &form.parts {
        let names = [heading(As::Xml, 0, &part.name), part.name.clone()];
        let names = names.map(|name| folded(name.trim_matches(['<', '>'])));
        if names.contains(&folded(named)) || names.contains(&folded(numbered)) {
            return part.fills.first().map(|fill| (*fill, false));
        }
    }
    Some((guess(&folded(numbered)), true))
}

/// Guesses the kind of content from a heading of another template.
fn guess(name: &str) -> Fill {
    let about: [(Fill, &[&str]); 14] = [
        (Fill::UserMessages, &["user message", "messages", "用户消息"]),
        (Fill::Errors, &["error", "fix", "problem", "bug", "错误", "问题"]),
        (Fill::Todos, &["open", "todo", "pending", "task", "plan", "待办", "未完成"]),
        (Fill::Next, &["next", "下一步", "接下来"]),
        (Fill::Current, &["current", "now", "state", "progress", "当前", "进展"]),
        (Fill::FilesModified, &["file", "code", "artefact", "artifact", "change", "文件", "代码"]),
        (Fill::Commands, &["command", "run", "命令"]),
        (Fill::Constraints, &["constraint", "rule", "preference", "约束", "要求", "偏好"]),
        (Fill::Decisions, &["decision", "decided", "决定", "决策", "方案"]),
        (Fill::Identifiers, &["identifier", "literal", "name", "标识"]),
        (Fill::Findings, &["finding", "knowledge", "insight", "learn", "fact", "发现", "结论", "知识"]),
        (Fill::Concepts, &["concept", "technical", "概念"]),
        (Fill::Recent, &["recent", "action", "最近"]),
        (Fill::Statistics, &["statistic", "统计"]),
    ];
    about
        .iter()
        .find(|(_, words)| words.iter().any(|word| name.contains(word)))
        .map_or(Fill::Intent, |(fill, _)| *fill)
}

/// Returns the words of a line and the positions at the end of the line.
fn positions(text: &str) -> (&str, Vec<Seq>) {
    let mut refs = Vec::new();
    let mut rest = text.trim_end();
    while let Some((before, last)) = rest.rsplit_once([' ', '(']) {
        let number =
            last.trim_end_matches([')', ',', '.']).strip_prefix('#').and_then(|digits| digits.parse().ok());
        let Some(number) = number else { break };
        refs.insert(0, Seq(number));
        rest = before.trim_end();
    }
    refs.drain(..refs.len().saturating_sub(REFS_MAX));
    (rest, refs)
}

/// Quotes a line, without quotation marks of its own around it.
fn quotation(said: &str, form: &SummaryForm) -> String {
    let inner = said.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let said = inner.filter(|text| !text.contains('"')).unwrap_or(said);
    let end = plain::cut(said, LINE_MAX);
    let more = if end < said.len() { "…" } else { "" };
    line(&format!("{}{more}", said.get(..end).unwrap_or_default()), form.marks)
}

/// Returns whether a line is a single name.
fn is_one_name(said: &str) -> bool {
    !said.contains(char::is_whitespace) && literals(said).any(|name| name.text.len() == said.len())
}
