//! Frees a bus on which a device holds the data line.

use embedded_hal::digital::{InputPin, OutputPin};

/// A reset may have interrupted a device in the middle of a byte: it then holds the data line until it has
/// sent the rest. Up to nine clocks make it do so; a stop condition follows. Returns whether the line is
/// free. Both pins are open-drain; `wait` lasts half a clock, about 5 µs.
#[inline(never)]
pub fn free_bus<C, D, E>(clock: &mut C, data: &mut D, mut wait: impl FnMut()) -> Result<bool, E>
where
    C: OutputPin<Error = E>,
    D: OutputPin<Error = E> + InputPin<Error = E>,
{
    data.set_high()?;
    for _ in 0..9 {
        clock.set_low()?;
        wait();
        clock.set_high()?;
        wait();
    }
    data.set_low()?;
    wait();
    data.set_high()?;
    wait();
    data.is_high()
}
