//! A request and its session as one page for a browser: what the request contains, what was left out, and when.
//!
//! The page contains its own style, runs no script, and has a policy that forbids it to load anything. Every text of a
//! session is written through [`escaped`], and nothing else writes session texts.

mod style;

use style::STYLE;
use wunderblock::{Draft, Timeline, TimelineGap, TimelineStretch, TimelineText};
use wunderblock_core::budget::{Certainty, EntryLine};
use wunderblock_core::message::Role;
use wunderblock_core::section::Section;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Millis, Seq};

/// Width of the timeline, in drawing units.
const WIDE: u64 = 1_000;
/// Height of the timeline's bars, in drawing units.
const HIGH: u64 = 120;
/// Maximum number of entries in a section that are drawn separately. The smallest entries are drawn as one.
const CELLS: usize = 120;

/// A request with its timeline, ready to be written as one HTML file.
pub(crate) struct Page<'a> {
    /// Id of the session.
    pub(crate) session: &'a str,
    pub(crate) draft: &'a Draft,
    pub(crate) timeline: &'a Timeline,
}

/// Returns the page as HTML.
pub(crate) fn html(page: &Page<'_>) -> String {
    let mut out = String::from("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n");
    out.push_str(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n",
    );
    out.push_str("<meta name=\"viewport\" content=\"width=device-width\">\n");
    out.push_str(&format!("<title>{}</title>\n<style>{STYLE}</style></head><body>\n", escaped(page.session)));
    head(page, &mut out);
    area(page, &mut out);
    timeline(page, &mut out);
    gaps(page, &mut out);
    entries(page, &mut out);
    out.push_str("</body></html>\n");
    out
}

fn head(page: &Page<'_>, out: &mut String) {
    let report = &page.draft.report;
    let about = match report.certainty {
        Certainty::Exact => "counted exactly",
        Certainty::Measured => "as measured by the provider",
        _ => "estimated",
    };
    out.push_str(&format!("<h1>{}</h1>\n", escaped(page.session)));
    out.push_str(&format!(
        "<p class=\"dim\">The next request of lane {}, for {}: {} of {} tokens ({about}), built from positions 1 to {}.</p>\n",
        escaped(page.draft.lane().as_str()),
        escaped(&page.draft.model),
        grouped(report.total_tokens.0),
        grouped(report.limit.0),
        page.timeline.head
    ));
}

/// Draws the sections as columns with widths proportional to their tokens, and their entries as cells with
/// proportional heights, so that areas represent tokens.
fn area(page: &Page<'_>, out: &mut String) {
    let report = &page.draft.report;
    let whole = report.limit.0.max(report.total_tokens.0).max(1);
    out.push_str("<h2>What the request is made of</h2>\n<div class=\"area\" role=\"img\" aria-label=\"sections by tokens\">\n");
    for section in &report.sections {
        let name = section.name.name();
        // A small section gets 1/400 of the width, so that it stays visible.
        out.push_str(&format!("<div style=\"flex:{} 0 0\">", section.tokens.0.max(whole / 400)));
        let mut cells: Vec<&EntryLine> =
            report.entries.iter().filter(|entry| entry.section == section.name).collect();
        cells.sort_by_key(|entry| std::cmp::Reverse(entry.tokens));
        let small: u64 = cells.iter().skip(CELLS).map(|entry| entry.tokens.0).sum();
        cells.truncate(CELLS);
        cells.sort_by_key(|entry| entry.seq);
        for entry in cells {
            let place = entry.seq.map(|seq| format!("#{seq} ")).unwrap_or_default();
            let title = format!("{place}{} · {} tokens", entry.what, grouped(entry.tokens.0));
            let size = entry.tokens.0.max(1);
            out.push_str(&format!(
                "<i class=\"{}\" style=\"flex:{size} 0 0\" title=\"{}\"></i>",
                class(section.name),
                escaped(&title)
            ));
        }
        if small > 0 {
            out.push_str(&format!(
                "<i class=\"{}\" style=\"flex:{small} 0 0\" title=\"smaller entries of {name}\"></i>",
                class(section.name)
            ));
        }
        out.push_str("</div>\n");
    }
    let free = report.limit.saturating_sub(report.total_tokens).0;
    if free > 0 {
        out.push_str(&format!(
            "<div class=\"free\" style=\"flex:{free} 0 0\" title=\"free · {} tokens\"></div>\n",
            grouped(free)
        ));
    }
    out.push_str("</div>\n<ul class=\"legend\">\n");
    for section in &report.sections {
        out.push_str(&format!(
            "<li><b class=\"{}\"></b>{} {} <span class=\"dim\">{}</span></li>\n",
            class(section.name),
            section.name.name(),
            grouped(section.tokens.0),
            percent(section.tokens.0, whole)
        ));
    }
    out.push_str(&format!(
        "<li>free {} <span class=\"dim\">{}</span></li>\n</ul>\n",
        grouped(free),
        percent(free, whole)
    ));
}

