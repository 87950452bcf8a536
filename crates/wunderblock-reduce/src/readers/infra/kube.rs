//! Tables and descriptions of resources: `kubectl get`, `kubectl describe`, `docker ps`, `helm list`.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::lines::TextLines;
use crate::readers::fingerprint;
use crate::span::{LineSpan, Rank};

/// Maximum rows of a table that is shown whole.
const MAX_WHOLE_ROWS: usize = 20;
/// Maximum rows of one sort that are shown.
const MAX_SHOWN: u32 = 3;
/// Maximum restarts of a healthy resource.
const MAX_RESTARTS: u32 = 4;

/// The number of columns, two spaces or more apart, of a line.
pub(super) fn count_columns(line: &str) -> usize {
    fields(line).count()
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split("  ").map(str::trim).filter(|field| !field.is_empty())
}

/// Whether a line names columns in capitals, the first of them one that such tools use.
pub(super) fn is_header(line: &str) -> bool {
    const FIRST: [&str; 10] = [
        "NAME",
        "NAMESPACE",
        "CONTAINER ID",
        "REPOSITORY",
        "LAST SEEN",
        "IMAGE",
        "ID",
        "REVISION",
        "DRIVER",
        "NETWORK ID",
    ];
    let capital = |field: &str| {
        !field.is_empty()
            && !field.bytes().any(|byte| byte.is_ascii_lowercase())
            && field.bytes().any(|byte| byte.is_ascii_uppercase())
    };
    fields(line).next().is_some_and(|first| {
        FIRST.contains(&first) || FIRST.iter().any(|known| first.starts_with(&format!("{known} ")))
    }) && line.starts_with(|c: char| c.is_ascii_uppercase())
        && count_columns(line) >= 3
        && fields(line).all(capital)
}

/// Whether the lines are a description: `Name:` first, and keys that only such have.
pub(super) fn is_described(lines: &[Cow<'_, str>]) -> bool {
    const KEYS: [&str; 12] = [
        "Namespace:",
        "Labels:",
        "Annotations:",
        "Events:",
        "Conditions:",
        "Containers:",
        "Status:",
        "Node:",
        "Capacity:",
        "Selector:",
        "Volumes:",
        "Replicas:",
    ];
    let named = lines.iter().take(4).any(|line| line.starts_with("Name: "));
    named && lines.iter().filter(|line| KEYS.iter().any(|key| line.starts_with(key))).count() >= 3
}

/// Whether a word says that a resource is not as it should be.
fn is_bad(field: &str) -> bool {
    const BAD: [&str; 16] = [
        "CrashLoopBackOff",
        "BackOff",
        "Pending",
        "Evicted",
        "OOMKilled",
        "NotReady",
        "Terminating",
        "Unknown",
        "Warning",
        "Restarting",
        "unhealthy",
        "Dead",
        "Lost",
        "Init:",
        "ContainerCreating",
        "pending-",
    ];
    BAD.iter().any(|bad| field.contains(bad))
        || fingerprint::mentions_failure(field)
        || (field.contains("Exited (") && !field.contains("Exited (0)"))
}

/// `1/2`: fewer are ready than should be.
fn is_short(field: &str) -> bool {
    field.split_once('/').is_some_and(|(ready, all)| {
        matches!((ready.parse::<u32>(), all.parse::<u32>()), (Ok(ready), Ok(all)) if ready < all)
    })
}

pub(super) fn rank_table(lines: &TextLines<'_>, spans: &mut [LineSpan]) {
    let many = lines.len() > MAX_WHOLE_ROWS;
    let mut shown: HashMap<u64, u32> = HashMap::new();
    let mut restarts = None;
    let last = lines.len();
    for (at, line) in lines.iter().enumerate() {
        let Some(span) = spans.get_mut(at) else { continue };
        if is_header(line) {
            restarts = fields(line).position(|field| field == "RESTARTS");
            (span.rank, span.score) = (Rank::Must, u16::MAX);
            continue;
        }
        let done = line.contains("Completed") || line.contains("Succeeded");
        let bad = fields(line).any(|field| is_bad(field) || (!done && is_short(field)));
        let count = restarts
            .and_then(|at| fields(line).nth(at))
            .and_then(|field| field.split(' ').next()?.parse::<u32>().ok());
        let seen = shown.entry(row_group(line)).or_default();
        *seen += 1;
        (span.rank, span.score) = if bad {
            // Of those that fail alike the first are worth most, yet none is filler.
            (Rank::Must, 40_000 - u16::try_from((*seen).min(30_000)).unwrap_or(0))
        } else if count.is_some_and(|count| count > MAX_RESTARTS) {
            (Rank::Must, 9_000)
        } else if !many {
            (Rank::Context, 10)
        } else if at <= 3 || at + 2 >= last {
            (Rank::Frame, 10)
        } else if *seen > MAX_SHOWN {
            (Rank::Filler, 0)
        } else {
            (Rank::Context, 10)
        };
    }
}

/// The sort of a row: its words without the parts that tell one of a kind from the next.
fn row_group(line: &str) -> u64 {
    let mut sort = 0u64;
    for field in fields(line).take(6) {
        let is_time = field.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
        if is_time {
            continue;
        }
        let name = field.split(' ').next().unwrap_or(field);
        // The last parts of a pod's name are drawn at random.
        let mut stem = name;
        for _ in 0..2 {
            match stem.rsplit_once('-') {
                Some((rest, last))
                    if last.len() <= 10
                        && (last.len() == 5 || last.bytes().any(|byte| byte.is_ascii_digit())) =>
                {
                    stem = rest
                }
                _ => break,
            }
        }
        sort = sort.rotate_left(9) ^ fingerprint::masked_hash(stem);
    }
    sort
}

pub(super) fn rank_description(lines: &TextLines<'_>, spans: &mut [LineSpan]) {
    const TOLD: [&str; 9] = [
        "Status:",
        "State:",
        "Last State:",
        "Reason:",
        "Exit Code:",
        "Restart Count:",
        "Message:",
        "Ready:",
        "Replicas:",
    ];
    let mut events = false;
    let mut shown: HashMap<u64, u32> = HashMap::new();
    for (span, line) in spans.iter_mut().zip(lines.iter()) {
        let key = line.trim_start();
        let top = !line.starts_with([' ', '\t']) && !line.is_empty();
        if top {
            events = line.starts_with("Events:");
        }
        (span.rank, span.score) = if events && !top {
            let seen = shown.entry(fingerprint::masked_hash(line)).or_default();
            *seen += 1;
            match () {
                () if is_bad(line) => (Rank::Must, 30_000),
                () if *seen > MAX_SHOWN => (Rank::Filler, 0),
                () => (Rank::Context, 500),
            }
        } else if TOLD.iter().any(|told| key.starts_with(told)) || (is_bad(line) && !top) {
            (Rank::Must, 20_000)
        } else if top {
            (Rank::Frame, 1_000)
        } else {
            (Rank::Context, 10)
        };
    }
}
