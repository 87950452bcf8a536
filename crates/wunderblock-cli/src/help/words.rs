//! The glossary of `help words` and of `docs/glossary.md`.

/// Words that reports use and other tools do not, in the order in which readers meet them.
pub(crate) const WORDS: [(&str, &str); 23] = [
    ("ledger", "The file that keeps everything: append-only, durable, one per user by default."),
    (
        "session",
        "What one agent said and did, in order. `ID~2` is a branch: the session was rewound and went on.",
    ),
    ("event", "One record of a session: a message, a measurement, a compaction, a recorded request."),
    (
        "position",
        "The number of an event in its session, counted from 1. `SESSION#865` is a place; ranges are `SESSION#860-870`.",
    ),
    (
        "handle",
        "A name for a text: `wb:` and up to 16 digits. `wunderblock read HANDLE` writes it back, byte for byte.",
    ),
    (
        "window",
        "Tokens a model can take in. What a request may use is the window less room for the answer and a margin.",
    ),
    (
        "request",
        "The bytes a model receives. Its parts are sections: system, tools, summaries, transcript, and so on.",
    ),
    ("entry", "One message of a request."),
    ("exchange", "A tool call with its results. They stay in a request together or leave it together."),
    ("verbatim", "Word for word, unlike a stub, a summary or a reduced text."),
    ("stub", "One line in place of a large text: what it was, how large, and its handle."),
    ("left out", "Not in the request, with a reason and a handle. It is still in the ledger."),
    (
        "lane",
        "One model's view of a session. Compactions and steps belong to a lane, so a small window does not compact a large one.",
    ),
    (
        "step",
        "A recorded change of what a lane shows of its past. Between steps a request only grows at its end, so prompt caches hold.",
    ),
    (
        "compaction",
        "Older messages become a summary in the lane's view. Nothing leaves the ledger; `undo` restores the view.",
    ),
    (
        "summary",
        "A text that replaces a range of positions. `describe` lists them, `expand` shows what they replace.",
    ),
    ("policy", "When and how a lane is compacted, as data: a preset such as `balanced`, or a file of yours."),
    (
        "level",
        "How urgent a compaction is: soft waits for a good moment, hard does not; cold is a lane's first request.",
    ),
    (
        "reduction",
        "A tool's output made shorter by its structure. Each gap has a mark with its place and a handle.",
    ),
    ("pin, hide", "Keep a message in every request, or out of all of them, until that is taken back."),
    ("calibrated", "Estimated counts, corrected by what the provider measured for the same model."),
    (
        "document",
        "A file that `index` added. Its sections are found by `search`, with path, headings, lines or page.",
    ),
    ("tenant", "Whose data it is: sessions, handles and search of one tenant are invisible to others."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_has_the_same_words() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/glossary.md");
        let guide = std::fs::read_to_string(path).unwrap();
        let rows: String =
            WORDS.iter().map(|(word, meaning)| format!("| **{word}** | {meaning} |\n")).collect();
        assert!(guide.contains(&rows), "docs/glossary.md should have these rows:\n{rows}");
    }
}
