//! Promise: a plan and its request are a function of what was recorded.

use crate::simulated::history::{budget, config, new_history, steps};
use crate::simulated::lane::{decide, show, view_of};
use proptest::prelude::*;
use wunderblock_core::pair::arrange;

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn the_same_events_give_the_same_bytes(steps in steps(25), budget in budget()) {
        let mut history = new_history();
        for step in &steps {
            history.play(step);
        }
        let once = || {
            let view = view_of(&history.events);
            let decided = decide(&history, &view, budget, &[]);
            format!("{:?}\n{decided:?}\n{:?}", arrange(&view), show(&history, &view))
        };
        prop_assert_eq!(once(), once());
    }
}
