//! Boundaries of tasks: from explicit events, else from changes of the todo list, else by rule.

use crate::lane::view::{View, is_request};
use crate::ports::Bodies;
use crate::record::message::Message;
use crate::units::Seq;

/// A mark at which a task begins or ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskMark {
    /// Position of the mark.
    pub at: Seq,
    /// Whether the mark ends a task; otherwise, it begins one.
    pub ends: bool,
    /// Subject of the task, if known.
    pub title: Option<Box<str>>,
    /// Source of the mark.
    pub by: TaskSource,
}

/// Source of task boundaries. Earlier variants take precedence over later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskSource {
    /// `task.started` and `task.finished` events.
    Event,
    /// An item of the todo list was completed, or another one was started.
    Todo,
    /// A user turn that is more than a request to continue.
    Rule,
}

impl TaskSource {
    /// Returns the source in words.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Event => "the caller's events",
            Self::Todo => "the todo list",
            Self::Rule => "the user's turns",
        }
    }
}

/// Progress of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// The task is in progress.
    Active,
    /// The task has ended.
    Finished,
}

/// A stretch of a session that is about one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRange {
    /// First position of the task.
    pub from: Seq,
    /// Last position of the task.
    pub to: Seq,
    /// Progress of the task.
    pub state: TaskState,
    /// Subject of the task, if known.
    pub title: Option<Box<str>>,
    /// Source of its boundaries.
    pub by: TaskSource,
}

/// Returns the tasks of a view, in order and without gaps. Only the marks from the strongest source present count;
/// without marks, the turns of the user count.
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

/// Adjacent tasks, collected in order.
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

/// Messages that only ask to continue, and so begin no task.
const GO_ON: [&str; 12] =
    ["continue", "go on", "proceed", "yes", "ok", "okay", "thanks", "继续", "好的", "好", "可以", "谢谢"];

fn by_rule(view: &View, bodies: &dyn Bodies) -> Vec<TaskMark> {
    let turns = view.entries().filter(|entry| is_request(view, entry));
    let begins = turns.filter(|entry| !goes_on(&entry.message, bodies));
    begins.map(|entry| TaskMark { at: entry.seq, ends: false, title: None, by: TaskSource::Rule }).collect()
}

fn goes_on(said: &Message, bodies: &dyn Bodies) -> bool {
    let mut words = super::importance::texts(said, bodies);
    let (Some(text), None) = (words.next(), words.next()) else { return false };
    let text = text.trim().trim_end_matches(['.', '!', '。', '！']).to_lowercase();
    GO_ON.contains(&text.as_str())
}
