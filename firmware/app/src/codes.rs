//! The codes of the app's own enums on the link.

/// Gives each variant of an enum a code, from one list for both directions. A missing variant does
/// not compile, and a code given twice is an unreachable pattern.
macro_rules! codes {
    ($name:ident { $($variant:ident = $code:literal),* $(,)? }) => {
        impl $name {
            /// Every variant, by ascending code.
            pub const ALL: [Self; [$($code),*].len()] = [$(Self::$variant),*];

            /// Its number on the link.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self {
                    $(Self::$variant => $code,)*
                }
            }

            /// The variant with this code, if there is one.
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

pub(crate) use codes;
