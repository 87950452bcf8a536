//! Generators of valid OpenAI Responses and Gemini requests, as clients write them.

use super::providers::{json, more, object, quote, text, words};
use proptest::collection::vec;
use proptest::prelude::*;

fn filled(known: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (known, more()).prop_map(|(known, more)| format!("{{{known}{more}}}"))
}

fn joined(pieces: &[String]) -> String {
    format!("[{}]", pieces.join(","))
}

fn input_part() -> impl Strategy<Value = String> {
    filled(prop_oneof![
        text().prop_map(|text| format!(r#""type":"input_text","text":{}"#, quote(&text))),
        "[a-z]{1,5}".prop_map(|path| {
            format!(r#""type":"input_image","image_url":"https://x.example/{path}","detail":"auto""#)
        }),
        Just(r#""type":"input_image","image_url":"data:image/png;base64,aGk=""#.to_owned()),
        "[a-z]{1,5}".prop_map(|id| format!(r#""type":"input_file","file_id":"file-{id}""#)),
    ])
}

fn content() -> impl Strategy<Value = String> {
    prop_oneof![
        text().prop_map(|text| quote(&text)),
        vec(input_part(), 0..4).prop_map(|parts| joined(&parts))
    ]
}

fn heard() -> impl Strategy<Value = String> {
    let role = prop_oneof![3 => Just("user"), 1 => Just("developer"), 1 => Just("system")];
    (role, any::<bool>(), content(), more()).prop_map(|(role, easy, content, more)| {
        let kind = if easy { "" } else { r#""type":"message","# };
        format!(r#"{{{kind}"role":"{role}","content":{content}{more}}}"#)
    })
}

fn spoken() -> impl Strategy<Value = String> {
    let piece = filled(prop_oneof![
        3 => text().prop_map(|text| format!(r#""type":"output_text","text":{},"annotations":[]"#, quote(&text))),
        1 => text().prop_map(|text| format!(r#""type":"refusal","refusal":{}"#, quote(&text))),
    ]);
    let content = prop_oneof![
        vec(piece, 1..4).prop_map(|pieces| joined(&pieces)),
        words().prop_map(|text| quote(&text)),
    ];
    (content, any::<bool>(), more()).prop_map(|(content, phase, more)| {
        let phase = if phase { r#","phase":"final_answer","status":"completed""# } else { "" };
        format!(r#"{{"type":"message","role":"assistant","content":{content}{phase}{more}}}"#)
    })
}

fn reasoning() -> impl Strategy<Value = String> {
    let sealed = prop_oneof![Just(""), Just(r#","encrypted_content":"c2Vh""#)];
    (vec(text(), 0..4), sealed, any::<bool>(), more()).prop_map(|(texts, sealed, shown, more)| {
        let kind = if shown { "reasoning_text" } else { "summary_text" };
        let pieces: Vec<String> =
            texts.iter().map(|text| format!(r#"{{"type":"{kind}","text":{}}}"#, quote(text))).collect();
        let pieces = joined(&pieces);
        let texts = if shown {
            format!(r#""summary":[],"content":{pieces}"#)
        } else {
            format!(r#""summary":{pieces}"#)
        };
        format!(r#"{{"type":"reasoning","id":"rs_1",{texts}{sealed}{more}}}"#)
    })
}

/// Generates one round: user messages, then the model's reasoning, messages and calls, and then outputs.
fn items() -> impl Strategy<Value = Vec<String>> {
    let call = (any::<bool>(), "[a-zA-Z0-9_-]{1,9}", text(), content(), more());
    let parts = (vec(heard(), 0..3), vec(reasoning(), 0..3), vec(spoken(), 1..3), vec(call, 0..3));
    (parts, 0_u32..1_000_000).prop_map(|((heard, thought, spoken, calls), number)| {
        let mut items = heard;
        items.extend(thought);
        items.extend(spoken);
        let mut outputs = Vec::new();
        for (at, (custom, name, input, output, more)) in calls.into_iter().enumerate() {
            let (kind, argument) =
                if custom { ("custom_tool_call", "input") } else { ("function_call", "arguments") };
            let (id, input) = (format!("call_{number}_{at}"), quote(&input));
            items.push(format!(
                r#"{{"type":"{kind}","id":"fc_1","call_id":"{id}","name":"{name}","{argument}":{input}{more}}}"#
            ));
            outputs.insert(0, format!(r#"{{"type":"{kind}_output","call_id":"{id}","output":{output}}}"#));
        }
        items.extend(outputs);
        items
    })
}

/// Generates a valid OpenAI Responses request.
pub(crate) fn responses() -> impl Strategy<Value = String> {
    let instructions = prop_oneof![
        Just(String::new()),
        text().prop_map(|text| format!(r#""instructions":{},"#, quote(&text)))
    ];
    (vec(items(), 1..3), instructions, more()).prop_map(|(rounds, instructions, more)| {
        let mut items: Vec<String> = rounds.into_iter().flatten().collect();
        items.push(
            r#"{"type":"web_search_call","id":"ws_1","status":"completed","action":{"q":1.50}}"#.to_owned(),
        );
        format!(r#"{{"model":"m",{instructions}"store":false,"input":{}{more}}}"#, joined(&items))
    })
}

fn gemini_part() -> impl Strategy<Value = String> {
    filled(prop_oneof![
        3 => words().prop_map(|text| format!(r#""text":{}"#, quote(&text))),
        1 => Just(r#""inlineData":{"mimeType":"image/png","data":"aGk="}"#.to_owned()),
        1 => "[a-z]{1,5}".prop_map(|path| {
            format!(r#""fileData":{{"mimeType":"video/mp4","fileUri":"https://x.example/{path}"}},"videoMetadata":{{"fps":1.0}}"#)
        }),
    ])
}

fn gemini_spoken() -> impl Strategy<Value = String> {
    prop_oneof![
        gemini_part(),
        text().prop_map(|text| format!(
            r#"{{"text":{},"thought":true,"thoughtSignature":"c2ln"}}"#,
            quote(&text)
        )),
        Just(r#"{"text":"","thoughtSignature":"c2ln"}"#.to_owned()),
        Just(r#"{"executableCode":{"language":"PYTHON","code":"1"}}"#.to_owned()),
    ]
}

/// Generates a function response.
fn response() -> impl Strategy<Value = String> {
    prop_oneof![
        text().prop_map(|text| format!(r#"{{"output":{}}}"#, quote(&text))),
        words().prop_map(|text| format!(r#"{{"error":{}}}"#, quote(&text))),
        object(),
    ]
}

/// Generates a valid Gemini request.
pub(crate) fn gemini() -> impl Strategy<Value = String> {
    let call = ("[a-z_]{1,6}", object(), response(), any::<bool>(), more());
    let round = (vec(gemini_part(), 1..3), vec(gemini_spoken(), 1..3), vec(call, 0..3));
    (vec(round, 1..4), json(1), more()).prop_map(|(rounds, topk, more)| {
        let mut contents = Vec::new();
        let mut results: Vec<String> = Vec::new();
        for (turn, (said, spoken, calls)) in rounds.into_iter().enumerate() {
            results.extend(said);
            contents.push(format!(r#"{{"role":"user","parts":{}}}"#, joined(&std::mem::take(&mut results))));
            let mut parts = spoken;
            for (at, (name, args, response, nameless, more)) in calls.into_iter().enumerate() {
                let id = if nameless { String::new() } else { format!(r#""id":"fc-{turn}-{at}","#) };
                parts.push(format!(
                    r#"{{"functionCall":{{{id}"name":"{name}","args":{args}}},"thoughtSignature":"c2ln"{more}}}"#
                ));
                results.push(format!(r#"{{"functionResponse":{{{id}"name":"{name}","response":{response}}}}}"#));
            }
            contents.push(format!(r#"{{"role":"model","parts":{}}}"#, joined(&parts)));
        }
        results.push(r#"{"text":"last"}"#.to_owned());
        contents.push(format!(r#"{{"role":"user","parts":{}}}"#, joined(&results)));
        format!(
            r#"{{"contents":{},"generationConfig":{{"maxOutputTokens":7,"topK":{topk}}}{more}}}"#,
            joined(&contents)
        )
    })
}
