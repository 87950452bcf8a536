//! Lines that share a template: the template once, then of each line only what differs.
//!
//! ```text
//! ⟨=t 2 1⟩
//! a 081109 {6} {} INFO dfs.DataNode: Receiving block blk_{} src: /{}
//! b 081109 {6} {} INFO dfs.FSNamesystem: BLOCK* addStoredBlock: {*}
//! a 203518 143 -1608999687919862906 10.250.19.102:54106
//! b " 26 blockMap updated: 10.251.73.220:50010 is added to blk_7128370237687728475
//! ⟨=⟩
//! ```
//!
//! `⟨=t N S⟩` is followed by N templates ([`legend`]), each named by a letter, then by the rows. A row begins with the
//! letter of its template; its values are separated by a space. `"` stands for the value above: that of the last row of
//! the same template, for the first S fields that of the last row of any. Values left out at the end are those above.
//! A line that begins with none of the letters is as it was, without a leading `\`. `⟨=t⟩` has one template, and neither
//! letters nor other lines.

mod form;
mod legend;
mod read;
mod shape;
mod words;
mod write;

pub(super) use read::undo;
pub(super) use write::pack;
