//! `read`: reads what an address names, page by page.

use super::call::ToolCall;
use crate::answer::{ContentLink, ToolAnswer, ToolFailure};
use crate::ledger::LedgerUse;
use crate::uri::read_uri;
use serde_json::json;
use wunderblock::ReadPage;
use wunderblock::summary_graph::Expand;
use wunderblock_core::fence;

pub(super) async fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolFailure> {
    let arguments = call.arguments;
    let engine = call.ledger.open(LedgerUse::Existing).await?;
    let query = arguments.text("query").map(ToOwned::to_owned);
    let (page, deadline) = (arguments.number("page"), call.deadline.clone());
    let wanted = Expand { query, page, deadline, ..Expand::default() };
    let found = ReadPage::of(&engine, arguments.required("address"), &wanted).await?;
    let facts = json!({ "address": found.address, "page": found.page, "pages": found.pages });
    let mut answer = ToolAnswer::new(self::page(&found, |next| format!("`page` {next}")), facts);
    if let Some(more) = found.more {
        answer.facts.insert("more".to_owned(), more.into());
    }
    if found.page < found.pages {
        answer.links.push(ContentLink {
            uri: format!("{}?page={}", read_uri(&found.address), found.page.saturating_add(1)),
            name: found.address,
            description: "the next page",
        });
    }
    Ok(answer)
}

/// Returns a page in its fence, followed by a line about the next one. `next` names the next page.
pub(crate) fn page(found: &ReadPage, next: impl FnOnce(u64) -> String) -> String {
    let ReadPage { address, text, page, pages, more } = found;
    let mut out = fence::data(&format!("{address}, page {page} of {pages}"), text);
    if page < pages {
        out.push_str(&format!("\nThe text continues on {}.", next(page.saturating_add(1))));
    }
    if let Some(more) = more.filter(|more| *more > 0) {
        out.push_str(&format!(
            "\nFurther matches that are not shown: {more}; use a narrower query or range."
        ));
    }
    out
}
