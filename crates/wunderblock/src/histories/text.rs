//! The text of a session: the stored lines, and those that they lack.

use super::json::quoted;
use super::member::Member;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::{BTreeMap, HashSet};

/// What is read of a stored line: which message it holds, or which one it says is removed.
#[derive(Deserialize)]
struct StoredLine {
    removed: Option<String>,
    parts: Option<IgnoredAny>,
    info: Option<StoredInfo>,
    bubble: Option<StoredBubble>,
    id: Option<String>,
    node: Option<IgnoredAny>,
    chat_message: Option<IgnoredAny>,
}

impl StoredLine {
    /// Returns the id of the message that the line holds.
    fn message(self) -> Option<String> {
        if self.node.is_some() || self.chat_message.is_some() {
            return self.id;
        }
        match (self.bubble, self.parts) {
            (Some(bubble), _) => bubble.id,
            (None, Some(_)) => self.info?.id,
            (None, None) => None,
        }
    }
}

#[derive(Deserialize)]
struct StoredInfo {
    id: Option<String>,
}

#[derive(Deserialize)]
struct StoredBubble {
    #[serde(rename = "bubbleId")]
    id: Option<String>,
}

/// Returns the stored text, followed by a line for each message that has been removed and by the lines of the members
/// that are new or have changed. Text that was erased from the stored lines is put back where a member still has it,
/// as in a file: the import recognises it and erases it again.
pub(crate) fn grown(stored: Vec<u8>, erased: &[(u64, u64)], members: &[Member]) -> Vec<u8> {
    let mut text = if stored.iter().all(u8::is_ascii_whitespace) { Vec::new() } else { stored };
    restore(&mut text, erased, members);
    complete(&mut text, members);
    let mut known: HashSet<&[u8]> = HashSet::new();
    let mut messages: BTreeMap<String, usize> = BTreeMap::new();
    for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
        known.insert(line);
        let Ok(read) = serde_json::from_slice::<StoredLine>(line) else { continue };
        if let Some(removed) = &read.removed {
            messages.remove(removed);
        } else if let Some(id) = read.message() {
            messages.entry(id).or_insert(number);
        }
    }
    for member in members {
        if let Some(id) = &member.id {
            messages.remove(id);
        }
    }
    let mut gone: Vec<(usize, String)> = messages.into_iter().map(|(id, number)| (number, id)).collect();
    gone.sort();
    let mut more = Vec::new();
    for (_, id) in gone {
        more.extend_from_slice(format!("{{\"removed\":{}}}\n", quoted(&id)).as_bytes());
    }
    for member in members.iter().filter(|member| !known.contains(&*member.line)) {
        more.extend_from_slice(&member.line);
        more.push(b'\n');
    }
    text.extend(more);
    text
}

/// Replaces each line that was partly erased by the member of which it is the rest.
fn restore(text: &mut [u8], erased: &[(u64, u64)], members: &[Member]) {
    if erased.is_empty() {
        return;
    }
    let is_erased = |at: usize| erased.iter().any(|(from, to)| (*from..*to).contains(&(at as u64)));
    let mut from = 0;
    for line in text.split_mut(|byte| *byte == b'\n') {
        let begin = from;
        from += line.len() + 1;
        if !(begin..begin + line.len()).any(is_erased) {
            continue;
        }
        let is_rest = |member: &&Member| {
            let pairs = || line.iter().zip(&member.line).enumerate();
            line.len() == member.line.len() && pairs().all(|(at, (a, b))| a == b || is_erased(begin + at))
        };
        if let Some(member) = members.iter().find(is_rest) {
            line.copy_from_slice(&member.line);
        }
    }
}

/// Completes the last line, which an interrupted import may have cut.
fn complete(text: &mut Vec<u8>, members: &[Member]) {
    let begin = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let last = text.get(begin..).unwrap_or_default();
    if last.is_empty() {
        return;
    }
    // Lines of several members may begin alike; a line that is stored whole is not the one that was cut.
    let earlier: HashSet<&[u8]> =
        text.get(..begin).unwrap_or_default().split(|byte| *byte == b'\n').collect();
    let mut left = members.iter().filter(|member| !earlier.contains(&*member.line));
    let rest = left.find_map(|member| member.line.strip_prefix(last)).unwrap_or_default();
    let rest = rest.to_vec();
    text.extend(rest);
    text.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(id: &str, text: &str) -> Member {
        Member { id: Some(id.to_owned()), line: message(id, text).into_bytes() }
    }

    fn message(id: &str, text: &str) -> String {
        format!(r#"{{"parts":["{text}"],"info":{{"id":"{id}"}}}}"#)
    }

    fn grown(stored: &str, erased: &[(u64, u64)], members: &[Member]) -> String {
        String::from_utf8(super::grown(stored.into(), erased, members)).unwrap()
    }

    #[test]
    fn only_changed_members_are_added_and_removed_ones_are_named_once() {
        let first = grown("", &[], &[member("1", "a"), member("2", "b"), member("3", "c")]);
        assert_eq!(first.lines().count(), 3);
        assert_eq!(grown(&first, &[], &[member("1", "a"), member("2", "b"), member("3", "c")]), first);
        let second = grown(&first, &[], &[member("1", "A"), member("4", "d")]);
        let more = [r#"{"removed":"2"}"#, r#"{"removed":"3"}"#, &message("1", "A"), &message("4", "d")];
        assert_eq!(second, format!("{first}{}\n", more.join("\n")));
        assert_eq!(grown(&second, &[], &[member("1", "A"), member("4", "d")]), second);
    }

    #[test]
    fn a_line_that_was_cut_is_completed() {
        let whole = grown("", &[], &[member("1", "a"), member("2", "b")]);
        for cut in 1..whole.len() {
            assert_eq!(grown(&whole[..cut], &[], &[member("1", "a"), member("2", "b")]), whole);
        }
        let strange = grown("{\"strange", &[], &[member("2", "b")]);
        assert_eq!(strange, "{\"strange\n".to_owned() + &message("2", "b") + "\n", "as no member begins so");
    }

    #[test]
    fn an_erased_line_is_that_of_its_member() {
        let whole = grown("", &[], &[member("1", "secret"), member("2", "b")]);
        let at = whole.find("secret").unwrap();
        let blank = whole.replace("secret", "      ");
        let erased = [(at as u64, at as u64 + 6)];
        assert_eq!(grown(&blank, &erased, &[member("1", "secret"), member("2", "b")]), whole);
        let other = grown(&blank, &erased, &[member("1", "public"), member("2", "x")]);
        assert!(other.contains("public") && other.contains(&message("2", "x")));
        assert_eq!(grown("   \n  ", &[(0, 6)], &[member("2", "b")]), message("2", "b") + "\n");
    }
}
