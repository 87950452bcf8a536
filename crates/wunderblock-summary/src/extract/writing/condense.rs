//! Merges earlier summaries into a new one, part by part and line by line. A summary never contains another summary.

mod united;

use super::form::{SummaryForm, heading};
use super::item::{
    ANSWERED, COMMITTED, DONE, ItemText, NO_RESULT, OF_PEER, OPEN, OPEN_WHEN_SAID, OUTCOME, REPLACED, RULE,
    RUNNING, SummaryItem, UNCHECKED_LEGEND, WRAPPED_UP,
};
use super::log;
use crate::extract::glean::Found;
use crate::extract::language::cue;
use crate::extract::language::plain::{self, code, line};
use crate::task::{Earlier, Material};
use std::collections::HashSet;
use united::united;
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

/// Returns the items of an earlier summary, whether we or another program wrote it.
fn read(earlier: &Earlier<'_>, form: &SummaryForm) -> Vec<SummaryItem> {
    let mut fills: &[Fill] = &[];
    // A line before the first heading may be of any kind.
    let mut guessed: Vec<Fill> = form.place_of(Fill::Findings).map(|fill| vec![fill]).unwrap_or_default();
    let mut items = Vec::new();
    let mut lines = earlier.text.lines().peekable();
    let mut order = 0;
    while let Some(text) = lines.next() {
        if let Some(found) = part_of(text, form) {
            match found {
                DropPlace::Ours(of) => (fills, guessed) = (of, Vec::new()),
                DropPlace::Guess(fill) => (fills, guessed) = (&[], vec![fill]),
            }
            continue;
        }
        let trimmed = text.trim();
        if trimmed.is_empty()
            || trimmed == UNCHECKED_LEGEND
            || trimmed.starts_with(log::DATE)
            || matches!(trimmed, "–" | "- –" | "---")
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
        let bare = log::bare(trimmed.trim_start_matches(['-', '*', '•']).trim_start()).0;
        let here = if fills.is_empty() { guessed.as_slice() } else { fills };
        let said = positions(bare).0;
        if fills.is_empty() && block.is_empty() && !cue::says_something(said) && !is_one_name(said) {
            continue;
        }
        // A line without a position gets the first position of the range. The position of the summary's own record
        // would depend on what other lanes have recorded.
        for mut item in items_of(bare, &block, here, earlier.from, form) {
            order += 1;
            item.order = item.refs.first().map_or(earlier.from.0, |at| at.0);
            // Lines of equal weight keep their order.
            item.weight -= order;
            if earlier.unchecked {
                item.name_unchecked();
            }
            items.push(item);
        }
    }
    // The first request is the task, so it outranks other requests.
    if let Some(first) = items.iter_mut().find(|item| item.fill == Fill::Intent) {
        first.weight += 9_000;
    }
    items
}

enum DropPlace<'f> {
    Ours(&'f [Fill]),
    Guess(Fill),
}

/// Returns the part that a line introduces if the line is a heading.
fn part_of<'f>(text: &str, form: &'f SummaryForm) -> Option<DropPlace<'f>> {
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
            return Some(DropPlace::Ours(&part.fills));
        }
    }
    let fill = guess(&folded(numbered));
    form.place_of(fill).map(DropPlace::Guess)
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

