//! Tool call ids and tool names, in a form that a dialect accepts.
//!
//! Each provider makes ids in its own format and refuses other ids. An id that does not fit is replaced by a name
//! made from its hash. The name is the same for the call and its result, and the same in every request. A name
//! already used in the request is made again from another hash, so two calls never share an id.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use wunderblock_core::message::{Dialect, Message, Part, Role};

/// Rule for the call ids that a dialect accepts.
#[derive(Clone, Copy)]
pub(crate) struct IdRule {
    /// Whether an id can be sent as it is.
    pub(crate) fits: fn(&str) -> bool,
    /// Whether an id may belong to only one call per request. Otherwise, an id may belong to only one call per
    /// assistant turn.
    pub(crate) once: bool,
}

/// Replacements for ids, by message and part. An id that is sent unchanged is not listed.
#[derive(Default)]
pub(crate) struct CallIds(HashMap<(usize, usize), String>);

impl CallIds {
    /// Returns the number of ids that are replaced.
    pub(crate) fn replaced(&self) -> usize {
        self.0.len()
    }

    /// Returns the id to write for a part whose id is `own`.
    pub(crate) fn id<'a>(&'a self, message: usize, part: usize, own: &'a str) -> &'a str {
        self.0.get(&(message, part)).map_or(own, String::as_str)
    }
}

/// Chooses ids for all calls and results that will be sent.
///
/// If several calls use one id, the results answer them in order.
pub(crate) fn choose(messages: &[Message], rule: IdRule) -> CallIds {
    let sent = messages.iter().filter(|message| message.standing.is_sendable());
    IdChooser::new(rule, sent.flat_map(made_names).collect()).choose(messages)
}

/// Returns the ids of a message that look like names made here, so that no call gets one of them.
pub(crate) fn made_names(message: &Message) -> impl Iterator<Item = String> {
    let ids = message.calls().chain(message.results()).map(|call| call.as_str());
    ids.filter(|id| id.starts_with(MADE)).map(str::to_owned)
}

/// Chooses ids for a conversation that comes in parts.
pub(crate) struct IdChooser {
    rule: IdRule,
    /// Names made here or by an earlier export.
    taken: HashSet<String>,
    names: HashMap<(Box<str>, usize), String>,
    /// Number of calls with each id.
    made: HashMap<Box<str>, usize>,
    /// Calls that wait for their result, by id.
    open: HashMap<Box<str>, VecDeque<usize>>,
    previous: Option<Role>,
}

impl IdChooser {
    /// Creates a chooser. `taken` has the [names made here](made_names) that the whole conversation contains.
    pub(crate) fn new(rule: IdRule, taken: HashSet<String>) -> Self {
        let (names, made, open) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { rule, taken, names, made, open, previous: None }
    }

    /// Returns the ids of the next messages, which count from 0.
    pub(crate) fn choose(&mut self, messages: &[Message]) -> CallIds {
        let mut written = HashMap::new();
        for (at, message) in messages.iter().enumerate().filter(|(_, said)| said.standing.is_sendable()) {
            // A later assistant turn may use an id again, so the count restarts at each assistant turn.
            let begins = message.role == Role::Assistant && self.previous != Some(Role::Assistant);
            if !self.rule.once && begins {
                self.made.clear();
                self.open.clear();
            }
            self.previous = Some(message.role);
            for (place, part) in message.parts.iter().enumerate() {
                let (id, use_number) = match part {
                    Part::ToolCall { call, .. } => (call.as_str(), self.call(call.as_str())),
                    Part::ToolResult { call, .. } => (call.as_str(), self.result(call.as_str())),
                    _ => continue,
                };
                if use_number == 1 && (self.rule.fits)(id) {
                    continue;
                }
                let make = || free(id, use_number, &mut self.taken);
                let name = self.names.entry((id.into(), use_number)).or_insert_with(make);
                written.insert((at, place), name.clone());
            }
        }
        CallIds(written)
    }

    /// Counts a call, and returns how many calls have used its id.
    fn call(&mut self, id: &str) -> usize {
        let count = self.made.entry(id.into()).or_default();
        *count += 1;
        self.open.entry(id.into()).or_default().push_back(*count);
        *count
    }

    /// Returns the number of the call with this id that a result answers.
    fn result(&mut self, id: &str) -> usize {
        let waiting = self.open.get_mut(id);
        let number = waiting.and_then(|waiting| Some((waiting.pop_front()?, waiting.is_empty())));
        if number.is_none_or(|(_, is_last)| is_last) {
            self.open.remove(id);
        }
        number.map_or_else(|| self.made.get(id).copied().unwrap_or(1), |(number, _)| number)
    }
}

/// Returns a name that is made from the id and that nothing else in the request uses.
fn free(id: &str, use_number: usize, taken: &mut HashSet<String>) -> String {
    let mut attempt = 0_u64;
    loop {
        let name = hashed(&[id.as_bytes(), &(use_number as u64).to_le_bytes(), &attempt.to_le_bytes()]);
        if taken.insert(name.clone()) {
            return name;
        }
        attempt += 1;
    }
}

/// Beginning of the names made here.
const MADE: &str = "wb_";

/// Returns `wb_` followed by 32 hexadecimal digits: 35 characters, all from the smallest character set that a
/// provider accepts.
fn hashed(pieces: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for piece in pieces {
        // Hashing the length distinguishes pieces that would be equal when joined.
        hasher.update(&(piece.len() as u64).to_le_bytes());
        hasher.update(piece);
    }
    let hex = hasher.finalize().to_hex();
    format!("{MADE}{}", hex.get(..32).unwrap_or_default())
}

/// Returns whether a text has 1 to `max` bytes and consists of ASCII letters, digits, `_` and `-`.
pub(crate) fn is_plain(text: &str, max: usize) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !text.is_empty() && text.len() <= max && text.bytes().all(plain)
}

/// Returns the name of a tool for a dialect: its own name, or a name made from it if the provider would refuse its
/// own. Tools and calls are encoded with this name. Readers of the reply have to map this name back to the tool.
///
/// Anthropic accepts `^[a-zA-Z0-9_-]{1,128}$`, and OpenAI accepts up to 64 of the same characters. Gemini also
/// accepts up to 64 characters, the first of which must be a letter or `_`.
#[must_use]
pub fn tool_name(dialect: Dialect, name: &str) -> Cow<'_, str> {
    let max = match dialect {
        Dialect::Anthropic => 128,
        Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::Gemini => 64,
        Dialect::Neutral => return Cow::Borrowed(name),
    };
    let begins = |name: &str| {
        dialect != Dialect::Gemini || name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    };
    if is_plain(name, max) && begins(name) {
        return Cow::Borrowed(name);
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    // The first 40 characters of the name, `_` and 16 digits of the hash fit within the smallest maximum, 64.
    let head: String = name.chars().take(40).map(plain).collect();
    let hash = hashed(&[name.as_bytes()]);
    let head = if begins(&head) { head } else { format!("_{head}") };
    Cow::Owned(format!("{head}_{}", hash.get(3..19).unwrap_or_default()))
}
