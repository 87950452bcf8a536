//! Generators of requests in neutral form.

use super::providers::{object, text, words};
use proptest::collection::vec;
use proptest::prelude::*;
use wunderblock_core::id::CallId;
use wunderblock_core::message::{Dialect, MediaForm, Message, Part, Role};
use wunderblock_core::request::{Request, Tool};
use wunderblock_core::units::Tokens;

/// How unusual a generated request may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Oddity {
    /// Only content that all providers carry unchanged.
    Plain,
    /// Every kind of part, ids that no provider accepts, and messages in any order that is still one conversation.
    Odd,
}

fn png() -> Part {
    Part::Media { mime: "image/png".into(), form: MediaForm::Base64, body: "aGk=".into(), extra: None }
}

fn odd_part() -> impl Strategy<Value = Part> {
    let mime = prop_oneof![
        Just("image/png"),
        Just("image/svg+xml"),
        Just("application/pdf"),
        Just("audio/wav"),
        Just("audio/mpeg"),
        Just("video/mp4"),
        Just("")
    ];
    let form = prop_oneof![Just(MediaForm::Base64), Just(MediaForm::Url)];
    let media = (mime, form).prop_map(|(mime, form)| {
        let body = if form == MediaForm::Url { "https://x.example/a" } else { "aGk=" };
        Part::Media { mime: mime.into(), form, body: body.into(), extra: None }
    });
    prop_oneof![
        3 => text().prop_map(Part::text),
        1 => words().prop_map(|text| Part::Text {
            text: text.into(),
            extra: Some(r#"{"wb:from":"gemini","thoughtSignature":"x"}"#.into()),
        }),
        2 => media,
        1 => Just(Part::Opaque { dialect: Dialect::Neutral, raw: "{}".into() }),
    ]
}

fn thinking() -> impl Strategy<Value = Part> {
    (text(), proptest::option::of("[a-z]{0,5}")).prop_map(|(text, signature)| Part::Thinking {
        text: text.into(),
        signature: signature.map(Into::into),
        extra: None,
    })
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9_-]{1,30}",
        Just(String::new()),
        Just("call_0".to_owned()),
        "functions\\.[a-z]{1,4}:[0-9]",
        "\\PC{1,70}",
        "wb_[0-9a-f]{32}",
    ]
}

fn input(oddity: Oddity) -> BoxedStrategy<String> {
    if oddity == Oddity::Plain { object() } else { prop_oneof![3 => object(), 1 => text()].boxed() }
}

fn call(oddity: Oddity) -> impl Strategy<Value = (String, String, String)> {
    let name = if oddity == Oddity::Plain {
        "[a-zA-Z_][a-zA-Z0-9_-]{0,8}".boxed()
    } else {
        "(\\PC{0,70}|[a-z]{1,5})".boxed()
    };
    (id(), name, input(oddity))
}

/// Generates one round: user, assistant, tools.
fn round(oddity: Oddity) -> impl Strategy<Value = Vec<Message>> {
    let said =
        if oddity == Oddity::Plain { words().prop_map(Part::text).boxed() } else { odd_part().boxed() };
    let spoken = if oddity == Oddity::Plain {
        words().prop_map(Part::text).boxed()
    } else {
        prop_oneof![odd_part(), thinking()].boxed()
    };
    let result = if oddity == Oddity::Plain {
        prop_oneof![words().prop_map(|text| vec![Part::text(text)]), Just(Vec::new())].boxed()
    } else {
        vec(odd_part(), 0..3).boxed()
    };
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (vec(said, 1..3), vec(spoken, 1..3), vec((call(oddity), result), 0..4), flags).prop_map(
        move |(said, mut spoken, calls, (split, late, aside))| {
            let mut results = Vec::new();
            for ((id, name, input), content) in calls {
                let call = CallId::from(id);
                let name = name.into();
                let failed = oddity == Oddity::Odd && late;
                spoken.push(Part::ToolCall {
                    call: call.clone(),
                    name,
                    input: input.into(),
                    gist: None,
                    extra: None,
                });
                results.push(Part::ToolResult { call, content, failed, extra: None });
            }
            let mut messages = vec![Message::new(Role::User, said)];
            if oddity == Oddity::Plain {
                messages.push(Message::new(Role::Assistant, spoken));
                messages.extend((!results.is_empty()).then(|| Message::new(Role::Tool, results)));
                return messages;
            }
            // One reply in several messages, results in several messages, and another message before the last result.
            if split {
                messages.extend(spoken.into_iter().map(|part| Message::new(Role::Assistant, vec![part])));
            } else {
                messages.push(Message::new(Role::Assistant, spoken));
            }
            let mut tools: Vec<Message> =
                results.into_iter().map(|part| Message::new(Role::Tool, vec![part])).collect();
            let between = Message::text(if aside { Role::System } else { Role::User }, "meanwhile");
            tools.insert(if late { 0 } else { tools.len().min(1) }, between);
            messages.extend(tools);
            messages
        },
    )
}

/// Generates a conversation that ends with the user, and in which every call is answered before the assistant speaks
/// again.
pub(crate) fn well_formed(oddity: Oddity) -> impl Strategy<Value = Request> {
    let tool = ("[a-z_]{1,8}", prop_oneof![Just(""), Just("does it")]).prop_map(|(name, description)| Tool {
        name: name.into(),
        description: description.into(),
        schema: r#"{"type":"object","properties":{"n":{"maximum":1e400}}}"#.into(),
        extra: None,
    });
    let system = vec(words().prop_map(Part::text), 0..3);
    (vec(round(oddity), 1..4), system, vec(tool, 0..3)).prop_map(|(rounds, system, mut tools)| {
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        tools.dedup_by(|a, b| a.name == b.name);
        let mut messages: Vec<Message> = rounds.into_iter().flatten().collect();
        messages.push(Message::new(Role::User, vec![Part::text("go on"), png()]));
        Request {
            model: Some("m".into()),
            max_output: Some(Tokens(100)),
            system,
            tools,
            messages,
            cache: None,
            extra: None,
        }
    })
}
