//! The app over lines that a device holds, with a clock that the bus uses up.

use super::*;
use crate::clock::{Clock, Ticker};
use crate::wire::Wire;
use crate::wire::net::Net;

/// Half clocks of 5 µs in a period of a tenth of a second.
const PERIOD: u64 = 20_000;

/// The time as the bus knows it.
struct BusTime<'c>(&'c Cell<u64>);

impl Clock for BusTime<'_> {
    fn periods(&mut self) -> u32 {
        u32::try_from(self.0.get() / PERIOD).unwrap()
    }
}

type Wired<'a> = App<'a, Wire<Net>, &'a mut Pipe, MagnetometerThermometer, Detector, 4>;

/// Turns the main loop for this many periods, and gives what was said.
fn pass(app: &mut Wired<'_>, noise: &mut Noise, periods: u64) -> Answers {
    let now = Cell::new(app.bus().inner().lines().time);
    let mut ticker = Ticker::new(BusTime(&now));
    for _ in 0..periods {
        let lines = app.bus().inner().lines();
        lines.time = (lines.time / PERIOD + 1) * PERIOD;
        lines.world.field = [(); 3].map(|()| i16::from(noise.byte()));
        now.set(lines.time);
        for _ in 0..3 {
            app.turn(&mut ticker);
            now.set(app.bus().inner().lines().time);
        }
    }
    said(&mut app.line().outgoing)
}

#[test]
fn a_stuck_bus_costs_its_rows_and_nothing_else() {
    let (mut memory, mut pipe, mut detector) =
        (vec![0x5A; MEMORY_BYTES], Pipe::default(), detector());
    let mut noise = Noise::new(41);
    let parts = Parts {
        board: &BOARD,
        bus: Wire::new(Net::new(World::new())),
        line: &mut pipe,
        sensor: MagnetometerThermometer::default(),
        monitor: &mut detector,
        settings: &SETTINGS,
        store: Some(Store::new()),
        guard: Guard::open(),
        memory: &mut memory,
    };
    let mut app = App::new(parts, Config { report_every: 10, ..Config::DEFAULT });
    app.start();
    let found = pass(&mut app, &mut noise, 20);
    assert_eq!((found.reports, found.faults, app.monitor().rows()), (2, vec![], 20));
    // A device was interrupted: the next transaction frees it, and no row is lost.
    app.bus().inner().lines().data_held = 6;
    let found = pass(&mut app, &mut noise, 10);
    assert_eq!((found.report().missed, found.faults, app.monitor().rows()), (0, vec![], 30));
    // Each line is held for a hundred periods: it is said with each report, and time does not stand still.
    let fault = Fault::new(Device::Magnetometer, FaultKind::Bus);
    for (number, line) in [0_u32, 1].into_iter().zip(["data", "clock"]) {
        let lines = app.bus().inner().lines();
        match line {
            "data" => lines.data_held = u32::MAX,
            _ => lines.clock_held = u64::MAX,
        }
        let found = pass(&mut app, &mut noise, 100);
        assert_eq!(found.report().missed, 100 * (number + 1), "{line}");
        assert_eq!((found.reports, found.faults), (10, vec![fault; 11]), "{line}");
        let lines = app.bus().inner().lines();
        (lines.data_held, lines.clock_held) = (0, 0);
        let found = pass(&mut app, &mut noise, 10);
        assert_eq!((found.report().flags & flags::SENSOR_FAULT, found.faults), (0, vec![]));
        assert_eq!(app.monitor().rows(), 40 + 10 * u64::from(number));
    }
}
