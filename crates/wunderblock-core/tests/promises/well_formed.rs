//! Promise: a request is valid for a model: calls and results are paired, no text is blank, and ids differ.

use crate::simulated::history::{budget, config, new_history, steps};
use crate::simulated::lane::{build, view_of};
use proptest::prelude::*;
use std::collections::HashSet;
use wunderblock_core::message::{Body, Part, Role};
use wunderblock_core::request::Request;

pub(crate) fn check(request: &Request) {
    let mut ids = HashSet::new();
    let mut expected: Vec<_> = Vec::new();
    for message in &request.messages {
        assert!(!message.parts.is_empty(), "an empty message");
        for part in message.parts.iter().chain(&request.system) {
            assert!(
                part.bodies().iter().all(|body| matches!(body, Body::Inline(_))),
                "a body is not in place"
            );
            assert!(!matches!(part, Part::Text { .. }) || part.speaks(), "a blank text");
        }
        if message.role == Role::Tool {
            let results: Vec<_> = message.results().cloned().collect();
            assert_eq!(results.len(), message.parts.len(), "a tool message holds results only");
            assert_eq!(results, expected, "results stand right after their calls, in their order");
            expected.clear();
            continue;
        }
        assert_eq!(expected, [], "calls without results");
        assert_eq!(message.results().count(), 0, "a result outside a tool message");
        assert!(message.parts.iter().any(Part::speaks), "nothing but thinking");
        if message.role == Role::Assistant {
            expected = message.calls().cloned().collect();
            for call in &expected {
                assert!(ids.insert(call.clone()), "{call:?} is used twice");
            }
        } else {
            assert_eq!(message.calls().count(), 0, "a call by someone else");
        }
    }
    assert_eq!(expected, [], "calls without results");
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn every_request_is_well_formed(steps in steps(40), budget in budget(), lost in 0..20u64) {
        let mut history = new_history();
        for step in &steps {
            history.play(step);
        }
        history.wax.lose(wunderblock_core::id::Handle(lost));
        let mut view = view_of(&history.events);
        if let Ok(built) = build(&mut history, &mut view, budget, &[]) {
            check(&built.rendered.request);
        }
    }
}
