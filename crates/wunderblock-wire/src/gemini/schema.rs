//! Schemas in OpenAPI form, whose type names are in capitals in the API's own `parameters` field.

use crate::json::{ObjectWriter, RawFields, array, list, quote, text};
use serde_json::value::RawValue;

const TYPES: [&str; 7] = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];
/// Maximum nesting depth at which type names are changed. Schemas nested more deeply stay unchanged.
const DEPTH: usize = 64;

/// Returns the schema with its types in lower case, as other providers write them, or `None` if nothing changes.
pub(super) fn lowered(raw: &RawValue) -> Option<String> {
    lowered_to(raw, DEPTH)
}

fn lowered_to(raw: &RawValue, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    if let Some(items) = list(raw) {
        let written: Vec<Option<String>> = items.iter().map(|item| lowered_to(item, depth)).collect();
        let any = written.iter().any(Option::is_some);
        let items = items.iter().zip(written).map(|(raw, new)| new.unwrap_or_else(|| raw.get().to_owned()));
        return any.then(|| array(&items.collect::<Vec<_>>()));
    }
    let mut object = ObjectWriter::default();
    let mut changed = false;
    for (name, value) in RawFields::of(raw)?.rest() {
        let kind = text(value).filter(|kind| name == "type" && TYPES.contains(&kind.as_str()));
        let new = match kind {
            Some(kind) => Some(quote(&kind.to_lowercase())),
            None => lowered_to(value, depth),
        };
        changed |= new.is_some();
        object = object.raw(&name, new.as_deref().unwrap_or(value.get()));
    }
    changed.then(|| object.finish())
}
