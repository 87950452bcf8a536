//! A conversation of an export, as lines: what is said of it, its messages, and where the person stopped.

use super::json::{object_or_string, quoted};
use super::member::Member;
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt;

/// The fields of an object, in order.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Fields<'a> {
    fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    fn text(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// Returns all fields except one as an object.
    fn without(&self, key: &str) -> String {
        let fields = self.0.iter().filter(|(name, _)| name != key);
        let fields: Vec<String> =
            fields.map(|(name, value)| format!("{}:{}", quoted(name), value.get())).collect();
        format!("{{{}}}", fields.join(","))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        json.deserialize_map(Collect)
    }
}

/// A message of a conversation.
struct Said<'a> {
    id: String,
    value: &'a RawValue,
    parent: Option<String>,
}

/// Names of the fields of a line: that of the conversation, and that of a message.
struct LineNames {
    head: &'static str,
    message: &'static str,
}

/// Returns the members of a conversation, or `None` if the text is not one.
pub(super) fn members(text: &str) -> Option<Vec<Member>> {
    let fields: Fields<'_> = serde_json::from_str(text).ok()?;
    let (names, said, key) = match fields.get("mapping") {
        Some(mapping) => (LineNames { head: "chatgpt", message: "node" }, nodes(mapping.get())?, "mapping"),
        None => {
            let said = messages(fields.get("chat_messages")?.get(), &fields.text("uuid")?)?;
            (LineNames { head: "claude_ai", message: "chat_message" }, said, "chat_messages")
        }
    };
    let head = object_or_string(fields.without(key).as_bytes());
    let mut members = vec![Member { id: None, line: format!("{{\"{}\":{head}}}", names.head).into_bytes() }];
    let stop = fields.text("current_node").or_else(|| fields.text("current_leaf_message_uuid"));
    let last = stop.clone().or_else(|| said.last().map(|last| last.id.clone()));
    for at in in_order(&said, last.as_deref().unwrap_or_default()) {
        let Some(Said { id, value, .. }) = said.get(at) else { continue };
        let value = object_or_string(value.get().as_bytes());
        let line = format!("{{\"id\":{},\"{}\":{value}}}", quoted(id), names.message);
        members.push(Member { id: Some(id.clone()), line: line.into_bytes() });
    }
    if let Some(stop) = stop {
        // The time distinguishes the line from an earlier one with the same message.
        let time = fields.get("update_time").or_else(|| fields.get("updated_at"));
        let time = time.map_or("null", |time| time.get());
        let line = format!("{{\"current\":{},\"time\":{time}}}", quoted(&stop));
        members.push(Member { id: None, line: line.into_bytes() });
    }
    Some(members)
}

fn nodes(mapping: &str) -> Option<Vec<Said<'_>>> {
    let nodes: Fields<'_> = serde_json::from_str(mapping).ok()?;
    let nodes = nodes.0.into_iter().map(|(id, value)| {
        let parent = serde_json::from_str(value.get()).ok().and_then(|node: Fields<'_>| node.text("parent"));
        Said { id, value, parent }
    });
    Some(nodes.collect())
}

/// Returns the messages of claude.ai. A message that names no parent follows the one before it.
fn messages<'a>(list: &'a str, conversation: &str) -> Option<Vec<Said<'a>>> {
    let list: Vec<&'a RawValue> = serde_json::from_str(list).ok()?;
    let mut said: Vec<Said<'a>> = Vec::with_capacity(list.len());
    for (number, value) in list.into_iter().enumerate() {
        let fields = serde_json::from_str(value.get()).unwrap_or(Fields(Vec::new()));
        let id = fields.text("uuid").unwrap_or_else(|| format!("{conversation}/{number}"));
        let parent = match fields.get("parent_message_uuid") {
            Some(_) => fields.text("parent_message_uuid"),
            None => said.last().map(|last| last.id.clone()),
        };
        said.push(Said { id, value, parent });
    }
    Some(said)
}

/// Returns the messages in an order in which each follows its parent and the branch of `last` is the last one. Messages
/// that are their own ancestors come first.
fn in_order(said: &[Said<'_>], last: &str) -> Vec<usize> {
    let places: HashMap<&str, usize> = said.iter().enumerate().map(|(at, one)| (&*one.id, at)).collect();
    let parent_of = |at: usize| said.get(at).and_then(|one| places.get(one.parent.as_deref()?)).copied();
    let mut is_current = vec![false; said.len()];
    let mut step = places.get(last).copied();
    while let Some(here) = step.and_then(|at| is_current.get_mut(at)).filter(|here| !**here) {
        *here = true;
        step = step.and_then(parent_of);
    }
    let mut children: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    for at in 0..said.len() {
        children.entry(parent_of(at)).or_default().push(at);
    }
    for list in children.values_mut() {
        // The last one is taken from the stack last.
        list.sort_by_key(|at| (!is_current.get(*at).copied().unwrap_or_default(), std::cmp::Reverse(*at)));
    }
    let mut is_read = vec![false; said.len()];
    let mut walk = |mut stack: Vec<usize>| {
        let mut order = Vec::new();
        while let Some(at) = stack.pop() {
            if let Some(is_read) = is_read.get_mut(at).filter(|is_read| !**is_read) {
                *is_read = true;
                order.push(at);
                stack.extend(children.get(&Some(at)).into_iter().flatten());
            }
        }
        order
    };
    let tree = walk(children.get(&None).cloned().unwrap_or_default());
    let mut order: Vec<usize> = (0..said.len()).flat_map(|at| walk(vec![at])).collect();
    order.extend(tree);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let lines = members(text).unwrap().into_iter();
        lines.map(|member| String::from_utf8(member.line).unwrap()).collect()
    }

    #[test]
    fn the_branch_at_which_the_person_stopped_is_the_last_one() {
        let node = |id: &str, parent: &str| format!(r#""{id}":{{"parent":{parent}}}"#);
        let nodes = [
            node("c", "\"b\""),
            node("r", "null"),
            node("d", "\"b\""),
            node("b", "\"r\""),
            node("e", "\"r\""),
        ];
        for (current, wanted) in [("c", "rebdc"), ("d", "rebcd"), ("e", "rbcde"), ("nowhere", "rbcde")] {
            let text =
                format!(r#"{{"title":"T","mapping":{{{}}},"current_node":"{current}"}}"#, nodes.join(","));
            let lines = told(&text);
            assert_eq!(lines[0], format!(r#"{{"chatgpt":{{"title":"T","current_node":"{current}"}}}}"#));
            let ids: String = members(&text).unwrap().into_iter().filter_map(|member| member.id).collect();
            assert_eq!(ids, wanted);
            assert_eq!(lines[6], format!(r#"{{"current":"{current}","time":null}}"#));
        }
    }

    #[test]
    fn circles_and_lost_parents_lose_nothing() {
        let text = r#"{"mapping":{"a":{"parent":"b"},"b":{"parent":"a"},"c":{"parent":"gone"},"d":7,"e":{"parent":"e"}},"current_node":"a"}"#;
        let lines = told(text);
        assert_eq!(lines.len(), 7);
        assert_eq!(lines[5], r#"{"id":"d","node":{"unreadable":"7"}}"#);
    }

    #[test]
    fn messages_without_parents_are_a_list() {
        let text = r#"{"uuid":"u","chat_messages":[{"uuid":"1"},{"text":"x"},{"uuid":"3","parent_message_uuid":"1"}]}"#;
        let ids: Vec<_> = members(text).unwrap().into_iter().filter_map(|member| member.id).collect();
        assert_eq!(ids, ["1", "u/1", "3"]);
    }
}
