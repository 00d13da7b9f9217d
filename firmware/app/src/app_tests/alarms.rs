//! Alarms: told, amended, acknowledged, dismissed.

use super::*;

#[test]
fn an_alarm_is_repeated_until_acknowledged() {
    let mut bench = Bench::new();
    let mut noise = Noise::new(7);
    let mut app = bench.start();
    assert_eq!(run(&mut app, &mut noise, LEARNED + 50, 0.0), None);
    let alarm = run(&mut app, &mut noise, 100, 200.0).expect("an alarm");
    for _ in 0..2 {
        let status = ask(&mut app, 0, &Command::Status);
        assert_eq!((status.alarm, status.report().pending), (Some(alarm), 1));
    }
    let mut app = bench.start();
    let status = ask(&mut app, 0, &Command::Status);
    assert_eq!(status.alarm, Some(alarm), "a reset does not lose it");
    let earlier = Command::Acknowledge { row: alarm.row - 1 };
    assert_eq!(ask(&mut app, 0, &earlier).report().pending, 1);
    let it = Command::Acknowledge { row: alarm.row };
    assert_eq!(ask(&mut app, 0, &it).report().pending, 0);
    assert_eq!(ask(&mut app, 0, &Command::Status).alarm, None);
}

#[test]
fn an_amended_alarm_is_told_and_takes_the_place_of_the_waiting_one() {
    let mut bench = Bench::new();
    let mut noise = Noise::new(1);
    let mut app = bench.start();
    assert_eq!(run(&mut app, &mut noise, LEARNED + 200, 0.0), None);
    let (mut raised, mut amended) = (None, None);
    for tag in 1..=200 {
        let found = one_step(&mut app, &mut noise, tag, 60.0);
        raised = raised.or(found.alarm);
        amended = amended.or(found.amended);
    }
    let (raised, amended) = (raised.expect("an alarm"), amended.expect("amended"));
    assert!(raised.row == amended.row && raised != amended, "{raised:?} {amended:?}");
    assert_eq!((amended.channel, amended.change), (1, Change::Level));
    let status = ask(&mut app, 0, &Command::Status);
    assert_eq!((status.alarm, status.report().pending), (Some(amended), 1));
}

#[test]
fn what_is_dismissed_closes_and_does_not_alarm_again() {
    let mut bench = Bench::new();
    let mut noise = Noise::new(12);
    let mut app = bench.start();
    assert_eq!(run(&mut app, &mut noise, LEARNED + 50, 0.0), None);
    assert!(run(&mut app, &mut noise, 600, 100.0).is_some());
    let report = ask(&mut app, 0, &Command::Status).report();
    assert!(report.status.open > 0, "{report:?}");
    let report = ask(&mut app, 251, &Command::Dismiss).report();
    assert_eq!((report.status.stage, report.status.open), (Stage::Monitoring, 0));
    assert_eq!(run(&mut app, &mut noise, 500, 100.0), None);
    // It is kept, also through a power cut.
    bench.cut_power();
    let mut app = bench.start();
    assert_eq!(answers(&mut app, &[]).0.boot, Some(Origin::Store));
    assert_eq!(app.monitor().rows(), LEARNED + 650);
    assert_eq!(run(&mut app, &mut noise, 500, 100.0), None);
    assert!(run(&mut app, &mut noise, 200, 400.0).is_some());
}

#[test]
fn a_channel_that_stops_is_an_alarm_of_its_own_kind() {
    let mut bench = Bench::new();
    let mut noise = Noise::new(8);
    let mut app = bench.start();
    let mut alarms = Vec::new();
    for number in 0..LEARNED + 200 {
        let mut values = [0.0; 4].map(|_: f32| noise.normal());
        if number > LEARNED + 50 {
            // Stuck at its usual level, where no window notices it at first.
            values[2] = 0.01;
        }
        let push = Command::Push(Sample::new(&values).unwrap());
        let found = ask(&mut app, u8::try_from(number % 250).unwrap() + 1, &push);
        alarms.extend(found.alarm.map(|alarm| (alarm.channel, alarm.change)));
    }
    assert!(alarms.iter().all(|(channel, _)| *channel == 2), "{alarms:?}");
    assert!(alarms.contains(&(2, Change::Stuck)), "{alarms:?}");
}

