//! Importance of a message, between 0 and 1: errors 0.8, decisions 0.6, tools 0.4, repetition −0.5. The formula is
//! taken from the notes that the `selective` preset follows. Values are in tenths, so that they are exact.

use crate::ports::Bodies;
use crate::record::message::{Message, Part, Role};
use std::collections::HashSet;

/// Words that indicate an error.
pub const ERRORS: [&str; 4] = ["error", "错误", "异常", "报错"];
/// Words that indicate a decision. The notes list the Chinese words.
pub const DECISIONS: [&str; 10] =
    ["决定", "选择", "方案", "采用", "decide", "decision", "choose", "chose", "approach", "instead of"];

/// Returns the importance of a message in tenths, from 0 to 10. `seen` holds the content hashes of earlier messages.
#[must_use]
pub fn importance(said: &Message, bodies: &dyn Bodies, seen: &mut HashSet<blake3::Hash>) -> u8 {
    let mut hasher = blake3::Hasher::new();
    let (mut error, mut decision) = (false, false);
    for text in texts(said, bodies) {
        hasher.update(text.as_bytes());
        // Because of the separator, the same words in different parts do not count as a repetition.
        hasher.update(&[0]);
        let lower = text.to_lowercase();
        error |= ERRORS.iter().any(|word| lower.contains(word));
        decision |= DECISIONS.iter().any(|word| lower.contains(word));
    }
    let is_tool =
        said.role == Role::Tool || said.parts.iter().any(|part| matches!(part, Part::ToolResult { .. }));
    let is_again = !seen.insert(hasher.finalize());
    let sum = 8 * i8::from(error) + 6 * i8::from(decision) + 4 * i8::from(is_tool) - 5 * i8::from(is_again);
    u8::try_from(sum.clamp(0, 10)).unwrap_or_default()
}

/// Returns the texts of a message, including those of tool results.
pub(crate) fn texts<'a>(said: &'a Message, bodies: &'a dyn Bodies) -> impl Iterator<Item = &'a str> {
    said.parts.iter().flat_map(Part::bodies).filter_map(|body| bodies.of(body))
}
