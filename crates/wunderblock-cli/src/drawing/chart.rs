//! Draws the size of each request over the turns of a session as an SVG picture, with a panel for each policy.
//!
//! The picture works on light and dark backgrounds: elements have classes, and the viewer's preference selects their
//! colours.

use std::fmt::Write;
use wunderblock::{PolicyResult, Simulation};
use wunderblock_core::stub::grouped;

/// Number of panels in a row.
const ACROSS: usize = 3;
/// Width of a panel's plot, in pixels.
const WIDE: f64 = 264.0;
/// Height of a panel's plot, in pixels.
const HIGH: f64 = 84.0;
/// Height of the text above a plot, in pixels.
const LABEL: f64 = 34.0;
/// Distance between panels, in pixels.
const GAP: f64 = 24.0;
/// Left margin of the picture, in pixels, with room for the scale.
const LEFT: f64 = 52.0;
/// Upper margin of the picture, in pixels, with room for the title.
const TOP: f64 = 58.0;
/// Right margin of the picture, in pixels.
const RIGHT: f64 = 16.0;
/// Lower margin of the picture, in pixels, with room for the numbers of requests.
const BOTTOM: f64 = 34.0;
/// Maximum number of points in a line.
const POINTS: usize = 176;
/// Policy whose line is drawn in grey behind the lines of the others.
const BASE: &str = "off";

