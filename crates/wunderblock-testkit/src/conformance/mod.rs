//! The conformance suite of the storage port: every implementation must pass every case.
//!
//! A case receives the only tenant of a new store and panics if the store breaks a promise of the port. A store may
//! choose its own numbers for tenants, streams, sources and segments, so cases compare these numbers only with each
//! other. [`agree`] is the exception: it compares two stores that assign the same numbers.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a case that does not hold panics; that is what it is for"
)]

mod agree;
mod appending;
mod bodies;
mod derived;
mod epochs;
mod kinds;
mod leases;
mod owners;
mod reading;
mod records;
mod scope;
mod sources;
mod tenant;

pub use agree::agree;

use appending::*;
use bodies::*;
use derived::*;
use epochs::*;
use kinds::*;
use leases::*;
use owners::*;
use reading::*;
use records::*;
use scope::*;
use sources::*;
use tenant::TestTenant;
use wunderblock_store::Storage;

/// Checks one promise of the port with the only tenant of a store.
type Case = fn(&TestTenant<'_>);

macro_rules! cases {
    ($($case:ident,)*) => {
        /// All cases by name.
        const CASES: &[(&str, Case)] = &[$((stringify!($case), $case),)*];
    };
}

cases! {
    a_commit_is_all_or_nothing,
    answers_keep_the_order,
    empty_batches,
    a_tenant_keeps_its_key,
    opening_twice,
    positions_have_no_gaps,
    an_id_identifies_one_content,
    a_moved_head_is_noticed,
    a_lost_answer_is_asked_for_again,
    a_stream_knows_what_it_holds,
    hostile_ids,
    a_large_batch,
    a_fork_reads_through,
    forks_at_their_edges,
    ids_count_through_a_fork,
    ranges_have_limits,
    events_at_positions,
    marked_events,
    kinds_are_found_in_all_streams,
    events_of_lanes,
    streams_by_prefix,
    streams_by_scope,
    sessions_of_a_project_are_found,
    scopes_are_compared_whole,
    a_folder_gets_its_project,
    nothing_outside_a_reach_is_known,
    sources_are_seen_by_all_or_by_each_reader,
    sub_agents_are_found_by_their_parents,
    sessions_are_described,
    tenants_are_listed,
    counts_of_bodies,
    counts_come_with_events,
    tallies_add_up,
    tallies_come_in_order,
    segments_replace_each_other,
    blocks_by_number,
    streams_left_behind,
    no_kind_is_taken_for_another,
    versions_begin_in_their_stream,
    each_table_is_its_own,
    what_is_derived_can_be_dropped,
    one_of_two_holds_the_work,
    a_dead_holder_is_outlived,
    only_the_holder_gives_back,
    leases_are_a_tenants_own,
    leases_can_be_dropped,
    a_refused_commit_claims_nothing,
    bodies_are_stored_once,
    a_taken_handle_is_refused,
    handles_resolve,
    holders_of_a_body,
    bodies_of_events,
    tenants_see_only_their_own,
    erasing_leaves_the_place,
    erased_ids_stay_taken,
    what_remains_is_stored,
    what_was_read_before_an_erasure_is_not_written_after,
    an_epoch_belongs_to_a_tenant,
    losses_are_found_along_a_stream,
    a_merged_segment_is_another,
    an_erasure_notices_what_was_added,
    an_erasure_waits_for_imports,
    a_source_is_imported,
    chunks_by_range,
    revisions_keep_their_bytes,
    handles_of_revisions_resolve,
    the_newest_of_each_source,
    streams_are_linked_to_revisions,
    bytes_are_erased,
    bytes_are_erased_as_a_revision_has_them,
    erased_ranges_are_listed,
    a_source_has_one_owner,
    a_disowned_writer_is_refused,
    an_owner_gives_back,
    growing_goes_on_where_it_ended,
    chunks_have_no_gaps,
    unfinished_imports_show,
    records_are_found,
    records_count_through_forks,
    records_without_ids_are_forgotten,
    ids_are_known,
    erasures_are_listed,
    checksums_come_back,
}

/// Runs every case, each on a new store.
///
/// # Panics
/// Panics if any case fails. The message lists the names of all failed cases.
pub fn suite(make: &dyn Fn() -> Box<dyn Storage>) {
    let mut broken = Vec::new();
    for (name, case) in CASES {
        let tried = std::panic::AssertUnwindSafe(|| case(&TestTenant::new(make().as_ref())));
        if std::panic::catch_unwind(tried).is_err() {
            broken.push(*name);
        }
    }
    assert!(
        broken.is_empty(),
        "{} of {} cases do not hold: {}",
        broken.len(),
        CASES.len(),
        broken.join(", ")
    );
}
