//! Tables of sums: a name in the first column, figures in the others.

use crate::drawing::columns::{columns, fit, pad};
use crate::drawing::paint::Paint;
use crate::drawing::terminal::{clean, width};
use crate::output::console::zone;
use wunderblock_core::stub::grouped;
use wunderblock_core::units::{Millis, Tokens};

/// Minimum width of the names, in columns.
const NAME: usize = 12;

/// Formats rows of figures under their headings. Names that are too wide for the terminal are cut.
pub(crate) fn table<const N: usize>(
    head: &str,
    heads: [&str; N],
    rows: &[(String, [String; N])],
    paint: Paint,
) -> String {
    let wide: [usize; N] = std::array::from_fn(|column| {
        let widths = rows.iter().filter_map(|(_, cells)| cells.get(column)).map(|cell| columns(cell));
        widths.chain(heads.get(column).map(|head| head.len())).max().unwrap_or_default()
    });
    let room = width().saturating_sub(wide.iter().map(|wide| wide + 2).sum()).max(NAME);
    let longest = rows.iter().map(|(name, _)| columns(name)).max().unwrap_or_default();
    let first = longest.max(head.len()).min(room);
    let line = |name: &str, cells: &[&str]| {
        let name = if columns(name) > first { fit(&clean(name), first) } else { clean(name) };
        let cells = cells.iter().zip(wide).map(|(cell, wide)| format!("  {cell:>wide$}"));
        let line = format!("{}{}", pad(&name, first), cells.collect::<String>());
        line.trim_end().to_owned()
    };
    let mut out = format!("{}\n", paint.dim(&line(head, &heads)));
    for (name, cells) in rows {
        out.push_str(&line(name, &cells.each_ref().map(String::as_str)));
        out.push('\n');
    }
    out
}

/// Formats rows of words under their headings. The columns in `right` are aligned to the right; the last column takes the
/// rest of the line, at least `rest` columns, and is cut if it is wider.
pub(crate) fn listing<const N: usize>(
    heads: [&str; N],
    rows: &[[String; N]],
    right: &[usize],
    rest: usize,
    paint: Paint,
) -> String {
    let last = N.saturating_sub(1);
    let wide: [usize; N] = std::array::from_fn(|column| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| columns(cell));
        cells.chain(heads.get(column).map(|head| head.len())).max().unwrap_or_default()
    });
    let before: usize = wide.iter().take(last).map(|wide| wide + 2).sum();
    let room = width().saturating_sub(before).max(rest);
    let line = |cells: [&str; N]| {
        let cells = cells.into_iter().zip(wide).enumerate().map(|(column, (cell, wide))| {
            if column == last {
                return if columns(cell) > room { fit(cell, room) } else { cell.to_owned() };
            }
            let space = " ".repeat(wide.saturating_sub(columns(cell)));
            if right.contains(&column) { format!("{space}{cell}  ") } else { format!("{cell}{space}  ") }
        });
        cells.collect::<String>().trim_end().to_owned()
    };
    let mut out = format!("{}\n", paint.dim(&line(heads)));
    out.extend(rows.iter().map(|row| format!("{}\n", line(row.each_ref().map(String::as_str)))));
    out
}

/// Formats a number of tokens: `812`, `12k`, `3,456k`, `12M`.
pub(crate) fn tokens(count: Tokens) -> String {
    match count.0 {
        0..10_000 => grouped(count.0),
        10_000..10_000_000 => format!("{}k", grouped(count.0 / 1_000)),
        more => format!("{}M", grouped(more / 1_000_000)),
    }
}

/// Formats the day of a time, in the time zone of the reader.
pub(crate) fn day(at: Millis) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .map_or_else(|_| "unknown".to_owned(), |time| time.to_zoned(zone()).strftime("%Y-%m-%d").to_string())
}
