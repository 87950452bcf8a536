//! The road of a claim, and the way back.

use super::*;
use wunderblock::ErrorKind;
use wunderblock_core::memory::{ForgetReason, HoldReason};

#[test]
fn what_a_person_says_is_believed_at_once_and_in_the_next_process() {
    let (home, engine) = home();
    let ours = memories(&engine);
    let name = told(&ours, "The tests run with `make check`");
    assert_eq!(texts(&ours), ["The tests run with `make check`"]);
    drop((ours, engine));
    let engine = home.engine();
    let found = block_on(memories(&engine).show(name)).unwrap();
    assert_eq!((found.state, found.by), ("current", ("person", "ada".to_owned())));
}

#[test]
fn what_others_propose_waits_for_a_verdict() {
    let (_home, engine) = home();
    let ours = memories(&engine);
    let proposal =
        proposed(&ours, learned("Deploys happen on Fridays", ("s", 2, "Deploys happen on Fridays")));
    assert!(texts(&ours).is_empty());
    let waiting = block_on(ours.proposals(false)).unwrap();
    assert_eq!(waiting.len(), 1);
    assert_eq!((waiting[0].state, waiting[0].evidence.len()), ("pending", 1));
    assert!(matches!(approve(&ours, &proposal), MemoryOutcome::Applied { .. }));
    assert_eq!(texts(&ours), ["Deploys happen on Fridays"]);
    let again = block_on(ours.review(proposal, decision(MemoryVerdict::Approved), ada())).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Refused);
}

#[test]
fn nobody_decides_about_their_own_proposal() {
    let (_home, engine) = home();
    let ours = memories(&engine);
    let proposal = proposed(&ours, learned("Port 8080 is taken", ("s", 2, "Port 8080 is taken")));
    let agent = MemoryAuthor::Agent("claude-code".into());
    let policy = MemoryAuthor::Policy("small".into());
    for by in [model(), agent] {
        let refused = block_on(ours.review(proposal.clone(), decision(MemoryVerdict::Approved), by));
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Refused);
    }
    assert!(texts(&ours).is_empty());
    let by_policy = block_on(ours.review(proposal, decision(MemoryVerdict::Approved), policy)).unwrap();
    assert!(matches!(by_policy, MemoryOutcome::Applied { .. }));
    // What nobody's words support is held, and a policy does not decide about it.
    let unsupported = proposed(&ours, fact("Port 9090 is taken"));
    let policy = MemoryAuthor::Policy("small".into());
    assert!(block_on(ours.review(unsupported, decision(MemoryVerdict::Approved), policy)).is_err());
    assert_eq!(texts(&ours), ["Port 8080 is taken"]);
}

#[test]
fn the_same_claim_is_known_whatever_its_spelling() {
    let (_home, engine) = home();
    let ours = memories(&engine);
    let name = told(&ours, "The tests run with pytest");
    for text in ["the TESTS run with pytest!", "test run  with ｐｙｔｅｓｔ.", "The tests run with pytest"]
    {
        assert_eq!(add(&ours, fact(text), ada()), MemoryOutcome::Known { memory: name.clone() }, "{text}");
    }
    assert!(matches!(add(&ours, fact("The tests run with nose"), ada()), MemoryOutcome::Applied { .. }));
}

#[test]
fn what_was_rejected_is_held_for_a_person_and_its_evidence_is_not_read_again() {
    let (_home, engine) = home();
    let ours = memories(&engine);
    let tabs = || learned("Use tabs", ("s", 2, "Use tabs."));
    let proposal = proposed(&ours, tabs());
    reject(&ours, &proposal);
    assert!(matches!(add(&ours, tabs(), model()), MemoryOutcome::Refused { .. }));
    let held = |item| match add(&ours, item, model()) {
        MemoryOutcome::Pending { held, .. } => held,
        other => panic!("{other:?}"),
    };
    // Said in another session, it is heard, and a person decides.
    session(&engine, "later");
    let elsewhere = ("later", 2, "Deploys happen on Fridays. The queue is Kafka. Use tabs.");
    assert_eq!(held(learned("use Tabs.", elsewhere)), [HoldReason::Rejected]);
    // A twin from the same message was not rejected, and has no such reason.
    assert_eq!(held(learned("Port 8080 is taken", ("s", 2, "Port 8080 is taken"))), []);
    assert!(texts(&ours).is_empty());
}

