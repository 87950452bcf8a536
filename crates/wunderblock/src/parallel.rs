//! The same work on many things, on all cores, with the answers in order.

use crate::error::Error;
use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

/// Threads at most: what is worked through between two commits keeps no more of them busy.
const MOST: usize = 8;

/// Works through items on all cores; the answers have the order of the items.
///
/// # Errors
/// One of those that `work` gave; the rest is not begun then.
pub(crate) fn map<T: Send, R: Send>(
    items: Vec<T>,
    work: impl Fn(T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(MOST).min(items.len());
    if workers < 2 {
        return items.into_iter().map(work).collect();
    }
    let waiting = Mutex::new(items.into_iter().enumerate());
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.next());
    let run = || {
        let mut done = Vec::new();
        while let Some((place, item)) = next() {
            match work(item) {
                Ok(answer) => done.push((place, answer)),
                Err(error) => {
                    while next().is_some() {}
                    return Err(error);
                }
            }
        }
        Ok(done)
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(run)).collect();
        let mut done = run()?;
        for other in others {
            let more = other.join().map_err(|_| Error::Config("a working thread ended early".to_owned()))?;
            done.append(&mut more?);
        }
        Ok::<_, Error>(done)
    })?;
    done.sort_unstable_by_key(|(place, _)| *place);
    Ok(done.into_iter().map(|(_, answer)| answer).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_order() {
        for many in [0, 1, 2, 1000] {
            let answers = map((0..many).collect(), |item: u64| Ok(item * 2)).unwrap();
            assert_eq!(answers, (0..many).map(|item| item * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_ends_it() {
        let refuse = |item| if item == 7 { Err(Error::Config("seven".to_owned())) } else { Ok(item) };
        assert!(map((0..1000).collect(), refuse).unwrap_err().to_string().contains("seven"));
    }
}
