//! Which delegates an agent may use now: required servers, then denied types, then allowed types, then tools.

use super::definition::AgentDefinition;
use super::tools::matches_wildcards;
use std::fmt;

/// What there is and what is permitted where a delegate would run. Unknown conditions withhold nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conditions<'a> {
    /// Names of the MCP servers that are connected; `None` if they are unknown. A required name must be part of the
    /// name of a server, whatever the case.
    pub servers: Option<&'a [Box<str>]>,
    /// Denied types, in which `*` matches any characters.
    pub denied: &'a [Box<str>],
    /// Allowed types, in which `*` matches any characters; `None` allows all types.
    pub allowed: Option<&'a [Box<str>]>,
    /// Names of the tools that the delegate's parent has; `None` if they are unknown.
    pub tools: Option<&'a [&'a str]>,
}

/// Reason why a delegate is not offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// The definition disables the type.
    Disabled,
    /// Required MCP servers are not connected.
    MissingServers(Vec<Box<str>>),
    /// The type is denied by this pattern.
    Denied(Box<str>),
    /// The type is not among the allowed types.
    NotAllowed,
    /// No tool of the parent is left for the delegate.
    NoTools,
}

impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("disabled by its definition"),
            Self::MissingServers(servers) => write!(f, "MCP server not connected: {}", servers.join(", ")),
            Self::Denied(pattern) => write!(f, "denied by `{pattern}`"),
            Self::NotAllowed => f.write_str("not among the allowed types"),
            Self::NoTools => f.write_str("no tool is left by its rules"),
        }
    }
}

/// Checks whether a delegate may be used. A denied type stays denied even if it is allowed, too.
///
/// # Errors
/// Returns the first reason why it may not be used.
pub fn check(definition: &AgentDefinition, conditions: &Conditions<'_>) -> Result<(), Withheld> {
    if definition.disabled {
        return Err(Withheld::Disabled);
    }
    if let Some(rule) = &definition.denied {
        return Err(Withheld::Denied(rule.clone()));
    }
    if let Some(servers) = conditions.servers {
        let is_there = |wanted: &str| {
            let wanted = wanted.to_lowercase();
            servers.iter().any(|server| server.to_lowercase().contains(&wanted))
        };
        let missing: Vec<Box<str>> =
            definition.requires.iter().filter(|wanted| !is_there(wanted)).cloned().collect();
        if !missing.is_empty() {
            return Err(Withheld::MissingServers(missing));
        }
    }
    let covers = |pattern: &str| matches_wildcards(pattern, &definition.name);
    if let Some(pattern) = conditions.denied.iter().find(|pattern| covers(pattern)) {
        return Err(Withheld::Denied(pattern.clone()));
    }
    if conditions.allowed.is_some_and(|allowed| !allowed.iter().any(|pattern| covers(pattern))) {
        return Err(Withheld::NotAllowed);
    }
    let none_left = |tools: &[&str]| definition.tools.grant(tools).tools.is_empty();
    if definition.tools.deny_all() || conditions.tools.is_some_and(none_left) {
        return Err(Withheld::NoTools);
    }
    Ok(())
}
