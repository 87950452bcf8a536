//! First compaction of a session by each system and its effect on every message, derived from the system's published
//! description rather than from its preset.
//!
//! Only behaviour visible to users counts. If a source leaves a point open, the rule names the choice made here.
//! Handles and summaries are assumed to cost nothing; the sessions are chosen so that no result depends on this
//! assumption. The sources (the article, the survey, the notes) are named in `docs/policies.md`.

use super::Trace;
use super::session::{Role, Room, Session};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// A rule. Returns `None` if the system never compacts the session.
pub(crate) type Rule = fn(&Session, Room) -> Option<Trace>;

/// Rules by the names of their presets.
pub(crate) const RULES: &[(&str, Rule)] = &[
    ("balanced", |session, room| ours(session, room, (95, 98))),
    ("frugal", |session, room| ours(session, room, (65, 95))),
    ("observations", observations),
    ("fresh-window", fresh_window),
    ("claude-code", claude_code),
    ("gemini-cli", gemini_cli),
    ("codex", codex),
    ("pi", pi),
    ("manus", manus),
    ("openmanus", openmanus),
    ("letta-static", letta_static),
    ("letta-partial", letta_partial),
    ("hermes", hermes),
    ("openclaw", openclaw),
    ("lossless", lossless),
    ("headroom", headroom),
    ("leon-summary", leon_summary),
    ("layered", layered),
    ("selective", selective),
    ("minimal", minimal),
    ("always", always),
    ("never", |_, _| None),
    ("off", |_, _| None),
];

/// Returns the first position at which no call is open and a condition holds. The condition receives the position and
/// the number of tokens up to that position.
fn first(session: &Session, holds: impl Fn(u64, u64) -> bool) -> Option<u64> {
    let mut tokens = 0;
    (1..=session.len()).find(|at| {
        tokens += session.at(*at).tokens;
        session.role(*at) != Role::Call && holds(*at, tokens)
    })
}

/// Returns the start of a tail of `tokens` tokens, that is, the position of the message with which the tail reaches
/// this number.
fn tail(session: &Session, to: u64, tokens: u64) -> u64 {
    (1..=to).rev().find(|at| session.tokens(*at..=to) >= tokens).unwrap_or(1)
}

/// Returns the given position or, if it is a result, the position of its call.
fn whole(session: &Session, at: u64) -> u64 {
    if session.role(at) == Role::Result { at - 1 } else { at }
}

/// Returns the next position that is not a result.
fn forward(session: &Session, at: u64, to: u64) -> u64 {
    (at..=to).find(|at| session.role(*at) != Role::Result).unwrap_or(to + 1)
}

fn set(positions: impl IntoIterator<Item = u64>) -> BTreeSet<u64> {
    positions.into_iter().collect()
}

/// Returns a trace with one summary up to a cut, and everything after it verbatim.
fn summary(at: u64, cut: u64) -> Trace {
    Trace { summaries: vec![1..=cut - 1], verbatim: set(cut..=at), cut: Some(cut), ..Trace::soft(at) }
}

/// According to the article, sections 2.1 to 2.3, and the documentation, old tool output is cleared at 92 % of the
/// window. If that is not enough, all but the last five messages become one summary. Old output is all but the newest
/// three results, as in the vendor's interface for clearing tool uses.
fn claude_code(session: &Session, room: Room) -> Option<Trace> {
    let limit = room.window * 92 / 100;
    let at = first(session, |_, tokens| tokens >= limit)?;
    let recent = whole(session, at - 4);
    let results: Vec<u64> = session.all(Role::Result, 1..=at).collect();
    let old: BTreeSet<u64> =
        results.iter().rev().skip(3).copied().filter(|result| *result < recent).collect();
    let saved: u64 = old.iter().map(|result| session.at(*result).tokens).sum();
    if session.tokens(1..=at) - saved < limit {
        return Some(Trace { verbatim: &set(1..=at) - &old, stubbed: old, ..Trace::soft(at) });
    }
    Some(summary(at, recent))
}

/// According to the article, sections 3.1 and 3.5, compaction starts at 70 % of the window. The kept part begins at
/// the message that passes 70 % of the history, or at the next user turn after that message. The system measures
/// characters; this rule uses tokens instead.
fn gemini_cli(session: &Session, room: Room) -> Option<Trace> {
    let at = first(session, |_, tokens| tokens * 10 >= room.window * 7)?;
    let all = session.tokens(1..=at);
    let mark = (1..=at).find(|end| session.tokens(1..=*end) * 10 >= all * 7)?;
    let cut = session.all(Role::User, mark..=at).next().unwrap_or(at + 1);
    Some(summary(at, cut))
}

