//! A small session in Claude Code's transcript format (one JSON object per line, a tree linked by `parentUuid`). The
//! session contains a long tool output, a rewind, Chinese, a secret, and characters that a terminal would act on. The
//! secret is assembled here, so that no file contains it.

use serde_json::{Value, json};

/// Id of the session.
pub(crate) const SESSION: &str = "7d1f0c52-parser";
/// The error line of the long output.
pub(crate) const ERROR_LINE: &str = "error[P0042]: unexpected token `}` in src/parser.rs:88";

/// Secret that no index may contain.
pub(crate) fn secret() -> String {
    ["ghp", "_", "Zk3VbQ8mXr5TnW1y", "Lc7PdG2sJf9HaUe4RoKi"].concat()
}

/// Characters that no terminal may receive: colours, a title, a cleared screen, reversed text.
pub(crate) const HOSTILE: &str =
    "\u{1b}[31mred\u{1b}[0m \u{1b}]0;owned\u{7} \u{1b}[2J \u{9b}31m \u{202e}desrever\u{202c} \u{200b}\r\u{8}";

/// A build log of 200 lines.
pub(crate) fn log() -> String {
    let lines = (1..=200).map(|number| match number {
        137 => ERROR_LINE.to_owned(),
        150 => format!("warning: token {} in the environment", secret()),
        160 => HOSTILE.to_owned(),
        number => {
            format!("   Compiling module-{number:03} v0.{}.{} (step {number} of 200)", number % 7, number % 5)
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the transcript.
pub(crate) fn transcript() -> String {
    let user = |text: &str| json!({ "role": "user", "content": text });
    let result = |id: &str, text: &str| json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": text }] });
    let says = |id: &str, blocks: Value, input: u64| {
        json!({
            "id": id, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": blocks,
            "stop_reason": "end_turn", "usage": { "input_tokens": input, "output_tokens": 60 },
        })
    };
    let text = |text: &str| json!({ "type": "text", "text": text });
    let call = |id: &str, name: &str, input: Value| json!({ "type": "tool_use", "id": id, "name": name, "input": input });
    let bash = json!({ "command": "cargo build --workspace", "description": "Build everything" });
    let source = "pub fn parse(input: &str) -> Tree {\n    // 先读取标记\n    todo(input)\n}\n";
    let records = [
        ("a1", "", user("Please find out why the parser does not build. 请先看日志。")),
        ("a2", "a1", says("m1", json!([text("I will build it first."), call("t1", "Bash", bash)]), 900)),
        ("a3", "a2", result("t1", &log())),
        (
            "a4",
            "a3",
            says("m2", json!([text("第 88 行多了一个右括号。A brace too many in src/parser.rs.")]), 5200),
        ),
        ("a5", "a4", user("Then rewrite the whole parser.")),
        ("a6", "a5", says("m3", json!([text("That is a large change; are you sure?")]), 5300)),
        ("b5", "a4", user("Only remove the brace, please. 只删括号。")),
        (
            "b6",
            "b5",
            says(
                "m4",
                json!([
                    { "type": "thinking", "thinking": "One line is enough.", "signature": "c2lnbmVk" },
                    call("t2", "Read", json!({ "file_path": "/home/ann/parser/src/parser.rs" })),
                ]),
                5350,
            ),
        ),
        ("b7", "b6", result("t2", source)),
        ("b8", "b7", says("m5", json!([text("Done: line 88 is gone.")]), 5500)),
        ("b9", "b8", user("Thanks. Does it build now? 现在能编译吗?")),
    ];
    let mut out = format!(
        "{}\n",
        json!({ "type": "summary", "summary": "A parser that does not build", "leafUuid": "b9" })
    );
    for (minute, (id, parent, message)) in records.into_iter().enumerate() {
        let record = json!({
            "type": message["role"], "uuid": id, "parentUuid": (!parent.is_empty()).then_some(parent),
            "sessionId": SESSION, "timestamp": format!("2026-03-01T09:{minute:02}:00.000Z"), "cwd": "/home/ann/parser",
            "version": "2.0.1", "isSidechain": false, "userType": "external", "message": message,
        });
        out.push_str(&format!("{record}\n"));
    }
    out
}
