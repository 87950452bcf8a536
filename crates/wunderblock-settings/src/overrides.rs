//! Values that a program gives in place of those in the settings file.

use std::ffi::OsString;
use std::path::PathBuf;

/// Values that override those of the settings file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Path of the ledger.
    pub db: Option<PathBuf>,
    /// Path of the settings file. If unset, the user's file is read, if it exists.
    pub config: Option<PathBuf>,
    /// Tenant whose data is used.
    pub tenant: Option<String>,
    /// User of the sessions that are recorded, and whose sessions agents see.
    pub user: Option<String>,
}

impl Overrides {
    /// Variable with the path of the ledger.
    pub const DB: &'static str = "WUNDERBLOCK_DB";
    /// Variable with the path of the settings file.
    pub const CONFIG: &'static str = "WUNDERBLOCK_CONFIG";

    /// Returns these values, and those of the environment where none is given. The command line needs no call, because
    /// the parser of its options reads the same variables.
    #[must_use]
    pub fn or_environment(self) -> Self {
        self.or_variables(|name| std::env::var_os(name))
    }

    fn or_variables(self, value: impl Fn(&str) -> Option<OsString>) -> Self {
        let path = |name| value(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        Self {
            db: self.db.or_else(|| path(Self::DB)),
            config: self.config.or_else(|| path(Self::CONFIG)),
            tenant: self.tenant,
            user: self.user,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_value_overrides_the_environment() {
        let given = Overrides { db: Some("given.db".into()), ..Overrides::default() };
        let merged = given.or_variables(|name| Some(format!("{name}.path").into()));
        assert_eq!(merged.db, Some("given.db".into()));
        assert_eq!(merged.config, Some("WUNDERBLOCK_CONFIG.path".into()));
        assert_eq!(Overrides::default().or_variables(|_| Some("".into())), Overrides::default());
    }
}
