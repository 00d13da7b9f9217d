//! How long something takes.

use std::fs;
use std::hint::black_box;
use std::time::Instant;

/// What `work` returns, and the seconds it took: on Linux those that the processor spent on this
/// thread, so that a busy machine makes no difference.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let (start, on_processor) = (Instant::now(), spent());
    let found = black_box(work());
    let seconds = match (on_processor, spent()) {
        (Some(before), Some(after)) if after > before => after - before,
        _ => start.elapsed().as_secs_f64(),
    };
    (found, seconds)
}

/// The least of three times of the same work: the one that was disturbed least.
pub(super) fn least_of_three<T>(mut work: impl FnMut() -> T) -> (T, f64) {
    let (mut found, mut least) = timed(&mut work);
    for _ in 0..2 {
        let (again, seconds) = timed(&mut work);
        (found, least) = (again, least.min(seconds));
    }
    (found, least)
}

/// Seconds that the processor has spent on this thread.
fn spent() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds * 1e-9)
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
}
