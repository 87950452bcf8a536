//! Stack traces: exceptions and their causes stay, frames of libraries do not, and traces like earlier ones are
//! folded.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::part::PartOfList;
use crate::result::label::Label;
use crate::spans::span::{LineSpan, Rank};
use crate::text::lines::TextLines;
use crate::text::sample::LineSample;
use crate::text::severity::{self, LogLevel};
use crate::text::template;

use super::line::alike::AlikeLines;
use super::line::stack_frame::{self, FrameOwner};

/// Maximum number of equal traces that are shown whole.
const MAX_WHOLE: usize = 2;
/// Maximum number of different exceptions that are all shown. If there are more exceptions, traces that are otherwise
/// alike are only counted.
const MAX_THROWN: usize = 400;

pub(crate) fn vote(sample: &LineSample<'_>) -> u32 {
    let frames = sample.count(|line| stack_frame::frame_owner(line).is_some());
    if frames < 2 {
        return 0;
    }
    let heads = sample.count(stack_frame::is_head);
    if frames + heads < 3 {
        return 0;
    }
    let share = sample.share(|line| {
        stack_frame::frame_owner(line).is_some()
            || stack_frame::is_head(line)
            || line.starts_with("    ")
            || line.starts_with("stack backtrace")
    });
    // Sanitizers also print the memory around the error.
    if frames >= 3 && sample.count(|line| line.starts_with("==") && line.contains("Sanitizer: ")) >= 1 {
        return 75;
    }
    let pure = sample.share(|line| stack_frame::frame_owner(line).is_some());
    if pure < 18 { 0 } else { (share.min(95) * 95 / 100).min(25 + pure * 2) }
}

/// The class of a line of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TraceLine {
    Head,
    Frame(FrameOwner),
    /// The source under a frame.
    Source,
    Other,
}

pub(crate) fn spans(lines: &TextLines<'_>) -> Vec<LineSpan> {
    let read: Vec<TraceLine> = classify_lines(lines);
    let mut spans: Vec<LineSpan> =
        (0..lines.len()).map(|at| LineSpan::new(lines.span(at), Rank::Context)).collect();
    for ((span, line), text) in spans.iter_mut().zip(&read).zip(lines.iter()) {
        if *line == TraceLine::Head {
            span.rank = Rank::Must;
            span.score = 200;
        } else if is_shadow(text) {
            (span.rank, span.label) = (Rank::Filler, Some(Label::ShadowMemory));
        }
    }
    for stack in find_stacks(&read) {
        shorten_at(lines, read.part(stack.clone()), stack, &mut spans);
    }
    fold_equal(lines, &read, &mut spans);
    spans
}

/// Returns whether a line belongs to a sanitizer's picture of memory: `  0x0c047fff7fb0: fa fa fd fd`, `=>0x…`.
fn is_shadow(line: &str) -> bool {
    let text = line.strip_prefix("=>").or_else(|| line.strip_prefix("  ")).unwrap_or("");
    let Some((address, bytes)) = text.split_once(':') else { return false };
    let hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    address.strip_prefix("0x").is_some_and(hexadecimal)
        && bytes.split([' ', '[', ']']).all(|byte| byte.len() <= 2 && hexadecimal(byte))
}

fn classify_lines(lines: &TextLines<'_>) -> Vec<TraceLine> {
    let mut before = TraceLine::Other;
    lines
        .iter()
        .map(|line| {
            let is = match stack_frame::frame_owner(line) {
                Some(owner) => TraceLine::Frame(owner),
                None if stack_frame::is_head(line) => TraceLine::Head,
                None if matches!(before, TraceLine::Frame(_) | TraceLine::Source)
                    && line.starts_with("    ") =>
                {
                    TraceLine::Source
                }
                None => TraceLine::Other,
            };
            before = is;
            is
        })
        .collect()
}

