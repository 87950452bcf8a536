//! Changes of a document, as values.

use serde_json::Value;

/// A step from a value to a value inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// A single change of a text. Missing objects and lists on the way to the place are created.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edit<'a> {
    /// Sets a field of the object at the keys but the last.
    Set(&'a [&'a str], &'a Value),
    /// Adds an element at the end of the list at the keys.
    Append(&'a [&'a str], &'a Value),
    /// Replaces the element of the list at the keys.
    Replace(&'a [&'a str], usize, &'a Value),
    /// Removes a value, if there is one.
    Remove(&'a [Step<'a>]),
}

/// Returns the line of a byte, from 1.
pub(super) fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}
