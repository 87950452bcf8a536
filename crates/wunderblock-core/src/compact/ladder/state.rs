//! State of the rung that covers what the policy's steps leave out.

use crate::compact::job::{Detail, SummaryJob};
use crate::record::decision::Trim;

/// Name of the rung in reports.
pub(super) const COVER: &str = "cover";

/// Form of the summary, each tried if the one before had no text, or did not fit.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// A summary beside what the plan keeps.
    #[default]
    Beside,
    /// A summary beside what always stays.
    Least,
    /// A catalogue beside what always stays: a line for each turn, which always has text.
    Catalogue,
}

impl Form {
    pub(super) fn detail(self) -> Detail {
        if self == Self::Catalogue { Detail::Catalogue } else { Detail::Full }
    }

    pub(super) fn next(self) -> Option<Self> {
        match self {
            Self::Beside => Some(Self::Least),
            Self::Least => Some(Self::Catalogue),
            Self::Catalogue => None,
        }
    }
}

/// State of the rung.
pub(super) enum Cover {
    /// Summaries of this form are to be asked for.
    Open(Form),
    /// Summaries were asked for. They complete the trim, or are merged with the lane's other summaries. `drafts` is the
    /// number of the ladder's last drafts that they are made from.
    Asked { trim: Box<Trim>, jobs: Vec<SummaryJob>, form: Form, merges: bool, drafts: usize },
    /// The last `drafts` drafts are to be merged with the lane's other summaries.
    Made { trim: Box<Trim>, form: Form, drafts: usize },
    /// The rung is over.
    Done,
}

impl Default for Cover {
    fn default() -> Self {
        Self::Open(Form::default())
    }
}
