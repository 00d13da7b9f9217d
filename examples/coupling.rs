//! A pump's current follows its flow. A blocked filter breaks that tie while each reading by
//! itself looks as ever.

use fastmmd::coupling::{Config, Monitor, Verdict};
use fastmmd::{Fourier, Kernel, Sampling};

static MAP: Fourier<1, 16> = match Fourier::new(Kernel::GAUSSIAN, Sampling::Auto, 1) {
    Ok(map) => map,
    Err(_) => panic!("checked when compiled"),
};

type Tie = Monitor<'static, Fourier<1, 16>, Fourier<1, 16>, 1, 1, 16, 16>;

// Small enough for any microcontroller.
const _: () = assert!(size_of::<Tie>() <= 5 * 1024);

fn main() -> Result<(), fastmmd::Error> {
    let mut tie: Tie = Monitor::new(&MAP, &MAP, Config::rows(10_000.0))?;
    println!("{} bytes of RAM", size_of::<Tie>());
    let mut state = 7_u32;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        f32::from((state >> 16) as u16) / 65_536.0
    };
    for row in 0..8000 {
        let flow = uniform();
        // From row 6000 on, current still spreads over the same range, but on its own.
        let current = if row < 6000 { (flow + 0.2 * uniform()) % 1.0 } else { uniform() };
        match tie.push(&[flow], &[current])? {
            Verdict::Alarm(alarm) => println!(
                "row {row}: no longer together as learned (coupling {:.4}, was {:.4})",
                alarm.now, alarm.before
            ),
            Verdict::Learning { progress } if row % 1000 == 0 => {
                println!("learning, {:.0} %", 100.0 * progress);
            }
            _ => {}
        }
    }
    println!("p-value now: {:.1e}", tie.p_value());
    Ok(())
}
