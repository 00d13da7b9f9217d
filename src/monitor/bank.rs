//! The mean features of the reference and of each window.

use crate::error::Error;
use crate::features::sincos::Point;
use crate::numeric::f32_of;
use crate::shape::{Dims, Fixed, Length, Per};
use crate::state::{Initial, Reader, State, Writer, state};

use super::attribution::{Axis, blend_axes};

/// The means of several windows over recent rows, all compared with one reference mean.
pub(crate) trait Bank: State {
    /// What a row brings.
    type Row;
    /// One mean.
    type Mean: State + Clone;
    /// The number of windows.
    type W: Length;

    /// Moves a mean towards a row by the fraction `rate`.
    fn blend(mean: &mut Self::Mean, row: &Self::Row, rate: f32);

    /// Moves each window towards a row by its own fraction, and measures the squared distances
    /// from the reference.
    fn blend_and_measure(
        &mut self,
        rates: &Per<Self::W, f32>,
        row: &Self::Row,
        reference: &Self::Mean,
    ) -> Per<Self::W, f32>;
}

state! {
    /// Mean features of some rows: points on the circles of the map, and on those of each channel
    /// by itself. 8·L + 24·C bytes.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Features<C: Length, F: Length> {
        pub(crate) points: Per<F, Point>,
        pub(crate) axes: Per<C, Axis>,
    }
}

impl<C: Length, F: Length> Features<C, F> {
    #[inline]
    pub(crate) fn blend(&mut self, row: &Self, rate: f32) {
        for (mean, point) in self.points.iter_mut().zip(row.points.iter()) {
            mean.blend(*point, rate);
        }
        blend_axes(&mut self.axes, &row.axes, rate);
    }

    /// Mean over the circles of the map of the squared distance of the points.
    #[inline]
    pub(crate) fn squared_distance(&self, other: &Self) -> f32 {
        let mut sum = 0.0;
        for (a, b) in self.points.iter().zip(other.points.iter()) {
            sum += a.squared_distance(b);
        }
        sum / f32_of(self.points.len())
    }
}

state! {
    /// The mean features of W windows: (8·L + 24·C)·W bytes.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Windowed<C: Length, F: Length, W: Length> {
        circles: Circles<F, W>,
        pub(crate) axes: Per<W, Per<C, Axis>>,
    }
}

impl<C: Length, F: Length, W: Length> Windowed<C, F, W> {
    /// The squared distances of all windows from a reference.
    #[inline(never)]
    pub(crate) fn distances(&self, reference: &Features<C, F>) -> Per<W, f32> {
        let mut distances = self.axes.like(0.0);
        self.circles.measure(&reference.points, &mut distances);
        distances
    }

    /// Copies the mean of one window.
    pub(crate) fn copy_into(&self, window: usize, mean: &mut Features<C, F>) {
        for (to, from) in mean.points.iter_mut().zip(self.circles.of(window)) {
            *to = *from;
        }
        if let Some(axes) = self.axes.get(window) {
            mean.axes.copy_from(axes);
        }
    }
}

impl<C: Length, F: Length, W: Length> Bank for Windowed<C, F, W> {
    type Row = Features<C, F>;
    type Mean = Features<C, F>;
    type W = W;

    #[inline]
    fn blend(mean: &mut Self::Mean, row: &Self::Row, rate: f32) {
        mean.blend(row, rate);
    }

    #[inline]
    fn blend_and_measure(
        &mut self,
        rates: &Per<W, f32>,
        row: &Self::Row,
        reference: &Self::Mean,
    ) -> Per<W, f32> {
        for (axes, rate) in self.axes.iter_mut().zip(rates.iter()) {
            blend_axes(axes, &row.axes, *rate);
        }
        self.circles.blend_and_measure(rates, &row.points, &reference.points)
    }
}

/// The mean points of W windows on L circles.
///
/// Circle by circle, not window by window: a row then meets all windows in one pass, in which
/// several coordinates at a time, and the sums of all windows side by side, can be worked out. All
/// windows are in one lane where their number is known when compiled; else they are taken four at
/// a time.
pub(crate) struct Circles<F: Length, W: Length> {
    lanes: W::Lanes<Per<F, W::Lane<Point>>>,
    /// As many as there are windows, where the last lane may have room for more.
    windows: Per<W, ()>,
}

impl<F: Length, W: Length> Circles<F, W> {
    /// The points of one window; none for one that is not there.
    pub(crate) fn of(&self, window: usize) -> impl Iterator<Item = &Point> {
        let (lane, place) = Self::place(window);
        let circles = self.lanes.as_ref().get(lane).map_or(&[][..], |lane| &lane[..]);
        circles.iter().filter_map(move |circle| circle.as_ref().get(place))
    }

