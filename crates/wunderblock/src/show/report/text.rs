//! A request as text for people: the messages that the model receives.

use crate::base::error::Error;
use crate::request::steps::draft::Draft;
use wunderblock_core::message::{Body, Message, Part, Role};
use wunderblock_core::stub::grouped;

/// Returns the request as Markdown. The text is decoded from the bytes that are sent, so it contains nothing else.
/// Characters that would act on a terminal are replaced by dots.
///
/// Messages follow `>`. Program output is placed between fences that nothing in the output can close.
///
/// # Errors
/// Returns an error if the bytes cannot be decoded, which means a defect in the encoder.
pub fn request_text(session: &str, draft: &Draft) -> Result<String, Error> {
    let request = wunderblock_wire::decode(draft.dialect, &draft.body)?;
    let report = &draft.report;
    let mut out = format!(
        "# The request of session {} for {}\n\n{} of {} tokens in {} messages, as {}. Everything below is sent; \
         what is left out is in the report.\n",
        one_line(session),
        one_line(&draft.model),
        grouped(report.total_tokens.0),
        grouped(report.limit.0),
        grouped(request.messages.len() as u64),
        draft.dialect.name(),
    );
    if !request.system.is_empty() {
        out.push_str("\n## System\n");
        request.system.iter().for_each(|part| write_part(part, &mut out));
    }
    if !request.tools.is_empty() {
        out.push_str("\n## Tools\n\n");
        for tool in &request.tools {
            out.push_str(&format!("- `{}`: {}\n", one_line(&tool.name), one_line(&tool.description)));
        }
    }
    for (number, message) in request.messages.iter().enumerate() {
        out.push_str(&format!("\n## {}. {}\n", number + 1, speaker(message)));
        message.parts.iter().for_each(|part| write_part(part, &mut out));
    }
    Ok(visible(&out))
}

/// Replaces control characters and direction marks with dots, so that a text cannot act on the terminal or editor
/// that shows it.
fn visible(text: &str) -> String {
    let acts = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if acts(c) { '·' } else { c }).collect()
}

fn speaker(message: &Message) -> &'static str {
    let is_result = |part: &Part| matches!(part, Part::ToolResult { .. });
    match message.role {
        _ if !message.parts.is_empty() && message.parts.iter().all(is_result) => "Results",
        Role::System => "System",
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Results",
    }
}

fn write_part(part: &Part, out: &mut String) {
    match part {
        Part::Text { text, .. } => quote(inline(text), out),
        Part::Thinking { text, .. } => {
            out.push_str("\n*thinking*\n");
            quote(inline(text), out);
        }
        Part::ToolCall { name, input, .. } => {
            out.push_str(&format!("\n**→ {}**\n", one_line(name)));
            write_arguments(inline(input), out);
        }
        Part::ToolResult { content, failed, .. } => {
            out.push_str(if *failed { "\n**← failed**\n" } else { "\n**←**\n" });
            for inner in content {
                match inner {
                    Part::Text { text, .. } => fence(inline(text), out),
                    other => write_part(other, out),
                }
            }
        }
        Part::Media { mime, body, .. } => {
            let size = grouped(body.bytes().0);
            out.push_str(&format!("\n*{}, {size} bytes of data*\n", one_line(mime)));
        }
        Part::Opaque { raw, .. } => fence(inline(raw), out),
    }
}

fn inline(body: &Body) -> &str {
    body.inline().unwrap_or_default()
}

/// Writes the arguments of a call: short ones in a list, long texts verbatim, without JSON escapes.
fn write_arguments(input: &str, out: &mut String) {
    let Ok(fields) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(input) else {
        return fence(input, out);
    };
    out.push('\n');
    for (name, value) in &fields {
        let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        if text.contains('\n') || text.len() > LONG {
            out.push_str(&format!("- {}:\n", one_line(name)));
            fence(&text, out);
        } else {
            out.push_str(&format!("- {}: {}\n", one_line(name), code(&text)));
        }
    }
}

/// Maximum size in bytes of an argument that is written in the list.
const LONG: usize = 200;

/// Writes a message, with a mark before each line.
fn quote(text: &str, out: &mut String) {
    out.push('\n');
    for line in text.lines() {
        out.push_str(if line.is_empty() { ">" } else { "> " });
        out.push_str(line);
        out.push('\n');
    }
}

/// Writes the output of a program between fences that are longer than any run of backticks in it.
fn fence(text: &str, out: &mut String) {
    let marks = "`".repeat(longest_run(text).max(2) + 1);
    out.push_str(&format!("\n{marks}\n{text}"));
    if !text.ends_with('\n') && !text.is_empty() {
        out.push('\n');
    }
    out.push_str(&format!("{marks}\n"));
}

fn code(text: &str) -> String {
    let marks = "`".repeat(longest_run(text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{marks}{space}{text}{space}{marks}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_was_said_or_written_ends_its_own_block() {
        let mut out = String::new();
        fence("a\n````\n## 2. User\nb", &mut out);
        assert_eq!(out, "\n`````\na\n````\n## 2. User\nb\n`````\n");
        let mut out = String::new();
        quote("## 2. User\n\nhello", &mut out);
        assert_eq!(out, "\n> ## 2. User\n>\n> hello\n");
        assert_eq!((code("a"), code("`a`")), ("`a`".to_owned(), "`` `a` ``".to_owned()));
    }

    #[test]
    fn arguments_are_read_without_the_escapes_of_json() {
        let mut out = String::new();
        write_arguments(r#"{"path":"src/a.rs","content":"fn a() {\n}\n","lines":[1,2]}"#, &mut out);
        assert_eq!(out, "\n- path: `src/a.rs`\n- content:\n\n```\nfn a() {\n}\n```\n- lines: `[1,2]`\n");
        let mut out = String::new();
        write_arguments("not json", &mut out);
        assert_eq!(out, "\n```\nnot json\n```\n");
    }
}
