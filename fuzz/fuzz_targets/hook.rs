//! Treats arbitrary bytes as the input of each agent's hook: an object is a call, and an answer to it is an object.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;
use wunderblock_wire::hook::{HookAgent, HookAnswer, HookCall};

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let is_object =
        |text: &str| serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok();
    let answer = HookAnswer { context: Some("text".to_owned()), input: Some(text.clone().into_owned()) };
    for agent in HookAgent::ALL {
        let Ok(call) = HookCall::decode(agent, &text) else {
            assert!(!is_object(&text));
            continue;
        };
        let _ = call.delegation();
        if let Some(answer) = call.answer(&answer) {
            // An input may be nested deeper than a value can be, so the answer is only scanned.
            assert!(serde_json::from_str::<&RawValue>(&answer).is_ok_and(|raw| raw.get().starts_with('{')));
        }
    }
});
