//! A small session, and a simple replacement for extraction and verification.

use std::sync::{Arc, LazyLock, OnceLock};
use wunderblock::catalog::Catalog;
use wunderblock::model::{ApiKey, Client, Endpoint, ModelLimits};
use wunderblock::redact::Redactor;
use wunderblock::summarize::attempt::write;
use wunderblock::summarize::{
    AttemptOptions, Brief, Detail, Earlier, Extract, Floor, Judgement, Material, ModelSummariser,
    ReadMaterial, Summarise, SummaryDraft,
};
use wunderblock::tokens::Counted;
use wunderblock_core::compaction::SummaryCheck;
use wunderblock_core::id::Handle;
use wunderblock_core::message::{Dialect, MediaForm, Message, Part, Role};
use wunderblock_core::policy::{Fill, Optional, Permille, SummaryFormat, Template, TemplateSection};
use wunderblock_core::ports::{CostModel, NoBodies};
use wunderblock_core::units::{Bytes, Cost, Millis, Seq, Tokens};
use wunderblock_core::view::ViewEntry;
use wunderblock_testkit::server::{ORDERS, ScriptedProvider};

pub(crate) const KEY: &str = "sk-test-not-a-real-key";
pub(crate) const DIALECTS: [(Dialect, &str); 4] = [
    (Dialect::Anthropic, "claude-sonnet-4-5"),
    (Dialect::OpenaiChat, "gpt-4o"),
    (Dialect::OpenaiResponses, "gpt-4o"),
    (Dialect::Gemini, "gemini-2.5-pro"),
];
/// A valid summary.
pub(crate) const GOOD: &str =
    "## Goal\n- mend the tail of src/tail.rs (#1)\n## Files\n- `src/tail.rs` (#3)\n";

/// Cost model of plain o200k counts.
pub(crate) struct Scale;

impl CostModel for Scale {
    fn text(&self, text: &str) -> Cost {
        Cost::new(Counted::of(text).o200k.into(), text.len() as u64)
    }
    fn json(&self, text: &str) -> Cost {
        self.text(text)
    }
    fn blob(&self, _: Handle) -> Cost {
        Cost::ZERO
    }
    fn json_blob(&self, _: Handle) -> Cost {
        Cost::ZERO
    }
}

pub(crate) fn redactor() -> Arc<Redactor> {
    static REDACTOR: OnceLock<Arc<Redactor>> = OnceLock::new();
    Arc::clone(REDACTOR.get_or_init(|| Arc::new(Redactor::embedded())))
}

pub(crate) fn entry(seq: u64, message: Message) -> ViewEntry {
    ViewEntry { seq: Seq(seq), at: Millis(0), message, answers: false }
}

pub(crate) fn call(id: &str, name: &str, input: &str) -> Part {
    Part::ToolCall { call: id.into(), name: name.into(), input: input.into(), gist: None, extra: None }
}

pub(crate) fn result(id: &str, text: &str) -> Part {
    Part::ToolResult { call: id.into(), content: vec![Part::text(text)], failed: false, extra: None }
}

/// Returns some turns about one file.
pub(crate) fn session() -> Vec<ViewEntry> {
    let thinking = Part::Thinking { text: "I muse in secret".into(), signature: None, extra: None };
    let picture =
        Part::Media { mime: "image/png".into(), form: MediaForm::Base64, body: "aGk=".into(), extra: None };
    let mut entries = vec![
        entry(
            1,
            Message::new(Role::User, vec![Part::text("Mend the tail of src/tail.rs, please."), picture]),
        ),
        entry(
            2,
            Message::new(
                Role::Assistant,
                vec![thinking, Part::text("I look."), call("c1", "Read", r#"{"file_path":"src/tail.rs"}"#)],
            ),
        ),
        entry(
            3,
            Message::new(
                Role::Tool,
                vec![result("c1", &"fn tail() { /* the end is lost */ }\n".repeat(120))],
            ),
        ),
    ];
    for at in 0..8 {
        let seq = 4 + at * 2;
        entries.push(entry(seq, Message::text(Role::User, format!("And what of step {at}?"))));
        let words = format!("Step {at} is done. {}", "It took a while to find out why. ".repeat(20));
        entries.push(entry(seq + 1, Message::text(Role::Assistant, words)));
    }
    entries
}

pub(crate) fn material<'a>(entries: &'a [ViewEntry], earlier: Vec<Earlier<'a>>) -> Material<'a> {
    let (from, to) = (entries[0].seq, entries[entries.len() - 1].seq);
    static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::embedded);
    let (entries, redactor) = (entries.iter().collect(), &*REDACTOR);
    Material { from, to, entries, bodies: &NoBodies, earlier, redactor }
}

pub(crate) fn template() -> Template {
    let section = |name: &str, fill| TemplateSection {
        name: name.into(),
        fill: vec![fill],
        about: "".into(),
        weight: 1,
    };
    let sections = vec![section("Goal", Fill::Intent), section("Files", Fill::FilesRead)];
    Template { form: SummaryFormat::Markdown, root: "summary".into(), sections }
}

pub(crate) fn brief(template: &Template) -> Brief<'_> {
    Brief { template, target: Tokens(200), most: Tokens(300), focus: None, detail: Detail::Full }
}

