//! Boards that keep time themselves: samples, reports and faults by the clock.

use super::*;
use crate::clock::{Clock, Ticker};
use crate::forge;

/// A clock that the test sets.
struct Hand<'c>(&'c Cell<u32>);

impl Clock for Hand<'_> {
    fn periods(&mut self) -> u32 {
        self.0.get()
    }
}

const REPORT_EVERY: u32 = 10;

fn start(bench: &mut Bench) -> Device4<'_> {
    let parts = bench.parts(MagnetometerThermometer::default());
    let mut app = started(parts, Config { report_every: REPORT_EVERY, ..Config::DEFAULT });
    said(&mut app.line().outgoing);
    app
}

/// Turns the main loop for this many periods, several times in each, and gives what was said.
fn pass(app: &mut Device4<'_>, clock: &Cell<u32>, noise: &mut Noise, periods: u32) -> Answers {
    let mut ticker = Ticker::new(Hand(clock));
    for _ in 0..periods {
        clock.set(clock.get().wrapping_add(1));
        sense(app, noise, 0.0);
        for _ in 0..3 {
            app.turn(&mut ticker);
        }
    }
    said(&mut app.line().outgoing)
}

#[test]
fn each_period_takes_one_sample_and_every_tenth_reports() {
    let mut bench = Bench::new();
    let clock = Cell::new(u32::MAX - 20);
    let mut noise = Noise::new(31);
    let mut app = start(&mut bench);
    let found = pass(&mut app, &clock, &mut noise, 9);
    assert_eq!((found.reports, app.monitor().rows()), (0, 9));
    let found = pass(&mut app, &clock, &mut noise, 1);
    assert_eq!((found.reports, found.report().status.rows), (1, 10));
    let found = pass(&mut app, &clock, &mut noise, 100);
    assert_eq!((found.reports, app.monitor().rows()), (10, 110));
    assert_eq!(found.report().missed, 0);
}

/// No sample for a thousand periods: it is said a hundred times, with the fault.
#[test]
fn a_dead_sensor_does_not_silence_the_board() {
    let mut bench = Bench::new();
    let clock = Cell::new(0);
    let mut noise = Noise::new(32);
    let mut app = start(&mut bench);
    pass(&mut app, &clock, &mut noise, 13);
    app.bus().inner().unplugged = true;
    let found = pass(&mut app, &clock, &mut noise, 1000);
    let silent = Fault::new(Device::Magnetometer, FaultKind::NoAcknowledge);
    assert_eq!(found.reports, 100);
    // Once when it began, and with each report.
    assert_eq!(found.faults, vec![silent; 101]);
    let report = found.report();
    assert_eq!((report.status.rows, report.missed), (13, 997));
    app.bus().inner().unplugged = false;
    let found = pass(&mut app, &clock, &mut noise, 20);
    assert_eq!((found.faults, found.report.unwrap().flags & flags::SENSOR_FAULT), (vec![], 0));
    assert_eq!(app.monitor().rows(), 33);
}

#[test]
fn samples_that_were_due_while_the_board_was_busy_are_counted() {
    let mut bench = Bench::new();
    let clock = Cell::new(0);
    let mut app = start(&mut bench);
    let mut ticker = Ticker::new(Hand(&clock));
    for passed in [1, 6, 1, 2] {
        clock.set(clock.get() + passed);
        app.turn(&mut ticker);
        app.turn(&mut ticker);
    }
    let found = said(&mut app.line().outgoing);
    assert_eq!((found.reports, found.report().missed, app.monitor().rows()), (1, 6, 4));
}

/// The detector is told of samples that never came, as one that is pushed the same rows by hand; also if a reset
/// comes after them.
#[test]
fn the_detector_knows_of_lost_samples_also_after_a_reset() {
    let mut bench = Bench::new();
    let mut noise = Noise::new(35);
    let mut plain = detector();
    let [mut expected, mut found] = [(); 2].map(|()| vec![0; Detector::SAVED_BYTES]);
    let mut app = start(&mut bench);
    for round in 0..40_u32 {
        let lost = [0, 3, 30, 0, 1][usize::try_from(round).unwrap() % 5];
        plain.skip(lost);
        // Either the board was busy, or nothing answered.
        if round % 2 == 0 {
            app.bus().inner().unplugged = true;
            (0..lost).for_each(|_| app.sample(1));
            app.bus().inner().unplugged = false;
        }
        for period in 0..7 {
            sense(&mut app, &mut noise, 0.0);
            let row = MagnetometerThermometer::default().read(app.bus().inner()).unwrap();
            plain.push(&row).unwrap();
            app.sample(if period == 0 && round % 2 == 1 { lost + 1 } else { 1 });
        }
        plain.save(&mut expected).unwrap();
        app.monitor().save(&mut found).unwrap();
        assert!(found == expected, "round {round}");
        drop(app);
        app = start(&mut bench);
        app.monitor().save(&mut found).unwrap();
        assert!(found == expected, "round {round}, after a reset");
    }
    // Control: they make a difference.
    let mut other = detector();
    other.restore(&expected).unwrap();
    other.skip(30);
    other.save(&mut found).unwrap();
    assert!(found != expected);
}

