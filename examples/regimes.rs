//! Finds which known condition a machine is in, and the share of time it spends in each.

use fastmmd::{Embedding, Fourier, Kernel, Profile, Regimes};

/// The current of a motor in one of three conditions, in amperes.
fn current(condition: usize, step: u16) -> [f32; 1] {
    let ripple = (f32::from(step) * 2.399).sin();
    [match condition {
        0 => 0.2 + 0.05 * ripple,
        1 => 1.5 + 0.2 * ripple,
        _ => 1.5 + 0.9 * ripple,
    }]
}

fn main() -> Result<(), fastmmd::Error> {
    let names = ["idle", "running", "rattling"];
    let kernel = Kernel::new(Profile::Gaussian, 0.5)?;
    let map = Fourier::<1, 64>::with_kernel(kernel, 1);

    let mut known = [(); 3].map(|()| Embedding::new(&map));
    for (condition, embedding) in known.iter_mut().enumerate() {
        for step in 0..500 {
            embedding.add(&map, &current(condition, step))?;
        }
    }

    // A working day: idle half the time, running well 40 %, rattling 10 %.
    let mut day = Embedding::new(&map);
    let mut minute = Embedding::new(&map);
    for step in 0..5000_u16 {
        let condition = [0, 1, 0, 1, 0, 1, 0, 1, 0, 2][usize::from(step % 10)];
        day.add(&map, &current(condition, step))?;
        if condition == 2 {
            minute.add(&map, &current(condition, step))?;
        }
    }

    let [idle, running, rattling] = &known;
    let regimes = Regimes::new([idle, running, rattling])?;
    for (name, share) in names.iter().zip(regimes.proportions(&day)?) {
        println!("{name:9} {:4.1} % of the day", 100.0 * share);
    }
    let nearest = regimes.nearest(&minute)?;
    println!("at the moment: {} (by {:.3} in MMD²)", names[nearest.index], nearest.margin);
    Ok(())
}