fn extract(read: &ReadMaterial<'_>, _: &Brief<'_>, _: &dyn CostModel) -> Extract {
    let material = read.material();
    let text = format!("## Goal\n- the range #{} to #{}\n## Files\n- none\n", material.from, material.to);
    Extract { text, items: Some("[]".to_owned()) }
}

/// Rejects a text with a missing heading, or with a path that does not occur in the range.
fn verify(text: &str, read: &ReadMaterial<'_>, brief: &Brief<'_>, _: &dyn CostModel) -> Judgement {
    let mut faults = Vec::new();
    for section in &brief.template.sections {
        if !text.contains(&format!("## {}", section.name)) {
            faults.push(format!("the part `{}` is missing", section.name));
        }
    }
    let range = format!("{:?}", read.material().entries);
    for word in text.split_whitespace() {
        let path = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
        if path.contains('/') && !range.contains(path) {
            faults.push(format!("`{path}` is not in the range"));
        }
    }
    let grounded = Permille(if faults.is_empty() { 1_000 } else { 500 });
    let answered = Permille::ONE;
    let check = SummaryCheck { grounded, kept: 0, demanded: 0, answered, lost: Vec::new(), unfound: 0 };
    Judgement { check, faults, text: text.to_owned() }
}

pub(crate) const FLOOR: Floor<'static> = Floor { extract: &extract, verify: &verify };

/// Limits for providers that answer, which are long enough even on a busy machine.
pub(crate) fn patient() -> ModelLimits {
    let long = Millis(30_000);
    ModelLimits { connect: long, first_byte: long, idle: long, total: Millis(60_000), ..limits() }
}

/// Limits for providers that do not answer, which are short so that tests do not wait.
pub(crate) fn limits() -> ModelLimits {
    ModelLimits {
        connect: Millis(1_000),
        first_byte: Millis(400),
        idle: Millis(400),
        total: Millis(4_000),
        per_token: Millis(0),
        response: Bytes(1 << 20),
        retries: 0,
    }
}

pub(crate) fn model(
    provider: &ScriptedProvider,
    (dialect, model): (Dialect, &str),
    limits: ModelLimits,
) -> ModelSummariser {
    let base_url = provider.url(dialect);
    let endpoint = Endpoint { base_url, ..Endpoint::new(dialect, Some(ApiKey::new(KEY))) };
    let client = Client::new(&endpoint, limits, redactor()).unwrap();
    ModelSummariser::new(client, &Catalog::embedded(), model, Millis(1_795_000_000_000))
}

pub(crate) fn options(redactor: &Redactor) -> AttemptOptions<'_> {
    AttemptOptions {
        floor: FLOOR,
        before: Tokens(2_000),
        by_model: Tokens(2_400),
        overage: Permille(3_000),
        second: Permille(550),
        input: Optional::UNSET,
        margin: Permille(1_200),
        redactor,
        progress: &|_| true,
    }
}

/// Asks for a summary of the session, and checks the properties of every summary.
pub(crate) fn draft(summariser: &dyn Summarise) -> SummaryDraft {
    let (entries, template) = (session(), template());
    let redactor = redactor();
    let (material, brief) = (material(&entries, Vec::new()), brief(&template));
    let read = ReadMaterial::of(&material);
    let draft = write(&read, &brief, &Scale, Some(summariser), &options(&redactor));
    valid(&draft, &brief, &read);
    draft
}

pub(crate) fn valid(draft: &SummaryDraft, brief: &Brief<'_>, read: &ReadMaterial<'_>) {
    let tokens = Scale.text(&draft.text).tokens;
    assert!(tokens <= brief.most && !draft.text.trim().is_empty(), "{tokens}: {}", draft.text);
    assert_eq!(verify(&draft.text, read, brief, &Scale).faults, [""; 0], "{}", draft.text);
    assert!(!draft.text.contains(ORDERS));
    assert!(draft.check.is_some());
}
