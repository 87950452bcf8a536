//! Cases about leases: which worker holds which work, judged by the time that callers pass.

use super::derived::tallying;
use super::tenant::{TestTenant, answered, stream_id};
use wunderblock_core::units::Millis;
use wunderblock_store::{Answer, Lease, Query, StoreError, Write, Written};

fn claiming(scene: &TestTenant<'_>, key: &str, holder: &str, now: i64, until: i64) -> Write {
    Write::Claim {
        tenant: scene.tenant.no,
        key: key.to_owned(),
        holder: holder.to_owned(),
        now: Millis(now),
        until: Millis(until),
    }
}

fn lease(holder: &str, until: i64) -> Option<Lease> {
    Some(Lease { holder: holder.to_owned(), until: Millis(until) })
}

/// Claims work. Returns the lease of another holder, or `None` if the claim succeeded.
fn claim(scene: &TestTenant<'_>, key: &str, holder: &str, now: i64, until: i64) -> Option<Lease> {
    answered!(scene.commit(claiming(scene, key, holder, now, until)), Written::Claimed(other) => other)
}

fn releasing(scene: &TestTenant<'_>, key: &str, holder: &str) -> Write {
    Write::Release { tenant: scene.tenant.no, key: key.to_owned(), holder: holder.to_owned() }
}

fn release(scene: &TestTenant<'_>, key: &str, holder: &str) {
    assert_eq!(scene.commit(releasing(scene, key, holder)), Written::Done);
}

fn held(scene: &TestTenant<'_>, key: &str) -> Option<Lease> {
    answered!(
        scene.ask(Query::Lease { tenant: scene.tenant.no, key: key.to_owned() }),
        Answer::Lease(lease) => lease
    )
}

/// If two workers claim the same work, one gets it and the other learns who holds it, even within one commit.
pub(super) fn one_of_two_holds_the_work(scene: &TestTenant<'_>) {
    assert_eq!(held(scene, "sweep s/main"), None);
    assert_eq!(claim(scene, "sweep s/main", "a", 100, 200), None);
    assert_eq!(claim(scene, "sweep s/main", "b", 100, 900), lease("a", 200));
    assert_eq!(claim(scene, "sweep s/other", "b", 100, 300), None, "other work is free");
    assert_eq!(held(scene, "sweep s/main"), lease("a", 200), "the refused claim changed nothing");
    assert_eq!(claim(scene, "sweep s/main", "a", 150, 400), None, "the holder goes on");
    assert_eq!(held(scene, "sweep s/main"), lease("a", 400));
    assert_eq!(claim(scene, "sweep s/main", "a", 150, 250), None, "and may want less");
    assert_eq!(held(scene, "sweep s/main"), lease("a", 250));
    let both = vec![claiming(scene, "\u{5de5}\'", "a", 1, 2), claiming(scene, "\u{5de5}\'", "b", 1, 9)];
    let both = scene.try_commit(both).unwrap();
    assert_eq!(both, [Written::Claimed(None), Written::Claimed(lease("a", 2))]);
}

/// By the clock of the other callers, the claim of a dead holder ends at its expiry time and not before.
pub(super) fn a_dead_holder_is_outlived(scene: &TestTenant<'_>) {
    assert_eq!(claim(scene, "k", "dead", 100, 200), None);
    assert_eq!(claim(scene, "k", "b", 199, 300), lease("dead", 200));
    assert_eq!(claim(scene, "k", "b", 200, 300), None, "at its end it is over");
    assert_eq!(held(scene, "k"), lease("b", 300));
    assert_eq!(claim(scene, "k", "dead", 201, 400), lease("b", 300), "who comes back too late has lost it");
    release(scene, "k", "dead");
    assert_eq!(held(scene, "k"), lease("b", 300));
    assert_eq!(claim(scene, "k", "b", 500, 600), None, "nobody took it meanwhile");
    assert_eq!(claim(scene, "past", "a", 100, 50), None);
    assert_eq!(claim(scene, "past", "b", 60, 70), None, "a claim that ends before it begins holds nothing");
    assert_eq!(claim(scene, "old", "a", -9, -5), None);
    assert_eq!(claim(scene, "old", "b", -6, 0), lease("a", -5), "times before 1970 are times");
    assert_eq!(claim(scene, "old", "b", i64::MAX, i64::MAX), None);
}

/// Released work is free, and only its holder can release it.
pub(super) fn only_the_holder_gives_back(scene: &TestTenant<'_>) {
    release(scene, "k", "a");
    assert_eq!(claim(scene, "k", "a", 100, 200), None);
    release(scene, "k", "b");
    release(scene, "K", "a");
    assert_eq!(claim(scene, "k", "b", 100, 200), lease("a", 200), "a stranger cannot free it");
    release(scene, "k", "a");
    assert_eq!(held(scene, "k"), None);
    assert_eq!(claim(scene, "k", "b", 100, 200), None);
}

/// The same key names different work in another tenant.
pub(super) fn leases_are_a_tenants_own(scene: &TestTenant<'_>) {
    let (one, two) = (scene, &TestTenant::of(scene.store, "two"));
    assert_eq!(claim(one, "k", "a", 1, 9), None);
    assert_eq!(held(two, "k"), None);
    assert_eq!(claim(two, "k", "b", 1, 9), None);
    release(two, "k", "b");
    assert_eq!((held(one, "k"), held(two, "k")), (lease("a", 9), None));
}

/// Leases are dropped with the derived data, for one tenant at a time.
pub(super) fn leases_can_be_dropped(scene: &TestTenant<'_>) {
    let (one, two) = (scene, &TestTenant::of(scene.store, "two"));
    for scene in [one, two] {
        assert_eq!(claim(scene, "k", "a", 1, 9), None);
        assert_eq!(claim(scene, "", "a", 1, 9), None);
    }
    one.commit(Write::DropDerived { tenant: one.tenant.no });
    assert_eq!((held(one, "k"), held(one, "")), (None, None));
    assert_eq!((held(two, "k"), held(two, "")), (lease("a", 9), lease("a", 9)));
}

/// A refused commit claims nothing and releases nothing.
pub(super) fn a_refused_commit_claims_nothing(scene: &TestTenant<'_>) {
    assert_eq!(claim(scene, "mine", "a", 1, 9), None);
    let nowhere = tallying(scene, "nowhere", &[]);
    let refused =
        scene.try_commit(vec![claiming(scene, "k", "a", 1, 9), releasing(scene, "mine", "a"), nowhere]);
    assert_eq!(refused, Err(StoreError::NoStream(stream_id("nowhere"))));
    assert_eq!((held(scene, "k"), held(scene, "mine")), (None, lease("a", 9)));
}
