//! Compares the schema of a ledger's file with the schema of the format.
//!
//! A trigger, a constraint or an index of another origin can drop rows or change what a query returns. Statements are
//! compared by their tokens, and the columns of a table as a set: the tables of an upgraded ledger have the same
//! columns in another order, with other comments.

use crate::sqlite::failure::StoreResult;
use crate::sqlite::file::access::FORMAT;
use crate::sqlite::file::create::empty_ledger;
use crate::sqlite::sql::rows;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Tables that SQLite creates itself, also for a person who runs `ANALYZE`. They hold no data of a ledger.
const OF_SQLITE: [&str; 3] = ["sqlite_sequence", "sqlite_stat1", "sqlite_stat4"];
/// Maximum length of a statement's part in a description, in characters.
const SHOWN: usize = 120;

/// Statement that created an object, without what does not matter.
#[derive(PartialEq, Eq)]
struct Statement {
    /// Tokens outside of the list of columns.
    around: String,
    /// Columns and constraints; those of a table are sorted.
    parts: Vec<String>,
}

/// Returns a description of each difference between a file's schema and that of the format.
pub(in crate::sqlite) fn differences(db: &Connection) -> StoreResult<Vec<String>> {
    let (mut found, expected) = (objects(db)?, objects(&empty_ledger()?)?);
    let mut differences = Vec::new();
    for ((kind, name), wanted) in expected {
        differences.extend(match found.remove(&(kind.clone(), name.clone())) {
            None => Some(format!("the {kind} `{name}` is missing")),
            Some(other) if other == wanted => None,
            Some(other) => Some(format!(
                "the {kind} `{name}` differs from that of format {FORMAT}{}{}",
                first(", has ", &other, &wanted),
                first(", lacks ", &wanted, &other)
            )),
        });
    }
    let foreign = found.into_keys();
    differences.extend(
        foreign.map(|(kind, name)| format!("the {kind} `{name}` does not belong to format {FORMAT}")),
    );
    Ok(differences)
}

/// Returns the statements of a schema by the kind and the name of what they create.
fn objects(db: &Connection) -> StoreResult<BTreeMap<(String, String), Statement>> {
    // Damaged columns may hold any type, and a statement is missing only for the indexes of constraints.
    let sql = "SELECT CAST(type AS TEXT), CAST(name AS TEXT), CAST(sql AS TEXT) FROM sqlite_master";
    let text = |value: Option<String>| value.unwrap_or_default();
    let all = rows(db, sql, [], |row| {
        Ok(((text(row.get(0)?), text(row.get(1)?)), row.get::<_, Option<String>>(2)?))
    })?;
    let is_ours = |(kind, name): &(String, String), sql: &Option<String>| match kind.as_str() {
        "index" => sql.is_some(),
        "table" => !OF_SQLITE.contains(&name.as_str()),
        _ => true,
    };
    let ours = all.into_iter().filter(|(key, sql)| is_ours(key, sql));
    Ok(ours.map(|(key, sql)| (key, statement(&sql.unwrap_or_default()))).collect())
}

/// Returns the first part of a statement that another one lacks, as the end of a sentence.
fn first(begin: &str, of: &Statement, lacks: &Statement) -> String {
    let around = (of.around != lacks.around).then_some(&of.around);
    let part = of.parts.iter().find(|part| !lacks.parts.contains(part)).or(around);
    let shown = part.map(|part| part.chars().take(SHOWN).collect::<String>());
    shown.map(|shown| format!("{begin}`{shown}`")).unwrap_or_default()
}

fn statement(sql: &str) -> Statement {
    let (mut around, mut parts, mut depth) = (Vec::new(), vec![Vec::new()], 0u32);
    let tokens = tokens(sql);
    let is_table = tokens.iter().take(2).map(String::as_str).eq(["create", "table"]);
    for token in tokens {
        match (token.as_str(), depth) {
            ("(", 0) => depth = 1,
            (")", 1) => depth = 0,
            (",", 1) => parts.push(Vec::new()),
            (text, _) => {
                depth = match text {
                    "(" => depth + 1,
                    ")" => depth.saturating_sub(1),
                    _ => depth,
                };
                match parts.last_mut().filter(|_| depth > 0) {
                    Some(part) => part.push(token),
                    None => around.push(token),
                }
            }
        }
    }
    let mut parts: Vec<String> = parts.into_iter().map(|part| part.join(" ")).collect();
    if is_table {
        parts.sort();
    }
    Statement { around: around.join(" "), parts }
}

