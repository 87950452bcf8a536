//! The labels under which marks count the parts that are left out.

use crate::result::mark::GapFact;

/// A label for spans, with a name in the plural and in the singular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    Error,
    Warning,
    Trouble,
    Failed,
    Passed,
    Skipped,
    SuitesPassed,
    Ok,
    Changed,
    Complete,
    Progress,
    Retries,
    Matches,
    Frames,
    Thrown,
    Traces,
    ShadowMemory,
    SeenBefore,
    SaidBefore,
    ShownBefore,
    Smaller,
    Vendored,
    KernelThreads,
    WithErrors,
    Contents,
    Badges,
    Titles,
    Headings,
    Paragraphs,
    Items,
    Rows,
    CodeBlocks,
    AsAbove,
}

impl Label {
    /// Returns the fact that a mark states about `count` spans with this label.
    pub(crate) fn fact(self, count: u64) -> GapFact {
        let (many, one) = self.names();
        let what = if count == 1 { one } else { many };
        GapFact { count: Some(count), what: what.into() }
    }

    /// Returns the plural and the singular name.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Error => ("ERROR", "ERROR"),
            Self::Warning => ("WARN", "WARN"),
            Self::Trouble => ("with error words", "with error words"),
            Self::Failed => ("failed", "failed"),
            Self::Passed => ("passed", "passed"),
            Self::Skipped => ("skipped", "skipped"),
            Self::SuitesPassed => ("suites passed", "suite passed"),
            Self::Ok => ("ok", "ok"),
            Self::Changed => ("changed", "changed"),
            Self::Complete => ("complete", "complete"),
            Self::Progress => ("progress", "progress"),
            Self::Retries => ("retries", "retry"),
            Self::Matches => ("matches", "match"),
            Self::Frames => ("frames", "frame"),
            Self::Thrown => ("thrown", "thrown"),
            Self::Traces => ("traces like one shown", "trace like one shown"),
            Self::ShadowMemory => ("lines of shadow memory", "line of shadow memory"),
            Self::SeenBefore => ("seen before", "seen before"),
            Self::SaidBefore => ("said before", "said before"),
            Self::ShownBefore => ("shown before", "shown before"),
            Self::Smaller => ("smaller", "smaller"),
            Self::Vendored => ("in vendored folders", "in vendored folders"),
            Self::KernelThreads => ("kernel threads", "kernel thread"),
            Self::WithErrors => ("with errors", "with errors"),
            Self::Contents => ("lines of contents", "line of contents"),
            Self::Badges => ("badges", "badge"),
            Self::Titles => ("title", "title"),
            Self::Headings => ("headings", "heading"),
            Self::Paragraphs => ("paragraphs", "paragraph"),
            Self::Items => ("list items", "list item"),
            Self::Rows => ("table rows", "table row"),
            Self::CodeBlocks => ("code blocks", "code block"),
            Self::AsAbove => ("blocks as above, numbers aside", "block as above, numbers aside"),
        }
    }
}
