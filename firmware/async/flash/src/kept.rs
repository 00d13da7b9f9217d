//! A detector whose state is saved from time to time.

use embedded_storage_async::nor_flash::NorFlash;
use fastmmd::features::sincos::Points;
use fastmmd::monitor::Legs;
use fastmmd::{Detector, FeatureMap};
use fastmmd_tasks::{Keeper, Report};

use crate::FlashStore;

/// Keeps the state of a detector, of `BYTES` bytes (`Detector::SAVED_BYTES`), in a flash.
pub struct Kept<F: NorFlash, const BYTES: usize> {
    store: FlashStore<F>,
    record: [u8; BYTES],
    /// Rows between two saves.
    between: u64,
    /// The row after which it is saved next.
    due: u64,
    /// Rows until it is tried again, if it fails.
    again: u64,
}

/// A save that failed is tried again after this part of the rows between two saves, and then after twice as
/// many each time: soon, but a flash that always fails is not worn.
const SOONER: u64 = 64;

impl<F: NorFlash, const BYTES: usize> Kept<F, BYTES> {
    /// Saves after every `between` rows.
    pub const fn new(store: FlashStore<F>, between: u64) -> Self {
        Self { store, record: [0; BYTES], between, due: between, again: Self::soon(between) }
    }

    const fn soon(between: u64) -> u64 {
        if between < SOONER { 1 } else { between / SOONER }
    }

    /// Restores the detector from the flash, and says what there is to report: [`Report::Restored`], or
    /// [`Report::NotRestored`] for anything but a record of this detector, which is then as it was. Nothing
    /// if nothing was kept.
    pub async fn take_up<M, L>(&mut self, detector: &mut Detector<'_, M, L>) -> Option<Report>
    where
        M: FeatureMap<Backend: Points>,
        L: Legs,
    {
        let loaded = self.store.load(&mut self.record).await;
        let report = match loaded {
            Ok(None) => None,
            Ok(Some(length)) => {
                let restored = detector.restore(self.record.get(..length).unwrap_or_default());
                Some(restored.map_or(Report::NotRestored, |()| Report::Restored(detector.rows())))
            }
            Err(_) => Some(Report::NotRestored),
        };
        self.due = detector.rows().saturating_add(self.between);
        report
    }

    /// The flash again.
    pub fn release(self) -> F {
        self.store.release()
    }
}

impl<F, M, L, const BYTES: usize> Keeper<Detector<'_, M, L>> for Kept<F, BYTES>
where
    F: NorFlash,
    M: FeatureMap<Backend: Points>,
    L: Legs,
{
    async fn keep(&mut self, detector: &Detector<'_, M, L>) -> bool {
        if detector.rows() < self.due {
            return true;
        }
        let saved = match detector.save(&mut self.record) {
            Ok(length) => {
                let record = self.record.get(..length).unwrap_or_default();
                self.store.save(record).await.is_ok()
            }
            Err(_) => false,
        };
        let rows = if saved { self.between } else { self.again };
        self.due = detector.rows().saturating_add(rows);
        self.again = match saved {
            true => Self::soon(self.between),
            false => self.again.saturating_mul(2).min(self.between.max(1)),
        };
        saved
    }
}
