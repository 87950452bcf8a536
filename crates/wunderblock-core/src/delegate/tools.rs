//! Rules for the tools of a delegate: what is denied goes first, then only what is allowed stays.

use std::fmt;

/// Pattern of tools: a name in which `*` matches any characters, and optionally an argument in parentheses, as in
/// `Bash(git:*)`. A pattern of an MCP server, `mcp__SERVER`, matches all tools of the server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolPattern {
    /// Name, possibly with `*`.
    pub name: Box<str>,
    /// Argument as written; `None` if the pattern covers all uses of the tool.
    pub argument: Option<Box<str>>,
}

impl ToolPattern {
    /// Reads a pattern.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let split = text.strip_suffix(')').and_then(|open| open.split_once('('));
        match split {
            Some((name, argument)) if !name.is_empty() => {
                let argument = argument.trim();
                let all = argument.is_empty() || argument == "*";
                Self { name: name.trim().into(), argument: (!all).then(|| argument.into()) }
            }
            _ => Self { name: text.into(), argument: None },
        }
    }

    /// Returns whether the pattern names a tool, whatever its argument is.
    #[must_use]
    pub fn names(&self, tool: &str) -> bool {
        let server = self.name.strip_prefix("mcp__").is_some_and(|server| !server.contains("__"));
        let of_server = || tool.strip_prefix(&*self.name).is_some_and(|rest| rest.starts_with("__"));
        matches_wildcards(&self.name, tool) || server && !self.name.contains('*') && of_server()
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.argument {
            Some(argument) => write!(f, "{}({argument})", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// Returns whether a text matches a pattern in which `*` matches any characters.
#[must_use]
pub fn matches_wildcards(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(found) = rest.find(part) else { return false };
        rest = rest.get(found + part.len()..).unwrap_or_default();
    }
    true
}

/// Rules for the tools of a delegate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolRules {
    /// Tools that the delegate may use; `None` for all tools of its parent.
    pub allow: Option<Vec<ToolPattern>>,
    /// Tools that the delegate may not use, even if they are allowed.
    pub deny: Vec<ToolPattern>,
}

/// A tool that a delegate gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedTool {
    /// Name of the tool.
    pub name: Box<str>,
    /// Arguments to which its use is limited, as written; empty for all uses.
    pub only: Vec<Box<str>>,
}

/// Tools that a delegate gets of those that there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolGrant {
    /// Tools in the order in which they were given.
    pub tools: Vec<GrantedTool>,
    /// Allowed or denied patterns that match no tool.
    pub unmatched: Vec<ToolPattern>,
}

impl ToolRules {
    /// Returns the tools that a delegate gets. A denied tool is never granted, whatever the argument of the denying
    /// pattern is: part of a tool cannot be taken away.
    #[must_use]
    pub fn grant(&self, available: &[&str]) -> ToolGrant {
        let mut grant = ToolGrant::default();
        for tool in available {
            let naming = |rules: &'_ [ToolPattern]| -> Vec<ToolPattern> {
                rules.iter().filter(|rule| rule.names(tool)).cloned().collect()
            };
            let allowed = self.allow.as_deref().map(naming);
            if self.deny.iter().any(|rule| rule.names(tool)) || allowed.as_ref().is_some_and(Vec::is_empty) {
                continue;
            }
            let allowed = allowed.unwrap_or_default();
            let whole = allowed.iter().any(|rule| rule.argument.is_none());
            let only = allowed.into_iter().filter(|_| !whole).filter_map(|rule| rule.argument).collect();
            grant.tools.push(GrantedTool { name: (*tool).into(), only });
        }
        let unmatched = |rule: &&ToolPattern| !available.iter().any(|tool| rule.names(tool));
        let rules = self.allow.iter().flatten().chain(&self.deny);
        grant.unmatched = rules.filter(unmatched).cloned().collect();
        grant
    }

    /// Returns whether the rules leave no tool, whatever tools there are.
    #[must_use]
    pub fn deny_all(&self) -> bool {
        let all = |rule: &ToolPattern| &*rule.name == "*";
        self.deny.iter().any(all) || self.allow.as_ref().is_some_and(Vec::is_empty)
    }

    /// Returns the rules in words, for the line that lists a delegate.
    #[must_use]
    pub fn describe(&self) -> String {
        let join =
            |rules: &[ToolPattern]| rules.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let all = self.allow.as_ref().is_none_or(|allow| allow.iter().any(|rule| &*rule.name == "*"));
        let except =
            if self.deny.is_empty() { String::new() } else { format!(" except {}", join(&self.deny)) };
        match &self.allow {
            Some(allow) if !all && allow.is_empty() => "none".to_owned(),
            Some(allow) if !all => format!("{}{except}", join(allow)),
            _ => format!("all tools{except}"),
        }
    }
}
