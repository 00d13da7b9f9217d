//! One declaration of settings for all that is done with them.

/// Declares the settings with their defaults, which follow from the numbers in parentheses, and
/// all that goes through them field by field. `=> since N` marks one that records before version N
/// do not have, which then has its default; so it has where a text leaves it out.
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $name:ident<V, W>($($given:ident: $number:ty),*) {
            $(
                $(#[$field_meta:meta])*
                pub $field:ident: $kind:ty = $default:expr
                    $(=> since $version:literal $(of $newest:literal)?)?
            ),* $(,)?
        }
    ) => {
        const _: () = {
            $($(begin!(version $version $(, $newest)?);)?)*
        };

        $(#[$meta])*
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        #[cfg_attr(feature = "serde", serde(bound = "V: View, W::Of<u32>: serde::Serialize"))]
        pub struct $name<V, W: Length = Windows<4>> {
            /// Window lengths in rows, ascending: short ones for jumps, long ones for slow drift.
            pub windows: W::Of<u32>,
            $($(#[$field_meta])* pub $field: $kind,)*
            /// Which view these settings are for.
            #[cfg_attr(feature = "serde", serde(serialize_with = "serialize_view"))]
            pub view: PhantomData<V>,
        }

        // Not derived: the view has to be the type's own, and later settings may be left out.
        #[cfg(feature = "serde")]
        const _: () = {
            #[derive(serde::Deserialize)]
            #[serde(bound = "W::Of<u32>: serde::Deserialize<'de>")]
            struct Text<W: Length> {
                windows: W::Of<u32>,
                $($field: begin!(text $kind $(, $version)?),)*
                view: Option<ViewKind>,
            }

            impl<'de, V: View, W: Length> serde::Deserialize<'de> for $name<V, W>
            where
                W::Of<u32>: serde::Deserialize<'de>,
            {
                fn deserialize<T: serde::Deserializer<'de>>(text: T) -> Result<Self, T::Error> {
                    let text = Text::<W>::deserialize(text)?;
                    if text.view.zip(V::KIND).is_some_and(|(text, own)| text != own) {
                        return Err(serde::de::Error::custom("settings of another view"));
                    }
                    Ok(Self {
                        windows: text.windows,
                        $($field: begin!(given text.$field, $default $(, $version)?),)*
                        view: PhantomData,
                    })
                }
            }
        };

        // Not derived: none of this asks anything of the view.
        impl<V, W: Length> Clone for $name<V, W> {
            fn clone(&self) -> Self {
                Self { windows: W::cloned(&self.windows), ..*self }
            }
        }

        impl<V, const W: usize> Copy for $name<V, Windows<W>> {}

        impl<V, W: Length> PartialEq for $name<V, W> {
            #[allow(clippy::float_cmp, reason = "the same settings, not nearly the same")]
            fn eq(&self, other: &Self) -> bool {
                self.lengths() == other.lengths() $(&& self.$field == other.$field)*
            }
        }

        impl<V, W: Length> fmt::Debug for $name<V, W> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut settings = f.debug_struct(stringify!($name));
                settings.field("windows", &self.lengths());
                $(settings.field(stringify!($field), &self.$field);)*
                settings.finish()
            }
        }

        #[cfg(feature = "defmt")]
        impl<V, W: Length> defmt::Format for $name<V, W> {
            fn format(&self, f: defmt::Formatter<'_>) {
                defmt::write!(f, "windows {}", self.lengths());
                $(defmt::write!(f, ", {=str} {}", stringify!($field), self.$field);)*
            }
        }

        impl<V, W: Length> $name<V, W> {
            /// The defaults, with these windows.
            const fn usual(windows: W::Of<u32>, $($given: $number),*) -> Self {
                Self { windows, $($field: $default,)* view: PhantomData }
            }

            /// The window lengths.
            pub(crate) fn lengths(&self) -> &[u32] {
                W::borrow(&self.windows).as_ref()
            }

            /// Length as bytes, with so many windows.
            pub(super) const fn saved_bytes(windows: usize) -> usize {
                windows * <u32 as Plain>::BYTES $(+ <$kind as Plain>::BYTES)*
            }

            /// Writes them.
            pub(super) fn put(&self, writer: &mut Writer<'_>) {
                self.lengths().iter().for_each(|length| length.write(writer));
                $(self.$field.write(writer);)*
            }

            /// Reads settings with as many windows as these have.
            pub(super) fn taken(&self, reader: &mut Reader<'_>) -> Result<Self, Error> {
                let mut windows = W::cloned(&self.windows);
                for length in W::borrow_mut(&mut windows).as_mut() {
                    *length = Plain::take(reader)?;
                }
                Ok(Self {
                    windows,
                    $($field: begin!(take reader, $kind, $default $(, $version)?),)*
                    view: PhantomData,
                })
            }

            /// The same but for windows and view.
            pub(crate) const fn changed<U, T: Length>(&self, windows: T::Of<u32>) -> $name<U, T> {
                $name { windows, $($field: self.$field,)* view: PhantomData }
            }
        }
    };
}
pub(super) use settings;
