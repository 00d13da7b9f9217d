//! Wall-clock and processor time of a step.

use std::time::{Duration, Instant};

/// A moment, and the processor time that this program and its children have used until then.
pub(crate) struct Start {
    moment: Instant,
    used: Option<Duration>,
}

/// The time since a [`Start`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Usage {
    pub(crate) elapsed: Duration,
    /// User and system time of all processors, where the system provides it.
    pub(crate) used: Option<Duration>,
}

impl Start {
    pub(crate) fn now() -> Self {
        Self { moment: Instant::now(), used: used() }
    }

    pub(crate) fn usage(&self) -> Usage {
        let used = used().zip(self.used).map(|(now, then)| now.saturating_sub(then));
        Usage { elapsed: self.moment.elapsed(), used }
    }
}

/// Processor time of this process, of the children it has waited for, and of theirs.
#[cfg(unix)]
fn used() -> Option<Duration> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeVal;
    let span = |time: TimeVal| {
        let seconds = Duration::from_secs(u64::try_from(time.tv_sec()).unwrap_or_default());
        seconds + Duration::from_micros(u64::try_from(time.tv_usec()).unwrap_or_default())
    };
    let of = |who| getrusage(who).map(|usage| span(usage.user_time()) + span(usage.system_time()));
    Some(of(UsageWho::RUSAGE_SELF).ok()? + of(UsageWho::RUSAGE_CHILDREN).ok()?)
}

#[cfg(not(unix))]
fn used() -> Option<Duration> {
    None
}

/// The first line of a [`table`].
pub(crate) const HEADER: &str = "step         seconds  CPU seconds\n";

/// Lines of step, seconds and CPU seconds, and their sums.
pub(crate) fn table(rows: &[(&str, Usage)]) -> String {
    let cell = |span: Option<Duration>| {
        span.map_or("-".to_owned(), |span| format!("{:.1}", span.as_secs_f64()))
    };
    let mut text = HEADER.to_owned();
    let mut line = |name: &str, elapsed: Duration, used: Option<Duration>| {
        text.push_str(&format!("{name:10} {:>9} {:>12}\n", cell(Some(elapsed)), cell(used)));
    };
    for (name, usage) in rows {
        line(name, usage.elapsed, usage.used);
    }
    let elapsed = rows.iter().map(|(_, usage)| usage.elapsed).sum();
    let used = rows.iter().map(|(_, usage)| usage.used).sum();
    line("all", elapsed, used);
    text
}

/// The sum of all processor times in a [`table`].
pub(crate) fn sum(table: &str) -> Option<Duration> {
    let all = table.lines().find(|line| line.starts_with("all "))?;
    Duration::try_from_secs_f64(all.split_whitespace().nth(2)?.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_of_all_steps() {
        let usage = |seconds, used: Option<u64>| Usage {
            elapsed: Duration::from_millis(seconds),
            used: used.map(Duration::from_millis),
        };
        let rows = [("fmt", usage(1500, Some(2000))), ("tests", usage(10_000, Some(18_500)))];
        let expected = "\
step         seconds  CPU seconds
fmt              1.5          2.0
tests           10.0         18.5
all             11.5         20.5
";
        assert_eq!(table(&rows), expected);
        assert_eq!(sum(expected), Some(Duration::from_millis(20_500)));
        let unknown = table(&[("fmt", usage(1500, None))]);
        assert!(unknown.ends_with("all              1.5            -\n"), "{unknown}");
        assert_eq!(sum(&unknown), None);
    }

    #[cfg(unix)]
    #[test]
    fn what_a_child_used_is_counted() {
        let start = Start::now();
        let mut child = std::process::Command::new("sh");
        // Enough work to be measurable with any clock.
        let child = child.args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]);
        assert!(child.status().unwrap().success());
        assert!(start.usage().used.unwrap() > Duration::from_millis(10));
    }
}
