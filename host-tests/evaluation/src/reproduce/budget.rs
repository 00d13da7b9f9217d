//! The time limit of a report.

use std::fs;
use std::time::Instant;

use super::Effort;
use fastmmd_reference::tolerance::{self, Tolerance};

/// Measures the time of a report.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch {
    start: Instant,
}

impl Stopwatch {
    /// Starts now.
    #[must_use]
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// Seconds since the start, or the processor time of this process if that is less: on a busy
    /// machine, this is the time that it would have taken alone.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        let waited = self.start.elapsed().as_secs_f64();
        let stat = fs::read_to_string("/proc/self/stat").ok();
        stat.as_deref().and_then(processor_seconds).map_or(waited, |used| used.min(waited))
    }
}

/// Seconds of processor time, of all threads, from the text of Linux's `/proc/self/stat`.
fn processor_seconds(stat: &str) -> Option<f64> {
    /// Linux reports these times in hundredths of a second.
    const TICKS_PER_SECOND: f64 = 100.0;
    // The second field is the program's name in parentheses, and may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    // From there on, utime and stime are the 12th and 13th.
    let mut ticks = fields.split_whitespace().skip(11).map(str::parse::<f64>);
    Some((ticks.next()?.ok()? + ticks.next()?.ok()?) / TICKS_PER_SECOND)
}

/// The time limit of a whole report, in seconds.
#[must_use]
pub fn limit(effort: Effort) -> Tolerance {
    effort.pick(tolerance::REPORT_QUICK, tolerance::REPORT)
}

/// A line about a report that took this many seconds, and whether that is within the limit.
#[must_use]
pub fn verdict(effort: Effort, seconds: f64) -> (String, bool) {
    let limit = limit(effort).limit;
    let kept = seconds <= limit;
    let word = if kept { "kept" } else { "BROKEN" };
    let what = "of running time, or of processor time if that is less";
    (format!("{word}: {seconds:.1} s {what}, at most {limit} s"), kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_takes_too_long_is_told() {
        for (effort, enough, too_long) in
            [(Effort::Quick, 59.0, 61.0), (Effort::Full, 890.0, 901.0)]
        {
            assert!(verdict(effort, enough).1);
            let (text, kept) = verdict(effort, too_long);
            assert!(!kept && text.starts_with("BROKEN"), "{text}");
            assert!(!verdict(effort, f64::NAN).1);
        }
    }

    #[test]
    fn processor_time_is_read() {
        let stat = "12 (a (strange) name) S 1 1 1 0 -1 4194560 100 0 0 0 250 50 7 8 20 0 3 0";
        assert_eq!(processor_seconds(stat), Some(3.0));
        for text in ["", "12 (name", "12 (name) S 1 2", "12 (n) S 1 1 1 0 -1 4 1 0 0 0 x y"] {
            assert_eq!(processor_seconds(text), None);
        }
        let watch = Stopwatch::start();
        assert!(watch.seconds() >= 0.0 && watch.seconds().is_finite());
    }
}
