//! Where tasks begin and end: by explicit events, else by what became of the todo list, else by rule.

use crate::message::Message;
use crate::ports::Bodies;
use crate::units::Seq;
use crate::view::View;

/// Something that says that a task begins or ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskMark {
    /// Where.
    pub at: Seq,
    /// Whether a task ends here; else one begins.
    pub ends: bool,
    /// What it is about, where that is known.
    pub title: Option<Box<str>>,
    /// Who says so.
    pub by: TaskSource,
}

/// Who says where tasks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskSource {
    /// `task.started` and `task.finished`.
    Event,
    /// An item of the todo list became done, or another one was taken up.
    Todo,
    /// A turn of the user that is more than a word to go on.
    Rule,
}

impl TaskSource {
    /// In words.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Event => "the caller's events",
            Self::Todo => "the todo list",
            Self::Rule => "the user's turns",
        }
    }
}

/// What is known of a task's progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// It is being worked on.
    Active,
    /// It has ended.
    Finished,
}

/// A stretch of a session that is about one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRange {
    /// Its first position.
    pub from: Seq,
    /// Its last.
    pub to: Seq,
    /// Whether it has ended.
    pub state: TaskState,
    /// What it is about.
    pub title: Option<Box<str>>,
    /// Who says so.
    pub by: TaskSource,
}

/// The tasks of a view, in order, without gaps. Marks of the strongest kind there is count; without any, the user's turns do.
#[must_use]
pub fn tasks(view: &View, marks: &[TaskMark], bodies: &dyn Bodies) -> Vec<TaskRange> {
    let strongest = marks.iter().map(|mark| mark.by).min();
    let rule;
    let marks: Vec<&TaskMark> = match strongest {
        Some(by) => marks.iter().filter(|mark| mark.by == by).collect(),
        None => {
            rule = by_rule(view, bodies);
            rule.iter().collect()
        }
    };
    let head = view.head();
    let mut line = TaskSequence { tasks: Vec::new(), begins: view.trim().drop_before.max(Seq(2)) };
    let (mut title, mut ended) = (None, false);
    for mark in marks {
        if mark.at < line.begins {
            continue;
        }
        let to = if mark.ends { mark.at } else { mark.at.prev() };
        let named = title.take().or_else(|| mark.title.clone().filter(|_| mark.ends));
        line.close(to, named, mark.by);
        ended = mark.ends;
        title = mark.title.clone().filter(|_| !mark.ends);
    }
    line.close(head, title, strongest.unwrap_or(TaskSource::Rule));
    if let Some(last) = line.tasks.last_mut().filter(|last| last.to == head && !ended) {
        last.state = TaskState::Active;
    }
    line.tasks
}

/// Tasks one after the other.
struct TaskSequence {
    tasks: Vec<TaskRange>,
    begins: Seq,
}

impl TaskSequence {
    fn close(&mut self, to: Seq, title: Option<Box<str>>, by: TaskSource) {
        if self.begins <= to {
            self.tasks.push(TaskRange { from: self.begins, to, state: TaskState::Finished, title, by });
            self.begins = to.next();
        }
    }
}

/// Words that ask to go on, and begin nothing.
const GO_ON: [&str; 12] =
    ["continue", "go on", "proceed", "yes", "ok", "okay", "thanks", "继续", "好的", "好", "可以", "谢谢"];

fn by_rule(view: &View, bodies: &dyn Bodies) -> Vec<TaskMark> {
    let turns = view.entries().filter(|entry| entry.message.is_user_turn());
    let begins = turns.filter(|entry| !goes_on(&entry.message, bodies));
    begins.map(|entry| TaskMark { at: entry.seq, ends: false, title: None, by: TaskSource::Rule }).collect()
}

fn goes_on(said: &Message, bodies: &dyn Bodies) -> bool {
    let mut words = super::importance::texts(said, bodies);
    let (Some(text), None) = (words.next(), words.next()) else { return false };
    let text = text.trim().trim_end_matches(['.', '!', '。', '！']).to_lowercase();
    GO_ON.contains(&text.as_str())
}
