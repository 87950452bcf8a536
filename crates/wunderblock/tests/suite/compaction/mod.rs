//! What is promised of compaction, tried from outside: on sessions of all kinds, by every policy, while other things go
//! on and go wrong.

mod breaker;
mod conformance;
mod coverage;
mod crash;
mod crowd;
mod damage;
mod edits;
mod errand;
mod facts;
mod hostile;
mod lanes;
mod overflow;
mod products;
mod proof;
mod rules;
mod scene;
mod summaries;
mod sweep;
mod undo;
mod visibility;
mod words;
mod work;
