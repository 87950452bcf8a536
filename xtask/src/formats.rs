//! Writes the guide to transcript formats from the importers' own lists, so that the guide is always complete.

use std::fmt::Write;
use wunderblock_wire::transcript::Format;

/// Description of a format in one or two sentences.
const fn about(format: Format) -> &'static str {
    match format {
        Format::ClaudeCode => {
            "Claude Code's sessions: `~/.claude/projects/<slug>/<session>.jsonl`, sub-agents beside them. Records form a tree over `parentUuid`; rewinds become branches."
        }
        Format::Codex => {
            "Codex's rollouts: `~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl`, with and without envelopes. Records repeated in `event_msg` are imported once; a rollback becomes a branch."
        }
        Format::Pi => {
            "pi's and OpenClaw's sessions, versions 1 to 3: `~/.pi/agent/sessions/…`, `~/.openclaw/agents/<agent>/sessions/<id>.jsonl`. Records form a tree over `parentId`."
        }
        Format::GeminiCli => {
            "Gemini CLI's sessions, JSONL and JSON: `~/.gemini/tmp/<project>/chats/session-….jsonl`; and saved chats, `checkpoint-<tag>.json`. A message that is written again as it grows is one message; a rewind becomes a branch."
        }
        Format::Copilot => {
            "Copilot CLI's sessions: `~/.copilot/session-state/<id>/events.jsonl`. Sub-agents become sessions, and a rewind becomes a branch. The file holds no usage per request, so none is read."
        }
        Format::OpenCode => {
            "OpenCode's sessions: the tree of files under `~/.local/share/opencode/storage`, the database `opencode.db` beside it, and the documents of `opencode export`. The members of a session are stored as lines, `{\"info\": session}` and `{\"parts\": […], \"info\": message}`; a line is written again when its member has changed. A message that was reverted begins a branch with the next prompt."
        }
        Format::Cursor => {
            "Conversations of Cursor's editor, from its database `User/globalStorage/state.vscdb`. The values of a conversation and of its bubbles are stored as lines, `{\"composer\": …}` and `{\"bubble\": …}`; a line is written again when its value has changed. A prompt that was taken back begins a branch with the next one. Usage is read where a bubble has counts, which include the cache."
        }
        Format::ChatGpt => {
            "Exports of ChatGPT's data: `conversations.json` in the archive that ChatGPT sends, unpacked; also a file with a part of the conversations, or with one. Each conversation is a session. Its nodes are stored as lines, `{\"id\": …, \"node\": …}`, and a line is written again when its node has changed. Messages form a tree: an edited prompt or a regenerated reply is a branch, and the branch at which the person stopped is the latest. Exports contain no usage."
        }
        Format::ClaudeAi => {
            "Exports of claude.ai's data: `conversations.json` in the archive that claude.ai sends, unpacked. Each conversation is a session. Its messages are stored as lines, `{\"id\": …, \"chat_message\": …}`. Where messages name their parents, they form a tree. Exports contain no usage."
        }
        Format::Droid => {
            "droid's sessions, `~/.factory/sessions/<id>.jsonl`, a tree over `parentId`; and its output with `--output-format stream-json`."
        }
        Format::Grok => "Grok CLI's chats, `chat_history.jsonl`. They have no ids and no times.",
        Format::Kimi => {
            "Kimi Code's sessions, `~/.kimi-code/sessions/<project>/<session>/agents/<agent>/wire.jsonl`. The pieces of a step are one reply."
        }
        Format::Qwen => {
            "Qwen Code's sessions, `~/.qwen/projects/<project>/chats/<session>.jsonl`. Records form a tree over `parentUuid`; rewinds become branches."
        }
        Format::Antigravity => {
            "Antigravity CLI's sessions. A result names no call, so results are paired with calls by their order."
        }
        Format::Anthropic => {
            "Logs of requests to Anthropic Messages: JSON lines or a document of requests, each alone or with its reply (`{request, response}`, claude-trace's `{request: {body}, response: {body_raw}}` and similar), and lists of messages with this API's blocks. A request adds only what no earlier one contained; one that repeats a part of an earlier one is a branch, and one with another first message is another session. Sessions and messages are named after their content, so that the parts of a log that was rotated are one session."
        }
        Format::OpenaiResponses => {
            "Logs of requests to OpenAI Responses, read like those of Anthropic. A request with `previous_response_id` continues after that reply if it is the latest."
        }
        Format::Gemini => "Logs of requests to Gemini's `generateContent`, read like those of Anthropic.",
        Format::SweAgent => {
            "SWE-agent's trajectories, `<instance>.traj`: the messages of `history`. A command in a reply is a call, and the output of the environment is its result; a demonstration is an injected message. The counts in `info.model_stats` are sums over a run, so they are not read as the usage of a request."
        }
        Format::TauBench => {
            "tau-bench's results, a document of runs, each of which becomes a session named after its task and trial; and its example dialogues, JSON lines with `messages_display`."
        }
        Format::OpenaiChat => {
            "Chat messages: a JSON document (an array, or an object with `messages`), or JSON lines of messages or conversations; each conversation of a file becomes a session."
        }
        Format::Wunderblock => {
            "Wunderblock's own export, as `export` and `show --json` write it. The imported session is marked as a copy: messages, measurements, tasks and pins are preserved; events that steered a lane are not repeated, and summaries become available nodes. A record that contradicts its file (a position out of order, a range of later positions, a missing body) is kept as broken."
        }
        Format::Aider => "aider's `.aider.chat.history.md`: each `# aider chat started at` begins a session.",
        Format::JsonLines => {
            "JSON lines of any other shape: the importer reads role and text where it finds them and keeps the rest unchanged."
        }
        Format::JsonDocument => {
            "A JSON document of any other shape: the importer reads the longest array that looks like a conversation as one and keeps the rest unchanged."
        }
    }
}

/// Returns the guide as Markdown.
pub(crate) fn guide() -> String {
    let mut out = String::from(
        "# Transcript formats\n\n\
         This page lists the record types that `wunderblock import` recognises, by format, and what each becomes in a session. \
         `cargo run -p xtask -- formats` writes it from the importers' own lists. The bytes of every record are kept, and \
         `export --original` returns them. A record of an unlisted type is kept as opaque, with any text found in it, and \
         a warning.\n",
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