    fn of_mut(&mut self, window: usize) -> impl Iterator<Item = &mut Point> {
        let (lane, place) = Self::place(window);
        let circles = self.lanes.as_mut().get_mut(lane).map_or(&mut [][..], |lane| &mut lane[..]);
        circles.iter_mut().filter_map(move |circle| circle.as_mut().get_mut(place))
    }

    /// The lane of a window, and its place there.
    fn place(window: usize) -> (usize, usize) {
        let wide = W::lane(()).as_ref().len().max(1);
        (window / wide, window % wide)
    }

    #[inline]
    pub(crate) fn blend_and_measure(
        &mut self,
        rates: &Per<W, f32>,
        row: &Per<F, Point>,
        reference: &Per<F, Point>,
    ) -> Per<W, f32> {
        let mut distances = rates.like(0.0);
        let (mut rates, mut results) = (&rates[..], distances.iter_mut());
        for lane in self.lanes.as_mut() {
            let mut lane_rates = W::lane(0.0);
            let mut sums = W::lane(0.0);
            for (lane_rate, rate) in lane_rates.as_mut().iter_mut().zip(rates) {
                *lane_rate = *rate;
            }
            let points = row.iter().zip(reference.iter());
            for (circle, (point, reference)) in lane.iter_mut().zip(points) {
                W::blend_and_measure(circle, &lane_rates, &mut sums, point, reference);
            }
            let count = f32_of(lane.len());
            for (sum, distance) in sums.as_ref().iter().zip(&mut results) {
                *distance = sum / count;
            }
            rates = rates.get(sums.as_ref().len()..).unwrap_or(&[]);
        }
        distances
    }

    /// The squared distances of all windows from a reference.
    pub(crate) fn measure(&self, reference: &Per<F, Point>, distances: &mut [f32]) {
        let mut results = distances.iter_mut();
        for lane in self.lanes.as_ref() {
            let mut sums = W::lane(0.0);
            for (circle, reference) in lane.iter().zip(reference.iter()) {
                for (mean, sum) in circle.as_ref().iter().zip(sums.as_mut()) {
                    *sum += mean.squared_distance(reference);
                }
            }
            let count = f32_of(lane.len());
            for (sum, distance) in sums.as_ref().iter().zip(&mut results) {
                *distance = sum / count;
            }
        }
    }
}

impl<F: Length, W: Length> Clone for Circles<F, W> {
    fn clone(&self) -> Self {
        Self { lanes: W::cloned_lanes(&self.lanes), windows: self.windows.clone() }
    }
}

impl<F: Length, W: Length> PartialEq for Circles<F, W> {
    fn eq(&self, other: &Self) -> bool {
        (0..self.windows.len()).all(|window| self.of(window).eq(other.of(window)))
    }
}

impl<F: Length, W: Length> core::fmt::Debug for Circles<F, W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.of(0)).finish()
    }
}

impl<F: Length, W: Length> State for Circles<F, W> {
    fn make(dims: &Dims) -> Self {
        let lane = || Per::make(dims, || W::lane(Point::ZERO));
        Self { lanes: W::make_lanes(dims, lane), windows: Per::make(dims, || ()) }
    }

    fn reset(&mut self) {
        for lane in self.lanes.as_mut() {
            lane.fill(W::lane(Point::ZERO));
        }
    }

    fn copy_from(&mut self, other: &Self) {
        for (lane, other) in self.lanes.as_mut().iter_mut().zip(other.lanes.as_ref()) {
            lane.copy_from_slice(other);
        }
    }

    fn bytes(&self, version: u8) -> usize {
        let points = (0..self.windows.len()).flat_map(|window| self.of(window));
        points.map(|point| point.bytes(version)).sum()
    }

    /// Window by window: a record does not know of lanes.
    fn put(&self, writer: &mut Writer<'_>) {
        for window in 0..self.windows.len() {
            self.of(window).for_each(|point| point.put(writer));
        }
    }

    fn check(&self, reader: &mut Reader<'_>) -> Result<(), Error> {
        let mut points = (0..self.windows.len()).flat_map(|window| self.of(window));
        points.try_for_each(|point| point.check(reader))
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        for window in 0..self.windows.len() {
            self.of_mut(window).try_for_each(|point| point.read(reader))?;
        }
        Ok(())
    }
}

impl<const L: usize, const W: usize> Initial for Circles<Fixed<L>, Fixed<W>> {
    const INITIAL: Self = Self { lanes: [Per([[Point::ZERO; W]; L])], windows: Per([(); W]) };
    const SAVED: usize = L * W * Point::SAVED;
}
