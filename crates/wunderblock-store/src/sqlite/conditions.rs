//! Conditions of statements: filters of streams, and what is in reach.

use super::sql::json;
use crate::row::StreamFilter;
use crate::{BYTES, Reach, ScopeLimit, StoreError};
use rusqlite::types::ToSql;

/// Conditions of a filter on a row `s` of streams, without its kind and time. Only the conditions that are set are
/// written, so that an index can answer them.
pub(in crate::sqlite) struct Conditions {
    pub(in crate::sqlite) sql: String,
    pub(in crate::sqlite) values: Vec<Box<dyn ToSql>>,
}

impl Conditions {
    /// Returns the conditions, whose parameters have numbers from `first` on.
    pub(in crate::sqlite) fn of(filter: &StreamFilter, first: usize) -> Result<Self, StoreError> {
        let mut all = Self { sql: String::new(), values: Vec::new() };
        let mut add = |is_set: bool, sql: &str, value: Box<dyn ToSql>| {
            if is_set {
                let number = format!("?{}", first + all.values.len());
                all.sql.push_str(&format!(" AND ({})", sql.replace('?', &number)));
                all.values.push(value);
            }
        };
        add(!filter.prefix.is_empty(), "substr(s.id, 1, length(?)) = ?", Box::new(filter.prefix.clone()));
        add(!filter.projects.is_empty(), NAMED, Box::new(json(&filter.projects)?));
        let places =
            "s.project IN (SELECT value FROM json_each(?)) OR s.folder IN (SELECT value FROM json_each(?))";
        add(!filter.places.is_empty(), places, Box::new(json(&filter.places)?));
        add(filter.user.is_some(), "s.user = ?", Box::new(filter.user.clone()));
        add(filter.agent.is_some(), "s.agent = ?", Box::new(filter.agent.clone()));
        let session = filter.session.as_ref().map(|id| id.as_str().to_owned());
        add(session.is_some(), "s.id = ? OR s.session = ?", Box::new(session));
        add(filter.run.is_some(), "s.run = ?", Box::new(filter.run.clone()));
        let tags = "NOT EXISTS (SELECT 1 FROM json_each(?) t
             WHERE t.value NOT IN (SELECT value FROM json_each(coalesce(s.tags, '[]'))))";
        add(!filter.tags.is_empty(), tags, Box::new(json(&filter.tags)?));
        let parents: Vec<&str> = filter.parents.iter().map(|parent| parent.as_str()).collect();
        let parent = "s.parent IN (SELECT value FROM json_each(?))";
        add(!parents.is_empty(), parent, Box::new(json(&parents)?));
        Ok(all)
    }
}

/// Condition that a project or its folder has one of some names.
const NAMED: &str = "EXISTS (SELECT 1 FROM json_each(?) p WHERE p.value IN (s.project, s.folder)
    OR substr(s.project, 1, length(p.value) + 1) = p.value || '/'
    OR (instr(p.value, '/') = 0 AND '/' || p.value
        IN (substr(s.project, -length(p.value) - 1), substr(s.folder, -length(p.value) - 1))))";

/// What is in reach, as conditions of a statement whose first parameter is the tenant.
#[derive(Clone, Copy)]
pub(in crate::sqlite) struct Visible<'r> {
    reach: &'r Reach,
    /// Number of the parameter with the value of the first limit.
    first: usize,
}

impl<'r> Visible<'r> {
    pub(in crate::sqlite) const fn new(reach: &'r Reach, first: usize) -> Self {
        Self { reach, first }
    }

    /// Returns the condition on a row of streams.
    pub(in crate::sqlite) fn stream(self, row: &str) -> String {
        let column = |limit: &ScopeLimit| match limit {
            ScopeLimit::User(_) => "user",
            ScopeLimit::Project(_) => "project",
            ScopeLimit::Agent(_) => "agent",
        };
        let limits = self.reach.limits().iter().zip(self.first..);
        limits.map(|(limit, number)| format!(" AND {row}.{} IS ?{number}", column(limit))).collect()
    }

    /// Returns the condition on a body: an event of a stream in reach contains it.
    pub(in crate::sqlite) fn body(self, blob: &str) -> String {
        if self.reach.is_tenant() {
            return String::new();
        }
        let limits = self.stream("w");
        format!(
            " AND EXISTS (SELECT 1 FROM refs v JOIN streams w ON w.stream = v.stream
                  WHERE v.tenant = ?1 AND v.blob = {blob}{limits})"
        )
    }

    /// Returns the condition on a source: all streams that were read from it are in reach, or one, if each has the
    /// whole text.
    pub(in crate::sqlite) fn source(self, source: &str) -> String {
        if self.reach.is_tenant() {
            return String::new();
        }
        let limits = self.stream("w");
        let readers = format!(
            "SELECT 1 FROM stream_sources l JOIN streams w ON w.stream = l.stream WHERE l.source = {source}"
        );
        format!(
            " AND EXISTS ({readers}{limits}) AND (NOT EXISTS ({readers} AND NOT (TRUE{limits})) OR EXISTS (
                  SELECT 1 FROM source_revisions v WHERE v.source = {source} AND v.format = '{BYTES}'))"
        )
    }

    /// Returns the parameters of a statement: its own ones, then the values of the limits.
    pub(in crate::sqlite) fn with<'a>(self, own: &'a [&'a dyn ToSql]) -> impl rusqlite::Params + use<'a, 'r>
    where
        'r: 'a,
    {
        let values = self.reach.limits().iter().map(|limit| match limit {
            ScopeLimit::User(value) | ScopeLimit::Project(value) | ScopeLimit::Agent(value) => {
                value as &dyn ToSql
            }
        });
        rusqlite::params_from_iter(own.iter().copied().chain(values))
    }
}
