//! A build as a value: it states its needs, receives answers, and ends with a result.
//!
//! A build is an `async fn` that awaits only its needs. The code of its stages therefore reads from top to bottom,
//! and the compiler writes the state machine. A build does no input or output: a driver asks for the next need,
//! answers it from a ledger or from memory, and asks again. The answer is passed to the [`Responder`] of the need, so
//! its type always matches.

use crate::base::error::Error;
use crate::ledger::recording::record::MadeFrom;
use crate::ledger::texts::Texts;
use crate::request::input::provider::StateProvider;
use crate::request::input::snapshot::{LaneWanted, Snapshot};
use crate::request::named::unasked::{RecallFound, RecallWanted};
use crate::request::named::{NamedEvents, NamedPlaces};
use futures_channel::oneshot;
use std::collections::{BTreeMap, HashSet};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use wunderblock_core::event::{Event, NewEvent};
use wunderblock_core::id::{Handle, LaneId};
use wunderblock_core::plan::Injection;
use wunderblock_core::units::{Bytes, Seq};
use wunderblock_sources::{FoundSources, InstructionRules, SourceQuery, Workspace, instructions};
use wunderblock_store::{BodyCount, Marked, TallyRow};

/// Need of a build.
pub(crate) enum Need {
    /// Snapshot of a lane.
    Lane(LaneWanted, Responder<Snapshot>),
    /// Texts of bodies, except erased ones.
    Texts(Vec<Handle>, Responder<Texts>),
    /// Those of the given texts that are recorded reductions.
    Known(Vec<Handle>, Responder<HashSet<Handle>>),
    /// Older messages that match a query, best first.
    Search(String, Responder<Vec<Injection>>),
    /// Passages of the past that bear on the newest typed turn, best first.
    Recall(RecallWanted, Responder<RecallFound>),
    /// Content outside the ledger: instruction files, and the answers of state providers.
    Outside(Box<OutsideWanted>, Responder<Outside>),
    /// Content for rendering: texts, and running sums at positions.
    Shown(ShownWanted, Responder<ShownTexts>),
    /// Control events, system messages or turns up to a position, latest first.
    Marked(MarkedWanted, Responder<Vec<Event>>),
    /// Events in a range of positions, oldest first.
    Events(EventsWanted, Responder<Vec<Event>>),
    /// Events at positions.
    At(Vec<Seq>, Responder<Vec<Event>>),
    /// Newest position of the session, and the total length of its texts.
    Standing(Responder<(Seq, Bytes)>),
    /// Events to record. The answer is an error if that is not possible any more.
    Append(Box<AppendWanted>, Responder<Result<(), Error>>),
    /// A lane to hold while it is compacted. The answer is the name of another holder.
    Claim(LaneId, Responder<Option<String>>),
    /// The lane that is held, to be given back.
    Release(Responder<()>),
    /// Work on other threads to wait for.
    Wait(Pin<Box<dyn Future<Output = ()> + Send>>, Responder<()>),
}

/// Control events, system messages or turns to read.
#[derive(Clone, Debug)]
pub(crate) struct MarkedWanted {
    pub(crate) what: Marked,
    /// Last position to include.
    pub(crate) to: Seq,
    /// Maximum number of events.
    pub(crate) limit: u64,
}

/// Events to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventsWanted {
    pub(crate) from: Seq,
    pub(crate) to: Seq,
    /// Maximum number of events.
    pub(crate) limit: u64,
    /// Approximate maximum length of the texts.
    pub(crate) text: Bytes,
}

/// Events to record.
pub(crate) struct AppendWanted {
    /// Required newest position of the session.
    pub(crate) expect_head: Option<Seq>,
    /// Events with full texts.
    pub(crate) events: Vec<NewEvent>,
    /// What the events were made from.
    pub(crate) made: MadeFrom,
    /// New token counts of bodies.
    pub(crate) counts: Vec<(Handle, BodyCount)>,
}

/// Content to read outside the ledger.
pub(crate) struct OutsideWanted {
    /// Instruction files to read, or `None` to read none.
    pub(crate) files: Option<FilesWanted>,
    /// Providers to ask for the state of the work.
    pub(crate) providers: Vec<StateProvider>,
}

/// Instruction files to read: an owned [`SourceQuery`].
pub(crate) struct FilesWanted {
    pub(crate) workspace: Workspace,
    pub(crate) rules: InstructionRules,
    pub(crate) touched: Vec<String>,
    pub(crate) frozen: Option<Vec<(String, String)>>,
    pub(crate) scanned: Option<Vec<String>>,
}

impl FilesWanted {
    fn read(&self) -> FoundSources {
        instructions(&SourceQuery {
            workspace: &self.workspace,
            rules: &self.rules,
            touched: &self.touched,
            frozen: self.frozen.as_deref(),
            scanned: self.scanned.as_deref(),
        })
    }
}

/// Content read outside the ledger.
pub(crate) struct Outside {
    /// Instruction files.
    pub(crate) found: Option<FoundSources>,
    /// Answer of each provider, or the reason why it gave none.
    pub(crate) said: Vec<Result<String, String>>,
}