/// Returns the items of one line.
fn items_of(text: &str, block: &str, fills: &[Fill], at: Seq, form: &SummaryForm) -> Vec<SummaryItem> {
    let Some(first) = fills.first().copied() else { return Vec::new() };
    let (said, refs) = positions(text);
    let refs = if refs.is_empty() { vec![at] } else { refs };
    let item = |fill, text, refs| SummaryItem { refs, ..SummaryItem::new(fill, text, at, 0) };
    if !block.is_empty() {
        let fill = if fills.contains(&Fill::UserMessages) { Fill::UserMessages } else { first };
        return vec![item(fill, ItemText::Block(block.trim_end().to_owned()), refs)];
    }
    // A line may list several names, each with its position.
    for (label, prefix) in [("read", "read: `"), ("named", "named: `"), ("", "`")] {
        let packed = text.strip_prefix(prefix).filter(|_| !text.contains('"') && !text.contains('→'));
        let Some(rest) = packed else { continue };
        let fill = match label {
            "read" if fills.contains(&Fill::FilesRead) => Fill::FilesRead,
            "named" if fills.contains(&Fill::Identifiers) => Fill::Identifiers,
            _ => [Fill::Identifiers, Fill::Concepts]
                .into_iter()
                .find(|fill| fills.contains(fill))
                .unwrap_or(first),
        };
        let rest = format!("`{rest}");
        if !rest.split(super::item::BETWEEN).all(|piece| is_name(positions(piece).0)) {
            continue;
        }
        let several = rest.split(super::item::BETWEEN).map(|piece| {
            let (name, own) = positions(piece);
            let refs = if own.is_empty() { refs.clone() } else { own };
            item(fill, ItemText::Packed { label, name: tame(name, form) }, refs)
        });
        return several.filter(|item| item.search_text().len() > 2).collect();
    }
    let fill = kind_of(said, fills).unwrap_or(first);
    let (lead, quote, tail) = split(said, form);
    let says = lead.chars().chain(quote.chars()).any(char::is_alphanumeric);
    if says { vec![item(fill, ItemText::Line { lead, quote, tail }, refs)] } else { Vec::new() }
}

/// Endings of the lines that we write about errors.
const STATES: [&str; 6] = [OPEN, REPLACED, "\" → failed", "→ file removed", "→ ok later", "` changed since"];

/// Returns the kind of a line in a part with several kinds, based on the words that begin or end our own lines.
fn kind_of(said: &str, fills: &[Fill]) -> Option<Fill> {
    let begins = |words: &[&str]| words.iter().any(|word| said.starts_with(word));
    let fill = if said.contains(ANSWERED) {
        Fill::Decisions
    } else if begins(&["changed `", "removed `", "changing `", "removing `", "moved `", "taken back `"]) {
        Fill::FilesModified
    } else if begins(&[RULE]) {
        Fill::Constraints
    } else if begins(&[OUTCOME, OF_PEER]) {
        Fill::Outcomes
    } else if begins(&[
        "in progress: ",
        "in progress when last listed: ",
        "open: ",
        "open when last listed: ",
        OPEN_WHEN_SAID,
    ]) {
        Fill::Todos
    } else if begins(&[DONE, COMMITTED]) {
        Fill::Done
    } else if begins(&["asked last: ", "said last: ", WRAPPED_UP]) {
        Fill::Current
    } else if begins(&["user: ", "model: "]) {
        Fill::Recent
    } else if said.contains("→ fixed") || STATES.iter().any(|state| said.ends_with(state)) {
        Fill::Errors
    } else if begins(&["`"]) {
        Fill::Commands
    } else if begins(&["messages ×", "from "]) {
        Fill::Statistics
    } else {
        return None;
    };
    fills.contains(&fill).then_some(fill)
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
    // This line lists the positions of all messages that it represents.
    let most = if rest.contains("older messages") { usize::MAX } else { REFS_MAX };
    let skip = refs.len().saturating_sub(most);
    refs.drain(..skip);
    (rest, refs)
}

