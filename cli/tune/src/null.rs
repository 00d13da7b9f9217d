//! How the distribution of MMD² for equal distributions is found, and the pools of which blocks of rows
//! are shuffled: to shuffle blocks is to shuffle their means.

use fastmmd_reference::error::Refused;
use fastmmd_reference::features::Frequencies;
use fastmmd_reference::generate::Generator;
use fastmmd_reference::null::{self, Estimate, Features, Gram, Null, Pool};
use fastmmd_reference::points::Points;
use fastmmd_reference::real;

/// How the distribution is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A gamma distribution fitted to two moments.
    Gamma,
    /// Random permutations of the rows of both samples.
    Permutation,
    /// Rows drawn with replacement from both samples.
    Bootstrap,
    /// A Pearson curve fitted to three moments.
    Pearson,
    /// A Pearson curve fitted to four moments.
    Pearson4,
    /// A sum of chi-squared variables, weighted by the eigenvalues of the kernel.
    Spectrum,
    /// Random permutations of blocks of rows, where rows depend on earlier ones.
    Blocks,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Gamma,
        Self::Permutation,
        Self::Bootstrap,
        Self::Pearson,
        Self::Pearson4,
        Self::Spectrum,
        Self::Blocks,
    ];

    /// Its name as an option.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gamma => "gamma",
            Self::Permutation => "permutation",
            Self::Bootstrap => "bootstrap",
            Self::Pearson => "pearson",
            Self::Pearson4 => "pearson4",
            Self::Spectrum => "spectrum",
            Self::Blocks => "blocks",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Whether it draws, so that a small p-value needs many draws.
    #[must_use]
    pub const fn is_drawn(self) -> bool {
        match self {
            Self::Permutation | Self::Bootstrap | Self::Spectrum | Self::Blocks => true,
            Self::Gamma | Self::Pearson | Self::Pearson4 => false,
        }
    }

    /// The distribution of an estimate. For [`Blocks`](Self::Blocks) the pool is one of blocks.
    ///
    /// # Errors
    /// For too few rows, blocks or draws.
    pub fn law(
        self,
        pool: &impl Pool,
        estimate: Estimate,
        draws: usize,
        seed: u64,
    ) -> Result<Null, Refused> {
        let mut generator = Generator::new(seed);
        match self {
            Self::Permutation | Self::Blocks => {
                null::permutation(pool, estimate, draws, &mut generator)
            }
            Self::Bootstrap => null::bootstrap(pool, estimate, draws, &mut generator),
            Self::Spectrum => null::spectrum(pool, estimate, draws, &mut generator),
            Self::Gamma => null::gamma(pool, estimate),
            Self::Pearson => null::pearson(pool, estimate),
            Self::Pearson4 => null::pearson_by_four(pool, estimate),
        }
    }
}

/// The rows in whole blocks; those after the last one are left out.
fn blocks(points: &Points, block: usize) -> Vec<Vec<&[f64]>> {
    let rows: Vec<&[f64]> = points.rows().collect();
    rows.chunks_exact(block).map(<[&[f64]]>::to_vec).collect()
}

/// The mean features of blocks of rows, of one sample and then the other. MMD² between the two groups is
/// that of all rows in whole blocks.
///
/// # Errors
/// For samples without a whole block, or of another number of channels than the frequencies.
pub fn block_features(
    frequencies: &Frequencies,
    samples: [&Points; 2],
    block: usize,
) -> Result<Features, Refused> {
    let (mut values, mut sizes) = (Vec::new(), [0; 2]);
    for (points, size) in samples.into_iter().zip(&mut sizes) {
        // Block by block: the features of all rows at once may not fit into memory.
        for rows in blocks(points, block) {
            let rows = Points::new(points.dims(), rows.concat())?;
            values.extend(frequencies.columns(&rows)?.column_mean().iter());
            *size += 1;
        }
    }
    Features::from_values(sizes, values)
}

