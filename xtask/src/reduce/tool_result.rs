//! Extracts the tool results of a transcript or of the corpus, each with its command.

use std::collections::HashMap;
use std::path::Path;
use wunderblock_core::message::{Message, Part, Role};
use wunderblock_reduce::{Claim, polled, running};
use wunderblock_wire::gist;
use wunderblock_wire::transcript::{FileShape, RecordItem, TranscriptReader, detect};

/// Number of bytes at the start of a file from which its format is detected.
const HEAD_BYTES: usize = 1 << 16;
/// Minimum length of a measured output, in bytes, unless the caller chooses another. Shorter outputs are hardly reduced.
pub(super) const MIN_BYTES: usize = 2_000;

/// Claim of a command: what its caller asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ToolClaim {
    Command,
    File,
    Selection,
}

impl ToolClaim {
    pub(super) const ALL: [Self; 3] = [Self::Command, Self::File, Self::Selection];

    /// Name of the claim in tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Command => "command results",
            Self::File => "file reads",
            Self::Selection => "selections",
        }
    }

    /// Returns the claim of a command. Only this function asks the reduction for the claim.
    fn of(command: &str) -> Self {
        match Claim::of(command) {
            Claim::File => Self::File,
            Claim::Selection => Self::Selection,
            Claim::Report(_) | Claim::Unknown => Self::Command,
        }
    }
}

/// The text that a tool returned.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ToolText {
    /// The command, or the tool's name and its main argument.
    pub(super) command: Option<String>,
    pub(super) bytes: Vec<u8>,
    pub(super) failed: bool,
    /// Whether the tool runs commands, or reads more of the output of one.
    pub(super) runs: bool,
}

impl ToolText {
    pub(super) fn claim(&self) -> ToolClaim {
        self.command.as_deref().map_or(ToolClaim::Command, ToolClaim::of)
    }
}

/// Returns the tool results of a file: those of a transcript with at least `least` bytes, or the single one of a corpus
/// file. `None` if the file is neither a transcript nor a corpus file.
pub(super) fn tool_texts(file: &Path, bytes: &[u8], least: usize) -> Option<Vec<ToolText>> {
    if file.extension().is_some_and(|end| end == "in") {
        return Some(vec![corpus_text(bytes)]);
    }
    let messages = messages(&file.to_string_lossy(), bytes);
    if !messages.iter().any(|message| message.role == Role::Assistant) {
        return None;
    }
    let mut texts = Vec::new();
    let mut commands = HashMap::new();
    // Commands of processes that still ran, by the names of the processes.
    let mut begun: HashMap<String, String> = HashMap::new();
    for message in messages {
        for part in &message.parts {
            match part {
                Part::ToolCall { call, name, input, .. } => {
                    let said = command(name, input.inline().unwrap_or_default());
                    commands.insert(call.clone(), (said, runs(name)));
                }
                Part::ToolResult { call, content, failed, .. } => {
                    let inner = content.iter().filter_map(|part| match part {
                        Part::Text { text, .. } => text.inline(),
                        _ => None,
                    });
                    let text = inner.collect::<Vec<_>>().join("\n");
                    let own: Option<&(String, bool)> = commands.get(call);
                    let process = own.and_then(|(command, _)| polled(command));
                    let polls = process.and_then(|process| begun.get(process));
                    let runs = polls.is_some() || own.is_some_and(|(_, runs)| *runs);
                    let command = polls.or(own.map(|(command, _)| command)).cloned();
                    if let (Some(process), Some(command)) = (running(&text), &command) {
                        begun.insert(process.to_owned(), command.clone());
                    }
                    texts.push(ToolText { command, bytes: text.into_bytes(), failed: *failed, runs });
                }
                _ => {}
            }
        }
    }
    texts.retain(|text| text.bytes.len() >= least);
    Some(texts)
}

/// Parses a corpus file, whose first line may be the command.
fn corpus_text(bytes: &[u8]) -> ToolText {
    let split = bytes.strip_prefix(b"$ ").and_then(|rest| {
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        Some((rest.get(..end)?, rest.get(end + 1..)?))
    });
    let (command, text) = split.map_or((None, bytes), |(command, text)| (Some(command), text));
    let command = command.map(|command| String::from_utf8_lossy(command).trim().to_owned());
    ToolText { command, bytes: text.to_vec(), failed: false, runs: true }
}

/// Returns the command of a tool that runs commands, or else the tool's name and its main argument.
fn command(tool: &str, input: &str) -> String {
    let gist = gist(tool, input).unwrap_or_default();
    if runs(tool) { gist } else { format!("{tool} {gist}") }
}

/// Returns whether a tool runs commands.
fn runs(tool: &str) -> bool {
    let name = tool.to_ascii_lowercase();
    ["bash", "shell", "exec", "command", "terminal", "run"].iter().any(|word| name.contains(word))
}

fn messages(name: &str, bytes: &[u8]) -> Vec<Message> {
    let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
    let Ok(format) = detect(name, head) else { return Vec::new() };
    let mut reader = TranscriptReader::new(format, name);
    let mut records = Vec::new();
    if matches!(format.shape(head), FileShape::Document) {
        records.extend(reader.document(bytes));
    } else {
        let mut offset = 0;
        for (line, bytes) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            records.extend(reader.line(offset, line, bytes));
            offset += bytes.len() as u64 + 1;
        }
    }
    records.extend(reader.finish());
    let items = records.into_iter().flat_map(|record| record.items);
    items
        .filter_map(|item| match item {
            RecordItem::Message(message) => Some(message),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_corpus_says_its_command() {
        let text = corpus_text(b"$ cat a.rs\nfn a() {}\n");
        assert_eq!(text.command.as_deref(), Some("cat a.rs"));
        assert_eq!((&*text.bytes, text.claim()), (&b"fn a() {}\n"[..], ToolClaim::File));
        assert_eq!(corpus_text(b"$ no end").command, None);
    }

    #[test]
    fn a_transcript_gives_its_large_results_with_their_commands() {
        let large = "x".repeat(MIN_BYTES);
        let call = |id: &str, command: &str| {
            format!(
                "{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"id\":\"{id}\",\"type\":\"function\",\
                 \"function\":{{\"name\":\"bash\",\"arguments\":\"{{\\\"command\\\":\\\"{command}\\\"}}\"}}}}]}}\n"
            )
        };
        let result = |id: &str, text: &str| {
            format!("{{\"role\":\"tool\",\"tool_call_id\":\"{id}\",\"content\":\"{text}\"}}\n")
        };
        let file = [
            "{\"role\":\"user\",\"content\":\"go\"}\n".to_owned(),
            call("a", "cargo build"),
            result("a", &large),
            call("b", "sed -n 1,9p a"),
            result("b", &large),
            call("c", "ls"),
            result("c", "short"),
        ]
        .concat();
        let texts = tool_texts(Path::new("chat.jsonl"), file.as_bytes(), MIN_BYTES).unwrap();
        assert_eq!(tool_texts(Path::new("books.json"), b"[{\"id\": 1}]", MIN_BYTES), None);
        let found: Vec<_> = texts.iter().map(|text| (text.command.as_deref(), text.claim())).collect();
        assert_eq!(
            found,
            [(Some("cargo build"), ToolClaim::Command), (Some("sed -n 1,9p a"), ToolClaim::File)]
        );
    }
}
