//! Arguments of `describe` and `expand`.

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock describe 3f9c                  the summaries of a session, each under the one made from it
  wunderblock describe 3f9c#412              the summary recorded at position 412
  wunderblock describe 3f9c#12-80            the one that replaces positions 12 to 80
  wunderblock describe wb:77aa01c2d9e4b836   the one with this text
  wunderblock describe 3f9c --title \"Port to 4711\" --tag release

`shown`: it is part of its lane's present view. `#12–80 · 9,120 → 640 tokens`: the positions it replaces, and tokens
before and after.")]
pub(crate) struct Describe {
    /// A session, or a summary (SESSION#412, SESSION#12-80, or its text's handle)
    #[arg(value_name = "SESSION|PLACE|HANDLE")]
    pub(crate) node: String,
    /// Give the session a title; an empty one removes it
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// Add a tag to the session
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Remove a tag from the session
    #[arg(long, value_name = "TAG")]
    pub(crate) untag: Vec<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  wunderblock expand 3f9c#412                      what the summary at 412 was made from
  wunderblock expand 3f9c#12-80 --page 2           messages 12 to 80, a page of them
  wunderblock expand 3f9c#412 --query \"port 4711\"   messages in there with these words, best first
  wunderblock expand wb:77aa01c2d9e4b836           a long text, page by page

Texts are verbatim; a text longer than a page is split, never skipped. With --json a page has `items`: those with the
same `seq` and `part`, joined by `from_byte` over all pages, are the original, byte for byte. Exit 1 if a query finds
nothing.")]
pub(crate) struct Expand {
    /// A summary or positions (SESSION#412, SESSION#12-80), or a text's handle (wb:…)
    #[arg(value_name = "PLACE|HANDLE")]
    pub(crate) node: String,
    /// Only messages with some of these words, in any case; one page
    #[arg(long, value_name = "TEXT", conflicts_with = "page")]
    pub(crate) query: Option<String>,
    /// Page, counted from 1
    #[arg(long, value_name = "N")]
    pub(crate) page: Option<u64>,
    /// Maximum tokens of a page
    #[arg(long, value_name = "N", default_value_t = wunderblock::EXPAND_TOKENS)]
    pub(crate) tokens: u64,
    /// For a summary of summaries: the messages beneath all of them
    #[arg(long)]
    pub(crate) events: bool,
}
