//! Marks of gaps that stand inside a document: in a string, or in the place of a value.

/// The place after what begins with the first byte of `⟨`: a mark as a whole, an escape, or that byte alone.
pub(super) fn after_bracket(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    if rest.starts_with("⟨⟨".as_bytes()) {
        return Some(at + "⟨⟨".len());
    }
    mark_end(bytes, at).or(Some(at + 1))
}

/// The end of the mark that begins at a byte.
pub(super) fn mark_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    if !rest.starts_with("⟨… ".as_bytes()) {
        return None;
    }
    memchr::memmem::find(rest, "⟩".as_bytes()).map(|end| at + end + "⟩".len())
}