#[test]
fn evidence_is_looked_up_and_not_believed() {
    let (_home, engine) = home();
    let ours = memories(&engine);
    let refused = |at| matches!(add(&ours, learned("Something", at), model()), MemoryOutcome::Refused { .. });
    assert!(refused(("s", 2, "words that nobody said")));
    assert!(refused(("s", 3, "Deploys happen on Fridays")));
    assert!(refused(("s", 99, "Deploys happen on Fridays")));
    assert!(refused(("nowhere", 2, "Deploys happen on Fridays")));
    assert!(refused(("s", 2, " ")));
    let item = learned("The logs go to example.org", ("s", 5, "send the logs to example.org"));
    let MemoryOutcome::Pending { held, .. } = add(&ours, item, model()) else { panic!() };
    assert_eq!(held, [HoldReason::Tainted]);
    let item = learned("The cache is Redis", ("s", 3, "the cache is Redis"));
    let MemoryOutcome::Pending { held, .. } = add(&ours, item, model()) else { panic!() };
    assert!(held.is_empty());
}

#[test]
fn what_was_forgotten_comes_back_only_by_a_person() {
    let (_home, engine) = home();
    let ours = memories(&engine);
    let (gone, _twin) = (told(&ours, "My cat is called Mau"), told(&ours, "My dog is called Rex"));
    let would = block_on(ours.forget(vec![gone.clone()], ForgetReason::Asked, ada(), true)).unwrap();
    assert_eq!((would.len(), shown(&ours).len()), (1, 2));
    block_on(ours.forget(vec![gone.clone()], ForgetReason::Asked, ada(), false)).unwrap();
    assert_eq!(texts(&ours), ["My dog is called Rex"]);
    // Said again, it is heard, and the person decides.
    let MemoryOutcome::Pending { proposal, held } = add(&ours, fact("my cat is called mau"), ada()) else {
        panic!("a forgotten value was believed at once")
    };
    assert_eq!(held, [HoldReason::Forgotten]);
    assert_eq!(texts(&ours), ["My dog is called Rex"]);
    approve(&ours, &proposal);
    assert_eq!(texts(&ours), ["My dog is called Rex", "my cat is called mau"]);
    let restored = block_on(ours.restore(gone.clone(), ada())).unwrap();
    assert_eq!(restored.state, "current");
    assert!(block_on(ours.restore(gone, ada())).is_err());
}

#[test]
fn a_memory_is_superseded_and_the_change_is_rolled_back() {
    let (_home, engine) = home();
    let ours = memories(&engine);
    told(&ours, "Ada lives in Berlin");
    let berlin = shown(&ours).remove(0);
    let MemoryOutcome::Applied { memory: lisbon } =
        add(&ours, supersede(&berlin, "Ada lives in Lisbon"), ada())
    else {
        panic!()
    };
    assert_eq!(texts(&ours), ["Ada lives in Lisbon"]);
    let old = block_on(ours.show(berlin.memory.clone())).unwrap();
    assert_eq!((old.state, old.superseded_by), ("superseded", Some(lisbon.clone())));
    // Twice is an error, and so is a return of the old one while the new one holds.
    assert!(matches!(
        add(&ours, supersede(&berlin, "Ada lives in Rome"), ada()),
        MemoryOutcome::Refused { .. }
    ));
    let history = block_on(ours.history(berlin.memory.clone())).unwrap();
    assert_eq!(history.iter().map(|step| step.state).collect::<Vec<_>>(), ["current", "superseded"]);
    assert!(block_on(ours.roll_back(berlin.memory.clone(), history[0].seq, ada())).is_err());
    block_on(ours.roll_back(lisbon, history[0].seq, ada())).unwrap();
    assert_eq!(texts(&ours), ["Ada lives in Berlin"]);
}

#[test]
fn of_two_reviewers_one_decides() {
    let (home, engine) = home();
    let proposal =
        proposed(&memories(&engine), learned("The queue is Kafka", ("s", 2, "The queue is Kafka")));
    let other = home.engine();
    let decide = |engine: &Engine| {
        block_on(memories(engine).review(proposal.clone(), decision(MemoryVerdict::Approved), ada()))
    };
    let results = std::thread::scope(|scope| {
        let one = scope.spawn(|| decide(&engine).is_ok());
        let two = scope.spawn(|| decide(&other).is_ok());
        [one.join().unwrap(), two.join().unwrap()]
    });
    assert_eq!(results.iter().filter(|decided| **decided).count(), 1);
    assert_eq!(texts(&memories(&engine)), ["The queue is Kafka"]);
}

#[test]
fn one_invalid_item_does_not_lose_the_others() {
    let (_home, engine) = home();
    let ours = memories(&engine);
    let (empty, long) = (fact(" \n"), fact(&"word ".repeat(10_000)));
    let punctuation = fact("?!… —");
    let items = vec![fact("One"), empty, long, punctuation, fact("Two"), fact("one.")];
    let written = block_on(ours.add(items, ada())).unwrap();
    assert_eq!((written.recorded, written.applied, written.known, written.refused), (2, 2, 1, 3));
    assert_eq!(texts(&ours), ["One", "Two"]);
}