/// All channels of the sensor repeat their values. That is an alarm of the detector, not a fault,
/// and ends when they move again.
#[test]
fn a_sensor_that_stops_is_an_alarm_until_it_moves() {
    let mut bench = Bench::new();
    let mut noise = Noise::new(11);
    let mut app = bench.start();
    assert_eq!(run(&mut app, &mut noise, LEARNED + 50, 0.0), None);
    let mut alarms = Vec::new();
    for step in 0..200 {
        let found = ask(&mut app, step + 1, &Command::Step);
        assert_eq!(found.faults, []);
        alarms.extend(found.alarm);
    }
    let stuck = alarms.iter().find(|alarm| alarm.change == Change::Stuck).expect("an alarm");
    assert!((LEARNED + 49..LEARNED + 52).contains(&stuck.since), "{stuck:?}");
    let report = ask(&mut app, 0, &Command::Status).report();
    assert_eq!((report.status.stage, report.flags & flags::SENSOR_FAULT), (Stage::Drift, 0));
    assert!(report.status.open >= 4, "each channel by itself: {report:?}");
    run(&mut app, &mut noise, 1000, 0.0);
    assert_eq!(app.monitor().stage(), Stage::Monitoring);
}

/// A thermometer alone, with steps of ½ °C, in a room that takes a minute for one step. Hundreds of
/// equal readings are then normal: neither a fault nor an alarm.
#[test]
fn a_coarse_thermometer_in_a_steady_room_is_no_fault() {
    let mut bench = Bench::new();
    let mut detector = BoardDetector::<1>::new(&ONE_CHANNEL, board()).unwrap();
    let parts = Parts {
        board: &BOARD,
        bus: &mut bench.world,
        line: &mut bench.pipe,
        sensor: Thermometer,
        monitor: &mut detector,
        settings: &board(),
        store: None,
        guard: Guard::open(),
        memory: &mut bench.memory,
    };
    let mut app = App::new(parts, Config::DEFAULT);
    app.start();
    let mut alarms = Vec::new();
    for number in 0..20_000 {
        app.bus().inner().celsius = if number % 1200 < 600 { 21 } else { 22 };
        app.sample(1);
        let found = said(&mut app.line().outgoing);
        assert_eq!(found.faults, [], "sample {number}");
        alarms.extend(found.alarm);
    }
    assert_eq!(app.monitor().rows(), 20_000);
    assert_eq!(alarms, []);
}

/// Two alarms since the last save: a reset tells both again.
#[test]
fn a_reset_tells_every_alarm_since_the_save_again() {
    let mut bench = Bench::new();
    let mut noise = Noise::new(9);
    let mut app = bench.start();
    let push = |app: &mut Device4<'_>, noise: &mut Noise, tag: u64, shifts: [f32; 4]| {
        let mut values = MagnetometerThermometer::STEPS.unwrap();
        for (value, shift) in values.iter_mut().zip(shifts) {
            *value *= (100.0 * noise.normal()).round() + shift;
        }
        let push = Command::Push(Sample::new(&values).unwrap());
        ask(app, u8::try_from(tag % 250).unwrap() + 1, &push)
    };
    for tag in 0..LEARNED + 50 {
        assert_eq!(push(&mut app, &mut noise, tag, [0.0; 4]).alarm, None);
    }
    // Saves, so that there is room for all rows that follow.
    ask(&mut app, 251, &Command::Dismiss);
    let mut raised = Vec::new();
    for tag in 0..12_u64 {
        let other = if tag < 4 { 0.0 } else { 3000.0 };
        raised.extend(push(&mut app, &mut noise, tag, [3000.0, 0.0, 0.0, other]).alarm);
    }
    let channels: Vec<_> = raised.iter().map(|alarm| alarm.channel).collect();
    assert!(channels.contains(&0) && channels.contains(&3), "{raised:?}");
    let before = ask(&mut app, 252, &Command::Status).report();
    let mut app = bench.start();
    assert_eq!(answers(&mut app, &[]).0.boot, Some(Origin::Memory));
    let after = ask(&mut app, 1, &Command::Status).report();
    assert_eq!((after.status.rows, after.pending), (before.status.rows, before.pending));
    for (index, alarm) in (0..).zip(&raised) {
        let (count, _, told) = ask(&mut app, 2, &Command::History { index }).past.unwrap();
        assert_eq!(
            (usize::from(count), told.map(|told| told.row)),
            (raised.len(), Some(alarm.row))
        );
    }
}
