//! Measures time.

use std::hint::black_box;
use std::time::Instant;

/// Runs `work`, and returns its result and time in seconds: processor time of this thread where the
/// system provides it, so that waiting on a busy machine does not count.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let (start, on_processor) = (Instant::now(), spent());
    let found = black_box(work());
    let seconds = match (on_processor, spent()) {
        (Some(before), Some(after)) => after - before,
        _ => start.elapsed().as_secs_f64(),
    };
    (found, seconds)
}

/// The shortest of three times of the same work.
pub(super) fn least_of_three<T>(mut work: impl FnMut() -> T) -> (T, f64) {
    let (mut found, mut least) = timed(&mut work);
    for _ in 0..2 {
        let (again, seconds) = timed(&mut work);
        (found, least) = (again, least.min(seconds));
    }
    (found, least)
}

/// Processor time of this thread in seconds, to the nanosecond.
#[cfg(unix)]
#[expect(clippy::cast_precision_loss, reason = "exact to nanoseconds for months")]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
fn spent() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(not(unix))]
fn spent() -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_the_work_takes_longer() {
        let work = |rounds: u32| (0..rounds).fold(1_u32, |x, i| black_box(x ^ i).rotate_left(3));
        let (_, short) = timed(|| work(2_000_000));
        let (_, long) = timed(|| work(20_000_000));
        assert!(short > 0.0 && long > 3.0 * short, "{short} {long}");
    }

    /// The clock resolves short work: one that ticks in milliseconds would give 0.
    #[test]
    fn some_microseconds_are_told_from_none() {
        let work = |rounds: u32| (0..rounds).fold(1_u32, |x, i| black_box(x ^ i).rotate_left(3));
        let least =
            |rounds| (0..20).map(|_| timed(|| work(rounds)).1).fold(f64::INFINITY, f64::min);
        // A thousand times the work, more or less: caches and clock rates differ.
        let ratio = least(20_000_000) / least(20_000);
        assert!((50.0..20_000.0).contains(&ratio), "{ratio}");
    }
}
