//! Codes and names of enums, in one list for both directions.

/// Gives an enum without data a code for each variant; for this repository's firmware too.
///
/// A variant that is left out does not compile, so one that can be saved or sent can be restored;
/// a code given twice is an unreachable pattern.
#[doc(hidden)]
#[macro_export]
macro_rules! numbers {
    ($name:ident { $($variant:ident = $code:literal),* $(,)? }) => {
        impl $name {
            /// Every variant, by ascending code.
            pub const ALL: [Self; [$($code),*].len()] = [$(Self::$variant),*];

            /// Its number in saved states and messages.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self {
                    $(Self::$variant => $code,)*
                }
            }

            /// The variant with this [`code`](Self::code), if there is one.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

/// The same with a name for each variant, for enums that are shown, and saved as their codes.
macro_rules! codes {
    ($name:ident { $($variant:ident = $code:literal $text:literal),* $(,)? }) => {
        $crate::numbers!($name { $($variant = $code),* });

        impl $name {
            /// Its name, in lower case.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// The variant with this [`name`](Self::name), if there is one.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl $crate::state::Plain for $name {
            const BYTES: usize = 1;

            fn write(self, writer: &mut $crate::state::Writer<'_>) {
                writer.put([self.code()]);
            }

            fn take(reader: &mut $crate::state::Reader<'_>) -> Result<Self, $crate::Error> {
                let code = <u8 as $crate::state::Plain>::take(reader)?;
                Self::from_code(code).ok_or($crate::Error::Inconsistent)
            }
        }
    };
}

/// The same for an enum with data, of which only the variant is told: `codes!` of patterns.
macro_rules! codes_of_patterns {
    ($name:ident<$data:ident> { $($variant:pat = $code:literal $text:literal),* $(,)? }) => {
        impl<$data> $name<$data> {
            /// The names of all variants, by ascending [`code`](Self::code) from 0 on.
            pub const NAMES: [&'static str; [$($code),*].len()] = [$($text),*];

            /// The number of its variant.
            #[must_use]
            pub const fn code(&self) -> u8 {
                match self {
                    $($variant => $code,)*
                }
            }

            /// The name of its variant, in lower case.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $($variant => $text,)*
                }
            }
        }
    };
}

pub(crate) use {codes, codes_of_patterns};

#[cfg(test)]
mod tests {
    use crate::monitor::{Change, Leg, NotANumber, Stage, Steadiness, Verdict};
    use crate::state::Kind;
    use crate::{MapKind, Profile, Sampling};
    use std::string::String;
    use std::vec::Vec;

    /// Codes are ascending and convert both ways; names are in lower case and all different.
    macro_rules! check {
        ($($name:ident),*) => {$(
            let codes: Vec<u8> = $name::ALL.iter().map(|one| one.code()).collect();
            assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
            for code in 0..=u8::MAX {
                let one = $name::from_code(code);
                assert_eq!(one.is_some(), codes.contains(&code));
                assert!(one.is_none_or(|one| one.code() == code));
            }
            assert!($name::ALL.iter().all(|one| $name::from_name(one.name()) == Some(*one)));
            assert_eq!($name::from_name("another"), None);
            let mut names: Vec<&str> = $name::ALL.iter().map(|one| one.name()).collect();
            assert!(names.iter().all(|name| name.to_lowercase() == *name && !name.is_empty()));
            names.sort_unstable();
            let before = names.len();
            names.dedup();
            assert_eq!(names.len(), before, "{}", String::from(stringify!($name)));
        )*};
    }

    #[test]
    fn codes_and_names_are_each_of_one_variant() {
        check!(Change, Kind, Leg, MapKind, NotANumber, Profile, Sampling, Stage, Steadiness);
    }

    #[test]
    fn names_of_verdicts_are_by_their_codes() {
        let all: [Verdict<()>; 5] = [
            Verdict::Learning { progress: 0.5 },
            Verdict::Healthy,
            Verdict::Alarm(()),
            Verdict::Amended(()),
            Verdict::Drifting,
        ];
        assert_eq!(all.map(|verdict| verdict.name()), Verdict::<()>::NAMES);
        assert_eq!(all.map(|verdict| verdict.code()), [0, 1, 2, 3, 4]);
    }
}
