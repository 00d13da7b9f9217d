//! Coupling monitor: detects that the dependence between two sensors changes.
//!
//! A pump's current follows its flow; a blocked filter breaks this tie, while each reading by
//! itself looks normal. A loose belt makes two motors shake together that were independent before.

use fastmmd::Fourier;
use fastmmd::monitor::coupling::{Config, Monitor, Verdict};

static MAP: Fourier<1, 16> = Fourier::gaussian(1);

type Tie = Monitor<'static, Fourier<1, 16>, Fourier<1, 16>>;

// Small enough for any microcontroller.
const _: () = assert!(size_of::<Tie>() <= 5 * 1024);

/// Rows before the change; learning takes fewer.
const HEALTHY: u32 = 6000;

/// Watches two channels that are tied before the change, or after it. Each by itself is always
/// uniform from 0 to 1.
fn watch(tied_before: bool) -> Result<(), fastmmd::Error> {
    let mut tie: Tie = Monitor::new(&MAP, &MAP, Config::rows(10_000.0))?;
    let mut state = 7_u32;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        f32::from((state >> 16) as u16) / 65_536.0
    };
    let mut first_alarm = None;
    for row in 0..HEALTHY + 2000 {
        let first = uniform();
        let tied = (row < HEALTHY) == tied_before;
        let second = if tied { (first + 0.2 * uniform()) % 1.0 } else { uniform() };
        match tie.push(&[first], &[second])? {
            Verdict::Alarm(alarm) => {
                println!(
                    "row {row}: no longer as learned (coupling {:.4}, was {:.4})",
                    alarm.now, alarm.before
                );
                first_alarm = first_alarm.or(Some(row));
            }
            Verdict::Learning { progress } if row % 2000 == 0 => {
                println!("learning, {:.0} %", 100.0 * progress);
            }
            // A coupling's alarm is never amended.
            Verdict::Learning { .. }
            | Verdict::Healthy
            | Verdict::Amended(_)
            | Verdict::Drifting => {}
        }
    }
    println!(
        "at the end: {}, statistic {:.4}, threshold {:.4}",
        tie.stage().name(),
        tie.statistic(),
        tie.threshold()
    );
    assert!(first_alarm.is_some_and(|row| row >= HEALTHY), "{first_alarm:?}");
    Ok(())
}

fn main() -> Result<(), fastmmd::Error> {
    println!("{} bytes of RAM", size_of::<Tie>());
    println!("a tie breaks:");
    watch(true)?;
    println!("a tie appears:");
    watch(false)
}