const STYLE: &str = "
text { font: 11px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #57606a }
.title { font-size: 14px; font-weight: 600; fill: #1f2328 }
.name { font-size: 12px; font-weight: 600; fill: #1f2328 }
.ground { fill: #ffffff }
.plot { fill: #f6f8fa }
.limit { stroke: #cf222e; stroke-width: 1; stroke-dasharray: 4 3; fill: none }
.limit-text { fill: #cf222e }
.base { stroke: #afb8c1; stroke-width: 1; fill: none }
.area { fill: #0969da; fill-opacity: 0.16 }
.line { stroke: #0969da; stroke-width: 1.4; fill: none; stroke-linejoin: round }
.area.ours { fill: #1a7f37 }
.line.ours { stroke: #1a7f37 }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 }
.title, .name { fill: #f0f6fc }
.ground { fill: #0d1117 }
.plot { fill: #151b23 }
.limit { stroke: #f85149 }
.limit-text { fill: #f85149 }
.base { stroke: #545d68 }
.area { fill: #4493f8; fill-opacity: 0.2 }
.line { stroke: #4493f8 }
.area.ours { fill: #3fb950 }
.line.ours { stroke: #3fb950 }
}
";

/// Draws a simulation as an SVG picture.
pub(crate) fn draw(found: &Simulation) -> String {
    let rows = found.policies.len().div_ceil(ACROSS);
    let across = found.policies.len().clamp(1, ACROSS);
    let width = LEFT + float(across) * (WIDE + GAP) - GAP + RIGHT;
    let height = TOP + float(rows) * (LABEL + HIGH + GAP) - GAP + BOTTOM;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}" role="img">
<title>Context size over {requests} requests, by policy</title>
<style>{STYLE}</style>
<rect class="ground" width="{width:.0}" height="{height:.0}" rx="8"/>
<text class="title" x="{LEFT}" y="24">Context size over {requests} requests, by policy</text>
<text x="{LEFT}" y="42">{about}</text>"#,
        requests = grouped(found.requests),
        about = escaped(&about(found)),
    );
    let most = found.policies.iter().map(|policy| policy.peak_tokens).max().unwrap_or_default();
    let limit = limit(found);
    let panel = Panel { most: most.max(limit), limit };
    let base = found.policies.iter().find(|policy| policy.name == BASE);
    if let Some(base) = base {
        let _ =
            writeln!(svg, r#"<defs><path id="base" class="base" d="M{}"/></defs>"#, panel.path(&base.series));
    }
    for (number, policy) in found.policies.iter().enumerate() {
        let (column, row) = (number % ACROSS, number / ACROSS);
        let left = LEFT + float(column) * (WIDE + GAP);
        let top = TOP + float(row) * (LABEL + HIGH + GAP) + LABEL;
        let _ = writeln!(svg, r#"<g transform="translate({left:.0} {top:.0})">"#);
        panel.draw(policy, base.is_some_and(|base| base.name != policy.name), &mut svg);
        if column == 0 {
            panel.scale(&mut svg);
        }
        if number + ACROSS >= found.policies.len() {
            turns(found.requests, &mut svg);
        }
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

fn about(found: &Simulation) -> String {
    let base = if found.policies.iter().any(|policy| policy.name == BASE) { " · grey: off" } else { "" };
    let first = found.histories.first();
    format!(
        "{} · window {} · history {} tokens · dashed: the most a request may take{base}",
        first.map_or("", |one| &one.model),
        grouped(first.map_or(0, |one| one.window)),
        grouped(found.history_tokens)
    )
}

/// Returns the largest request limit of all histories.
fn limit(found: &Simulation) -> u64 {
    found.histories.iter().flat_map(|one| &one.limits).copied().max().unwrap_or_default()
}

/// A panel with the plot of one policy. The panel's upper left corner is the origin.
struct Panel {
    /// Number of tokens at the upper edge of the plot.
    most: u64,
    limit: u64,
}

impl Panel {
    fn draw(&self, policy: &PolicyResult, has_base: bool, svg: &mut String) {
        let ours = if policy.name == wunderblock::policy::DEFAULT { " ours" } else { "" };
        let _ = writeln!(
            svg,
            r#"<text class="name" y="-20">{}</text>
<text y="-6">{}</text>
<rect class="plot" width="{WIDE}" height="{HIGH}"/>"#,
            escaped(&policy.name),
            escaped(&figures(policy)),
        );
        if has_base {
            svg.push_str("<use href=\"#base\"/>\n");
        }
        let path = self.path(&policy.series);
        let _ = writeln!(
            svg,
            r#"<path class="area{ours}" d="M0 {HIGH}L{path}L{WIDE} {HIGH}Z"/>
<path class="line{ours}" d="M{path}"/>
<path class="limit" d="M0 {:.1}H{WIDE}"/>"#,
            self.height(self.limit)
        );
    }

    /// Returns the points of a line. Turns that share a column contribute their smallest and largest values.
    fn path(&self, series: &[u64]) -> String {
        let each = (series.len() * 2).div_ceil(POINTS).max(1);
        let step = WIDE / float(series.len().saturating_sub(1).max(1));
        let mut points: Vec<(f64, u64)> = Vec::new();
        for (number, turns) in series.chunks(each).enumerate() {
            let mut ends: Vec<(usize, u64)> = turns.iter().copied().enumerate().collect();
            if ends.len() > 2 {
                let least = ends.iter().copied().min_by_key(|(_, tokens)| *tokens);
                let most = ends.iter().copied().max_by_key(|(_, tokens)| *tokens);
                ends = least.into_iter().chain(most).collect();
                ends.sort_unstable();
                ends.dedup();
            }
            points.extend(ends.into_iter().map(|(at, tokens)| (float(number * each + at) * step, tokens)));
        }
        let point = |(x, tokens): &(f64, u64)| format!("{x:.1} {:.1}", self.height(*tokens));
        points.iter().map(point).collect::<Vec<_>>().join("L")
    }

    fn height(&self, tokens: u64) -> f64 {
        // A thousandth of the plot's height is less than a pixel.
        let part = u32::try_from(tokens.saturating_mul(1_000) / self.most.max(1)).unwrap_or(1_000);
        HIGH - HIGH * f64::from(part.min(1_000)) / 1_000.0
    }

    /// Draws the scale of tokens at the left of the panel.
    fn scale(&self, svg: &mut String) {
        let _ = writeln!(
            svg,
            r#"<text x="-6" y="{HIGH}" text-anchor="end">0</text>
<text class="limit-text" x="-6" y="{:.0}" text-anchor="end">{}</text>"#,
            self.height(self.limit) + 4.0,
            thousands(self.limit)
        );
    }
}

/// Draws the scale of requests under a panel.
fn turns(requests: u64, svg: &mut String) {
    let y = HIGH + 14.0;
    let _ = writeln!(
        svg,
        r#"<text y="{y:.0}">1</text>
<text x="{WIDE}" y="{y:.0}" text-anchor="end">request {}</text>"#,
        grouped(requests)
    );
}

fn figures(policy: &PolicyResult) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let (recall, reach) = (percent(policy.far.recall_per_reply), percent(policy.far.reach_per_reply));
    let cost = policy.cost.map(|micro| {
        format!(" · ${:.2}", f64::from(u32::try_from(micro / 1_000).unwrap_or(u32::MAX)) / 1_000.0)
    });
    format!("recall {recall} · reach {reach}{} · {} cuts", cost.unwrap_or_default(), policy.compactions)
}

fn thousands(tokens: u64) -> String {
    if tokens < 10_000 { grouped(tokens) } else { format!("{}k", grouped(tokens / 1_000)) }
}

fn float(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

/// Escapes a text for SVG, and removes control characters, which SVG does not allow.
fn escaped(text: &str) -> String {
    let plain = text.chars().filter(|c| !c.is_control());
    plain.collect::<String>().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wunderblock::SimulatedHistory;

    #[test]
    fn long_series_keep_their_peaks() {
        let panel = Panel { most: 100, limit: 90 };
        let mut series = vec![10; 5_000];
        series[2_345] = 100;
        let path = panel.path(&series);
        assert!(path.split('L').count() <= 2 * POINTS, "{}", path.split('L').count());
        assert!(path.split('L').any(|point| point.ends_with(" 0.0")), "the peak is at the upper edge");
        assert_eq!(panel.path(&[]), "");
    }

    #[test]
    fn names_cannot_break_the_picture() {
        let policy = PolicyResult {
            name: "<script>&\u{1b}".to_owned(),
            series: vec![1, 2],
            ..PolicyResult::default()
        };
        let history = SimulatedHistory { limits: vec![2], ..SimulatedHistory::default() };
        let svg =
            draw(&Simulation { policies: vec![policy], histories: vec![history], ..Simulation::default() });
        assert!(svg.contains("&lt;script&gt;&amp;</text>") && !svg.contains("<script>"), "{svg}");
    }
}
