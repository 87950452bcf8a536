//! Two fixed sessions with known token counts: a coding session, and a conversation without tools.

use std::ops::RangeInclusive;

/// Room for a request. The budget is the window minus the part that headroom reserves for the reply, so that
/// headroom's trigger and the limit coincide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) window: u64,
    pub(crate) budget: u64,
}

pub(crate) const ROOM: Room = Room { window: 100_000, budget: 96_000 };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    User,
    /// A reply that calls a tool.
    Call,
    /// The tool's output. It follows its call.
    Result,
    /// A reply that ends the turn.
    Reply,
}

#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) role: Role,
    /// Number of tokens in a request, including the frame. The engine's cost model gives the same number.
    pub(crate) tokens: u64,
    /// Number of the user turn that the message belongs to, counted from 1.
    pub(crate) turn: u64,
    /// Short text, unique unless it is meant to repeat another. The text contains the words that the scores in the
    /// notes look for.
    pub(crate) text: String,
}

/// A session. Positions start at 1.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) name: &'static str,
    pub(crate) messages: Vec<Message>,
    /// Positions of the session's tasks, in order and without gaps. The last task is active.
    pub(crate) tasks: Vec<RangeInclusive<u64>>,
}

const TURNS_PER_TASK: u64 = 4;

/// Creates 200 messages in 17 turns, each consisting of a user message, calls with their results, and a reply.
pub(crate) fn work() -> Session {
    const PAIRS: [u64; 17] = [3, 5, 2, 7, 4, 6, 1, 8, 3, 9, 5, 4, 6, 2, 7, 8, 3];
    const RESULTS: [u64; 6] = [400, 1_500, 900, 3_000, 250, 2_200];
    let mut messages = Vec::new();
    let mut results = 0;
    for (turn, pairs) in (1..).zip(PAIRS) {
        let mut push = |role, tokens, text| messages.push(Message { role, tokens, turn, text });
        push(Role::User, 120 + 4 * turn, format!("Please look at part {turn}."));
        for pair in 1..=pairs {
            push(Role::Call, 80, format!("read part {turn}, page {pair}"));
            let tokens = RESULTS[results % RESULTS.len()];
            let text = match results % 20 {
                7 => format!("error: page {pair} of part {turn} is missing"),
                // This text repeats the text of the result nine results earlier. It is not a failure.
                13 => "the same table as ever".to_owned(),
                4 => "the same table as ever".to_owned(),
                _ => format!("page {pair} of part {turn}"),
            };
            push(Role::Result, tokens, text);
            results += 1;
        }
        let text = match turn % 5 {
            2 => format!("We decided to keep part {turn}."),
            4 => format!("决定保留第 {turn} 部分。"),
            _ => format!("Part {turn} is done."),
        };
        push(Role::Reply, 180, text);
    }
    with_tasks("work", messages)
}

/// Creates 200 messages in 100 turns, each consisting of a question and an answer.
pub(crate) fn talk() -> Session {
    let mut messages = Vec::new();
    for turn in 1..=100 {
        let question = format!("What of chapter {turn}?");
        let answer = match turn % 10 {
            3 => format!("There is an error in chapter {turn}."),
            6 => format!("The choice for chapter {turn}: 方案 A."),
            _ => format!("Chapter {turn} is as it should be."),
        };
        messages.push(Message { role: Role::User, tokens: 200 + turn * 37 % 400, turn, text: question });
        messages.push(Message { role: Role::Reply, tokens: 600 + turn * 53 % 900, turn, text: answer });
    }
    with_tasks("talk", messages)
}

fn with_tasks(name: &'static str, messages: Vec<Message>) -> Session {
    let mut tasks: Vec<RangeInclusive<u64>> = Vec::new();
    for (at, message) in (1..).zip(&messages) {
        let begins = message.role == Role::User && (message.turn - 1) % TURNS_PER_TASK == 0;
        match tasks.last_mut() {
            Some(task) if !begins => *task = *task.start()..=at,
            _ => tasks.push(at..=at),
        }
    }
    Session { name, messages, tasks }
}

impl Session {
    pub(crate) fn at(&self, position: u64) -> &Message {
        &self.messages[usize::try_from(position).unwrap() - 1]
    }

    pub(crate) fn len(&self) -> u64 {
        self.messages.len() as u64
    }

    pub(crate) fn role(&self, position: u64) -> Role {
        self.at(position).role
    }

    /// Returns the number of tokens in a range.
    pub(crate) fn tokens(&self, range: RangeInclusive<u64>) -> u64 {
        range.map(|at| self.at(at).tokens).sum()
    }

    /// Returns the positions in a range that have a given role.
    pub(crate) fn all(&self, role: Role, range: RangeInclusive<u64>) -> impl DoubleEndedIterator<Item = u64> {
        range.filter(move |at| self.role(*at) == role)
    }

    /// Returns the position of the newest user message at or before a position.
    pub(crate) fn newest_user(&self, to: u64) -> u64 {
        self.all(Role::User, 1..=to).next_back().unwrap()
    }

    /// Returns the positions of the newest exchange that ends at or before a position.
    pub(crate) fn newest_exchange(&self, to: u64) -> RangeInclusive<u64> {
        if self.role(to) == Role::Result { to - 1..=to } else { to..=to }
    }

    /// Returns the indivisible units of a range, that is, single messages, and calls with their results.
    pub(crate) fn units(&self, range: RangeInclusive<u64>) -> Vec<RangeInclusive<u64>> {
        let starts = range.clone().filter(|at| self.role(*at) != Role::Result);
        starts.map(|at| if self.role(at) == Role::Call { at..=at + 1 } else { at..=at }).collect()
    }
}
