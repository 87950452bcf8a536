//! Table of event kinds: each kind is listed once, and everything that depends on the kind is made from that list.

/// Defines [`Fact`](super::Fact) from two lists of `Variant(Fields) = "kind"`: kinds that callers may append, and kinds
/// that only the engine writes.
macro_rules! kinds {
    (
        callers { $($(#[doc = $doc:literal])* $variant:ident($fields:ty) = $kind:literal,)* }
        engine { $($(#[doc = $own_doc:literal])* $own:ident($own_fields:ty) = $own_kind:literal,)* }
    ) => {
        /// A fact: the content of an event, by kind.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum Fact {
            $($(#[doc = $doc])* #[serde(rename = $kind)] $variant($fields),)*
            $($(#[doc = $own_doc])* #[serde(rename = $own_kind)] $own($own_fields),)*
        }

        impl Fact {
            /// Kinds that callers may append. The other kinds steer lanes or are receipts, so only the engine writes
            /// them.
            pub const OPEN_KINDS: &[&'static str] = &[$($kind),*];

            /// Kinds that only the engine writes.
            pub const ENGINE_KINDS: &[&'static str] = &[$($own_kind),*];

            /// Returns whether callers may append the fact. See [`Fact::OPEN_KINDS`].
            #[must_use]
            pub fn is_open(&self) -> bool {
                Self::OPEN_KINDS.contains(&self.kind())
            }

            /// Returns the kind as written on disk and in JSON.
            #[must_use]
            pub const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $kind,)*
                    $(Self::$own(_) => $own_kind,)*
                }
            }

            /// Writes the fields alone, without the kind.
            ///
            /// # Errors
            /// Returns the errors of the serializer.
            pub fn serialize_fields<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(fields) => fields.serialize(serializer),)*
                    $(Self::$own(fields) => fields.serialize(serializer),)*
                }
            }

            /// Reads the fields of a kind, as [`Fact::serialize_fields`] writes them; `None` for an unknown kind.
            ///
            /// # Errors
            /// Returns the errors of the deserializer.
            pub fn deserialize_fields<'de, D: serde::Deserializer<'de>>(
                kind: &str,
                deserializer: D,
            ) -> Result<Option<Self>, D::Error> {
                let fact = match kind {
                    $($kind => Self::$variant(<$fields>::deserialize(deserializer)?),)*
                    $($own_kind => Self::$own(<$own_fields>::deserialize(deserializer)?),)*
                    _ => return Ok(None),
                };
                Ok(Some(fact))
            }
        }
    };
}
