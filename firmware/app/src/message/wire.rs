//! Messages as payloads: how each kind of part is written and read.

use fastmmd::monitor::{Alarm, Stage, Status};

use crate::fault::{Device, Fault, FaultKind};
use crate::frame::MAX_PAYLOAD;

/// Declares messages: each with the kind of its frame and its parts in the order of the payload.
macro_rules! messages {
    (
        $(#[$meta:meta])*
        pub enum $name:ident $(<$life:lifetime>)? {
            $(
                $(#[doc = $about:literal])*
                $(#[cfg($condition:meta)])?
                $code:literal = $variant:ident
                    $(($part:ident: $part_type:ty))?
                    $({ $($(#[$field_about:meta])* $field:ident: $field_type:ty),* $(,)? })?
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum $name $(<$life>)? {
            $(
                $(#[doc = $about])*
                $(#[cfg($condition)])?
                $variant $(($part_type))? $({ $($(#[$field_about])* $field: $field_type),* })?
            ),*
        }

        impl $(<$life>)? $name $(<$life>)? {
            /// Kind and payload of its frame.
            #[must_use]
            pub fn encode(&self) -> (u8, Payload) {
                let mut payload = Payload::new();
                let kind = match self {
                    $(
                        $(#[cfg($condition)])?
                        Self::$variant $(($part))? $({ $($field),* })? => {
                            $($part.put(&mut payload);)?
                            $($($field.put(&mut payload);)*)?
                            $code
                        }
                    )*
                };
                (kind, payload)
            }

            /// What a frame of this kind and payload says; `None` if nothing.
            #[must_use]
            pub fn decode(kind: u8, payload: &$($life)? [u8]) -> Option<Self> {
                let mut fields = Fields(payload);
                let message = match kind {
                    $(
                        $(#[cfg($condition)])?
                        $code => Self::$variant
                            $((<$part_type as Part<'_>>::take(&mut fields)?))?
                            $({ $($field: Part::take(&mut fields)?),* })?,
                    )*
                    _ => return None,
                };
                fields.0.is_empty().then_some(message)
            }
        }
    };
}

/// A payload being written.
#[derive(Debug)]
pub struct Payload {
    bytes: [u8; MAX_PAYLOAD],
    length: usize,
}

impl Payload {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; MAX_PAYLOAD], length: 0 }
    }

    // Called for every field of every message; not inlined, to save flash.
    #[inline(never)]
    pub(super) fn put(&mut self, bytes: &[u8]) {
        for (slot, byte) in self.bytes.iter_mut().skip(self.length).zip(bytes) {
            *slot = *byte;
            self.length += 1;
        }
    }

    /// The bytes written so far.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// Takes fields from the front of a payload.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }
}

/// A part of a payload.
pub(super) trait Part<'a>: Sized {
    fn put(&self, payload: &mut Payload);

    fn take(fields: &mut Fields<'a>) -> Option<Self>;
}

/// Numbers, little-endian.
macro_rules! number_parts {
    ($($number:ty),*) => {$(
        impl Part<'_> for $number {
            fn put(&self, payload: &mut Payload) {
                payload.put(&self.to_le_bytes());
            }

            fn take(fields: &mut Fields<'_>) -> Option<Self> {
                fields.take().map(Self::from_le_bytes)
            }
        }
    )*};
}

number_parts!(u8, u16, u32, u64, f32);

/// Enums, as their codes.
macro_rules! code_parts {
    ($($name:ty),*) => {$(
        impl Part<'_> for $name {
            fn put(&self, payload: &mut Payload) {
                self.code().put(payload);
            }

            fn take(fields: &mut Fields<'_>) -> Option<Self> {
                Self::from_code(Part::take(fields)?)
            }
        }
    )*};
}

code_parts!(Stage, Device, FaultKind);

impl<const N: usize> Part<'_> for [u8; N] {
    fn put(&self, payload: &mut Payload) {
        payload.put(self);
    }

    fn take(fields: &mut Fields<'_>) -> Option<Self> {
        fields.take()
    }
}

/// Structs, as their fields in this order.
macro_rules! struct_parts {
    ($($name:ident { $($field:ident),* $(,)? })*) => {$(
        impl Part<'_> for $name {
            fn put(&self, payload: &mut Payload) {
                let Self { $($field),* } = self;
                $($field.put(payload);)*
            }

            fn take(fields: &mut Fields<'_>) -> Option<Self> {
                Some(Self { $($field: Part::take(fields)?),* })
            }
        }
    )*};
}

struct_parts! {
    Fault { device, kind }
    Status { stage, rows, progress, statistic, threshold, open, alarm }
}

/// As in a saved state of the core.
impl Part<'_> for Alarm {
    fn put(&self, payload: &mut Payload) {
        payload.put(&self.to_bytes());
    }

    fn take(fields: &mut Fields<'_>) -> Option<Self> {
        Self::from_bytes(&fields.take()?).ok()
    }
}

/// At the end of a payload; nothing for none.
impl Part<'_> for Option<Alarm> {
    fn put(&self, payload: &mut Payload) {
        if let Some(alarm) = self {
            alarm.put(payload);
        }
    }

    fn take(fields: &mut Fields<'_>) -> Option<Self> {
        if fields.0.is_empty() { Some(None) } else { Part::take(fields).map(Some) }
    }
}

/// The rest of a payload.
impl<'a> Part<'a> for &'a [u8] {
    fn put(&self, payload: &mut Payload) {
        payload.put(self);
    }

    fn take(fields: &mut Fields<'a>) -> Option<Self> {
        Some(core::mem::take(&mut fields.0))
    }
}

pub(super) use {code_parts, messages, struct_parts};
