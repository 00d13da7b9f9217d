//! A detector whose state is saved from time to time.

use embedded_storage_async::nor_flash::NorFlash;
use fastmmd::features::sincos::Points;
use fastmmd::monitor::Legs;
use fastmmd::{Detector, FeatureMap};
use fastmmd_tasks::Keeper;

use crate::FlashStore;

/// Keeps the state of a detector, of `BYTES` bytes (`Detector::SAVED_BYTES`), in a flash.
pub struct Kept<F: NorFlash, const BYTES: usize> {
    store: FlashStore<F>,
    record: [u8; BYTES],
    /// Rows between two saves.
    between: u64,
    /// The row after which it is saved next.
    due: u64,
}

impl<F: NorFlash, const BYTES: usize> Kept<F, BYTES> {
    /// Saves after every `between` rows.
    pub const fn new(store: FlashStore<F>, between: u64) -> Self {
        Self { store, record: [0; BYTES], between, due: between }
    }

    /// Restores the detector from the flash, and returns whether it could. Anything but a record of this
    /// detector is refused, and the detector is as it was.
    pub async fn take_up<M, L>(&mut self, detector: &mut Detector<'_, M, L>) -> bool
    where
        M: FeatureMap<Backend: Points>,
        L: Legs,
    {
        let loaded = self.store.load(&mut self.record).await;
        let restored = loaded.ok().flatten().and_then(|length| {
            detector.restore(self.record.get(..length).unwrap_or_default()).ok()
        });
        self.due = detector.rows().saturating_add(self.between);
        restored.is_some()
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
        self.due = detector.rows().saturating_add(self.between);
        let Ok(length) = detector.save(&mut self.record) else { return false };
        self.store.save(self.record.get(..length).unwrap_or_default()).await.is_ok()
    }
}
