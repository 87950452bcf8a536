//! Runs that are missing from a rendered request, with the reasons.

use super::RequestWriter;
use crate::lane::pair::{Arrangement, Exchange};
use crate::lane::restate;
use crate::lane::trim::{self, treatment};
use crate::record::budget::{Reason, Treatment};
use crate::rendering::line::Missing;
use crate::units::{Cost, Seq};
use std::collections::BTreeSet;

impl RequestWriter<'_> {
    /// Lists what the request does not show: what the trim left out, what no request can show, and what was erased.
    pub(super) fn missing(&mut self, arrangement: &Arrangement) {
        let frontier = self.trim.drop_before;
        let lines = self.out.lines.iter().filter_map(|line| line.seq);
        let shown: BTreeSet<Seq> = lines.filter(|seq| *seq < frontier).collect();
        for (from, to, reason) in trim::left_out(shown.iter().copied().collect(), self.trim, self.view) {
            let shown_at = restate::shown_at(self.view, from).filter(|_| reason == Reason::Repeated);
            self.out.missing.push(Missing { from, to, known: None, reason, shown_at });
        }
        let waiting = arrangement.exchanges.iter().filter(|exchange| trim::waits(exchange, self.trim));
        for seq in waiting.flat_map(|exchange| &exchange.members).filter(|seq| **seq >= frontier) {
            self.list(*seq, None, Reason::Waiting);
        }
        for (seq, reason) in arrangement.aside.iter().filter(|(seq, _)| *seq >= frontier) {
            self.list(*seq, None, *reason);
        }
        for ((seq, index), reason) in arrangement.loose.iter().chain(&arrangement.early) {
            // A result before the frontier is in a listed run, unless the rest of its entry is shown.
            if *seq >= frontier {
                self.list(*seq, Some(*index), *reason);
            } else if shown.contains(seq) {
                self.list(*seq, Some(*index), Reason::Budget);
            }
        }
        let gone = arrangement.exchanges.iter().filter(|exchange| exchange.last < frontier);
        let gone = gone.filter(|exchange| treatment(exchange, self.trim, self.view) == Treatment::LeftOut);
        for (seq, index) in gone.flat_map(Exchange::calls).filter_map(|call| call.result) {
            if shown.contains(&seq) {
                self.list(seq, Some(index), Reason::Budget);
            }
        }
        // Erased runs can overlap, but each position is listed once.
        let mut next = Seq::START;
        for (from, to, events) in self.view.erased() {
            let from = from.max(next);
            if from <= to {
                let count = events.min((to.0 - from.0).saturating_add(1));
                let known = Some((count, Cost::ZERO));
                let reason = Reason::Erased;
                self.out.missing.push(Missing { from, to, known, reason, shown_at: None });
                next = to.next();
            }
        }
        self.join();
    }

    fn join(&mut self) {
        self.out.missing.sort_by_key(|missing| (missing.from, missing.to));
        self.out.missing.dedup_by(|next, run| {
            let is_alike = run.reason == next.reason && run.shown_at == next.shown_at;
            let joins = is_alike && (run.to.next() == next.from || run.to == next.from);
            match (&mut run.known, next.known) {
                (Some((count, cost)), Some((more, other))) if joins => {
                    *count += more;
                    *cost += other;
                    run.to = next.to;
                    true
                }
                _ => false,
            }
        });
    }
}
