//! Power cuts at every moment of a save, over a flash in memory.

use embassy_futures::block_on;
use embedded_storage_async::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};
use fastmmd::{Config, Detector, Fourier};
use fastmmd_flash::{Error, FlashStore, Kept, LONGEST};
use fastmmd_tasks::{Keeper, Report};
use sequential_storage::cache::Cache;
use sequential_storage::map::{MapConfig, MapStorage};

/// That of an nRF52840.
const PAGE: usize = 4096;
const WORD: usize = 4;
const PAGES: usize = 6;
const RANGE: std::ops::Range<u32> = 0..24 * 1024;

/// NOR flash: erased to ones by pages, written to zeros by words.
#[derive(Clone)]
struct Flash {
    bytes: Vec<u8>,
    /// Words written and pages erased until the power is cut; `None`: never.
    left: Option<u32>,
    /// What a cut leaves of what it interrupts.
    left_by_cut: Left,
    /// Steps that fail next, while the power stays.
    failing: u32,
    used: u32,
    erased: u32,
}

/// What is there of a word or page whose writing or erasing was interrupted.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Left {
    /// The old one.
    Whole,
    /// Of a page that is erased, half.
    Halves,
    /// Of a word that is written, those of the bits to be cleared that are 0 in the mask; of a page, half.
    Bits(u8),
}

#[derive(Debug, PartialEq)]
struct Cut;

impl NorFlashError for Cut {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

impl ErrorType for Flash {
    type Error = Cut;
}

impl Flash {
    fn new() -> Self {
        let bytes = vec![0xff; PAGES * PAGE];
        Self { bytes, left: None, left_by_cut: Left::Whole, failing: 0, used: 0, erased: 0 }
    }

