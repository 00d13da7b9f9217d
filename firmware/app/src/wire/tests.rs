use super::net::Net;
use super::*;
use crate::sensor::{MagnetometerThermometer, Sensor};
use crate::testing::World;
use embedded_hal::digital;

fn wire() -> Wire<Net> {
    Wire::new(Net::new(World::new()))
}

/// Half clocks that a transaction takes.
fn time(wire: &mut Wire<Net>, transaction: impl FnOnce(&mut Wire<Net>)) -> u64 {
    let before = wire.lines().time;
    transaction(wire);
    wire.lines().time - before
}

const fn most(bytes: u64) -> u64 {
    20 * bytes + MAX_STRETCH as u64 + 40
}

#[test]
fn what_is_written_is_read_again() {
    let mut wire = wire();
    let bytes: [u8; 64] = core::array::from_fn(|index| (index * 73 % 256).to_le_bytes()[0]);
    let mut page = [0; 66];
    page[0] = 0x12;
    page[2..].copy_from_slice(&bytes);
    wire.write(0x50, &page).unwrap();
    // In two pieces each way, which need no start of their own.
    let (mut first, mut rest) = ([0; 10], [0; 54]);
    let mut operations = [
        Operation::Write(&[0x12]),
        Operation::Write(&[0]),
        Operation::Read(&mut first),
        Operation::Read(&mut rest),
    ];
    wire.transaction(0x50, &mut operations).unwrap();
    assert_eq!([&first[..], &rest].concat(), bytes);
    assert_eq!(wire.lines().world.eeprom[0x1200..0x1240], bytes);
    wire.lines().world.field = [-7, 300, 12];
    let expected = MagnetometerThermometer::default().read(&mut wire.lines().world);
    assert_eq!(MagnetometerThermometer::default().read(&mut wire), expected);
}

#[test]
fn an_address_without_a_device_is_not_acknowledged() {
    let mut wire = wire();
    let silent = WireError::NoAcknowledge(NoAcknowledgeSource::Address);
    assert_eq!(wire.write(0x51, &[0]), Err(silent));
    assert_eq!(silent.kind(), ErrorKind::NoAcknowledge(NoAcknowledgeSource::Address));
    assert_eq!(wire.write(0x50, &[0, 0]), Ok(()));
}

/// At any time, not only at the start.
#[test]
fn a_device_in_the_middle_of_a_byte_lets_go() {
    for held in 0..20 {
        let mut wire = wire();
        wire.lines().data_held = held;
        let mut byte = [0];
        let mut result = Ok(());
        let taken = time(&mut wire, |wire| result = wire.write_read(0x1E, &[10], &mut byte));
        // A byte and its acknowledgement are nine clocks. The stop condition is a tenth; what holds on for
        // longer is broken.
        let expected = if held <= 10 { Ok(()) } else { Err(WireError::DataHeld) };
        assert_eq!(result, expected, "{held}");
        assert!(taken <= most(4), "{held}: {taken}");
        if held <= 10 {
            assert_eq!(byte, *b"H");
        }
    }
}

#[test]
fn one_that_holds_the_data_line_while_it_is_written_to_is_noticed() {
    let mut wire = wire();
    let lines = wire.lines();
    lines.data_held = u32::MAX;
    lines.set_data(true);
    assert_eq!(wire.operations(0x50, &mut [Operation::Write(&[0, 0])]), Err(WireError::DataHeld));
}

#[test]
fn a_clock_line_that_is_held_is_waited_for_but_not_for_ever() {
    for held in [1, 2, 100, u64::from(MAX_STRETCH), u64::from(MAX_STRETCH) + 100, u64::MAX] {
        let mut wire = wire();
        wire.lines().clock_held = held;
        let mut byte = [0];
        let mut result = Ok(());
        let taken = time(&mut wire, |wire| result = wire.write_read(0x1E, &[10], &mut byte));
        let short = held <= u64::from(MAX_STRETCH);
        assert_eq!(result, if short { Ok(()) } else { Err(WireError::ClockHeld) }, "{held}");
        assert!(taken <= most(4), "{held}: {taken}");
        // It is usable as soon as the line is free.
        wire.lines().clock_held = 0;
        assert_eq!(wire.write_read(0x1E, &[10], &mut byte), Ok(()));
        assert_eq!(byte, *b"H");
    }
    assert_eq!(WireError::ClockHeld.kind(), ErrorKind::Bus);
}

/// The bound that the master promises, for what takes longest.
#[test]
fn a_page_takes_no_longer_than_said() {
    let mut wire = wire();
    wire.lines().data_held = 9;
    let taken = time(&mut wire, |wire| wire.write(0x50, &[0; 66]).unwrap());
    assert!(taken <= most(67), "{taken}");
    // Without the nine clocks, two half clocks for each of nine bits, and seven for start and stop.
    let usual = time(&mut wire, |wire| wire.write(0x50, &[0; 66]).unwrap());
    assert!(usual <= 18 * 67 + 7, "{usual}");
}

/// A pin of a board.
#[derive(Default)]
struct Pin {
    high: bool,
    broken: bool,
}

impl digital::ErrorType for Pin {
    type Error = digital::ErrorKind;
}

impl InputPin for Pin {
    fn is_high(&mut self) -> Result<bool, digital::ErrorKind> {
        if self.broken { Err(digital::ErrorKind::Other) } else { Ok(self.high) }
    }

    fn is_low(&mut self) -> Result<bool, digital::ErrorKind> {
        self.is_high().map(|high| !high)
    }
}

impl OutputPin for Pin {
    fn set_high(&mut self) -> Result<(), digital::ErrorKind> {
        self.high = true;
        Ok(())
    }

    fn set_low(&mut self) -> Result<(), digital::ErrorKind> {
        self.high = false;
        Ok(())
    }
}

/// Each line is its pin; one that fails is low.
#[test]
fn two_pins_are_the_lines_of_a_bus() {
    let mut waited = 0;
    let mut pins = Pins { clock: Pin::default(), data: Pin::default(), wait: || waited += 1 };
    for (clock, data) in [(true, false), (false, true), (true, true), (false, false)] {
        pins.set_clock(clock);
        pins.set_data(data);
        assert_eq!((pins.clock.high, pins.data.high), (clock, data));
        assert_eq!((pins.clock(), pins.data()), (clock, data));
    }
    pins.set_clock(true);
    pins.set_data(true);
    (pins.clock.broken, pins.data.broken) = (true, true);
    assert!(!pins.clock() && !pins.data());
    pins.wait();
    pins.wait();
    assert_eq!(waited, 2);
}