/// Returns the runs of frames, with the source lines under them.
fn find_stacks(read: &[TraceLine]) -> Vec<Range<usize>> {
    let mut stacks = Vec::new();
    let mut start = None;
    for (at, line) in read.iter().enumerate() {
        match (line, start) {
            (TraceLine::Frame(_), None) => start = Some(at),
            (TraceLine::Head | TraceLine::Other, Some(from)) => {
                stacks.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    stacks.extend(start.map(|from| from..read.len()));
    stacks
}

/// Ranks the frames of a stack. The first two frames, the last frame, and the frames of the caller's own code stay. A
/// frame that equals the previous one is left out.
pub(super) fn shorten_frames(lines: &TextLines<'_>, stack: Range<usize>, spans: &mut [LineSpan]) {
    let read: Vec<TraceLine> = stack
        .clone()
        .map(|at| stack_frame::frame_owner(lines.get(at)).map_or(TraceLine::Source, TraceLine::Frame))
        .collect();
    shorten_at(lines, &read, stack, spans);
}

fn shorten_at(lines: &TextLines<'_>, read: &[TraceLine], stack: Range<usize>, spans: &mut [LineSpan]) {
    let first = stack.start;
    let goes_on = |at: usize| at > first && is_place_of_frame(lines.get(at), lines.get(at - 1));
    let owner_at = |nth: usize| match read.get(nth) {
        Some(TraceLine::Frame(owner)) => Some(*owner),
        _ => None,
    };
    let starts = |nth: usize| owner_at(nth).is_some() && !goes_on(first + nth);
    let frames = (0..read.len()).filter(|nth| starts(*nth)).count();
    let (mut count, mut owner, mut kept, mut before) = (0, FrameOwner::Own, true, 0);
    for ((nth, line), span) in read.iter().enumerate().zip(spans.part_mut(stack)) {
        let at = first + nth;
        let begins = starts(nth);
        if begins {
            count += 1;
            let said = template::hash(lines.get(at).as_bytes());
            // The place below a name also shows the owner of the frame.
            let placed = owner_at(nth + 1).filter(|_| goes_on(at + 1)) == Some(FrameOwner::Library);
            let foreign = said == before || placed || owner_at(nth) == Some(FrameOwner::Library);
            owner = if foreign { FrameOwner::Library } else { FrameOwner::Own };
            before = said;
            kept = count <= 2 || count == frames || owner == FrameOwner::Own;
        }
        span.score = if owner == FrameOwner::Own { 60 } else { 0 } + if count <= 2 { 40 } else { 0 };
        span.rank = match (kept, line) {
            (true, TraceLine::Frame(_)) => Rank::Frame,
            (true, _) => Rank::Context,
            (false, _) => Rank::Filler,
        };
        // A frame that a smaller budget leaves out later is counted, too.
        span.label = begins.then_some(Label::Frames);
    }
}

/// Returns whether a line is the second line of a frame: Rust and Go write the name of the frame on one line and its
/// place on the next.
fn is_place_of_frame(line: &str, before: &str) -> bool {
    let text = line.trim_start();
    let name = before.trim_start();
    let numbered = name.starts_with(|c: char| c.is_ascii_digit()) && text.starts_with("at ");
    let called = line.starts_with('\t')
        && !before.starts_with('\t')
        && (name.ends_with(')') || name.starts_with("created by "));
    numbered || called && !text.starts_with("at ")
}

/// Beginnings of lines that introduce an exception without naming it.
const HEADINGS: [&str; 5] =
    ["Traceback", "goroutine ", "During handling", "The above exception", "--- End of inner"];
/// Beginnings of lines that join an exception to the one before it, so that both belong to one trace.
const JOINS: [&str; 7] =
    ["Caused by:", "Suppressed:", "[cause]", "During handling", "The above exception", "---", "Wrapped by:"];

/// Returns the traces of a text. Each trace begins at an exception that is not a cause of the previous one. Log lines
/// between traces are separate ranges.
fn find_traces(lines: &TextLines<'_>, read: &[TraceLine]) -> Vec<Range<usize>> {
    let mut starts: Vec<usize> = Vec::new();
    // Python names an exception below its frames, and announces a following exception with a sentence.
    let (mut before, mut unnamed, mut joined) = (TraceLine::Other, false, false);
    for (at, line) in read.iter().enumerate() {
        let text = lines.get(at).trim_start_matches([' ', '\t', '|']);
        let joins = JOINS.iter().any(|opening| text.starts_with(opening));
        let traceback = text.starts_with("Traceback");
        let begins = match line {
            TraceLine::Head => !joins && !joined && (traceback || !unnamed && before != TraceLine::Source),
            TraceLine::Other if !text.trim().is_empty() && !is_tail(text) => {
                matches!(before, TraceLine::Frame(_)) || severity::read_line(text).level.is_some()
            }
            _ => false,
        };
        if begins {
            starts.push(at);
        }
        if *line == TraceLine::Head {
            unnamed = traceback;
            joined = text.starts_with("During handling") || text.starts_with("The above exception");
        }
        before = *line;
    }
    let ends = starts.iter().skip(1).copied().chain([read.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

fn is_heading(text: &str) -> bool {
    HEADINGS.iter().any(|heading| text.trim_start_matches([' ', '\t', '|', '+', '-']).starts_with(heading))
}

fn is_tail(text: &str) -> bool {
    text.starts_with("note:") || text.starts_with('}') || text.starts_with("exit status")
}

/// Traces with the same words, whatever their values.
#[derive(Default)]
struct AlikeTraces<'t> {
    count: usize,
    first: usize,
    last: usize,
    /// Whether any lines of the traces differ.
    differ: bool,
    exact: u64,
    /// Words of the exceptions: those of the first exception in each trace, then those of the second, and so on.
    thrown: Vec<AlikeLines<'t>>,
}

/// Folds traces with the same words. The first and the last trace stay, with a note that states the differences. In
/// the traces between the first and the last, exceptions stay if their words differ from those of earlier exceptions.
fn fold_equal(lines: &TextLines<'_>, read: &[TraceLine], spans: &mut [LineSpan]) {
    let traces = find_traces(lines, read);
    let names = |at: &usize| read.item(*at) == Some(&TraceLine::Head) && !is_heading(lines.get(*at));
    let mut words = Vec::new();
    let mut alike: HashMap<u64, AlikeTraces<'_>> = HashMap::new();
    let mut keys = Vec::with_capacity(traces.len());
    for (nth, trace) in traces.iter().enumerate() {
        let (mut key, mut exact, mut before) = (0u64, 0, 0);
        for line in trace.clone().map(|at| lines.get(at)) {
            let masked = template::masked_hash(line, &mut words);
            // The depth of a recursion is a value, so equal lines in a row count once.
            if masked != before {
                key = template::mix_hash(key, masked);
            }
            exact = template::mix_hash(exact, template::hash(line.trim().as_bytes()));
            before = masked;
        }
        let same = alike.entry(key).or_default();
        if same.count == 0 {
            (same.first, same.exact) = (nth, exact);
        }
        same.count += 1;
        same.last = nth;
        same.differ |= same.exact != exact;
        for (head, at) in thrown_lines(lines, trace, names).into_iter().enumerate() {
            if same.thrown.len() <= head {
                same.thrown.push(AlikeLines::default());
            }
            same.thrown.item_mut(head).into_iter().for_each(|words| words.add(lines.get(at)));
        }
        keys.push(key);
    }
    let mut thrown = HashSet::new();
    for (nth, (key, trace)) in keys.iter().zip(&traces).enumerate() {
        let says =
            |at: usize| at == trace.start && severity::level_of(lines.get(at)) == Some(LogLevel::Error);
        let new = |at: &usize| {
            (names(at) || says(*at)) && thrown.insert(template::hash(lines.get(*at).trim().as_bytes()))
        };
        let heads: Vec<usize> = trace.clone().filter(new).collect();
        let Some(same) = alike.get(key).filter(|same| same.count > MAX_WHOLE) else { continue };
        let has_frames = trace.clone().any(|at| matches!(read.get(at), Some(TraceLine::Frame(_))));
        if nth == same.first {
            let last = traces.item(same.last).map_or(0, |trace| lines.number(trace.start));
            let places = thrown_lines(lines, trace, names);
            let mut told = places.iter().zip(same.thrown.iter().map(|words| words.told(true)));
            // The note follows the line in which the traces differ or, if there is none, the line of the exception.
            let found = told.find(|(_, told)| !told.is_empty()).map(|(at, told)| (*at, told));
            let (at, told) = found.unwrap_or((places.first().copied().unwrap_or(trace.start), String::new()));
            let (more, what) = (same.count - 1, if has_frames { "traces " } else { "" });
            let note = match same.differ {
                true => format!("⟨and {more} {what}alike to L{last}{told}⟩"),
                false if has_frames => format!("⟨×{} traces, the last at L{last}⟩", same.count),
                false => format!("⟨×{}⟩", same.count),
            };
            if let Some(span) = spans.item_mut(at) {
                span.set_note(Some(note.into()));
                span.score += 100;
            }
        } else if nth != same.last {
            // An exception with other words is another error, even if only a number differs.
            let stays = |at: &usize| thrown.len() <= MAX_THROWN && heads.contains(at);
            let mut label = Some(Label::Traces).filter(|_| has_frames);
            for (at, span) in trace.clone().zip(spans.get_mut(trace.clone()).unwrap_or_default()).rev() {
                (span.rank, span.score, span.label) = match stays(&at) {
                    true => (Rank::Must, 150, Some(Label::Thrown)),
                    false => (Rank::Filler, span.score, label.take()),
                };
            }
        }
    }
}

/// Returns the lines that name exceptions, beginning with the exception that left the program: The exception that
/// left the program is named last by Python, and before its causes by other languages. Returns the first line if no
/// line names an exception.
fn thrown_lines(lines: &TextLines<'_>, trace: &Range<usize>, names: impl Fn(&usize) -> bool) -> Vec<usize> {
    let mut named: Vec<usize> = trace.clone().filter(names).collect();
    if is_heading(lines.get(trace.start)) {
        named.reverse();
    }
    if named.is_empty() { vec![trace.start] } else { named }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines that have a note, each with its note.
    fn noted(text: &str) -> Vec<String> {
        let lines = TextLines::of(text);
        let spans = spans(&lines);
        let noted = spans.iter().filter_map(|span| Some((text.get(span.range())?.trim(), span.note()?)));
        noted.map(|(line, note)| format!("{line} {note}")).collect()
    }

    #[test]
    fn a_note_stands_behind_what_was_thrown_and_says_what_differs_in_it() {
        let python: String = (0..5)
            .map(|nth| {
                let frame = |line: u32| format!("Traceback (most recent call last):\n  File \"/srv/shop.py\", line {line}, in run\n    run()\n    ~~~^^\n");
                format!("{}KeyError: 'page-{nth}'\n\nDuring handling of the above exception, another exception occurred:\n\n{}RuntimeError: job {nth} failed\n", frame(nth % 2), frame(7))
            })
            .collect();
        assert_eq!(noted(&python), ["RuntimeError: job 0 failed ⟨and 4 traces alike to L53: 0, 1, 2, 3, 4⟩"]);
        let java = |nth: u32| {
            format!(
                "07:11:1{nth} INFO shop.Loans - opening {nth}\ncom.acme.LoanException: failed\n\tat com.acme.Loans.open(Loans.java:4)\nCaused by: java.io.IOException: no shelf {nth}\n\tat com.acme.Loans.find(Loans.java:7)\n"
            )
        };
        assert_eq!(
            noted(&(0..4).map(java).collect::<String>()),
            [
                "07:11:10 INFO shop.Loans - opening 0 ⟨and 3 alike to L16: 0, 1, 2, 3⟩",
                "Caused by: java.io.IOException: no shelf 0 ⟨and 3 traces alike to L17: 0, 1, 2, 3⟩",
            ]
        );
    }

    #[test]
    fn every_different_exception_stays_though_its_frames_go() {
        let text: String = (0..9)
            .map(|nth| {
                let frames: String = (0..8).map(|at| format!("\tat com.acme.Shop.step{at}(Shop.java:{at}1)\n")).collect();
                format!("com.acme.OrderException: no stock for item {nth}\n{frames}Caused by: java.io.IOException: shelf {} is gone\n{frames}", nth % 2)
            })
            .collect();
        let lines = TextLines::of(&text);
        let spans = spans(&lines);
        let shown: String = spans
            .iter()
            .filter(|span| span.rank > Rank::Filler)
            .map(|span| text.get(span.range()).unwrap())
            .collect();
        for nth in 0..9 {
            assert!(shown.contains(&format!("item {nth}\n")), "{nth}");
        }
        assert!(shown.contains("shelf 0 is gone") && shown.contains("shelf 1 is gone"));
        assert!(shown.matches("shelf").count() < 9, "the same cause is repeated");
        assert!(shown.len() * 2 < text.len());
    }
}
