//! What a script for two stores is made of.

/// One step of a script, in numbers small enough to hit each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptStep {
    /// Opens a stream, as a fork if `of` is another one.
    Open {
        /// Which.
        stream: u8,
        /// Forked from.
        of: u8,
        /// After which position.
        at: u8,
    },
    /// Appends events in one write.
    Append {
        /// To which stream.
        stream: u8,
        /// For each event: its id, and a number its content follows from.
        events: Vec<(u8, u8)>,
        /// Where the head should be.
        expect: Option<u8>,
    },
    /// Counts the next events of a stream.
    Tally {
        /// Which.
        stream: u8,
        /// The first position counted; sometimes not the next.
        from: u8,
        /// How many.
        count: u8,
    },
    /// Stores what was counted of a body.
    Count {
        /// Which.
        body: u8,
        /// With the second tokenizer's count.
        both: bool,
    },
    /// Stores a segment that covers a stream up to its head, in place of the newest one or beside it.
    Segment {
        /// Which stream.
        stream: u8,
        /// In place of the newest.
        replace: bool,
    },
    /// Takes a source, adds bytes to it, and ends it, in one commit.
    Import {
        /// Which source.
        source: u8,
        /// Who writes.
        owner: u8,
        /// Goes on with the newest revision.
        grow: bool,
        /// The lengths of the new chunks.
        chunks: Vec<u8>,
        /// Whether it is ended.
        end: bool,
    },
    /// Takes a source.
    Take {
        /// Which.
        source: u8,
        /// Who.
        owner: u8,
        /// Goes on with the newest revision.
        grow: bool,
        /// By how much the revision or its length is mistaken.
        off: u8,
        /// What the time is.
        now: u8,
        /// Whether the owner is known to be dead.
        dead: bool,
    },
    /// Adds bytes to the newest revision of a source.
    Extend {
        /// Which source.
        source: u8,
        /// Who writes.
        owner: u8,
        /// By how much the beginning is mistaken.
        off: u8,
        /// The lengths of the chunks.
        chunks: Vec<u8>,
        /// Which byte stands for an erased one.
        erased: Option<u8>,
    },
    /// Ends the newest revision of a source.
    Whole {
        /// Which source.
        source: u8,
        /// Who wrote it.
        owner: u8,
        /// The stream its id means.
        leaf: Option<u8>,
    },
    /// Gives the newest revision of a source back.
    Disown {
        /// Which source.
        source: u8,
        /// Who wrote it.
        owner: u8,
    },
    /// Links a stream to a revision.
    Link {
        /// Which stream.
        stream: u8,
        /// To which source.
        source: u8,
        /// To which revision.
        revision: u8,
    },
    /// Notes where records stand.
    Records {
        /// In which stream.
        stream: u8,
        /// Which records, after which positions.
        records: Vec<(u8, u8)>,
    },
    /// Erases events, and bytes of a source.
    Erase {
        /// Which stream.
        stream: u8,
        /// Which positions.
        seqs: Vec<u8>,
        /// Which source (and, from its higher bits, which revision), from where, how many bytes.
        span: Option<(u8, u8, u8)>,
        /// Which session and record are not to come back.
        erasure: Option<(u8, u8)>,
    },
    /// Claims work, or holds on to it.
    Claim {
        /// Which.
        key: u8,
        /// Who.
        holder: u8,
        /// What the time is, and when the claim ends.
        times: (u8, u8),
    },
    /// Gives work back.
    Release {
        /// Which.
        key: u8,
        /// Who.
        holder: u8,
    },
    /// Drops what is derived.
    Drop,
    /// Does several steps in one commit.
    Together(Vec<ScriptStep>),
}

impl ScriptStep {
    /// Reads a step out of any number, so that whatever makes numbers makes scripts.
    #[must_use]
    pub fn from_word(word: u64) -> Self {
        let [what, a, b, c, d, e, f, g] = word.to_le_bytes();
        match what % 30 {
            0..=3 => Self::Open { stream: a, of: b, at: c % 12 },
            4..=9 => Self::Append {
                stream: a,
                events: [(b, c), (d, e), (f, g)].into_iter().take(1 + usize::from(what / 20 % 3)).collect(),
                expect: (what > 230).then_some(g % 8),
            },
            10 | 11 => Self::Tally { stream: a, from: b % 16, count: c % 8 },
            12 => Self::Count { body: a, both: b % 2 == 0 },
            13 => Self::Segment { stream: a, replace: b % 3 == 0 },
            14 | 15 => Self::Import {
                source: a,
                owner: b,
                grow: c % 2 == 0,
                chunks: vec![d % 32, e % 32],
                end: f % 4 != 0,
            },
            16 => Self::Erase {
                stream: a,
                seqs: vec![b % 12, c % 12],
                span: Some((d, e % 64, f % 32)),
                erasure: (g % 2 == 0).then_some((g, f)),
            },
            17 => Self::Erase { stream: a, seqs: vec![b % 12], span: None, erasure: Some((c, d)) },
            22 => {
                let (off, dead) = (d.saturating_sub(250), f % 4 == 0);
                Self::Take { source: a, owner: b, grow: c % 2 == 0, off, now: e, dead }
            }
            23 | 24 => Self::Extend {
                source: a,
                owner: b,
                off: c.saturating_sub(250),
                chunks: vec![d % 32, e % 32],
                erased: (f % 4 == 0).then_some(g % 64),
            },
            25 => Self::Whole { source: a, owner: b, leaf: (c % 2 == 0).then_some(d) },
            26 => Self::Disown { source: a, owner: b },
            27 | 28 => Self::Link { stream: a, source: b, revision: c % 4 },
            29 => Self::Records { stream: a, records: vec![(b, c % 12), (d, e % 12)] },
            18 if a % 4 == 0 => Self::Drop,
            19 => Self::Claim { key: a, holder: b, times: (c, d) },
            20 => Self::Release { key: a, holder: b },
            _ => Self::Together(vec![
                Self::Append { stream: a, events: vec![(b, c)], expect: None },
                Self::Append { stream: d, events: vec![(e, f)], expect: Some(g % 8) },
            ]),
        }
    }
}
