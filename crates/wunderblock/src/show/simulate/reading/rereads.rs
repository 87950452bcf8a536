//! Calls that read again what an earlier call had read.

use crate::show::simulate::reading::digest::{Digest, digest};
use crate::show::simulate::reading::history::History;
use crate::show::simulate::reading::index::message_of;
use std::collections::HashMap;
use wunderblock_core::id::CallId;
use wunderblock_core::message::Part;
use wunderblock_core::ports::Bodies as _;
use wunderblock_summary::files_touched;

/// A call that reads a file or a range again, with no change to it since the earlier read.
pub(in crate::show::simulate) struct RepeatedRead {
    /// Index of the event with the call.
    pub(in crate::show::simulate) event: usize,
    /// Digest of the earlier call's result.
    pub(in crate::show::simulate) earlier: Digest,
}

/// Identity of a read: the tool and its input.
type ReadKey = (Box<str>, String);

/// A read whose result is still valid.
struct EarlierRead {
    files: Vec<String>,
    result: Digest,
}

/// Returns the repeated reads of a session, in order. Two calls are the same read if their tool and input are equal.
pub(in crate::show::simulate) fn repeated_reads(history: &History) -> Vec<RepeatedRead> {
    let mut earlier: HashMap<ReadKey, EarlierRead> = HashMap::new();
    let mut open: HashMap<&CallId, (ReadKey, Vec<String>)> = HashMap::new();
    let mut found = Vec::new();
    for (event, said) in
        history.events.iter().enumerate().filter_map(|(at, event)| Some((at, message_of(event)?)))
    {
        for part in &said.parts {
            match part {
                Part::ToolCall { call, name, input, gist, .. } => {
                    let Some(text) = history.texts.of(input) else { continue };
                    let (seen, changed) = files_touched(name, gist.as_deref(), text);
                    earlier.retain(|_, read| {
                        !changed.iter().any(|path| read.files.iter().any(|file| is_same(path, file)))
                    });
                    if seen.is_empty() || !changed.is_empty() {
                        continue;
                    }
                    let key = (name.clone(), text.to_owned());
                    found.extend(earlier.get(&key).map(|read| RepeatedRead { event, earlier: read.result }));
                    open.insert(call, (key, seen));
                }
                Part::ToolResult { call, failed: false, .. } => {
                    if let Some((key, files)) = open.remove(call) {
                        let result = digest(part, &*history.texts);
                        earlier.insert(key, EarlierRead { files, result });
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// Returns whether two paths may name the same file: some tools write the folder before the path, and some do not.
fn is_same(one: &str, other: &str) -> bool {
    one.ends_with(other) || other.ends_with(one)
}