/// According to codex-rs/core/src/compact.rs, everything becomes a summary at 90 % of the window, except the user's
/// messages, newest first, up to 20,000 tokens. The system cuts the message that reaches the limit of 20,000 tokens,
/// whereas in this rule that whole message belongs to the summary.
fn codex(session: &Session, room: Room) -> Option<Trace> {
    let at = first(session, |_, tokens| tokens * 10 >= room.window * 9)?;
    let mut left = 20_000;
    let mut kept = BTreeSet::new();
    for user in session.all(Role::User, 1..=at).rev() {
        let tokens = session.at(user).tokens;
        if tokens > left {
            break;
        }
        left -= tokens;
        kept.insert(user);
    }
    Some(Trace { summaries: vec![1..=at], verbatim: kept, ..Trace::soft(at) })
}

/// According to compaction.ts of pi, compaction starts when more than the window minus 16,384 tokens is used. The
/// tail begins at or after the message that brings the tail to 20,000 tokens, but never with a result. The beginning
/// of a divided turn gets a separate summary.
fn pi(session: &Session, room: Room) -> Option<Trace> {
    let at = first(session, |_, tokens| tokens > room.window - 16_384)?;
    let cut = forward(session, tail(session, at, 20_000), at);
    let mut trace = summary(at, cut);
    if session.role(cut) != Role::User {
        let turn = session.newest_user(cut);
        trace.summaries = vec![1..=turn - 1, turn..=cut - 1];
    }
    Some(trace)
}

/// According to the article, section 1, tool output is moved out of the context, while its URL, path and parameters
/// stay. The article names no limit and does not say what counts as recent; this rule uses half of the budget and the
/// newest five results. Every result here is large enough to be replaced by a handle.
fn manus(session: &Session, room: Room) -> Option<Trace> {
    let at = first(session, |_, tokens| tokens * 2 >= room.budget)?;
    let results: Vec<u64> = session.all(Role::Result, 1..=at).collect();
    let old: BTreeSet<u64> = results.iter().rev().skip(5).copied().collect();
    if old.is_empty() {
        // Nothing can be moved out. What no longer fits is summarised, as under every policy.
        let at = first(session, |_, tokens| tokens * 1_000 > room.budget * 975)?;
        return Some(Trace { is_partial: true, ..Trace::soft(at) });
    }
    Some(Trace { verbatim: &set(1..=at) - &old, stubbed: old, ..Trace::soft(at) })
}

/// According to app/schema.py of OpenManus, the newest 100 messages stay. A result that would lose its call is
/// dropped with it.
fn openmanus(session: &Session, _: Room) -> Option<Trace> {
    let at = first(session, |at, _| at > 100)?;
    let cut = forward(session, at - 99, at);
    Some(Trace { dropped: set(1..cut), verbatim: set(cut..=at), cut: Some(cut), ..Trace::soft(at) })
}

/// According to summarizer.py of Letta, a static buffer of more than ten messages keeps the newest three, starting at
/// the user's next message.
fn letta_static(session: &Session, _: Room) -> Option<Trace> {
    let at = first(session, |at, _| at > 10)?;
    let cut = session.all(Role::User, at - 2..=at).next().unwrap_or(at + 1);
    Some(Trace { dropped: set(1..cut), verbatim: set(cut..=at), cut: Some(cut), ..Trace::soft(at) })
}

/// According to summarizer.py of Letta, partial eviction turns the oldest 30 % of more than ten messages into one
/// summary, and the kept part begins with a reply. This follows the documentation; the code of the version examined
/// begins at 70 % and keeps 30 %.
fn letta_partial(session: &Session, _: Room) -> Option<Trace> {
    let at = first(session, |at, _| at > 10)?;
    let evicted = at * 3 / 10;
    let is_reply = |at: &u64| matches!(session.role(*at), Role::Call | Role::Reply);
    let cut = (evicted + 1..=at).find(is_reply)?;
    Some(summary(at, cut))
}

/// According to context_compressor.py of Hermes, compaction starts at 75 % of windows below 512,000. The head is
/// three messages. The tail is a fortieth of the window, from 10,000 to 25,000 tokens, and at least eight messages,
/// one of which is the user's. One summary replaces the messages between the head and the tail.
fn hermes(session: &Session, room: Room) -> Option<Trace> {
    let at = first(session, |_, tokens| tokens * 4 >= room.window * 3 && room.window < 512_000)?;
    let amount = (room.window / 40).clamp(10_000, 25_000);
    let start = tail(session, at, amount).min(at - 7).min(session.newest_user(at));
    let cut = whole(session, start);
    let head = 1..=3;
    let mut verbatim = set(cut..=at);
    verbatim.extend(head.clone());
    Some(Trace { summaries: vec![head.end() + 1..=cut - 1], verbatim, cut: Some(cut), ..Trace::soft(at) })
}