/// A host sends the samples of a board whose sensors are dead: what those did not give is no gap.
#[test]
fn samples_over_the_link_have_their_own_time() {
    let mut bench = Bench::new();
    let mut noise = Noise::new(36);
    let mut plain = detector();
    let [mut expected, mut found] = [(); 2].map(|()| vec![0; Detector::SAVED_BYTES]);
    let mut app = start(&mut bench);
    app.bus().inner().unplugged = true;
    for number in 0..100_u8 {
        let values = [0.0; 4].map(|_: f32| noise.normal());
        plain.push(&values).unwrap();
        ask(&mut app, number + 1, &Command::Push(Sample::new(&values).unwrap()));
        (0..noise.below(20)).for_each(|_| app.sample(1));
    }
    plain.save(&mut expected).unwrap();
    app.monitor().save(&mut found).unwrap();
    assert!(found == expected);
}

/// A clock that goes on by a period whenever it is looked at: each sample takes as long as a period.
struct Hurried(u32);

impl Clock for Hurried {
    fn periods(&mut self) -> u32 {
        self.0 += 1;
        self.0
    }
}

/// A board whose samples take all its time, as with a bus that fails, still answers at once.
#[test]
fn a_board_that_is_always_late_answers_a_command_with_the_next_sample() {
    let mut bench = Bench::new();
    let mut app = start(&mut bench);
    let mut ticker = Ticker::new(Hurried(0));
    app.bus().inner().unplugged = true;
    let mut bytes = bytes_of(1, &Command::Configure { report_every: 0 });
    bytes.extend(bytes_of(2, &Command::Status));
    app.line().incoming.extend(bytes);
    let requests = [(); 2].map(|()| app.turn(&mut ticker));
    assert_eq!(requests, [Request::Continue, Request::Reported]);
    assert_eq!(said(&mut app.line().outgoing).report().missed, 2);
    // Noise without an end does not keep it from its samples.
    app.line().incoming.extend([7; 4096]);
    let before = app.line().incoming.len();
    app.turn(&mut ticker);
    let taken = before - app.line().incoming.len();
    assert!(taken > 0 && taken < 1024, "{taken}");
}

#[test]
fn the_host_may_set_how_often_it_reports() {
    let mut bench = Bench::new();
    let clock = Cell::new(0);
    let mut noise = Noise::new(33);
    let mut app = start(&mut bench);
    ask(&mut app, 1, &Command::Configure { report_every: 2 });
    assert_eq!(pass(&mut app, &clock, &mut noise, 20).reports, 10);
    ask(&mut app, 2, &Command::Configure { report_every: 0 });
    assert_eq!(pass(&mut app, &clock, &mut noise, 20).reports, 0);
}

/// A state that says it has seen `rows` rows.
fn forged(detector: &Detector, rows: u64) -> Vec<u8> {
    let mut bytes = vec![0; Detector::SAVED_BYTES];
    detector.save(&mut bytes).unwrap();
    let found = forge::count(&mut bytes, detector.rows(), rows, |state| {
        let mut copy = self::detector();
        copy.restore(state).is_ok() && copy.rows() == rows
    });
    assert!(found, "the count of rows is not in the state");
    bytes
}

/// 497 days at 100 samples per second.
#[test]
fn counts_go_on_beyond_32_bits() {
    const LIMIT: u64 = 1 << 32;
    let mut bench = Bench::new();
    let mut noise = Noise::new(34);
    let clock = Cell::new(0);
    let mut app = start(&mut bench);
    run(&mut app, &mut noise, LEARNED + 3, 0.0);
    let state = forged(app.monitor(), LIMIT - 25);
    drop(app);
    bench.cut_power();
    Store::new().save(&mut bench.world, &state).unwrap();
    let mut app = start(&mut bench);
    let found = pass(&mut app, &clock, &mut noise, 50);
    assert_eq!((found.reports, found.report().status.rows), (5, LIMIT + 25));
    let alarm = run(&mut app, &mut noise, 200, 300.0).expect("an alarm");
    let (count, ago, past) = ask(&mut app, 201, &Command::History { index: 0 }).past.unwrap();
    assert!(count == 1 && ago <= 200 && is_of(past, alarm.row), "{count} {ago} {past:?}");
    assert!(alarm.row >= LIMIT + 25 && alarm.since > LIMIT, "{alarm:?}");
}
