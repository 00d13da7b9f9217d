//! Frees a bus on which a device holds the data line.

use embedded_hal::digital::{InputPin, OutputPin};

/// A reset may have interrupted a device in the middle of a byte: it then holds the data line until it has
/// sent the rest. Up to nine clocks make it do so; a stop condition follows. Returns whether the line is
/// free. Both pins are open-drain; `wait` lasts half a clock, about 5 µs.
///
/// # Errors
/// Those of the pins.
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

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use core::convert::Infallible;
    use embedded_hal::digital::ErrorType;

    /// Two lines, and a device that was interrupted: it holds the data line for so many more clocks, and
    /// sends on if no stop condition follows.
    #[derive(Default)]
    struct Lines {
        clock: Cell<bool>,
        data: Cell<bool>,
        held: Cell<u32>,
        stops: Cell<u32>,
        waits: Cell<u32>,
    }

    struct ClockPin<'a>(&'a Lines);
    struct DataPin<'a>(&'a Lines);

    impl ErrorType for ClockPin<'_> {
        type Error = Infallible;
    }

    impl ErrorType for DataPin<'_> {
        type Error = Infallible;
    }

    impl OutputPin for ClockPin<'_> {
        fn set_low(&mut self) -> Result<(), Infallible> {
            self.0.clock.set(false);
            Ok(())
        }

        fn set_high(&mut self) -> Result<(), Infallible> {
            if !self.0.clock.replace(true) {
                self.0.held.set(self.0.held.get().saturating_sub(1));
            }
            Ok(())
        }
    }

    impl OutputPin for DataPin<'_> {
        fn set_low(&mut self) -> Result<(), Infallible> {
            self.0.data.set(false);
            Ok(())
        }

        fn set_high(&mut self) -> Result<(), Infallible> {
            let rises = !self.0.data.replace(true) && self.0.clock.get();
            self.0.stops.set(self.0.stops.get() + u32::from(rises && self.0.held.get() == 0));
            Ok(())
        }
    }

    impl InputPin for DataPin<'_> {
        fn is_high(&mut self) -> Result<bool, Infallible> {
            Ok(self.0.data.get() && self.0.held.get() == 0)
        }

        fn is_low(&mut self) -> Result<bool, Infallible> {
            self.is_high().map(|high| !high)
        }
    }

    #[test]
    fn a_device_in_the_midst_of_a_byte_lets_go_and_sees_the_end() {
        for held in 0..20 {
            let lines = Lines::default();
            lines.held.set(held);
            let wait = || lines.waits.set(lines.waits.get() + 1);
            let Ok(free) = free_bus(&mut ClockPin(&lines), &mut DataPin(&lines), wait);
            // A byte and its acknowledgement are nine clocks; what holds on for longer is broken.
            assert_eq!((free, lines.stops.get() > 0), (held <= 9, held <= 9), "{held}");
            // It takes a bounded time.
            assert_eq!(lines.waits.get(), 20);
        }
    }
}
