//! Draws a report as an SVG picture: the same text, in the colours of a terminal.

use std::fmt::Write;

/// Height of a line in pixels, at a font size of 13.
const LINE: usize = 18;
/// Width of a column in pixels, at a font size of 13.
const COLUMN: f64 = 7.83;
const MARGIN: usize = 16;

/// Classes of the sections' colours, as on the command line. [`STYLE`] has the colours of both themes.
const COLOURS: [(&str, &[&str]); 7] = [
    ("rules", &["safety", "system", "instructions"]),
    ("tools", &["tools", "skills"]),
    ("data", &["pinned_memory", "resources", "recall", "state", "work"]),
    ("dim", &["summaries"]),
    ("talk", &["transcript"]),
    ("user", &["prompt"]),
    ("dim", &["free"]),
];

/// Colours on light and on dark pages. All colours have a contrast of at least 4.5 to their background (WCAG 2.1,
/// 1.4.3).
const STYLE: &str = "<style>
.ground { fill: #ffffff; stroke: #d1d9e0 }
text { fill: #1f2328 }
.dim { fill: #59636e } .rules { fill: #0550ae } .tools { fill: #8250df } .data { fill: #7d4e00 }
.talk { fill: #1b7c83 } .user { fill: #116329 }
@media (prefers-color-scheme: dark) {
.ground { fill: #0d1117; stroke: #3d444d }
text { fill: #c9d1d9 }
.dim { fill: #8b949e } .rules { fill: #6ea8fe } .tools { fill: #c58af9 } .data { fill: #e3b341 }
.talk { fill: #56d4dd } .user { fill: #7ee787 }
}
</style>";

/// Draws a text as an SVG picture.
pub(crate) fn draw(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let columns = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let width = (columns as f64 * COLUMN) as usize + 2 * MARGIN;
    let height = lines.len() * LINE + 2 * MARGIN;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">
<title>The report of a request</title>
{STYLE}
<rect class="ground" x="0.5" y="0.5" width="{}" height="{}" rx="8"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13" xml:space="preserve">"##,
        width - 1,
        height - 1,
    );
    for (number, line) in lines.iter().enumerate() {
        let y = MARGIN + number * LINE + 13;
        let _ = writeln!(svg, r#"<text x="{MARGIN}" y="{y}">{}</text>"#, spans(line, number));
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// Returns a line as coloured spans: section names and bars in the section's colour, secondary text dimmed.
fn spans(line: &str, number: usize) -> String {
    // No-break spaces keep the columns aligned, because viewers collapse plain spaces.
    let escaped = |text: &str| {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(' ', "\u{a0}")
    };
    let coloured = |colour: &str, text: &str| format!(r#"<tspan class="{colour}">{}</tspan>"#, escaped(text));
    if number == 0 || ["left out", "entries", "notes"].iter().any(|head| line.starts_with(head)) {
        return format!(r#"<tspan font-weight="bold">{}</tspan>"#, escaped(line));
    }
    if number == 1 || line.starts_with("recorded") || line.starts_with("the lane") {
        return coloured("dim", line);
    }
    let mut sections =
        COLOURS.iter().flat_map(|(colour, names)| names.iter().map(move |name| (name, colour)));
    let section = sections.find(|(name, _)| line.split_whitespace().take(2).any(|word| word == **name));
    let Some((name, colour)) = section else { return escaped(line) };
    let is_bar = |c: char| ('\u{2588}'..='\u{258f}').contains(&c) || c == '·';
    let mut out = String::new();
    let mut rest = line;
    if let Some(at) = rest.find(name) {
        out.push_str(&escaped(&rest[..at]));
        out.push_str(&coloured(colour, name));
        rest = &rest[at + name.len()..];
    }
    if let Some(from) = rest.find(is_bar).filter(|_| line.contains('%')) {
        let bar: String = rest[from..].chars().take_while(|c| is_bar(*c)).collect();
        out.push_str(&escaped(&rest[..from]));
        out.push_str(&coloured(colour, &bar));
        rest = &rest[from + bar.len()..];
    }
    out.push_str(&escaped(rest));
    out
}
