//! Writes the guide to transcript formats from the importers' own lists, so that the guide is always complete.

use std::fmt::Write;
use wunderblock_wire::transcript::Format;

/// Description of a format in one or two sentences.
const fn about(format: Format) -> &'static str {
    match format {
        Format::ClaudeCode => {
            "Claude Code's sessions: `~/.claude/projects/<slug>/<session>.jsonl`, sub-agents beside them. A tree over `parentUuid`; rewinds become branches."
        }
        Format::Codex => {
            "Codex's rollouts: `~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl`, with and without envelopes. What `event_msg` repeats is not imported twice; a rollback becomes a branch."
        }
        Format::Pi => {
            "pi's and OpenClaw's sessions, versions 1 to 3: `~/.pi/agent/sessions/…`, `~/.openclaw/agents/<agent>/sessions/<id>.jsonl`. A tree over `parentId`."
        }
        Format::OpenaiChat => {
            "Chat messages: a JSON document (an array, or an object with `messages`), or JSON lines of messages or conversations; each conversation of a file is a session."
        }
        Format::Wunderblock => {
            "Our own export, as `export` and `show --json` write it. The session it opens is a copy, and says so: what was said, measured, begun and pinned is as it was; what steered a lane is not done again, and summaries become available nodes. A record that contradicts its file (a position that goes back, a range of what came later, a body that is named but not there) is kept as a broken one."
        }
        Format::Aider => "aider's `.aider.chat.history.md`: each `# aider chat started at` begins a session.",
        Format::JsonLines => {
            "JSON lines of any other shape: role and text are taken where they are found, the rest is kept as it is."
        }
        Format::JsonDocument => {
            "A JSON document of any other shape: the longest array that looks like a conversation is read as one, the rest is kept as it is."
        }
    }
}

/// Returns the guide as Markdown.
pub(crate) fn guide() -> String {
    let mut out = String::from(
        "# Transcript formats\n\n\
         Made by `cargo run -p xtask -- formats` from the importers' own lists. Whatever a record becomes, its bytes are kept: \
         `export --original`. A type that is not listed is kept as an opaque record, with its text where some is found, and a warning.\n",
    );
    for format in Format::ALL {
        let _ =
            write!(out, "\n## {}\n\n{}\n\n| record | becomes |\n|---|---|\n", format.name(), about(format));
        for (kind, becomes) in format.record_types() {
            let _ = writeln!(out, "| {} | {} |", kind.replace('|', "\\|"), becomes.replace('|', "\\|"));
        }
    }
    out
}
