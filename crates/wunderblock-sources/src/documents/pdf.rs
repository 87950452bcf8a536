//! Text of PDF files. Their reader runs on a thread, so that a defect in it is a damaged file.

use super::parts::NotADocument;
use crate::limits::{MAX_PDF_PAGES, MAX_PDF_TEXT, MAX_PDF_TIME, PDF_STACK};
use pdfboss_core::{Document, Error};
use pdfboss_output::{ReadingOrder, extract_text};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

/// Returns the text of each page.
///
/// # Errors
/// Fails if the file is encrypted, damaged or too long, or if reading it takes too long.
pub(super) fn pages(bytes: Vec<u8>) -> Result<Vec<String>, NotADocument> {
    let excessive = |why: &str| NotADocument::Excessive(why.to_owned());
    let (send, receive) = channel();
    let work = move || {
        // Nobody receives the pages of a reader that was given up, so it ends with the next page.
        let _ = read(bytes, &mut |page| send.send(Ok(page)).is_ok()).or_else(|error| send.send(Err(error)));
    };
    let named = thread::Builder::new().name("pdf".to_owned()).stack_size(PDF_STACK);
    let reader = named.spawn(work).map_err(|error| NotADocument::Failed(error.to_string()))?;
    let (mut pages, mut text) = (Vec::new(), 0);
    loop {
        match receive.recv_timeout(MAX_PDF_TIME) {
            Ok(page) => pages.push(page?),
            Err(RecvTimeoutError::Timeout) => return Err(excessive("a page takes too long")),
            Err(RecvTimeoutError::Disconnected) => break,
        }
        text += pages.last().map_or(0, String::len);
        if text > MAX_PDF_TEXT {
            return Err(excessive("its text is too long"));
        }
    }
    reader.join().map_err(|_| NotADocument::Damaged("its reader failed".to_owned()))?;
    Ok(pages)
}

/// Passes the text of each page to `each`, until that wants no more.
fn read(bytes: Vec<u8>, each: &mut dyn FnMut(String) -> bool) -> Result<(), NotADocument> {
    let failed = |error: Error| match error {
        Error::Encrypted => NotADocument::Encrypted,
        error => NotADocument::Damaged(error.to_string()),
    };
    let document = Document::load(bytes).map_err(failed)?;
    let count = document.page_count();
    if count == 0 {
        return Err(NotADocument::Damaged("it has no pages".to_owned()));
    }
    if count > MAX_PDF_PAGES {
        return Err(NotADocument::Excessive(format!("it has {count} pages, more than {MAX_PDF_PAGES}")));
    }
    for number in 0..count {
        let page = document.page(number).map_err(failed)?;
        if !each(extract_text(&document, &page, ReadingOrder::Content).map_err(failed)?) {
            break;
        }
    }
    Ok(())
}
