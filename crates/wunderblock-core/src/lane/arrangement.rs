//! Arrangement of a view: its entries grouped into exchanges, each kept or left out as a whole. [`crate::lane::pair`]
//! builds it.

use crate::id::CallId;
use crate::record::budget::Reason;
use crate::record::decision::PartPosition;
use crate::units::Seq;
use std::sync::{Arc, OnceLock};

/// A tool call, and the position of its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairedCall {
    /// Id as recorded. Some programs reuse the same id for several calls.
    pub id: CallId,
    /// Id of the call in a request, in which no two calls may share an id.
    pub name: CallId,
    /// Position of the call.
    pub place: PartPosition,
    /// Position of the call's result; `None` until the result arrives.
    pub result: Option<PartPosition>,
}

/// Kind of an exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExchangeKind {
    /// A turn of the user, or of a harness in the user's place.
    User,
    /// Text of the operator.
    System,
    /// A reply from the model, with the results of the calls it made.
    Exchange {
        /// Calls of the reply, in order.
        calls: Vec<PairedCall>,
    },
}

/// Entries that are kept or left out together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Kind of the exchange.
    pub shape: ExchangeKind,
    /// Positions of all entries of the exchange, ascending.
    pub members: Vec<Seq>,
    /// Positions of the entries that hold the speaker's own words, ascending. Entries that contain only tool results
    /// are not included.
    pub speakers: Vec<Seq>,
    /// Place of the exchange in a request: the exchange's first speaker at or after the frontier or, if there is
    /// none, its first entry at or after the frontier. An exchange before the frontier has the place of its first
    /// speaker.
    pub key: Seq,
    /// Position of the last entry.
    pub last: Seq,
}

impl Exchange {
    /// Returns the calls made in the exchange.
    #[must_use]
    pub fn calls(&self) -> &[PairedCall] {
        match &self.shape {
            ExchangeKind::Exchange { calls } => calls,
            ExchangeKind::User | ExchangeKind::System => &[],
        }
    }

    /// Returns whether a call of the exchange has no result yet.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.calls().iter().any(|call| call.result.is_none())
    }
}

/// The exchanges of a view, and the entries and results that belong to no exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// Exchanges in the order of a request.
    pub exchanges: Vec<Exchange>,
    /// Exchanges withheld because one of their entries is hidden, or because their text is shown elsewhere. Entries
    /// of withheld exchanges are also in `aside`, unless another exchange needs them.
    pub hidden: Vec<Exchange>,
    /// Entries that no request can show, with the reason.
    pub aside: Vec<(Seq, Reason)>,
    /// Tool results that cannot be shown, with the reason. The rest of the entry can be shown.
    pub loose: Vec<(PartPosition, Reason)>,
    /// Tool results whose call has not arrived yet, with the reason that applies until the call arrives.
    pub early: Vec<(PartPosition, Reason)>,
}

/// Arrangement of a view in its current state, computed on first use. The arrangement is cached because a build asks
/// for it in eight places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arranged(OnceLock<Arc<Arrangement>>);

impl Arranged {
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> Arrangement) -> Arc<Arrangement> {
        Arc::clone(self.0.get_or_init(|| Arc::new(make())))
    }
}

/// Two caches are always equal, because the cached arrangement follows from its view.
impl PartialEq for Arranged {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Arranged {}
