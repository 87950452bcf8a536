//! The examples run without errors.

#[path = "../../../../examples/hello.rs"]
mod hello;
#[path = "../../../../examples/live.rs"]
mod live;
#[path = "../../../../examples/replay_and_diff.rs"]
mod replay_and_diff;
#[path = "../../../../examples/search_and_erase.rs"]
mod search_and_erase;
#[path = "../../../../examples/store.rs"]
mod store;
#[path = "../../../../examples/summariser.rs"]
mod summariser;
#[path = "../../../../examples/tour.rs"]
mod tour;

#[test]
fn every_example_runs() {
    for (name, main) in [
        ("hello", hello::main as fn() -> Result<(), wunderblock::Error>),
        ("live", live::main),
        ("replay_and_diff", replay_and_diff::main),
        ("search_and_erase", search_and_erase::main),
        ("store", store::main),
        ("summariser", summariser::main),
        ("tour", tour::main),
    ] {
        main().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// The guide contains the tour unchanged.
#[test]
fn the_guide_shows_what_runs() {
    let guide = include_str!("../../../../../../docs/library.md");
    let tour = include_str!("../../../../examples/tour.rs");
    let body = |text: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim).skip_while(|line| !line.starts_with("let engine"));
        lines.take_while(|line| !matches!(*line, "```" | "Ok(())")).map(ToOwned::to_owned).collect()
    };
    let shown = guide.split("## A tour").nth(1).unwrap_or_default();
    assert_eq!(body(shown), body(tour));
}
