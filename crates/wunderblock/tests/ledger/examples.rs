//! The examples run.

#[path = "../../examples/hello.rs"]
mod hello;
#[path = "../../examples/live.rs"]
mod live;
#[path = "../../examples/replay_and_diff.rs"]
mod replay_and_diff;
#[path = "../../examples/search_and_erase.rs"]
mod search_and_erase;
#[path = "../../examples/store.rs"]
mod store;
#[path = "../../examples/summariser.rs"]
mod summariser;

#[test]
fn every_example_runs() {
    for (name, main) in [
        ("hello", hello::main as fn() -> Result<(), wunderblock::Error>),
        ("live", live::main),
        ("replay_and_diff", replay_and_diff::main),
        ("search_and_erase", search_and_erase::main),
        ("store", store::main),
        ("summariser", summariser::main),
    ] {
        main().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
