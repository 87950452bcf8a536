//! `read`: reads what an address names, page by page.

use super::call::ToolCall;
use crate::answer::{ContentLink, ToolAnswer, ToolFailure};
use crate::ledger::LedgerUse;
use crate::uri::read_uri;
use serde_json::{Value, json};
use wunderblock::summary_graph::{ChildNode, Described, Expand};
use wunderblock::{Address, ReadPage};
use wunderblock_core::fence;

/// Maximum number of summaries that are listed beneath one.
const TREE: usize = 40;

pub(super) async fn call(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolFailure> {
    let arguments = call.arguments;
    let engine = call.ledger.open(LedgerUse::Existing).await?;
    let query = arguments.text("query").map(ToOwned::to_owned);
    let (page, deadline) = (arguments.number("page"), call.deadline.clone());
    let wanted = Expand { query, page, deadline, ..Expand::default() };
    let found = ReadPage::of(&engine, arguments.required("address"), &wanted).await?;
    let facts = json!({ "address": found.address, "page": found.page, "pages": found.pages });
    let mut answer = ToolAnswer::new(self::page(&found, |next| format!("`page` {next}")), facts);
    // What is beneath a summary is shown with its first page.
    if found.page == 1 && arguments.text("query").is_none() && found.address.contains('#') {
        let address = Address::find(&engine, &found.address).await?.0;
        if let Ok(described) = engine.recall().describe(address).await
            && !described.subtree.is_empty()
        {
            answer.text.push_str(&tree(&described));
            answer.facts.insert("tree".to_owned(), described.subtree.iter().take(TREE).map(node).collect());
        }
    }
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

/// Returns the summaries beneath a summary in a fence, one line each.
fn tree(described: &Described) -> String {
    let line = |one: &ChildNode| {
        let indent = "  ".repeat(usize::try_from(one.depth).unwrap_or(0).saturating_sub(1));
        let ChildNode { address, from, to, messages, tokens, .. } = one;
        format!(
            "{indent}{address} · positions {from}–{to} · {messages} messages · {tokens} tokens · {}",
            one.title
        )
    };
    let lines: Vec<String> = described.subtree.iter().take(TREE).map(line).collect();
    let more = described.more.saturating_add(described.subtree.len().saturating_sub(TREE) as u64);
    let more =
        if more > 0 { format!("\nFurther summaries that are not listed: {more}.") } else { String::new() };
    let label = "summaries beneath this one; `read` opens each";
    format!("\n{}{more}", fence::data(label, &lines.join("\n")))
}

fn node(one: &ChildNode) -> Value {
    json!({
        "address": one.address,
        "depth": one.depth,
        "from": one.from,
        "to": one.to,
        "messages": one.messages,
        "tokens": one.tokens,
        "title": fence::plain_line(&one.title),
    })
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
