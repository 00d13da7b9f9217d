//! Makes an EEPROM image with a learned state on the host, by the board's own detector and store.
//! This saves each scenario thousands of samples over the emulated bus.

use drift_app::forge;
use drift_app::profile::{BoardDetector, FOUR_CHANNELS, board};
use drift_app::seal::Key;
use drift_app::store::Store;
use embedded_hal::i2c::{ErrorKind, ErrorType, I2c, Operation, SevenBitAddress};
use fastmmd::Config;

use crate::error::Error;
use crate::machine::Eeprom;
use crate::signal::Scene;

/// The emulated board's settings.
pub const SETTINGS: Config = board();

/// Samples after which the board has learned.
pub const LEARNED: u64 = SETTINGS.learning_rows as u64;

/// An EEPROM in the host's memory, with its own bus.
struct Chip {
    content: Box<[u8; Eeprom::BYTES]>,
    pointer: usize,
}

impl ErrorType for Chip {
    type Error = ErrorKind;
}

impl I2c for Chip {
    fn transaction(
        &mut self,
        _: SevenBitAddress,
        operations: &mut [Operation<'_>],
    ) -> Result<(), ErrorKind> {
        for operation in operations {
            match operation {
                Operation::Write([high, low, data @ ..]) => {
                    self.pointer = usize::from(u16::from_be_bytes([*high, *low]));
                    for byte in data {
                        self.content[self.pointer % Eeprom::BYTES] = *byte;
                        self.pointer += 1;
                    }
                }
                Operation::Write(_) => return Err(ErrorKind::Other),
                Operation::Read(into) => {
                    for byte in into.iter_mut() {
                        *byte = self.content[self.pointer % Eeprom::BYTES];
                        self.pointer += 1;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The sequence number of the newest state in an EEPROM; 0 for none.
///
/// # Errors
/// [`Error`] if there is no image.
pub fn sequence(image: &[u8]) -> Result<u32, Error> {
    let content = Box::new(image.try_into().map_err(|_| Error::Silent("an image of 32 KiB"))?);
    let mut chip = Chip { content, pointer: 0 };
    let mut store = Store::new();
    let looked = store.load(&mut chip, &mut vec![0; Eeprom::BYTES]);
    looked.map_err(|fault| Error::Unexpected(fault.to_string()))?;
    Ok(store.sequence())
}

/// The detector after `samples` samples of a healthy scene.
fn detector(settings: Config, samples: u64) -> Result<BoardDetector<4>, Error> {
    let mut detector = BoardDetector::<4>::new(&FOUR_CHANNELS, settings)?;
    let mut scene = Scene::new(1000);
    for _ in 0..samples {
        detector.push(&scene.reading().values())?;
    }
    Ok(detector)
}

/// An EEPROM with the state after `samples` samples of a healthy scene.
///
/// # Errors
/// [`Error`] if it cannot be made.
pub fn eeprom(samples: u64) -> Result<Eeprom, Error> {
    eeprom_with(SETTINGS, samples)
}

/// The same, sealed with a key.
///
/// # Errors
/// [`Error`] if it cannot be made.
pub fn sealed_eeprom(samples: u64, key: &'static Key) -> Result<Eeprom, Error> {
    let detector = detector(SETTINGS, samples)?;
    let mut state = vec![0; BoardDetector::<4>::SAVED_BYTES];
    detector.save(&mut state)?;
    eeprom_by(Store::sealed(Some(key), None), &state)
}

/// The same from a build with other settings.
///
/// # Errors
/// [`Error`] if it cannot be made.
pub fn eeprom_with(settings: Config, samples: u64) -> Result<Eeprom, Error> {
    let detector = detector(settings, samples)?;
    let mut state = vec![0; BoardDetector::<4>::SAVED_BYTES];
    detector.save(&mut state)?;
    eeprom_of(&state)
}

/// The state after `samples` samples of a healthy scene, from a board that says it has seen `rows`.
///
/// # Errors
/// [`Error`] if it cannot be made.
pub fn state(samples: u64, rows: u64) -> Result<Vec<u8>, Error> {
    let detector = detector(SETTINGS, samples)?;
    let mut state = vec![0; BoardDetector::<4>::SAVED_BYTES];
    detector.save(&mut state)?;
    let found = forge::count(&mut state, detector.rows(), rows, |state| {
        let copy = BoardDetector::<4>::new(&FOUR_CHANNELS, SETTINGS);
        copy.is_ok_and(|mut copy| copy.restore(state).is_ok() && copy.rows() == rows)
    });
    if found { Ok(state) } else { Err(Error::Silent("the count of rows in a state")) }
}

/// An EEPROM with a state.
///
/// # Errors
/// [`Error`] if it cannot be made.
pub fn eeprom_of(state: &[u8]) -> Result<Eeprom, Error> {
    eeprom_by(Store::new(), state)
}

fn eeprom_by(mut store: Store, state: &[u8]) -> Result<Eeprom, Error> {
    let mut chip = Chip { content: Box::new([0xFF; Eeprom::BYTES]), pointer: 0 };
    let saved = store.save(&mut chip, state);
    saved.map_err(|fault| Error::Unexpected(fault.to_string()))?;
    let eeprom = Eeprom::new()?;
    eeprom.write(&chip.content)?;
    Ok(eeprom)
}
