//! Many samples at a time: the same bits, faster on a host.

use super::Embedding;
use super::weight::PLACES;
use crate::error::Error;
use crate::features::dense::LANES;
use crate::features::sincos::Backend;
use crate::features::{self, FeatureMap, Sample};
use crate::numeric::u32_of;

/// Samples that [`Embedding::add_many`] passes to the map at a time.
const BATCH: usize = 16;

impl<M: FeatureMap> Embedding<M> {
    /// Adds samples with weight 1, each as [`add`](Self::add) does: the same bits. Faster on a host,
    /// for maps of `f32`. The samples are looked at twice: first checked, then added.
    ///
    /// ```
    /// use fastmmd::{Embedding, Fourier};
    ///
    /// let map = Fourier::<2, 32>::gaussian(1);
    /// let mut day = Embedding::new(&map);
    /// day.add_many(&map, &[[0.1, 0.7], [0.2, 0.6]])?;
    /// assert_eq!(day.weight(), 2.0);
    /// # Ok::<(), fastmmd::Error>(())
    /// ```
    ///
    /// Where the shape is known at run time, `values.chunks_exact(inputs)` are samples.
    ///
    /// # Errors
    /// As [`add`](Self::add), for the first bad sample; then none is added.
    pub fn add_many<'s>(
        &mut self,
        map: &M,
        samples: impl IntoIterator<Item = &'s Sample<M>, IntoIter: Clone>,
    ) -> Result<(), Error>
    where
        Sample<M>: 's,
    {
        self.check_map(map)?;
        let mut samples = samples.into_iter();
        let mut count = 0_u64;
        for sample in samples.clone() {
            features::check(map, sample)?;
            count = count.wrapping_add(1);
        }
        // Beyond 2³³ samples there is no room in any embedding.
        let added = count.saturating_mul(1 << PLACES);
        self.total_with(added)?;
        while let Some(first) = samples.next() {
            let mut batch = [first; BATCH];
            let mut filled = 1;
            for (place, sample) in batch.iter_mut().skip(1).zip(&mut samples) {
                *place = sample;
                filled += 1;
            }
            self.add_batch(map, batch.get(..filled).unwrap_or(&batch))?;
        }
        Ok(())
    }

    /// Adds at most [`BATCH`] samples that have been checked.
    fn add_batch(&mut self, map: &M, samples: &[&Sample<M>]) -> Result<(), Error> {
        let count = u32_of(samples.len());
        self.sums.make_room(count);
        let is_done = map.project_many(samples, self.sums.lower(), |sums, tile| {
            let mut added = [[0_u32; LANES]; 2];
            for phases in tile {
                let [cosines, sines] = &mut added;
                for ((cosine, sine), phase) in cosines.iter_mut().zip(sines).zip(phases) {
                    let [cos, sin] = M::Backend::units(*phase);
                    *cosine = cosine.wrapping_add(cos);
                    *sine = sine.wrapping_add(sin);
                }
            }
            let [cosines, sines] = added;
            for ((sum, cos), sin) in sums.iter_mut().zip(cosines).zip(sines) {
                sum.add([cos, sin]);
            }
        });
        if !is_done {
            for sample in samples {
                self.add(map, sample)?;
            }
            return Ok(());
        }
        self.sums.added_many(count, M::Backend::OFFSET);
        self.weight = self.weight.wrapping_add(u64::from(count) << PLACES);
        self.squares = self.squares.wrapping_add(u128::from(count) << (2 * PLACES));
        Ok(())
    }
}
