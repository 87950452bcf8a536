//! A change of a file for people.

use crate::machine::settings::change::SettingsChange;
use similar::{Algorithm, TextDiff};
use std::time::Duration;

/// Number of unchanged lines around each change.
const CONTEXT: usize = 3;
/// Maximum time for finding a short diff. After that, the diff is longer and still correct.
const DEADLINE: Duration = Duration::from_millis(500);

/// Returns a change as a unified diff, or an empty text if nothing changes. Bytes that are not UTF-8 become U+FFFD.
#[must_use]
pub fn diff(change: &SettingsChange) -> String {
    let text =
        |bytes: &Option<Vec<u8>>| String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
    let name = |bytes: &Option<Vec<u8>>| {
        bytes.as_ref().map_or_else(|| "/dev/null".to_owned(), |_| change.path.display().to_string())
    };
    let (before, after) = (text(&change.before), text(&change.after));
    let found =
        TextDiff::configure().algorithm(Algorithm::Myers).timeout(DEADLINE).diff_lines(&before, &after);
    let names = (name(&change.before), name(&change.after));
    found.unified_diff().context_radius(CONTEXT).header(&names.0, &names.1).to_string()
}
