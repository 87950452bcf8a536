//! Sessions in OpenCode's database that change: reading only the changed rows gives the text of reading all of them.

use super::history::tries;
use super::members::{database, store};
use crate::scene::{Home, events, import, open, original, session};
use futures_executor::block_on;
use rusqlite::Connection;

/// Numbers that depend only on a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Changes one row as OpenCode would. Every text occurs once.
fn change(rows: &Connection, draw: &mut Draw, (number, at): (i64, i64)) {
    let text = format!(r#"{{"type":"text","text":"word {number}"}}"#);
    let any = |table: &str, draw: &mut Draw| -> Option<String> {
        let count = rows.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, u64>(0));
        let skip = draw.below(count.unwrap().max(1));
        let query = format!("SELECT id FROM {table} ORDER BY id LIMIT 1 OFFSET {skip}");
        rows.query_row(&query, [], |row| row.get(0)).ok()
    };
    let add = |message: &str| {
        let part = "INSERT INTO part VALUES (?1, ?2, 'ses_1', ?3, ?3, ?4)";
        rows.execute(part, (format!("prt_{number:04}"), message, at, &text)).unwrap();
    };
    match (draw.below(10), any("message", draw), any("part", draw)) {
        (0, Some(message), _) => {
            rows.execute("DELETE FROM part WHERE message_id = ?1", [&message]).unwrap();
            rows.execute("DELETE FROM message WHERE id = ?1", [message]).unwrap();
        }
        (1, _, Some(part)) => {
            rows.execute("DELETE FROM part WHERE id = ?1", [part]).unwrap();
        }
        (2, Some(message), _) => {
            let data = format!(r#"{{"role":"assistant","cost":{number}}}"#);
            let set = "UPDATE message SET data = ?2, time_updated = ?3 WHERE id = ?1";
            rows.execute(set, (message, data, at)).unwrap();
        }
        (3 | 4, _, Some(part)) => {
            let set = "UPDATE part SET data = ?2, time_updated = ?3 WHERE id = ?1";
            rows.execute(set, (part, text, at)).unwrap();
        }
        (5, Some(message), _) => add(&message),
        _ => {
            let message = format!("msg_{number:04}");
            let role = if draw.below(3) == 0 { "user" } else { "assistant" };
            let data = format!(r#"{{"role":"{role}"}}"#);
            let row = "INSERT INTO message VALUES (?1, 'ses_1', ?2, ?2, ?3)";
            rows.execute(row, (&message, at, data)).unwrap();
            add(&message);
        }
    }
}

#[test]
fn reading_what_changed_gives_the_text_of_reading_everything() {
    for seed in 1..=u64::from(tries(8).cases) {
        let (home, mut draw) = (Home::new(), Draw(seed * 0x9E37_79B9));
        let (engine, whole) = (home.engine(), open(&home.path("whole.db")));
        let (path, rows) = database(&home);
        store(&rows, "ses_1", &[], 1_000);
        let (path, mut at) = (path.join("ses_1"), 1_000);
        for step in 0..30 {
            for one in 0..=draw.below(3) {
                at += i64::try_from(draw.below(2)).unwrap();
                change(&rows, &mut draw, (step * 10 + i64::try_from(one).unwrap(), at));
            }
            // A change within the millisecond and of the length of the one before is found with the next change.
            if import(&engine, &path).unchanged {
                continue;
            }
            block_on(whole.maintenance().verify_import(&path, None, &mut |_, _| {})).unwrap();
            let (one, other) = (session(&engine, "ses_1"), session(&whole, "ses_1"));
            let text = |of| String::from_utf8(original(of)).unwrap();
            assert_eq!(text(&one), text(&other), "seed {seed}, step {step}");
        }
        let facts = |of| events(of).into_iter().map(|event| (event.id, event.fact)).collect::<Vec<_>>();
        assert_eq!(facts(&session(&engine, "ses_1")), facts(&session(&whole, "ses_1")), "seed {seed}");
    }
}
