//! Documents that a person adds: the files of a folder, and the text of a file, cut at its structure.
//!
//! ```text
//! FolderFiles ─► path ─► read_file ─► bytes ─► text_of ─► Markdown: headings ──────────────┐
//!                                                         HTML: as Markdown ─── headings ──┼─► sections
//!                                                         PDF: pages ──────────────────────┤
//!                                                         text: definitions, empty lines ──┘
//! ```

mod cut;
mod folder;
mod parts;
mod pdf;

pub use crate::limits::{MAX_DOCUMENT_BYTES, MAX_DOCUMENTS};
pub use folder::{FolderFile, FolderFiles};
pub use parts::{DocumentFormat, DocumentText, NotADocument, SectionText};

use crate::file::{bytes_of, describe_error};
use cut::{Piece, cut};
use std::borrow::Cow;
use std::fs::{self, Metadata};
use std::ops::Range;
use std::path::Path;
use wunderblock_reduce::page_markdown;
use wunderblock_text::encoding::{TextEncoding, decode_other};

/// Reads a file once. A file that changes meanwhile is read again.
///
/// # Errors
/// Returns the reason why the file cannot be a document.
pub fn read_file(path: &Path) -> Result<(Vec<u8>, Metadata), NotADocument> {
    const ATTEMPTS: usize = 3;
    let look = || fs::symlink_metadata(path).map_err(|error| NotADocument::Failed(describe_error(&error)));
    for _ in 0..ATTEMPTS {
        let before = look()?;
        if before.len() > MAX_DOCUMENT_BYTES {
            return Err(NotADocument::TooLarge(before.len()));
        }
        let bytes = bytes_of(path, MAX_DOCUMENT_BYTES).map_err(NotADocument::Failed)?;
        let after = look()?;
        let is_still = before.modified().ok() == after.modified().ok() && before.len() == after.len();
        if is_still && bytes.len() as u64 == after.len() {
            return Ok((bytes, after));
        }
    }
    Err(NotADocument::Changing)
}

/// Returns the text of a file.
///
/// # Errors
/// Returns the reason why the file is not a document.
pub fn text_of(path: &Path, bytes: &[u8]) -> Result<DocumentText, NotADocument> {
    if bytes.is_empty() {
        return Err(NotADocument::Empty);
    }
    let format = format_of(path, bytes);
    let whole = 0..bytes.len() as u64;
    let (title, sections) = match format {
        DocumentFormat::Pdf => (None, of_pages(pdf::pages(bytes.to_vec())?, whole)),
        DocumentFormat::Html => {
            let (title, text) = page_markdown(&decoded(path, bytes)?);
            let sections = cut(&text, true).into_iter();
            let section = |piece: Piece<'_>| SectionText { lines: None, ..piece.section(whole.clone()) };
            (title, sections.map(section).collect())
        }
        DocumentFormat::Markdown | DocumentFormat::Text => {
            let text = decoded(path, bytes)?;
            let is_verbatim = matches!(text, Cow::Borrowed(_));
            let pieces = cut(&text, format == DocumentFormat::Markdown).into_iter();
            let place = |piece: &Piece<'_>| piece.span.start as u64..piece.span.end as u64;
            let range = |piece: &Piece<'_>| if is_verbatim { place(piece) } else { whole.clone() };
            (
                None,
                pieces
                    .map(|piece| (range(&piece), piece))
                    .map(|(range, piece)| piece.section(range))
                    .collect(),
            )
        }
    };
    let headed = || sections.iter().find_map(|section: &SectionText| section.headings.first().cloned());
    let title = title.or_else(|| headed().filter(|_| format != DocumentFormat::Text));
    if sections.is_empty() {
        return Err(if format == DocumentFormat::Pdf { NotADocument::NoText } else { NotADocument::Empty });
    }
    Ok(DocumentText { format, title, sections })
}

fn of_pages(pages: Vec<String>, whole: Range<u64>) -> Vec<SectionText> {
    let mut sections = Vec::new();
    for (number, page) in (1..).zip(&pages) {
        let pieces = cut(page, false).into_iter().map(|piece| piece.section(whole.clone()));
        let headings = Vec::new;
        sections.extend(pieces.map(|section| SectionText {
            lines: None,
            page: Some(number),
            headings: headings(),
            ..section
        }));
    }
    sections
}

/// Share of bytes that are not UTF-8 up to which a file is text with errors, in per cent.
const BROKEN_PERCENT: usize = 1;

/// Returns bytes as text.
fn decoded<'b>(path: &Path, bytes: &'b [u8]) -> Result<Cow<'b, str>, NotADocument> {
    if let Ok(text) = std::str::from_utf8(bytes)
        && !text.contains('\0')
    {
        return Ok(Cow::Borrowed(text));
    }
    if let Some(text) = decode_other(bytes) {
        return Ok(Cow::Owned(text));
    }
    let broken: usize = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    if memchr::memchr(0, bytes).is_none() && broken * 100 <= bytes.len() * BROKEN_PERCENT {
        let mut text = String::with_capacity(bytes.len());
        TextEncoding::Utf8.decode_line(bytes, &mut text);
        return Ok(Cow::Owned(text));
    }
    let ending = ending(path);
    Err(NotADocument::Binary(if ending.is_empty() { "binary".to_owned() } else { ending }))
}

/// Returns the end of a file's name, in lower case.
fn ending(path: &Path) -> String {
    path.extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default()
}

#[cfg(test)]
mod tests;

/// Returns the format of a file.
fn format_of(path: &Path, bytes: &[u8]) -> DocumentFormat {
    if bytes.starts_with(b"%PDF-") {
        return DocumentFormat::Pdf;
    }
    match ending(path).as_str() {
        "md" | "markdown" | "mdx" | "mkd" => DocumentFormat::Markdown,
        "html" | "htm" | "xhtml" => DocumentFormat::Html,
        "pdf" => DocumentFormat::Pdf,
        _ => DocumentFormat::Text,
    }
}