/// Draws the session from left to right: its messages, the part of them that is in the request, compactions, and
/// gaps.
fn timeline(page: &Page<'_>, out: &mut String) {
    let most = page.timeline.stretches.iter().map(|bar| bar.said.0).max().unwrap_or_default().max(1);
    out.push_str("<h2 id=\"timeline\">The session, and what of it is in the request</h2>\n<p class=\"dim\">Left to right: positions. Height: tokens said there; blue: in the request. Vertical lines: compactions, orange by the agent that recorded the session, green by this lane. The strip below: gaps; click one and read it.</p>\n");
    out.push_str(&format!(
        "<svg viewBox=\"0 0 {WIDE} 180\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"timeline\">\n"
    ));
    for bar in &page.timeline.stretches {
        out.push_str(&bar_rects(bar, page.timeline.head, most));
    }
    for mark in &page.timeline.compactions {
        let (x, class) = (x(mark.seq, page.timeline.head), if mark.is_own { "own" } else { "other" });
        let title = format!("#{} {} {}", mark.seq, stamp(mark.at), mark.label);
        out.push_str(&format!("<line class=\"{class}\" x1=\"{x}\" x2=\"{x}\" y1=\"0\" y2=\"{}\" stroke-width=\"2\"><title>{}</title></line>\n", HIGH + 4, escaped(&title)));
    }
    for (number, gap) in page.timeline.gaps.iter().enumerate() {
        let (from, to) =
            (x(gap.run.from_seq, page.timeline.head), x(gap.run.to_seq.next(), page.timeline.head));
        // A short gap is at least 3 units wide, so that it can be clicked.
        let title = format!("#{}–#{}: {}", gap.run.from_seq, gap.run.to_seq, gap.run.why());
        out.push_str(&format!("<a href=\"#gap-{number}\"><rect x=\"{from}\" y=\"{}\" width=\"{}\" height=\"22\"><title>{}</title></rect></a>\n", HIGH + 8, (to - from).max(3), escaped(&title)));
    }
    out.push_str("</svg>\n");
    if !page.timeline.compactions.is_empty() {
        out.push_str("<table><tr><th>compaction</th><th>when (UTC)</th><th></th></tr>\n");
        for mark in &page.timeline.compactions {
            out.push_str(&format!(
                "<tr><td class=\"n\">#{}</td><td>{}</td><td>{}</td></tr>\n",
                mark.seq,
                stamp(mark.at),
                escaped(&mark.label)
            ));
        }
        out.push_str("</table>\n");
    }
}

fn bar_rects(bar: &TimelineStretch, head: Seq, most: u64) -> String {
    let (from, to) = (x(bar.from, head), x(bar.to.next(), head));
    let wide = to.saturating_sub(from).max(1);
    // A bar with any tokens is at least one unit high.
    let high = |tokens: u64| (tokens.saturating_mul(HIGH) / most).max(u64::from(tokens > 0));
    let (said, shown) = (high(bar.said.0), high(bar.shown.0));
    let title = format!(
        "#{}–#{}: {} tokens, {} in the request",
        bar.from,
        bar.to,
        grouped(bar.said.0),
        grouped(bar.shown.0)
    );
    format!(
        "<g><title>{title}</title><rect class=\"said\" x=\"{from}\" y=\"{}\" width=\"{wide}\" height=\"{said}\"/><rect class=\"shown\" x=\"{from}\" y=\"{}\" width=\"{wide}\" height=\"{shown}\"/></g>\n",
        HIGH - said,
        HIGH - shown
    )
}

