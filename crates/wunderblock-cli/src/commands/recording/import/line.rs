//! What an import says about one file.

use crate::args::Global;
use crate::drawing::columns::plural;
use crate::drawing::terminal::clean;
use crate::output::console::{print, print_report};
use crate::output::exit::Failure;
use crate::resolve::names::Names;
use wunderblock::{ImportNotice, Imported};
use wunderblock_core::stub::grouped;
use wunderblock_wire::transcript::Format;

/// Prints the outcome of one file.
pub(super) fn print_imported(global: &Global, imported: &Imported, names: &Names) -> Result<(), Failure> {
    if global.json { print_report(imported) } else { print(&line(imported, names)) }
}

/// Maximum number of sessions that a file's line names.
const NAMED: usize = 3;

/// Returns the line of a file.
fn line(imported: &Imported, names: &Names) -> String {
    let shown: Vec<String> = imported.sessions.iter().take(NAMED).map(|id| names.short(id)).collect();
    let more = imported.sessions.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let path = clean(&imported.path.to_string_lossy());
    let what = match imported.format {
        _ if imported.unchanged => format!("{}, nothing new", imported.format.name()),
        Format::JsonLines | Format::JsonDocument => {
            format!(
                "read as generic JSON: {}, {}",
                plural(imported.messages, "message", "messages"),
                amounts(imported)
            )
        }
        format => format!("{}, {}", format.name(), amounts(imported)),
    };
    format!("{path}: {what}  → {}{more}\n", shown.join(" "))
}

/// Describes how much of a file is new, known, erased, of unknown shape, and broken.
fn amounts(imported: &Imported) -> String {
    let mut out = plural(imported.appended, "event", "events");
    if imported.duplicates > 0 {
        out.push_str(&format!(", {} known", grouped(imported.duplicates)));
    }
    if imported.erased > 0 {
        let erased = plural(imported.erased, "erased record", "erased records");
        out.push_str(&format!(", {erased} not stored again"));
    }
    let is_generic = imported.notices.contains_key(&ImportNotice::Generic);
    if imported.opaque_bytes > 0 && !is_generic {
        let tenths = imported.opaque_bytes.saturating_mul(1000) / imported.bytes.max(1);
        out.push_str(&format!(", {}.{} % of the bytes of unknown shape", tenths / 10, tenths % 10));
    }
    if imported.broken > 0 {
        out.push_str(&format!(", {}", plural(imported.broken, "broken record", "broken records")));
    }
    out
}
