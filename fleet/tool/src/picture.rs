//! Devices as points, in SVG.

use std::fmt::Write;

use crate::statistics::Device;
use crate::statistics::plane::Plane;
use crate::table::escaped;

const SIZE: f64 = 640.0;
const MARGIN: f64 = 30.0;
/// Most odd devices that are named.
const NAMED: usize = 60;

/// Devices on a plane: normal ones grey, odd ones red and named.
pub(crate) fn plane(devices: &[Device], plane: &Plane, odd: &[bool]) -> String {
    let reach = plane.places.iter().flatten().fold(1e-12_f64, |most, x| most.max(x.abs()));
    let scale = (0.5 * SIZE - MARGIN) / reach;
    let at = |[x, y]: [f64; 2]| (0.5 * SIZE + scale * x, 0.5 * SIZE - scale * y);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {SIZE} {SIZE}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"10\">\n<title>{} devices by their MMD</title>\n",
        devices.len()
    );
    // Odd ones last, so that they lie above.
    for shown in [false, true] {
        let mut named = 0;
        for ((device, place), odd) in devices.iter().zip(&plane.places).zip(odd) {
            if *odd != shown {
                continue;
            }
            let (x, y) = at(*place);
            let (radius, fill) = if *odd { (3.0, "#c22") } else { (1.5, "#8888") };
            let name = escaped(&device.name);
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{fill}\"><title>{name}\
                 </title></circle>"
            );
            if *odd && named < NAMED {
                named += 1;
                // Beside the point, on the side where there is room.
                let (beside, anchor) =
                    if x > 0.8 * SIZE { (x - 5.0, "end") } else { (x + 5.0, "start") };
                let _ = writeln!(
                    svg,
                    "<text x=\"{beside:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" \
                     fill=\"#c22\">{name}</text>",
                    y + 3.0
                );
            }
        }
    }
    let bar = 0.25 * reach;
    let (left, right, y) = (MARGIN, MARGIN + scale * bar, SIZE - 12.0);
    let _ = writeln!(
        svg,
        "<path d=\"M{left:.1} {y}H{right:.1}\" stroke=\"#888\"/><text x=\"{left:.1}\" y=\"{}\" \
         fill=\"#888\">MMD {bar:.3}</text>\n</svg>",
        y - 4.0
    );
    svg
}
