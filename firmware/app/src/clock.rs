//! Time, as the app knows it: periods of the board's sample timer.

/// A timer that counts periods, one for each sample that is due.
pub trait Clock {
    /// Periods since some moment; wraps at 2³².
    fn periods(&mut self) -> u32;
}

/// Says how many samples have become due.
#[derive(Debug)]
pub struct Ticker<K> {
    clock: K,
    last: u32,
}

impl<K: Clock> Ticker<K> {
    /// Counts from now.
    pub fn new(mut clock: K) -> Self {
        let last = clock.periods();
        Self { clock, last }
    }

    /// Periods that have ended since the last call. More than one: samples were missed.
    pub fn elapsed(&mut self) -> u32 {
        let now = self.clock.periods();
        let elapsed = now.wrapping_sub(self.last);
        self.last = now;
        elapsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Hand(u32);

    impl Clock for &mut Hand {
        fn periods(&mut self) -> u32 {
            self.0
        }
    }

    #[test]
    fn every_period_is_counted_once_also_where_the_clock_wraps() {
        let mut hand = Hand(u32::MAX - 2);
        let mut total = 0;
        let mut last = hand.0;
        for passed in [0, 1, 0, 3, 1, 7] {
            hand.0 = hand.0.wrapping_add(passed);
            let mut ticker = Ticker { clock: &mut hand, last };
            total += ticker.elapsed();
            assert_eq!(ticker.elapsed(), 0);
            last = ticker.last;
        }
        assert_eq!(total, 12);
        assert_eq!(Ticker::new(&mut hand).elapsed(), 0);
    }
}
