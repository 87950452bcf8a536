//! Lines that tell an agent which delegates it has, and the changes of these lines.
//!
//! A listing that was shown stays as it is, because a change would end the cached beginning of the requests. What has
//! changed since is said in a text of its own.

use super::definition::AgentDefinition;
use std::collections::BTreeMap;

/// Lines of a listing by name.
pub type Lines = BTreeMap<Box<str>, Box<str>>;

/// Returns the line of a delegate: `- TYPE: WHEN TO USE IT (Tools: …)`.
#[must_use]
pub fn line(definition: &AgentDefinition) -> String {
    let description = definition.description.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("- {}: {description} (Tools: {})", definition.name, definition.tools.describe())
}

/// Returns the lines of delegates. Hidden delegates are left out.
#[must_use]
pub fn lines<'a>(definitions: impl IntoIterator<Item = &'a AgentDefinition>) -> Lines {
    let shown = definitions.into_iter().filter(|definition| !definition.hidden);
    shown.map(|definition| (definition.name.clone(), line(definition).into())).collect()
}

/// Returns the text of a listing, in the order of names.
#[must_use]
pub fn text(lines: &Lines) -> String {
    lines.values().map(|line| format!("{line}\n")).collect()
}

/// Changes between two listings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListingDelta {
    /// Lines of delegates that are new.
    pub added: Vec<Box<str>>,
    /// Lines of delegates that changed.
    pub changed: Vec<Box<str>>,
    /// Names of delegates that are gone.
    pub removed: Vec<Box<str>>,
}

impl ListingDelta {
    /// Returns the changes that lead from one listing to another.
    #[must_use]
    pub fn between(old: &Lines, new: &Lines) -> Self {
        let mut delta = Self::default();
        for (name, line) in new {
            match old.get(name) {
                None => delta.added.push(line.clone()),
                Some(before) if before != line => delta.changed.push(line.clone()),
                Some(_) => {}
            }
        }
        delta.removed = old.keys().filter(|name| !new.contains_key(*name)).cloned().collect();
        delta
    }

    /// Returns whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }

    /// Returns the changes as a text; empty if nothing changed.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (title, lines) in [("New agent types:", &self.added), ("Changed agent types:", &self.changed)] {
            if !lines.is_empty() {
                text.push_str(title);
                text.extend(lines.iter().flat_map(|line| ["\n", line]));
                text.push('\n');
            }
        }
        if !self.removed.is_empty() {
            text.push_str(&format!("No longer available: {}\n", self.removed.join(", ")));
        }
        text
    }
}
