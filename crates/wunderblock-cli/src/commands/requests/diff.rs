//! `diff`: shows where two recorded requests differ, and why.

use crate::args::{Diff, Global};
use crate::drawing::terminal::clean;
use crate::output::console::answer;
use crate::output::exit::Exit;
use crate::resolve::lookup::lookup;
use wunderblock::report::DifferenceReport;
use wunderblock::{Difference, Replayed};
use wunderblock_core::stub::grouped;
use wunderblock_core::units::Seq;
use wunderblock_settings::Settings;

pub(crate) async fn run(global: &Global, settings: &Settings, wanted: &Diff) -> Exit {
    let engine = settings.read_only().await?;
    let session = lookup(global).known(&engine, &wanted.session.session).await?;
    let (a, b, difference) = session.diff(Seq(wanted.first), Seq(wanted.second)).await?;
    answer(global, &DifferenceReport::new(&a, &b, &difference), || picture(&a, &b, &difference))
}

fn picture(a: &Replayed, b: &Replayed, difference: &Difference) -> String {
    let mut out = format!(
        "request at {}: {} bytes\nrequest at {}: {} bytes\n",
        a.seq,
        grouped(difference.lengths.0),
        b.seq,
        grouped(difference.lengths.1)
    );
    if a.body == b.body {
        out.push_str("the same bytes\n");
    } else {
        out.push_str(&format!("first different byte: {}\n", grouped(difference.common)));
        out.push_str(&format!("  {}: …{}\n", a.seq, clean(&difference.around.0)));
        out.push_str(&format!("  {}: …{}\n", b.seq, clean(&difference.around.1)));
        if difference.append_only {
            out.push_str("the second only adds to the first: the provider's prefix cache holds\n");
        } else if difference.causes.is_empty() {
            out.push_str("nothing recorded between them explains it\n");
        }
        for (seq, why) in &difference.causes {
            out.push_str(&format!("because, at position {seq}: {}\n", clean(why)));
        }
    }
    out
}
