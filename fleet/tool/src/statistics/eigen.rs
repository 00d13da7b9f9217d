//! Eigenvalues and eigenvectors of symmetric matrices.

use nalgebra::{DMatrix, SymmetricEigen};

/// A symmetric matrix, row by row.
#[derive(Debug, Clone)]
pub(crate) struct Symmetric {
    size: usize,
    cells: Vec<f64>,
}

impl Symmetric {
    pub(crate) fn zero(size: usize) -> Self {
        Self { size, cells: vec![0.0; size * size] }
    }

    /// Adds `factor`·v·v' to the upper triangle.
    pub(crate) fn add_square(&mut self, vector: &[f64], factor: f64) {
        for (row, a) in vector.iter().enumerate() {
            let scaled = factor * a;
            let cells = &mut self.cells[row * self.size + row..(row + 1) * self.size];
            cells.iter_mut().zip(&vector[row..]).for_each(|(cell, b)| *cell += scaled * b);
        }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        let (row, column) = if row <= column { (row, column) } else { (column, row) };
        self.cells[row * self.size + column]
    }

    /// Eigenvalues in descending order, each with its vector.
    pub(crate) fn eigen(&self) -> Vec<(f64, Vec<f64>)> {
        let whole = DMatrix::from_fn(self.size, self.size, |row, column| self.at(row, column));
        let SymmetricEigen { eigenvalues, eigenvectors } = whole.symmetric_eigen();
        let vectors = eigenvectors.column_iter().map(|column| column.iter().copied().collect());
        let mut pairs: Vec<(f64, Vec<f64>)> = eigenvalues.iter().copied().zip(vectors).collect();
        pairs.sort_by(|x, y| y.0.total_cmp(&x.0));
        pairs
    }
}

/// The axes of Σv·v': eigenvalues in descending order, each with its vector. Of fewer vectors than they are
/// wide, those above 0 only, by the matrix of products between vectors: it is smaller, and has the same.
pub(crate) fn axes(
    vectors: impl ExactSizeIterator<Item = Vec<f64>>,
    width: usize,
) -> Vec<(f64, Vec<f64>)> {
    if vectors.len() >= width {
        let mut sum = Symmetric::zero(width);
        vectors.for_each(|vector| sum.add_square(&vector, 1.0));
        return sum.eigen();
    }
    let vectors: Vec<Vec<f64>> = vectors.collect();
    let mut products = Symmetric::zero(vectors.len());
    for axis in 0..width {
        let along: Vec<f64> = vectors.iter().map(|vector| vector[axis]).collect();
        products.add_square(&along, 1.0);
    }
    let mut pairs = products.eigen();
    let least = 1e-12 * pairs.first().map_or(0.0, |(most, _)| *most);
    pairs.retain(|(value, _)| *value > least);
    for (value, parts) in &mut pairs {
        let mut axis = vec![0.0; width];
        for (part, vector) in parts.iter().zip(&vectors) {
            let part = part / value.sqrt();
            axis.iter_mut().zip(vector).for_each(|(sum, x)| *sum += part * x);
        }
        *parts = axis;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_the_sum_of_its_parts() {
        let size = 12;
        let mut matrix = Symmetric::zero(size);
        for k in 0..30_u32 {
            let vector: Vec<f64> =
                (0..12_u32).map(|i| (f64::from(k * 7 + i * i) * 0.37).sin()).collect();
            matrix.add_square(&vector, 1.0);
        }
        let pairs = matrix.eigen();
        let mut again = Symmetric::zero(size);
        for (value, vector) in &pairs {
            assert!((vector.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-9);
            again.add_square(vector, *value);
        }
        for row in 0..size {
            for column in 0..size {
                assert!((again.at(row, column) - matrix.at(row, column)).abs() < 1e-9);
            }
        }
        assert!(pairs.windows(2).all(|pair| pair[0].0 >= pair[1].0));
    }

    #[test]
    fn few_vectors_have_the_axes_of_their_sum_of_squares() {
        let vector =
            |k: u32| (0..9_u32).map(|i| (f64::from((k + 2) * i * i) * 0.37).sin()).collect();
        let few: Vec<Vec<f64>> = (0..5).map(vector).collect();
        // Vectors of 0 change nothing but the way.
        let mut more = few.clone();
        more.resize(9, vec![0.0; 9]);
        let (few, more) = (axes(few.into_iter(), 9), axes(more.into_iter(), 9));
        assert_eq!((few.len(), more.len()), (5, 9));
        for ((value, axis), (other, along)) in few.iter().zip(&more) {
            assert!((value - other).abs() < 1e-9 && *value > 0.01);
            let cosine: f64 = axis.iter().zip(along).map(|(a, b)| a * b).sum();
            assert!((cosine.abs() - 1.0).abs() < 1e-6, "{cosine}");
        }
        assert!(more[5..].iter().all(|(value, _)| value.abs() < 1e-9));
    }
}
