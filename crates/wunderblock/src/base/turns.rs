//! Scans that take turns, so that none of them waits for the end of another, and few of them hold a page of text at the
//! same time.

use futures_channel::oneshot;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Turns of the scans of one server, in the order in which they ask. A scan takes a turn for each page. See
/// [`Deadline::in_turns`](crate::Deadline::in_turns).
#[derive(Clone, Debug)]
pub struct Turns(Arc<Mutex<Queue>>);

#[derive(Debug)]
struct Queue {
    free: usize,
    waiting: VecDeque<oneshot::Sender<Turn>>,
}

impl Turns {
    /// Creates turns of which a number can be taken at the same time.
    #[must_use]
    pub fn new(at_once: usize) -> Self {
        Self(Arc::new(Mutex::new(Queue { free: at_once, waiting: VecDeque::new() })))
    }

    /// Waits for a turn. It ends when the returned value is dropped.
    pub(crate) async fn take(&self) -> Turn {
        let answered = {
            let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if queue.free > 0 {
                queue.free -= 1;
                return Turn(Some(self.clone()));
            }
            let (answer, answered) = oneshot::channel();
            queue.waiting.push_back(answer);
            answered
        };
        // Every turn is passed on, so an answer always comes.
        answered.await.unwrap_or_default()
    }
}

/// A turn. The default is one that nobody else waits for.
#[derive(Debug, Default)]
pub(crate) struct Turn(Option<Turns>);

impl Turn {
    /// Returns whether another scan waits for this turn.
    pub(crate) fn is_wanted(&self) -> bool {
        let is_waited_for =
            |turns: &Turns| !turns.0.lock().unwrap_or_else(PoisonError::into_inner).waiting.is_empty();
        self.0.as_ref().is_some_and(is_waited_for)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(turns) = self.0.take() else { return };
        let next = {
            let mut queue = turns.0.lock().unwrap_or_else(PoisonError::into_inner);
            let next = queue.waiting.pop_front();
            queue.free += usize::from(next.is_none());
            next
        };
        // A scan that no longer waits gives the turn back, which drops it, and so passes it on.
        let _ = next.map(|next| next.send(Self(Some(turns.clone()))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_executor::block_on;
    use std::task::{Context, Poll, Waker};

    fn ready<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        }
    }

    #[test]
    fn turns_go_to_those_who_wait_in_order_and_none_is_lost() {
        let turns = Turns::new(1);
        let first = block_on(turns.take());
        assert!(!first.is_wanted());
        let (mut second, mut gone, mut third) =
            (Box::pin(turns.take()), Box::pin(turns.take()), Box::pin(turns.take()));
        assert!(ready(second.as_mut()).is_none());
        assert!(ready(gone.as_mut()).is_none());
        assert!(ready(third.as_mut()).is_none());
        assert!(first.is_wanted());
        // One leaves before its turn comes, and one after it came.
        drop(gone);
        drop(first);
        assert!(ready(third.as_mut()).is_none());
        drop(second);
        let third = ready(third.as_mut()).expect("the turn is passed on");
        assert!(!third.is_wanted());
        drop(third);
        let (_one, mut other) = (block_on(turns.take()), Box::pin(turns.take()));
        assert!(ready(other.as_mut()).is_none(), "one at a time");
    }
}
