//! The steps of the session.

/// One step of the session.
#[derive(Clone, Copy)]
pub(in crate::record) enum Step {
    /// The user writes.
    User(&'static str),
    /// The assistant says something (or nothing) and calls tools, all of them in one reply.
    Call(&'static str, &'static [Tool]),
    /// The same after thinking.
    Think(&'static str, &'static str, &'static [Tool]),
    /// The assistant says something and its turn ends.
    Say(&'static str),
    /// Not part of the session: the last answers must hold this text, or the recording fails.
    Expect(&'static str),
    /// Not part of the session: the place before the next prompt gets a name.
    Mark(&'static str),
    /// The user goes back to a place of that name and writes another prompt; what followed it is a dead branch.
    Back(&'static str),
    /// The user compacts the conversation; this is the summary.
    Compact(&'static str),
    /// Not part of the session: someone else's commit comes into the tree.
    Pulled {
        /// The file it changes.
        path: &'static str,
        /// What is replaced.
        old: &'static str,
        /// By what.
        new: &'static str,
        /// The commit's message.
        message: &'static str,
    },
}

/// A call of a tool. Paths are relative to the repository.
#[derive(Clone, Copy)]
pub(in crate::record) enum Tool {
    /// A command that succeeds.
    Bash(&'static str),
    /// A command that fails.
    Fails(&'static str),
    /// A whole file.
    Read(&'static str),
    /// Lines of a file: the first, and how many.
    Lines(&'static str, usize, usize),
    /// A file that is not there.
    Missing(&'static str),
    /// A pattern and where it is searched for, answered with lines.
    Grep(&'static str, &'static str),
    /// A pattern and where it is searched for, answered with the names of files.
    Files(&'static str, &'static str),
    /// Files whose path matches.
    Glob(&'static str),
    /// A file, a text that is in it once, and what replaces it.
    Edit(&'static str, &'static str, &'static str),
    /// The same of a text that is not in the file.
    Misses(&'static str, &'static str, &'static str),
    /// A file and its new content.
    Write(&'static str, &'static str),
    /// The list of what is to be done.
    Todo(&'static [(Status, &'static str)]),
    /// A sub-agent: what it is about, what it is told, what it does. Its last words are the answer.
    Task(&'static str, &'static str, &'static [Step]),
}

/// How far a thing to be done is.
#[derive(Clone, Copy)]
pub(in crate::record) enum Status {
    /// Not begun.
    Open,
    /// Being done.
    Doing,
    /// Done.
    Done,
}