/// Splits a line into our words, a quotation, and our words after the quotation. A line without quotation marks is
/// treated as one quotation, unless it consists of our words or a single name.
fn split(said: &str, form: &SummaryForm) -> (String, String, String) {
    if let Some((question, answer)) = said.split_once(ANSWERED)
        && let Some(question) = question.strip_prefix('"').and_then(|text| text.strip_suffix('"'))
    {
        let lead = format!("\"{}\"{ANSWERED}", line(question, form.marks));
        return (lead, line(answer.trim_matches('"'), form.marks), String::new());
    }
    // A command in backticks may contain quotation marks.
    let is_outside =
        |(at, _): &(usize, &str)| said.get(..*at).is_some_and(|before| before.matches('`').count() % 2 == 0);
    let mut marks = said.match_indices('"');
    let first = marks.find(is_outside).map(|(at, _)| at);
    let last = said.rfind('"').filter(|last| first.is_some_and(|first| *last > first));
    if let (Some(first), Some(last)) = (first, last) {
        let lead = said.get(..first).unwrap_or_default();
        let tail = said.get(last + 1..).unwrap_or_default();
        if is_ours(lead) && is_ours(tail) {
            let quote = line(said.get(first + 1..last).unwrap_or_default(), form.marks);
            let mut lead = tame(lead, form);
            if lead.ends_with(':') {
                lead.push(' ');
            }
            let tail = if tail.is_empty() { String::new() } else { format!(" {}", tame(tail, form)) };
            return (lead, quote, tail);
        }
    }
    if is_one_name(said) {
        return (format!("`{}`", code(said, form.marks)), String::new(), String::new());
    }
    if is_ours(said) {
        return (tame(said, form), String::new(), String::new());
    }
    let end = plain::cut(said, LINE_MAX);
    let more = if end < said.len() { "…" } else { "" };
    let quote = line(&format!("{}{more}", said.get(..end).unwrap_or_default()), form.marks);
    (String::new(), quote, String::new())
}

/// Returns whether a line is a single name.
fn is_one_name(said: &str) -> bool {
    !said.contains(char::is_whitespace) && literals(said).any(|name| name.text.len() == said.len())
}

/// Returns whether a text is a name in backticks, with or without a count.
fn is_name(text: &str) -> bool {
    let Some((name, rest)) = text.strip_prefix('`').and_then(|text| text.split_once('`')) else {
        return false;
    };
    let count = rest.strip_prefix(" ×").is_some_and(|count| count.bytes().all(|byte| byte.is_ascii_digit()));
    name.contains(char::is_alphanumeric) && (rest.is_empty() || count)
}

/// Returns whether a text consists of names in backticks, counts, and the few words that we write around them.
fn is_ours(text: &str) -> bool {
    #[rustfmt::skip]
    const OURS: [&str; 67] = [
        "with", "after", "applied:", "asked", "back", "back:", "broken", "by", "calls", "changed", "changing", "checked", "code", "exit", "failed",
        "failed,", "failed:", "file", "files", "fixed", "given:", "in", "last", "last:", "listed:", "later", "messages", "model", "model:",
        "named:", "no", "not", "off:", "ok", "ok:", "older", "open", "open:", "printed:", "progress:", "read:",
        "rejected:", "removed", "removing", "reply:", "reports:", "result", "rule:", "said", "since", "taken", "the", "running", "seen", "outcome", "known", "committed:", "then:", "to", "~", "user",
        "user:", "was", "when", "yet", "→", "from",
    ];
    let outside: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let plain = |word: &str| {
        let counts = |c: char| c.is_ascii_digit() || "×,:".contains(c);
        OURS.contains(&word)
            || word.chars().all(counts)
            || word.chars().all(|c| c.is_ascii_digit() || "-:".contains(c))
    };
    outside.split_whitespace().all(plain) && text.matches('`').count().is_multiple_of(2)
}

/// Adapts to the present summary the words that we wrote into an earlier one.
fn tame(text: &str, form: &SummaryForm) -> String {
    let pieces: Vec<String> = text
        .split('`')
        .enumerate()
        .map(|(number, piece)| if number % 2 == 1 { code(piece, form.marks) } else { spaced(piece, form) })
        .collect();
    pieces.join("`").trim().to_owned()
}

/// Like [`line`], but keeps a blank at either end.
fn spaced(piece: &str, form: &SummaryForm) -> String {
    let inner = line(piece, form.marks);
    let before = if piece.starts_with(' ') { " " } else { "" };
    let after = if piece.ends_with(' ') && !inner.is_empty() { " " } else { "" };
    format!("{before}{inner}{after}")
}
