//! Climbing the ladder on a thread of its own: the summariser may block.

use super::prepare::Prepared;
use super::{CompactOptions, OnProgress, Stage};
use crate::error::Error;
use crate::summarize::attempt::{self, Draft, Writing};
use crate::summarize::{Brief, Earlier, Material, Summarise};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wunderblock_core::compact::{Job, Ladder, Level, Next, Proposal};
use wunderblock_core::message::Body;
use wunderblock_core::policy::Policy;
use wunderblock_core::ports::Bodies;
use wunderblock_core::units::{Seq, Tokens};
use wunderblock_core::view::Entry;

/// What a climb came to.
pub(super) struct Climbed {
    pub(super) proposal: Proposal,
    /// The texts that were written, in order; the proposal's summaries name them by their numbers.
    pub(super) drafts: Vec<Draft>,
    pub(super) interrupted: bool,
}

/// Climbs, on a thread of its own.
pub(super) async fn run(
    options: &CompactOptions,
    prepared: &Prepared,
    level: Level,
) -> Result<Climbed, Error> {
    let (send, receive) = futures_channel::oneshot::channel();
    let climb = Climb {
        prepared: prepared.clone(),
        policy: options.compactor.policy.clone(),
        summariser: options.compactor.summariser.clone(),
        focus: options.focus.clone(),
        progress: options.progress.clone(),
    };
    let thread = std::thread::Builder::new().name("compact".to_owned());
    let started = thread.spawn(move || {
        let _ = send.send(climb.run(level));
    });
    started.map_err(|error| Error::Config(format!("no thread could be started: {error}")))?;
    receive.await.map_err(|_| Error::Config("the compaction ended early".to_owned()))
}

struct Climb {
    prepared: Prepared,
    policy: Arc<Policy>,
    summariser: Option<Arc<dyn Summarise>>,
    focus: Option<String>,
    progress: Option<OnProgress>,
}

impl Climb {
    fn run(&self, level: Level) -> Climbed {
        let prepared = &self.prepared;
        let mut ladder = Ladder::new(&self.policy, prepared.ask(), level, &prepared.tasks);
        let mut drafts: Vec<Draft> = Vec::new();
        let stopped = AtomicBool::new(false);
        loop {
            match ladder.climb() {
                Next::Done(proposal) => {
                    return Climbed {
                        proposal: *proposal,
                        drafts,
                        interrupted: stopped.load(Ordering::Relaxed),
                    };
                }
                Next::Summarise(jobs) => {
                    let first = drafts.len();
                    let of = first + jobs.len();
                    for job in jobs {
                        let told = |bytes| self.tell(&Stage::Summarising { done: drafts.len(), of, bytes });
                        if stopped.load(Ordering::Relaxed) || !told(0) {
                            stopped.store(true, Ordering::Relaxed);
                            break;
                        }
                        let draft = self.write(&ladder, &job, &|bytes| {
                            let on = told(bytes);
                            stopped.fetch_or(!on, Ordering::Relaxed);
                            on
                        });
                        drafts.push(draft);
                    }
                    let made = drafts.get(first..).unwrap_or_default().iter();
                    ladder.take(made.map(|draft| Some(Body::from(draft.text.as_str()))).collect(), first);
                }
            }
        }
    }

    fn tell(&self, stage: &Stage) -> bool {
        self.progress.as_ref().is_none_or(|progress| progress(stage))
    }

    fn write(&self, ladder: &Ladder<'_>, job: &Job, told: &dyn Fn(usize) -> bool) -> Draft {
        let (view, texts) = (&self.prepared.view, &self.prepared.texts);
        let entries: Vec<&Entry> = job.entries.iter().filter_map(|seq| view.entry(*seq)).collect();
        let earlier: Vec<Earlier<'_>> =
            job.sources.iter().filter_map(|at| self.earlier(ladder, *at)).collect();
        let material = Material { from: job.from, to: job.to, entries, bodies: texts, earlier };
        let summary = &self.policy.summary;
        let brief = Brief {
            template: &summary.template,
            target: job.target,
            most: summary
                .overage
                .of(job.target)
                .min(Tokens(job.tokens.0.saturating_sub(1)))
                .max(summary.at_least),
            focus: self.focus.as_deref(),
            detail: job.detail,
        };
        let writing = Writing { summary, replaces: job.tokens, told };
        attempt::write(&material, &brief, &self.prepared.gauge, self.summariser.as_deref(), &writing)
    }

    /// A summary that goes into another: one that stands, or one of this climb.
    fn earlier<'a>(&'a self, ladder: &'a Ladder<'_>, at: Seq) -> Option<Earlier<'a>> {
        if let Some(draft) = ladder.draft(at) {
            let (job, text) = (&draft.job, draft.text.inline()?);
            return Some(Earlier { at, from: job.from, to: job.to, level: job.level, text });
        }
        let node = self.prepared.view.node(at)?;
        let text = match &node.text {
            Body::Inline(text) => text.as_str(),
            Body::Blob { blob, .. } => self.prepared.texts.text(*blob)?,
        };
        Some(Earlier { at, from: node.from, to: node.to, level: node.level, text })
    }
}
