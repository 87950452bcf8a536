//! Generators and comparisons for the tests of the dialects.

pub(crate) mod newer;
pub(crate) mod providers;
pub(crate) mod requests;

use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Returns the canonical form of a document: fields sorted, strings unescaped, numbers as written.
pub(crate) fn canonical(json: &str) -> String {
    match json.trim().as_bytes().first() {
        Some(b'{') => {
            let fields: BTreeMap<String, &RawValue> = serde_json::from_str(json).expect(json);
            let fields: Vec<String> =
                fields.iter().map(|(name, raw)| format!("{name:?}: {}", canonical(raw.get()))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(json).expect(json);
            let items: Vec<String> = items.iter().map(|raw| canonical(raw.get())).collect();
            format!("[{}]", items.join(", "))
        }
        Some(b'"') => format!("{:?}", serde_json::from_str::<String>(json).expect(json)),
        _ => json.trim().to_owned(),
    }
}
