//! Small labelled graphs and the shortest-path kernel (Borgwardt and Kriegel, 2005).

use std::collections::BTreeMap;

use crate::error::Refused;

/// A graph with a label on each node, stored in the form that the kernel needs: the number of pairs
/// of nodes with given labels and distance.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Graph {
    paths: BTreeMap<(u8, u8, usize), u32>,
}

impl Graph {
    /// A graph of nodes with labels and undirected edges of length 1 between them. Pairs of nodes
    /// that no path joins do not count. O(n³).
    ///
    /// # Errors
    /// [`Refused::Empty`] without nodes, [`Refused::Ragged`] for an edge to a node that does not
    /// exist.
    pub fn new(labels: &[u8], edges: &[(usize, usize)]) -> Result<Self, Refused> {
        let size = labels.len();
        if size == 0 {
            return Err(Refused::Empty);
        }
        let mut distance = vec![vec![None; size]; size];
        for &(a, b) in edges {
            for (from, to) in [(a, b), (b, a)] {
                let node = distance.get_mut(from).and_then(|row| row.get_mut(to));
                let found = a.max(b);
                *node.ok_or(Refused::Ragged { expected: size, found })? = Some(1_usize);
            }
        }
        for through in 0..size {
            for from in 0..size {
                for to in 0..size {
                    if let (Some(a), Some(b)) = (distance[from][through], distance[through][to]) {
                        let shorter = distance[from][to].is_none_or(|known| a + b < known);
                        if from != to && shorter {
                            distance[from][to] = Some(a + b);
                        }
                    }
                }
            }
        }
        let mut paths = BTreeMap::new();
        for from in 0..size {
            for to in from + 1..size {
                if let Some(length) = distance[from][to] {
                    let (a, b) = (labels[from].min(labels[to]), labels[from].max(labels[to]));
                    *paths.entry((a, b, length)).or_insert(0) += 1;
                }
            }
        }
        Ok(Self { paths })
    }

    /// Σ over kinds of path of the product of their numbers in both graphs.
    fn common(&self, other: &Self) -> f64 {
        let products = self.paths.iter().filter_map(|(kind, count)| {
            other.paths.get(kind).map(|theirs| f64::from(*count) * f64::from(*theirs))
        });
        products.sum()
    }
}

/// The shortest-path kernel, normalised: from 0 to 1, and 1 for a graph with itself. Graphs
/// without any path are like each other and unlike all others. O(kinds of path).
#[must_use]
pub fn shortest_path_kernel(a: &Graph, b: &Graph) -> f64 {
    if a.paths.is_empty() || b.paths.is_empty() {
        return f64::from(u8::from(a.paths.is_empty() == b.paths.is_empty()));
    }
    a.common(b) / (a.common(a) * b.common(b)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tolerance;

    /// A path 0–1–2 with labels a, b, a has the paths ab, ab, and aa of length 2; a triangle of
    /// the same labels has ab, ab, and aa of length 1.
    #[test]
    fn two_graphs_by_hand() -> Result<(), Refused> {
        let path = Graph::new(b"aba", &[(0, 1), (1, 2)])?;
        let triangle = Graph::new(b"aba", &[(0, 1), (1, 2), (2, 0)])?;
        let identity = tolerance::REFERENCE_IDENTITY;
        identity.hold("both", shortest_path_kernel(&path, &triangle), 4.0 / 5.0);
        identity.hold("itself", shortest_path_kernel(&path, &path), 1.0);
        let point = Graph::new(b"a", &[])?;
        identity.hold("no paths", shortest_path_kernel(&point, &path), 0.0);
        identity.hold("no paths at all", shortest_path_kernel(&point, &point), 1.0);
        Ok(())
    }

    #[test]
    fn nodes_may_be_numbered_anyhow() -> Result<(), Refused> {
        let one = Graph::new(b"abcd", &[(0, 1), (1, 2), (2, 3)])?;
        let other = Graph::new(b"dbca", &[(3, 1), (1, 2), (2, 0)])?;
        assert_eq!(one, other);
        Ok(())
    }

    #[test]
    fn bad_graphs_are_refused() {
        assert_eq!(Graph::new(b"", &[]), Err(Refused::Empty));
        let missing = Graph::new(b"ab", &[(0, 2)]);
        assert_eq!(missing, Err(Refused::Ragged { expected: 2, found: 2 }));
    }
}