/// The same of features that are there already, those of `sizes[0]` rows and then of `sizes[1]`.
///
/// # Errors
/// For samples without a whole block.
pub fn block_means(
    features: &[Vec<f64>],
    sizes: [usize; 2],
    block: usize,
) -> Result<Features, Refused> {
    let (mut values, mut blocks) = (Vec::new(), [0; 2]);
    let (x, y) = features.split_at(sizes[0].min(features.len()));
    for (sample, count) in [x, y].into_iter().zip(&mut blocks) {
        for rows in sample.chunks_exact(block) {
            let mean = |place: usize| {
                let sum: f64 = rows.iter().map(|row| row[place]).sum();
                sum / real(block)
            };
            values.extend((0..rows[0].len()).map(mean));
            *count += 1;
        }
    }
    Features::from_values(blocks, values)
}

/// The mean kernel between the rows of two blocks, of all pairs of blocks.
///
/// # Errors
/// For samples without a whole block.
pub fn block_gram(
    [x, y]: [&Points; 2],
    block: usize,
    kernel: impl Fn(&[f64], &[f64]) -> f64,
) -> Result<Gram, Refused> {
    let mean = |a: &Vec<&[f64]>, b: &Vec<&[f64]>| {
        let sum: f64 = a.iter().flat_map(|x| b.iter().map(|y| kernel(x, y))).sum();
        sum / real(a.len() * b.len())
    };
    Gram::new(&blocks(x, block), &blocks(y, block), mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastmmd_reference::points::Weighted;
    use fastmmd_reference::{exact, kernel, tolerance};

    fn sample(rows: usize, mean: f64, seed: u64) -> Points {
        let mut random = Generator::new(seed);
        Points::new(2, (0..2 * rows).map(|_| mean + random.normal()).collect()).expect("rows")
    }

    fn first(points: &Points, rows: usize) -> Points {
        let values = points.rows().take(rows).flatten().copied().collect();
        Points::new(points.dims(), values).expect("rows")
    }

    #[test]
    fn methods_have_names() {
        for method in Method::ALL {
            assert_eq!(Method::from_name(method.name()), Some(method));
        }
        assert_eq!(Method::from_name("none"), None);
    }

    /// The statistic is that of the rows in whole blocks, by every pool.
    #[test]
    fn blocks_have_the_statistic_of_their_rows() {
        let (x, y) = (sample(67, 0.0, 1), sample(45, 0.5, 2));
        let (whole_x, whole_y) = (first(&x, 60), first(&y, 40));
        let gaussian = kernel::gaussian(1.5);
        let even = |points: &Points| Weighted::even(points.clone());
        let of =
            |x: &Points, y: &Points| exact::biased(&even(x), &even(y), gaussian).expect("rows");
        let (whole, all) = (of(&whole_x, &whole_y), of(&x, &y));
        let gram = block_gram([&x, &y], 10, gaussian).expect("blocks");
        let gram = gram.mmd2(Estimate::Biased).expect("blocks");
        tolerance::TOOLBOX.hold("pairs", gram / whole, 1.0);
        // The control.
        assert!((all / whole - 1.0).abs() > 1e-3, "{all} {whole}");

        let turns = (0..32).map(|at| vec![0.01 * real(at), 0.1 - 0.005 * real(at)]).collect();
        let frequencies = Frequencies::new(turns).expect("frequencies");
        let rows = |x: &Points, y: &Points| {
            Features::new(&frequencies, x, y).and_then(|pool| pool.mmd2(Estimate::Biased))
        };
        let whole = rows(&whole_x, &whole_y).expect("rows");
        let pool = block_features(&frequencies, [&x, &y], 10).expect("blocks");
        assert_eq!(pool.sizes(), [6, 4]);
        tolerance::TOOLBOX.hold("blocks", pool.mmd2(Estimate::Biased).expect("") / whole, 1.0);
        let features: Vec<Vec<f64>> = [&x, &y]
            .into_iter()
            .flat_map(|points| {
                let columns = frequencies.columns(points).expect("rows");
                columns.column_iter().map(|one| one.iter().copied().collect()).collect::<Vec<_>>()
            })
            .collect();
        let means = block_means(&features, [67, 45], 10).expect("blocks");
        assert_eq!(means.sizes(), [6, 4]);
        tolerance::TOOLBOX.hold("means", means.mmd2(Estimate::Biased).expect("") / whole, 1.0);
    }
}