/// According to the survey, section 2.4, and compaction-planning.ts of OpenClaw, compaction starts only when a
/// request does not fit. The messages before pi's tail of 20,000 tokens are summarised in chunks of 0.4 of the
/// window, divided by the margin of 1.2, and these summaries become one.
fn openclaw(session: &Session, room: Room) -> Option<Trace> {
    let at = first(session, |_, tokens| tokens >= room.budget)?;
    let cut = forward(session, tail(session, at, 20_000), at);
    let mean = session.tokens(1..=cut - 1) as f64 / (cut - 1) as f64 * 1.2 / room.window as f64;
    let ratio = if mean > 0.1 { (0.4 - (mean * 2.0).min(0.25)).max(0.15) } else { 0.4 };
    let most = (room.window as f64 * ratio / 1.2) as u64;
    let summaries = chunks(session, 1..=cut - 1, most);
    let condensed = if summaries.len() > 1 { vec![1..=cut - 1] } else { Vec::new() };
    Some(Trace { summaries, condensed, verbatim: set(cut..=at), cut: Some(cut), ..Trace::soft(at) })
}

/// According to compaction.ts and config.ts of lossless-claw, compaction starts after a turn that leaves more than
/// 0.75 of the budget used. Everything before the newest 64 messages, extended back to the user's newest message,
/// becomes leaves of at most 20,000 tokens. Eight leaves would be condensed.
fn lossless(session: &Session, room: Room) -> Option<Trace> {
    let at = first(session, |at, tokens| session.role(at) == Role::Reply && tokens * 4 > room.budget * 3)?;
    let cut = whole(session, (at - 63).min(session.newest_user(at)));
    let summaries = chunks(session, 1..=cut - 1, 20_000);
    assert!(summaries.len() < 8, "then eight of them would become one");
    Some(Trace { summaries, verbatim: set(cut..=at), cut: Some(cut), ..Trace::soft(at) })
}

/// According to headroom/config.py before ICM was retired, compaction starts when more than the window minus 4,000
/// tokens is used. First, tool output of more than 200 tokens is compressed, except in the last two turns. If that is
/// not enough, everything before the last two turns is summarised.
fn headroom(session: &Session, room: Room) -> Option<Trace> {
    let limit = room.window - 4_000;
    let at = first(session, |_, tokens| tokens > limit)?;
    let cut = session.all(Role::User, 1..=at).nth_back(1)?;
    let long = |result: &u64| session.at(*result).tokens > 200;
    let shrunk: BTreeSet<u64> = session.all(Role::Result, 1..=cut - 1).filter(long).collect();
    let saved: u64 = shrunk.iter().map(|result| session.at(*result).tokens / 2).sum();
    if session.tokens(1..=at) - saved <= limit {
        return Some(Trace { verbatim: &set(1..=at) - &shrunk, shrunk, ..Trace::soft(at) });
    }
    Some(summary(at, cut))
}

/// According to the notes, compaction starts above 100,000 tokens, above 500 messages, or at 80 % of the capacity.
/// The sessions last less than an hour.
fn leon(session: &Session, room: Room) -> Option<u64> {
    first(session, |at, tokens| tokens > 100_000 || at > 500 || tokens * 10 >= room.budget * 8)
}

/// According to the notes on the summary form, old messages become one summary and recent ones stay. This rule treats
/// ten messages as recent.
fn leon_summary(session: &Session, room: Room) -> Option<Trace> {
    let at = leon(session, room)?;
    Some(summary(at, whole(session, at - 9)))
}

/// The layered form in the notes works like `leon_summary`, but with a summary for each task.
fn layered(session: &Session, room: Room) -> Option<Trace> {
    let trace = leon_summary(session, room)?;
    let cut = trace.cut?;
    let tasks = session.tasks.iter().filter(|task| *task.start() < cut);
    let summaries = tasks.map(|task| *task.start()..=*task.end().min(&(cut - 1))).collect();
    Some(Trace { summaries, ..trace })
}

/// According to decision 4 of the notes, errors count 8 tenths, decisions 6, tools 4 and repeats −5, and the total is
/// limited to the range from 0 to 10.
fn importance(session: &Session, at: u64) -> i64 {
    let message = session.at(at);
    let has = |words: &[&str]| words.iter().any(|word| message.text.contains(word));
    let repeats = (1..at).any(|before| session.at(before).text == message.text);
    let mut score = 0;
    if has(&["error"]) {
        score += 8;
    }
    if has(&["决定", "选择", "方案", "decided", "choice"]) {
        score += 6;
    }
    if message.role == Role::Result {
        score += 4;
    }
    if repeats {
        score -= 5;
    }
    score.clamp(0, 10)
}