/// Splits a statement into words in lower case, texts and signs, without comments. Quoted names become words.
fn tokens(sql: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(sign) = rest.chars().next() {
        let is_word = |one: char| one.is_alphanumeric() || one == '_';
        let (token, len) = match sign {
            _ if rest.starts_with("--") => (None, rest.find('\n').unwrap_or(rest.len())),
            _ if rest.starts_with("/*") => (None, rest.find("*/").map_or(rest.len(), |end| end + 2)),
            _ if sign.is_whitespace() => (None, sign.len_utf8()),
            '"' | '`' | '[' => {
                let end = if sign == '[' { ']' } else { sign };
                let len = rest.get(1..).and_then(|rest| rest.find(end)).map_or(rest.len(), |at| at + 2);
                (rest.get(1..len.saturating_sub(1)).map(str::to_lowercase), len)
            }
            '\'' => {
                let len = rest.get(1..).and_then(|rest| rest.find('\'')).map_or(rest.len(), |at| at + 2);
                (rest.get(..len).map(str::to_owned), len)
            }
            _ if is_word(sign) => {
                let len = rest.find(|one| !is_word(one)).unwrap_or(rest.len());
                (rest.get(..len).map(str::to_lowercase), len)
            }
            _ => (Some(sign.to_string()), sign.len_utf8()),
        };
        tokens.extend(token);
        rest = rest.get(len..).unwrap_or_default();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(change: &str) -> Vec<String> {
        let db = empty_ledger().unwrap();
        db.execute_batch(change).unwrap();
        differences(&db).unwrap()
    }

    #[test]
    fn a_ledger_has_the_schema_of_its_format() {
        assert!(after("ANALYZE; INSERT INTO index_segments VALUES (1, 1, 1, 1, x'00', 1)").is_empty());
    }

    #[test]
    fn foreign_missing_and_changed_objects_are_named() {
        let cases = [
            ("CREATE TRIGGER t BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END", "the trigger `t` does not"),
            ("CREATE VIEW v AS SELECT 1", "the view `v` does not belong"),
            ("CREATE TABLE extra (a)", "the table `extra` does not belong"),
            ("CREATE INDEX by_kind ON events (kind)", "the index `by_kind` does not belong"),
            ("DROP TABLE usage", "the table `usage` is missing"),
            ("DROP INDEX refs_by_blob", "the index `refs_by_blob` is missing"),
            ("ALTER TABLE refs ADD COLUMN more TEXT", "the table `refs` differs from that of format 8, has `more text`"),
            (
                "DROP TABLE usage; CREATE VIEW usage AS SELECT 1",
                "the table `usage` is missing; the view `usage` does not belong to format 8",
            ),
            (
                "DROP TABLE tallies; CREATE TABLE tallies (tenant INTEGER NOT NULL, stream INTEGER NOT NULL,
                 seq INTEGER NOT NULL ON CONFLICT IGNORE, tokens INTEGER NOT NULL, PRIMARY KEY (tenant, stream, seq))
                 STRICT, WITHOUT ROWID",
                "has `seq integer not null on conflict ignore`, lacks `seq integer not null`",
            ),
            (
                "DROP INDEX events_by_id; CREATE UNIQUE INDEX events_by_id ON events (tenant, stream, id) WHERE seq % 2",
                "the index `events_by_id` differs",
            ),
        ];
        for (change, expected) in cases {
            let found = after(change).join("; ");
            assert!(found.contains(expected), "{change}: {found}");
        }
    }

    #[test]
    fn the_order_of_columns_the_case_and_comments_do_not_matter() {
        let one = statement(
            "CREATE TABLE a (x INTEGER, -- one, (two)\n y TEXT CHECK (y IN (1, 2)), PRIMARY KEY (x, y)) STRICT",
        );
        let other = statement(
            "create table \"a\" (y text check(y in(1,2)),PRIMARY KEY (x, y) , /* , */ X INTEGER) strict",
        );
        assert!(one == other);
        let key =
            statement("CREATE TABLE a (x INTEGER, y TEXT CHECK (y IN (1, 2)), PRIMARY KEY (y, x)) STRICT");
        assert!(one != key);
    }
}
