//! A classifier of regimes: its weights are learned on a host, its decisions made on the device.

use fastmmd::features::sincos::Point;
use fastmmd::{Classifier, Embedding, Fourier, Kernel, Profile};

const CLASSES: [&str; 3] = ["balanced", "imbalanced", "loose"];
const FREQUENCIES: usize = 64;
type Map = Fourier<2, FREQUENCIES>;
/// What the host sends to the device.
const BYTES: usize = Classifier::<Map, 3>::SAVED_BYTES;

/// Both axes of a vibration: around 0, on a ring, or on a wide ellipse. No straight line tells them
/// apart.
fn vibration(class: usize, step: u16) -> [f32; 2] {
    let (turn, noise) = (f32::from(step) * 2.399, (f32::from(step) * 12.99).sin() * 437.58 % 1.0);
    match class {
        0 => [0.4 * noise * turn.cos(), 0.4 * noise * turn.sin()],
        1 => [(1.0 + 0.2 * noise) * turn.cos(), (1.0 + 0.2 * noise) * turn.sin()],
        _ => [(2.2 + 0.2 * noise) * turn.cos(), (1.7 + 0.2 * noise) * turn.sin()],
    }
}

fn map() -> Result<Map, fastmmd::Error> {
    Ok(Fourier::with_kernel(Kernel::new(Profile::Gaussian, 0.5)?, 1))
}

/// On the host: a linear support vector machine of each class against the others, by steps down the
/// hinge loss. `fastmmd-reference` has one that is solved exactly, `svm::LinearMachine`.
fn learn(map: &Map) -> Result<[u8; BYTES], fastmmd::Error> {
    let mut weights = [[Point { cos: 0.0, sin: 0.0 }; FREQUENCIES]; 3];
    let mut biases = [0.0; 3];
    for step in 0..3000_u16 {
        let class = usize::from(step % 3);
        let mut sample = Embedding::new(map);
        sample.add(map, &vibration(class, step))?;
        let rate = 1.0 / (1.0 + 0.01 * f32::from(step));
        for (index, (weights, bias)) in weights.iter_mut().zip(&mut biases).enumerate() {
            let label = if index == class { 1.0 } else { -1.0 };
            let products = weights.iter().zip(sample.mean()?);
            let score = *bias + products.map(|(w, x)| w.cos * x.cos + w.sin * x.sin).sum::<f32>();
            if label * score < 1.0 {
                for (weight, point) in weights.iter_mut().zip(sample.mean()?) {
                    weight.cos += 0.1 * rate * label * point.cos;
                    weight.sin += 0.1 * rate * label * point.sin;
                }
                *bias += 0.1 * rate * label;
            }
        }
    }
    let classifier = Classifier::new(map, weights.each_ref().map(<[Point; _]>::as_slice), biases)?;
    let mut bytes = [0; BYTES];
    classifier.save(map, &mut bytes)?;
    Ok(bytes)
}

fn main() -> Result<(), fastmmd::Error> {
    let map = map()?;
    let bytes = learn(&map)?;
    println!("{BYTES} bytes for the device");

    // On the device, with the same map: readings that were not learned from.
    let mut classifier = Classifier::<Map, 3>::empty(&map);
    classifier.restore(&map, &bytes)?;
    for (class, name) in CLASSES.iter().enumerate() {
        let (mut right, mut window) = (0, Embedding::new(&map));
        for step in 10_000..10_500 {
            let reading = vibration(class, step);
            right += u32::from(classifier.class(&map, &reading)?.index == class);
            window.add(&map, &reading)?;
        }
        let whole = classifier.class_of_embedding(&window)?;
        println!(
            "{name:10} {right} of 500 readings right; all of them together: {}, by {:.2}",
            CLASSES[whole.index], whole.margin
        );
        assert!(right > 450 && whole.index == class);
    }
    Ok(())
}