/// Returns the importance of a unit. A call and its result count as the more important of the two.
fn worth(session: &Session, unit: &RangeInclusive<u64>) -> i64 {
    unit.clone().map(|at| importance(session, at)).max().unwrap_or_default()
}

/// In the selective form in the notes, the least important messages go first and, among equally important ones, the
/// oldest. The notes give no target; this rule uses 0.4 of the budget. The newest ten stay.
fn selective(session: &Session, room: Room) -> Option<Trace> {
    let at = leon(session, room)?;
    let recent = whole(session, at - 9);
    let newest = session.newest_user(at);
    let mut units = session.units(1..=recent - 1);
    units.retain(|unit| !unit.contains(&newest));
    units.sort_by_key(|unit| worth(session, unit));
    let mut left = session.tokens(1..=at);
    let mut dropped = BTreeSet::new();
    for unit in units {
        if left <= room.budget * 4 / 10 {
            break;
        }
        left -= session.tokens(unit.clone());
        dropped.extend(unit);
    }
    Some(Trace { verbatim: &set(1..=at) - &dropped, dropped, ..Trace::soft(at) }.covered())
}

/// In the smallest form in the notes, the 50 most important messages stay once there are more than 100. The sort is
/// stable, so among equally important messages the older ones stay. A call and its result stay together, so 49
/// messages may stay.
fn minimal(session: &Session, _: Room) -> Option<Trace> {
    let at = first(session, |at, _| at > 100)?;
    let mut units = session.units(1..=at);
    units.sort_by_key(|unit| std::cmp::Reverse(worth(session, unit)));
    // The newest request and the newest exchange stay under any policy, so they take some of the places.
    let mut kept: BTreeSet<u64> = session.newest_exchange(at).chain([session.newest_user(at)]).collect();
    for unit in units {
        if kept.len() + unit.clone().count() <= 50 {
            kept.extend(unit);
        }
    }
    let dropped = &set(1..=at) - &kept;
    Some(Trace { verbatim: kept, dropped, ..Trace::soft(at) })
}

/// Our own presets compact at one share of the budget at the start or end of a turn, and at a higher share anywhere;
/// both shares are given in hundredths. Other tests cover the effect of the steps.
fn ours(session: &Session, room: Room, (soft, hard): (u64, u64)) -> Option<Trace> {
    let is_turn = |at| matches!(session.role(at), Role::User | Role::Reply);
    let soft = first(session, |at, tokens| is_turn(at) && tokens * 100 >= room.budget * soft);
    let hard = first(session, |_, tokens| tokens * 100 >= room.budget * hard);
    let at = soft.into_iter().chain(hard).min()?;
    let level = if soft == Some(at) { "soft" } else { "hard" };
    Some(Trace { level, is_partial: true, ..Trace::soft(at) })
}

/// According to Mastra's constants.ts, compaction starts as soon as more than 30,000 tokens wait to be observed. Our
/// preset also fires between steps.
fn observations(session: &Session, _: Room) -> Option<Trace> {
    let at = first(session, |_, tokens| tokens > 30_000)?;
    Some(Trace { is_partial: true, ..Trace::soft(at) })
}

/// Our own preset compacts at 0.8 of the window at the start or end of a turn, and at 0.9 anywhere.
fn fresh_window(session: &Session, room: Room) -> Option<Trace> {
    let is_turn = |at| matches!(session.role(at), Role::User | Role::Reply);
    let soft = first(session, |at, tokens| is_turn(at) && tokens * 10 >= room.window * 8);
    let hard = first(session, |_, tokens| tokens * 10 >= room.window * 9);
    let at = soft.into_iter().chain(hard).min()?;
    let level = if soft == Some(at) { "soft" } else { "hard" };
    Some(Trace { level, is_partial: true, ..Trace::soft(at) })
}

/// A preset for tests, which compacts as soon as anything can be gained, that is, when an exchange precedes the newest
/// one.
fn always(session: &Session, _: Room) -> Option<Trace> {
    let third = session.units(1..=6).into_iter().nth(2)?;
    Some(Trace { level: "hard", is_partial: true, ..Trace::soft(*third.start()) })
}

/// Divides a range into chunks of at most `most` tokens, but at least one message, and keeps calls and their results
/// together.
fn chunks(session: &Session, range: RangeInclusive<u64>, most: u64) -> Vec<RangeInclusive<u64>> {
    let mut chunks: Vec<RangeInclusive<u64>> = Vec::new();
    for unit in session.units(range) {
        match chunks.last_mut() {
            Some(chunk) if session.tokens(*chunk.start()..=*unit.end()) <= most => {
                *chunk = *chunk.start()..=*unit.end();
            }
            _ => chunks.push(unit),
        }
    }
    chunks
}
