//! Marks of gaps within a document: in a string, or in place of a value.

/// Returns the position after the sequence that begins with the first byte of `⟨`: a whole mark, an escape, or only
/// that byte.
pub(super) fn after_bracket(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    if rest.starts_with("⟨⟨".as_bytes()) {
        return Some(at + "⟨⟨".len());
    }
    mark_end(bytes, at).or(Some(at + 1))
}

/// Returns the end of the mark that begins at a given byte, if there is one.
pub(super) fn mark_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    if !rest.starts_with("⟨… ".as_bytes()) {
        return None;
    }
    memchr::memmem::find(rest, "⟩".as_bytes()).map(|end| at + end + "⟩".len())
}
