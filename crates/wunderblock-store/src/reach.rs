//! What a door may see of a tenant.

use std::fmt;
use wunderblock_core::id::Scope;

/// What a door may see of a tenant: the streams whose scope keeps every limit.
///
/// Limits are compared as a whole: a user is never taken for another whose name begins in the same way. There is no
/// default, so every door states its reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach(Vec<ScopeLimit>);

/// Value that a part of a scope must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScopeLimit {
    /// The user; `None` for streams without one.
    User(Option<String>),
    /// The project; `None` for streams without one.
    Project(Option<String>),
    /// The agent; `None` for streams without one.
    Agent(Option<String>),
}

impl Reach {
    /// Returns the reach of everything that a tenant holds.
    #[must_use]
    pub const fn tenant() -> Self {
        Self(Vec::new())
    }

    /// Returns what is in this reach and keeps a limit.
    #[must_use]
    pub fn and(mut self, limit: ScopeLimit) -> Self {
        if !self.0.contains(&limit) {
            self.0.push(limit);
        }
        self
    }

    /// Returns what is in both reaches. Nothing is, if they name two projects or two users.
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        other.0.iter().cloned().fold(self.clone(), Self::and)
    }

    /// Returns the limits.
    #[must_use]
    pub fn limits(&self) -> &[ScopeLimit] {
        &self.0
    }

    /// Returns whether the reach is the whole tenant.
    #[must_use]
    pub const fn is_tenant(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a stream with this scope is in reach.
    #[must_use]
    pub fn admits(&self, scope: &Scope) -> bool {
        self.0.iter().all(|limit| match limit {
            ScopeLimit::User(user) => *user == scope.user,
            ScopeLimit::Project(project) => *project == scope.project,
            ScopeLimit::Agent(agent) => *agent == scope.agent,
        })
    }
}

impl fmt::Display for Reach {
    /// Writes the reach as the object of a sentence: `the project x and the user y`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_tenant() {
            return f.write_str("the whole ledger");
        }
        let limits = self.0.iter().map(|limit| match limit {
            ScopeLimit::User(user) => ("user", user),
            ScopeLimit::Project(project) => ("project", project),
            ScopeLimit::Agent(agent) => ("agent", agent),
        });
        let words = limits.map(|(part, value)| match value {
            Some(value) => format!("the {part} {value}"),
            None => format!("no {part}"),
        });
        f.write_str(&words.collect::<Vec<_>>().join(" and of "))
    }
}