    /// Whether there is power for one more step.
    fn step(&mut self) -> Result<(), Cut> {
        if let Some(failing) = self.failing.checked_sub(1) {
            self.failing = failing;
            return Err(Cut);
        }
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1).ok_or(Cut)?;
        }
        self.used += 1;
        Ok(())
    }
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Cut> {
        let offset = offset as usize;
        bytes.copy_from_slice(&self.bytes[offset..offset + bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = PAGE;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), Cut> {
        assert!((from as usize).is_multiple_of(PAGE) && (to as usize).is_multiple_of(PAGE));
        for page in (from as usize..to as usize).step_by(PAGE) {
            if let Err(cut) = self.step() {
                if self.left_by_cut != Left::Whole {
                    self.bytes[page..page + PAGE / 2].fill(0xff);
                }
                return Err(cut);
            }
            self.bytes[page..page + PAGE].fill(0xff);
            self.erased += 1;
        }
        Ok(())
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Cut> {
        assert!((offset as usize).is_multiple_of(WORD) && bytes.len().is_multiple_of(WORD));
        for (word, new) in (offset as usize..).step_by(WORD).zip(bytes.chunks(WORD)) {
            let done = self.step();
            let kept = match (&done, self.left_by_cut) {
                (Ok(()), _) => 0,
                (Err(Cut), Left::Bits(mask)) => mask,
                (Err(Cut), Left::Whole | Left::Halves) => 0xff,
            };
            for (byte, new) in self.bytes[word..].iter_mut().zip(new) {
                *byte &= new | kept;
            }
            done?;
        }
        Ok(())
    }
}

impl MultiwriteNorFlash for Flash {}

fn store(flash: Flash) -> FlashStore<Flash> {
    FlashStore::new(flash, RANGE).unwrap()
}

static MAP: Fourier<3, 32> = Fourier::additive(1);

/// The saved state of a detector after so many rows.
fn record(rows: u16) -> Vec<u8> {
    let mut detector = Detector::new(&MAP, Config::rows(1e4)).unwrap();
    for row in 0..rows {
        let reading = f32::from(row % 17) - 0.25 * f32::from(row % 5);
        detector.push(&[reading, -reading, 0.5 * reading]).unwrap();
    }
    let mut bytes = vec![0; detector.saved_bytes()];
    detector.save(&mut bytes).unwrap();
    bytes
}

fn load(store: &mut FlashStore<Flash>) -> Vec<u8> {
    let mut out = vec![0; LONGEST];
    let length = block_on(store.load(&mut out)).unwrap().unwrap_or(0);
    out.truncate(length);
    out
}

/// A flash on which records were saved before, so that pages are full.
fn used(saves: u16) -> (Flash, Vec<u8>) {
    let mut store = store(Flash::new());
    let mut last = Vec::new();
    for rows in 0..saves {
        last = record(rows);
        block_on(store.save(&last)).unwrap();
    }
    (store.release(), last)
}

/// Cuts the power at steps of the save of a record, and looks at what is there afterwards. Gives how often
/// it was the old record and the new one.
fn cuts(saves: u16, stride: usize, left_by_cut: Left) -> (u32, u32) {
    let (flash, old) = used(saves);
    let new = record(500);
    let mut whole = store(flash.clone());
    block_on(whole.save(&new)).unwrap();
    let steps = whole.release().used - flash.used;
    let (mut olds, mut news) = (0, 0);
    // All of the last steps, which decide.
    for left in (0..steps).step_by(stride).chain(steps - 8..=steps) {
        let mut cut = store(Flash { left: Some(left), left_by_cut, ..flash.clone() });
        let saved = block_on(cut.save(&new)).is_ok();
        // The power comes back.
        let mut again = store(Flash { left: None, ..cut.release() });
        let found = load(&mut again);
        assert!(found == new || found == old, "a mixture, cut at {left} of {steps}");
        assert!(!saved || found == new, "lost, cut at {left} of {steps}");
        olds += u32::from(found == old);
        news += u32::from(found == new);
        // It goes on to work.
        let next = record(600);
        block_on(again.save(&next)).unwrap();
        assert!(load(&mut again) == next, "after a cut at {left} of {steps}");
    }
    (olds, news)
}

#[test]
fn a_record_longer_than_a_page_comes_back() {
    let (flash, last) = used(1);
    assert!(last.len() > PAGE);
    let mut again = store(flash);
    assert!(load(&mut again) == last);
    let mut detector = Detector::new(&MAP, Config::rows(1e4)).unwrap();
    detector.restore(&last).unwrap();
    assert!(load(&mut store(Flash::new())).is_empty());
}

#[test]
fn a_power_cut_leaves_the_old_record_or_the_new_one() {
    // The first save, later ones on pages that are full, and such as erase one.
    // At every step of one of them.
    for (saves, stride) in [(0, 13), (1, 13), (2, 13), (3, 13), (7, 13), (20, 1)] {
        let (olds, news) = cuts(saves, stride, Left::Whole);
        assert!(olds > 90 && news >= 1, "{saves}: {olds} {news}");
    }
}

#[test]
fn an_erase_that_is_cut_half_way_is_none_the_worse() {
    for saves in [3, 7, 20] {
        let (olds, news) = cuts(saves, 13, Left::Halves);
        assert!(olds > 90 && news >= 1, "{saves}: {olds} {news}");
    }
}

/// A word is not written at once: a cut leaves some of its bits.
#[test]
fn a_word_that_is_cut_is_none_the_worse() {
    // Half a byte each way, every second bit each way, and all but the cut itself.
    for (mask, saves) in [(0x0f, 0), (0xf0, 1), (0xaa, 7), (0x55, 20), (0x00, 3)] {
        let (olds, news) = cuts(saves, 7, Left::Bits(mask));
        assert!(olds > 90 && news >= 1, "{mask:x} {saves}: {olds} {news}");
    }
}

/// The control: a word that is cut is neither the old one nor the new one.
#[test]
fn a_cut_tears_a_word() {
    let mut flash = Flash { left: Some(0), left_by_cut: Left::Bits(0xaa), ..Flash::new() };
    assert_eq!(block_on(flash.write(0, &[0; WORD])), Err(Cut));
    assert_eq!(flash.bytes[..=WORD], [0xaa, 0xaa, 0xaa, 0xaa, 0xff]);
}

/// The control: parts that are written over those of the record before are mixed up by a power cut.
#[test]
fn without_a_second_place_records_are_mixed_up() {
    let items = |flash: Flash| {
        let config = MapConfig::new(RANGE);
        MapStorage::<u8, _, _>::new(flash, config, Cache::new_uncached())
    };
    let mut buffer = [0; 1024];
    let (old, new) = ([[1; 512], [1; 512]], [[2; 512], [2; 512]]);
    let mut save = |flash: Flash, record: &[[u8; 512]; 2]| {
        let mut items = items(flash);
        for (key, part) in (0..).zip(record) {
            // Until the power is cut.
            let _ = block_on(items.store_item(&mut buffer, &key, &part.as_slice()));
        }
        items.destroy().0
    };
    let flash = save(Flash::new(), &old);
    let flash = save(Flash { left: Some(200), ..flash }, &new);
    let mut items = items(Flash { left: None, ..flash });
    let mut first = |key: u8| {
        let mut buffer = [0; 1024];
        let part = block_on(items.fetch_item::<&[u8]>(&mut buffer, &key)).unwrap();
        part.unwrap()[0]
    };
    assert_eq!((first(0), first(1)), (2, 1));
}

#[test]
fn pages_wear_alike_and_no_more_than_needed() {
    let (flash, _) = used(60);
    // 5.1 KB a save.
    assert!((60..=120).contains(&flash.erased), "{}", flash.erased);
}

#[test]
fn what_has_no_room_is_refused_and_changes_nothing() {
    let (flash, old) = used(2);
    let mut full = store(flash);
    assert!(matches!(block_on(full.save(&vec![0; LONGEST + 1])), Err(Error::ItemTooBig)));
    assert!(load(&mut full) == old);
    assert!(matches!(block_on(full.load(&mut [0; 8])), Err(Error::BufferTooSmall(_))));
    assert!(FlashStore::new(Flash::new(), 0..100).is_err());
}

/// In a range that has room for one record, but not for the next beside it.
#[test]
fn a_full_range_keeps_the_record_before() {
    let mut small = FlashStore::new(Flash::new(), 0..2 * 4096).unwrap();
    let old = &record(10)[..2000];
    block_on(small.save(old)).unwrap();
    for _ in 0..3 {
        assert!(matches!(block_on(small.save(&record(20))), Err(Error::FullStorage)));
        assert!(load(&mut small) == old);
    }
    // Also after the power was off.
    let mut again = FlashStore::new(small.release(), 0..2 * 4096).unwrap();
    assert!(load(&mut again) == old);
}

#[test]
fn a_detector_goes_on_from_what_was_kept() {
    const BYTES: usize = Detector::<Fourier<3, 32>>::SAVED_BYTES;
    let detector = || Detector::new(&MAP, Config::rows(1e4)).unwrap();
    let push = |detector: &mut Detector<'_, _>, rows: std::ops::Range<u16>| {
        for row in rows {
            detector.push(&[f32::from(row % 7), f32::from(row % 5), f32::from(row % 3)]).unwrap();
        }
    };
    let mut kept: Kept<_, BYTES> = Kept::new(store(Flash::new()), 100);
    let mut running = detector();
    assert_eq!(block_on(kept.take_up(&mut running)), None, "there is nothing yet");
    push(&mut running, 0..99);
    assert!(block_on(kept.keep(&running)), "not yet due");
    push(&mut running, 99..100);
    assert!(block_on(kept.keep(&running)));
    let saved = running.clone();
    push(&mut running, 100..150);
    assert!(block_on(kept.keep(&running)));
    // The power comes back.
    let mut kept: Kept<_, BYTES> = Kept::new(store(kept.release()), 100);
    let mut restored = detector();
    assert_eq!(block_on(kept.take_up(&mut restored)), Some(Report::Restored(100)));
    assert_eq!(restored.rows(), 100);
    push(&mut restored, 100..150);
    let mut bytes = [[0; BYTES]; 2];
    restored.save(&mut bytes[0]).unwrap();
    running.save(&mut bytes[1]).unwrap();
    assert!(bytes[0] == bytes[1]);
    // A flash that fails is told of.
    let mut cut: Kept<_, BYTES> = Kept::new(store(Flash { left: Some(3), ..kept.release() }), 1);
    assert!(!block_on(cut.keep(&saved)));
    // So is a record that this detector cannot take up.
    let mut foreign = store(Flash::new());
    block_on(foreign.save(&[7; 100])).unwrap();
    let mut kept: Kept<_, BYTES> = Kept::new(foreign, 100);
    let mut fresh = detector();
    assert_eq!(block_on(kept.take_up(&mut fresh)), Some(Report::NotRestored));
    assert_eq!(fresh.rows(), 0);
}

/// Pushes rows and keeps the detector after each; the rows after which it could not be.
fn failed(flash: Flash, between: u64, rows: u64) -> (Vec<u64>, Flash) {
    let mut detector = Detector::new(&MAP, Config::rows(1e4)).unwrap();
    let mut kept: Kept<_, { Detector::<Fourier<3, 32>>::SAVED_BYTES }> =
        Kept::new(store(flash), between);
    let mut failed = Vec::new();
    for row in 1..=rows {
        detector.push(&[1.0, 2.0, 3.0]).unwrap();
        if !block_on(kept.keep(&detector)) {
            failed.push(row);
        }
    }
    (failed, kept.release())
}

/// A save that failed is not put off until the next is due.
#[test]
fn a_failed_save_is_tried_again_soon() {
    let (rows, flash) = failed(Flash { failing: 1, ..Flash::new() }, 640, 655);
    assert_eq!(rows, [640]);
    let mut detector = Detector::new(&MAP, Config::rows(1e4)).unwrap();
    detector.restore(&load(&mut store(flash))).unwrap();
    assert_eq!(detector.rows(), 650);
    // One that always fails is tried more and more rarely, and at least as often as it is saved.
    let (rows, _) = failed(Flash { left: Some(0), ..Flash::new() }, 64, 400);
    assert_eq!(rows, [64, 65, 67, 71, 79, 95, 127, 191, 255, 319, 383]);
}
