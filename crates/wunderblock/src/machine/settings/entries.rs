//! Adds our entries to a document, and removes them.

use crate::machine::settings::document::Document;
use crate::machine::settings::edit::{Edit, Step};
use crate::machine::settings::error::SettingsProblem;
use crate::machine::settings::owner;
use crate::machine::settings::table::{HookRow, HookRows, ServerRow};
use serde_json::{Value, json};

/// What takes the places of `{program}` and `{command}`, and the agent whose handlers are ours.
pub(super) struct Entries<'a> {
    pub(super) agent: &'a str,
    pub(super) program: &'a str,
    pub(super) options: &'a str,
    pub(super) runs_commands: bool,
}

/// Object with the lists of handlers, one for each event, in every agent's settings.
const HOOKS: &str = "hooks";

impl Entries<'_> {
    /// Adds the handlers of all events. Removes those of other events, which an earlier version may have added.
    pub(super) fn add_hooks(&self, document: &mut Document, rows: &HookRows) -> Result<(), SettingsProblem> {
        self.remove_hooks(document, |event| !rows.on.iter().any(|row| self.handles(row, event)))?;
        for row in &rows.on {
            let matcher =
                row.matcher_running.as_ref().filter(|_| self.runs_commands).or(row.matcher.as_ref());
            let mut group = serde_json::Map::new();
            group.extend(matcher.map(|matcher| ("matcher".to_owned(), Value::from(&**matcher))));
            let mut handler = self.filled(&rows.handler);
            if let (Some(timeout), Some(field)) = (row.timeout, handler.get_mut("timeout")) {
                *field = timeout.into();
            }
            group.insert(HOOKS.to_owned(), json!([handler]));
            let group = Value::Object(group);
            for event in row.events.iter().filter(|event| self.handles(row, event)) {
                self.add_group(document, event, &group)?;
            }
        }
        Ok(())
    }

    fn handles(&self, row: &HookRow, event: &str) -> bool {
        (self.runs_commands || !row.only_running) && row.events.iter().any(|own| **own == *event)
    }

    /// Makes `group` the only one of an event that has our handler.
    ///
    /// A group that has only our handler is replaced, because some agents know a handler by its place in the list.
    fn add_group(&self, document: &mut Document, event: &str, group: &Value) -> Result<(), SettingsProblem> {
        let keys = [HOOKS, event];
        let groups = document.list(&keys)?;
        let ours: Vec<usize> = positions(groups, |group| self.count(group) > 0);
        if let [at] = *ours.as_slice()
            && let Some(present) = groups.get(at)
            && self.count(present) == handlers(present).len()
        {
            return if present == group { Ok(()) } else { document.edit(Edit::Replace(&keys, at, group)) };
        }
        self.remove_from(document, event)?;
        document.edit(Edit::Append(&keys, group))
    }

    /// Removes our handlers of the events that `wanted` selects, and the groups and lists that are empty without them.
    pub(super) fn remove_hooks(
        &self,
        document: &mut Document,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<(), SettingsProblem> {
        let events = document.get(&[HOOKS]).and_then(Value::as_object);
        let events: Vec<String> = events.into_iter().flat_map(|events| events.keys().cloned()).collect();
        for event in events.iter().filter(|event| wanted(event)) {
            if self.remove_from(document, event)? {
                document.prune(&[HOOKS, event])?;
            }
        }
        Ok(())
    }

    /// Returns whether the list of an event had one of our handlers.
    fn remove_from(&self, document: &mut Document, event: &str) -> Result<bool, SettingsProblem> {
        let keys = [HOOKS, event];
        let groups: Vec<Value> = document.get(&keys).and_then(Value::as_array).cloned().unwrap_or_default();
        let ours = positions(&groups, |group| self.count(group) > 0);
        for at in ours.iter().rev() {
            let Some(group) = groups.get(*at) else { continue };
            let group_steps = [Step::Key(HOOKS), Step::Key(event), Step::Index(*at)];
            let handlers = handlers(group);
            if self.count(group) == handlers.len() {
                document.edit(Edit::Remove(&group_steps))?;
                continue;
            }
            for handler in positions(handlers, |handler| owner::is_handler(handler, self.agent)).iter().rev()
            {
                let [hooks, event, index] = group_steps;
                document.edit(Edit::Remove(&[
                    hooks,
                    event,
                    index,
                    Step::Key(HOOKS),
                    Step::Index(*handler),
                ]))?;
            }
        }
        Ok(!ours.is_empty())
    }

    /// Returns the number of our handlers in a group.
    fn count(&self, group: &Value) -> usize {
        handlers(group).iter().filter(|handler| owner::is_handler(handler, self.agent)).count()
    }

    /// Adds the entry of the MCP server.
    pub(super) fn add_server(&self, document: &mut Document, row: &ServerRow) -> Result<(), SettingsProblem> {
        let keys: Vec<&str> = row.keys.iter().map(|key| &**key).collect();
        if document.get(&keys).is_some_and(|entry| !owner::is_server(entry)) {
            return Err(SettingsProblem::Taken { key: keys.join(".") });
        }
        document.set(&keys, &self.filled(&row.entry))
    }

    /// Removes the entry of the MCP server, if it is ours.
    pub(super) fn remove_server(
        &self,
        document: &mut Document,
        row: &ServerRow,
    ) -> Result<(), SettingsProblem> {
        let keys: Vec<&str> = row.keys.iter().map(|key| &**key).collect();
        if document.get(&keys).is_some_and(owner::is_server) { document.unset(&keys) } else { Ok(()) }
    }

    /// Returns a value with the program's path and command in its texts.
    pub(super) fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match text.as_str() {
                "{program}" => self.program.into(),
                "{command}" => {
                    let command =
                        format!("{} hook {} {}", owner::quoted(self.program), self.agent, self.options);
                    command.trim_end().into()
                }
                _ => value.clone(),
            },
            Value::Array(elements) => elements.iter().flat_map(|element| self.words(element)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(key, value)| (key.clone(), self.filled(value))).collect()
            }
            _ => value.clone(),
        }
    }
}

impl Entries<'_> {
    /// Returns an element of a command line. The server sees as far as the hook.
    fn words(&self, element: &Value) -> Vec<Value> {
        let reach = self.options.split_whitespace().filter(|word| word.starts_with("--reach"));
        let reach = reach.filter(|_| element == "mcp").map(Value::from);
        std::iter::once(self.filled(element)).chain(reach).collect()
    }
}

fn handlers(group: &Value) -> &[Value] {
    group.get(HOOKS).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn positions(values: &[Value], wanted: impl Fn(&Value) -> bool) -> Vec<usize> {
    values.iter().enumerate().filter(|(_, value)| wanted(value)).map(|(at, _)| at).collect()
}