impl OutsideWanted {
    /// Reads the files and asks the providers. This blocks.
    pub(crate) fn read(&self) -> Outside {
        Outside {
            found: self.files.as_ref().map(FilesWanted::read),
            said: self.providers.iter().map(StateProvider::ask).collect(),
        }
    }
}

/// Content that a rendering needs.
pub(crate) struct ShownWanted {
    /// Bodies whose texts are not loaded yet.
    pub(crate) handles: Vec<Handle>,
    /// Positions at the edges of gaps.
    pub(crate) edges: Vec<Seq>,
    /// Names whose texts are wanted.
    pub(crate) named: Arc<NamedPlaces>,
}

/// Answer to [`ShownWanted`]: texts, the running sums at the edges of gaps, and what was read for the names.
#[derive(Default)]
pub(crate) struct ShownTexts {
    pub(crate) texts: Texts,
    pub(crate) tallies: BTreeMap<Seq, TallyRow>,
    pub(crate) named: NamedEvents,
}

/// Receiver of the answer to a need.
pub(crate) struct Responder<T>(oneshot::Sender<T>);

impl<T> Responder<T> {
    /// Answers the need. Does nothing if the build has been dropped in the meantime.
    pub(crate) fn give(self, answer: T) {
        let _ = self.0.send(answer);
    }
}

/// Connection of a build to its driver.
#[derive(Clone, Default)]
pub(crate) struct Asking(Arc<Mutex<Option<Need>>>);

impl Asking {
    /// States a need, and waits for the answer.
    ///
    /// # Errors
    /// Returns an error if the driver drops the need without an answer, which is a defect in the driver.
    pub(crate) async fn ask<T>(&self, need: impl FnOnce(Responder<T>) -> Need) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(need(Responder(reply)));
        answer.await.map_err(|_| Error::Internal("the driver left a need of a build unanswered".to_owned()))
    }

    /// Loads the texts that are missing from `texts`. Returns whether any text was missing.
    pub(crate) async fn texts(
        &self,
        texts: &mut Texts,
        handles: impl IntoIterator<Item = Handle>,
    ) -> Result<bool, Error> {
        let missing = texts.missing(handles);
        if missing.is_empty() {
            return Ok(false);
        }
        texts.extend(self.ask(|reply| Need::Texts(missing, reply)).await?);
        Ok(true)
    }

    fn take(&self) -> Option<Need> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Build in progress.
pub(crate) struct Build<T> {
    stages: Pin<Box<dyn Future<Output = T> + Send>>,
    asking: Asking,
}

/// State of a build after a step.
pub(crate) enum Polled<T> {
    /// The build has a need: answer it, then call [`Build::next`] again.
    Need(Need),
    /// The build has ended with this result.
    Done(T),
}

impl<T> Build<T> {
    /// Creates a build. The build starts with the first call to [`Build::next`].
    pub(crate) fn new<F: Future<Output = T> + Send + 'static>(stages: impl FnOnce(Asking) -> F) -> Self {
        let asking = Asking::default();
        Self { stages: Box::pin(stages(asking.clone())), asking }
    }

    /// Continues to the next need, or to the end.
    ///
    /// # Errors
    /// Returns an error if the previous need was not answered, which is a defect in the driver.
    pub(crate) fn next(&mut self) -> Result<Polled<T>, Error> {
        match self.stages.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => Ok(Polled::Done(done)),
            Poll::Pending => match self.asking.take() {
                Some(need) => Ok(Polled::Need(need)),
                None => {
                    Err(Error::Internal("the driver continued a build without answering its need".to_owned()))
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_gets_what_it_asks_for() {
        let mut build = Build::new(async |asking: Asking| {
            let known = asking.ask(|reply| Need::Known(vec![Handle(7)], reply)).await?;
            Ok::<_, Error>(known.len())
        });
        let Polled::Need(Need::Known(handles, reply)) = build.next().unwrap() else { panic!("no need") };
        assert_eq!(handles, [Handle(7)]);
        reply.give(handles.into_iter().collect());
        let Polled::Done(done) = build.next().unwrap() else { panic!("not done") };
        assert_eq!(done.unwrap(), 1);
    }

    #[test]
    fn a_need_without_an_answer_is_an_error_and_no_hang() {
        let ask = async |asking: Asking| {
            asking.ask(|reply| Need::Known(Vec::new(), reply)).await.map(|known| known.len())
        };
        let mut build = Build::new(ask);
        assert!(matches!(build.next(), Ok(Polled::Need(_))), "the need is dropped here");
        assert!(matches!(build.next(), Ok(Polled::Done(Err(Error::Internal(_))))));
        let mut build = Build::new(ask);
        let Ok(Polled::Need(need)) = build.next() else { panic!("no need") };
        assert!(matches!(build.next(), Err(Error::Internal(_))), "asked again before the answer");
        drop(need);
    }
}