fn x(seq: Seq, head: Seq) -> u64 {
    (seq.0.saturating_sub(1).saturating_mul(WIDE) / head.0.max(1)).min(WIDE)
}

fn gaps(page: &Page<'_>, out: &mut String) {
    out.push_str("<h2>Left out</h2>\n");
    if page.timeline.gaps.is_empty() {
        out.push_str("<p>Nothing.</p>\n");
        return;
    }
    out.push_str("<table><tr><th>positions</th><th>tokens</th><th>entries</th><th>why</th><th></th></tr>\n");
    for (number, gap) in page.timeline.gaps.iter().enumerate() {
        let run = &gap.run;
        out.push_str(&format!(
            "<tr><td>#{}–#{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td><a href=\"#gap-{number}\">read</a></td></tr>\n",
            run.from_seq, run.to_seq, grouped(run.tokens.0), grouped(run.count), escaped(&run.why())
        ));
    }
    out.push_str("</table>\n");
    for (number, gap) in page.timeline.gaps.iter().enumerate() {
        gap_texts(number, gap, out);
    }
}

/// Writes the content of a gap. The content is hidden until the link to it is followed.
fn gap_texts(number: usize, gap: &TimelineGap, out: &mut String) {
    let run = &gap.run;
    out.push_str(&format!(
        "<article class=\"gap\" id=\"gap-{number}\"><h3>#{}–#{}: {}</h3>\n",
        run.from_seq,
        run.to_seq,
        escaped(&run.why())
    ));
    for TimelineText { seq, at, role, text, whole } in &gap.texts {
        let who = match role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool result",
        };
        out.push_str(&format!(
            "<div><span class=\"who\">#{seq} {who}</span> <span class=\"dim\">{}</span></div><pre>{}</pre>\n",
            stamp(*at),
            escaped(text)
        ));
        if let Some(address) = whole {
            out.push_str(&format!(
                "<p class=\"dim\">the whole: read <code>{}</code></p>\n",
                escaped(address)
            ));
        }
    }
    if let Some(address) = &gap.rest {
        out.push_str(&format!(
            "<p>the rest is too large for a page: read <code>{}</code></p>\n",
            escaped(address)
        ));
    }
    out.push_str("<p><a href=\"#timeline\">back to the timeline</a></p></article>\n");
}

fn entries(page: &Page<'_>, out: &mut String) {
    out.push_str("<h2>Entries of the request</h2>\n<table><tr><th></th><th>section</th><th>tokens</th><th>what</th></tr>\n");
    for entry in &page.draft.report.entries {
        let place = entry.seq.map(|seq| format!("#{seq}")).unwrap_or_default();
        let read = entry.handle.map(|handle| format!(" <code>{handle}</code>")).unwrap_or_default();
        out.push_str(&format!(
            "<tr><td class=\"n\">{place}</td><td>{}</td><td class=\"n\">{}</td><td>{}{read}</td></tr>\n",
            entry.section.name(),
            grouped(entry.tokens.0),
            escaped(&entry.what)
        ));
    }
    out.push_str("</table>\n");
}

const fn class(section: Section) -> &'static str {
    match section {
        Section::Safety | Section::System => "system",
        Section::Instructions => "instructions",
        Section::Tools | Section::Skills | Section::Agents => "tools",
        Section::PinnedMemory | Section::Resources | Section::Recall | Section::State | Section::Work => {
            "memory"
        }
        Section::Summaries => "summaries",
        Section::Transcript => "transcript",
        Section::Prompt => "prompt",
    }
}

/// Formats a time in UTC, to the minute.
fn stamp(at: Millis) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .map_or_else(|_| "unknown".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M").to_string())
}

fn percent(part: u64, whole: u64) -> String {
    let tenths = part.saturating_mul(1_000) / whole.max(1);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// Escapes a text for any place in the page. Control characters and direction marks become dots.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            '\r' => {}
            c if c.is_control() => out.push('·'),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('·'),
            c => out.push(c),
        }
    }
    out
}
