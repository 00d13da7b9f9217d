//! Shows where a normal and a Laplace distribution of equal variance differ. Draws both densities
//! and the witness function as an SVG: `cargo run --example witness -- witness.svg`.

use std::fmt::Write as _;

use fastmmd::{Embedding, Fourier, Kernel, Profile, Witness};

const SAMPLES: u32 = 20_000;
const WIDTH: f32 = 640.0;
const HEIGHT: f32 = 360.0;
const MARGIN: f32 = 40.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let map = Fourier::<1, 256>::with_kernel(Kernel::new(Profile::Gaussian, 0.5)?, 1);
    let mut normal = Embedding::new(&map);
    let mut laplace = Embedding::new(&map);
    let mut uniform = uniform_numbers(7);
    for _ in 0..SAMPLES {
        // Box–Muller, and the inverse of Laplace's distribution function, both of variance 1.
        let (u, v) = (uniform(), uniform());
        normal.add(&map, &[(-2.0 * u.ln()).sqrt() * (std::f32::consts::TAU * v).cos()])?;
        let w = uniform() - 0.5;
        laplace.add(&map, &[-w.signum() * (1.0 - 2.0 * w.abs()).ln() / 2_f32.sqrt()])?;
    }
    let witness = Witness::new(&map, &normal, &laplace)?;
    let xs: Vec<f32> = (-120..=120_i16).map(|step| f32::from(step) / 20.0).collect();
    let mut values = Vec::new();
    for x in &xs {
        values.push(witness.at(&[*x])?);
    }
    let normal = |x: f32| (-x * x / 2.0).exp() / std::f32::consts::TAU.sqrt();
    let laplace = |x: f32| (-(2_f32.sqrt()) * x.abs()).exp() / 2_f32.sqrt();
    // The witness has other units than the densities: it is drawn five times as high.
    let mut picture = Picture::new();
    picture.curve("Laplace density", "#c33", &xs, xs.iter().map(|x| laplace(*x)));
    picture.curve("normal density", "#36c", &xs, xs.iter().map(|x| normal(*x)));
    picture.curve("witness × 5", "#222", &xs, values.iter().map(|value| 5.0 * value));
    let path = std::env::args().nth(1);
    if let Some(path) = &path {
        std::fs::write(path, picture.finish())?;
        println!("wrote {path}");
    }
    let [slope] = witness.gradient(&[0.5])?;
    println!("witness at 0: {:+.4}, at 1: {:+.4}", witness.at(&[0.0])?, witness.at(&[1.0])?);
    println!("slope at 0.5: {slope:+.4} per unit");
    Ok(())
}

/// Numbers in (0, 1) from a seed.
fn uniform_numbers(mut state: u32) -> impl FnMut() -> f32 {
    move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (f32::from((state >> 16) as u16) + 0.5) / 65_536.0
    }
}

/// Curves over −6 … 6 with heights of −0.75 … 0.75.
struct Picture {
    body: String,
    curves: u16,
}

impl Picture {
    fn new() -> Self {
        let mut picture = Self { body: String::new(), curves: 0 };
        let (left, zero) = Self::at(-6.0, 0.0);
        let (right, _) = Self::at(6.0, 0.0);
        picture.line(&format!("M{left} {zero}H{right}"), "#999", 1);
        for x in [-6_i8, -4, -2, 0, 2, 4, 6] {
            let (x_at, y_at) = Self::at(f32::from(x), -0.75);
            picture.text(x_at, y_at + 16.0, "middle", "#555", &x.to_string());
        }
        picture.text(WIDTH / 2.0, HEIGHT - 8.0, "middle", "#555", "x");
        for tenths in [-5_i8, 0, 5] {
            let y = f32::from(tenths) / 10.0;
            let (x_at, y_at) = Self::at(-6.0, y);
            picture.text(x_at - 6.0, y_at + 4.0, "end", "#555", &y.to_string());
        }
        let title = "Hilbert space embedding, figure 1: normal against Laplace";
        picture.text(MARGIN, MARGIN / 2.0, "start", "#222", title);
        picture
    }

    /// A point in the picture's own units.
    fn at(x: f32, y: f32) -> (f32, f32) {
        let across = (x + 6.0) / 12.0 * (WIDTH - 2.0 * MARGIN) + MARGIN;
        (across, (0.75 - y) / 1.5 * (HEIGHT - 2.0 * MARGIN) + MARGIN)
    }

    fn line(&mut self, path: &str, colour: &str, width: u8) {
        let stroke = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"");
        self.body.push_str(&format!("<path d=\"{path}\" {stroke}/>\n"));
    }

    fn text(&mut self, x: f32, y: f32, anchor: &str, colour: &str, text: &str) {
        let style = format!("font-family=\"sans-serif\" font-size=\"12\" fill=\"{colour}\"");
        let place = format!("x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"");
        self.body.push_str(&format!("<text {place} {style}>{text}</text>\n"));
    }

    fn curve(&mut self, name: &str, colour: &str, xs: &[f32], ys: impl Iterator<Item = f32>) {
        let mut path = String::new();
        for (x, y) in xs.iter().zip(ys) {
            let (x, y) = Self::at(*x, y);
            let step = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{step}{x:.1} {y:.1}");
        }
        self.line(&path, colour, 2);
        let row = f32::from(self.curves);
        self.text(WIDTH - MARGIN, MARGIN + 16.0 * row, "end", colour, name);
        self.curves += 1;
    }

    fn finish(self) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}</svg>\n",
            self.body
        )
    }
}
