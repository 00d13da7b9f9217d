//! How often pages of the EEPROM are written.

use super::*;
use crate::app::allowance::{MAX_WRITES, REFILL_PERIODS};

#[test]
fn the_line_cannot_wear_out_the_eeprom() {
    let mut bench = Bench::new();
    let mut app = bench.start();
    for tag in 1..=MAX_WRITES {
        let command = if tag % 2 == 0 { Command::Dismiss } else { Command::Relearn };
        assert_eq!(ask(&mut app, tag, &command).nack, None, "{tag}");
    }
    for tag in 100..103 {
        // Also when it is repeated.
        assert_eq!(ask(&mut app, tag, &Command::Dismiss).nack, Some(Refusal::TooOften));
        assert_eq!(ask(&mut app, tag, &Command::Dismiss).nack, Some(Refusal::TooOften));
    }
    app.sample(REFILL_PERIODS - 1);
    assert_eq!(ask(&mut app, 110, &Command::Relearn).nack, Some(Refusal::TooOften));
    app.sample(1);
    assert_eq!(ask(&mut app, 111, &Command::Relearn).nack, None);
    assert_eq!(ask(&mut app, 112, &Command::Relearn).nack, Some(Refusal::TooOften));
    // A restart is no way to more of them.
    drop(app);
    let mut app = bench.start();
    assert_eq!(ask(&mut app, 113, &Command::Relearn).nack, Some(Refusal::TooOften));
    app.sample(REFILL_PERIODS);
    assert_eq!(ask(&mut app, 114, &Command::Relearn).nack, None);
}

/// Samples that a host sends are not time: it could send them as fast as the line is.
#[test]
fn samples_over_the_link_give_no_more_commands() {
    let mut bench = Bench::new();
    let mut app = bench.start();
    (1..=MAX_WRITES).for_each(|tag| assert_eq!(ask(&mut app, tag, &Command::Relearn).nack, None));
    let mut noise = Noise::new(29);
    for number in 0..=REFILL_PERIODS {
        one_step(&mut app, &mut noise, u8::try_from(number % 200).unwrap() + 1, 0.0);
    }
    assert_eq!(ask(&mut app, 251, &Command::Relearn).nack, Some(Refusal::TooOften));
    app.sample(REFILL_PERIODS);
    assert_eq!(ask(&mut app, 252, &Command::Relearn).nack, None, "control: time does");
}

/// How often the page that is written most was written.
fn worst(app: &mut Device4<'_>) -> u32 {
    app.bus().inner().wear.iter().copied().max().unwrap()
}

/// Who may command the board makes it learn again whenever that is allowed, so that it never ends to learn, and
/// restarts it: a page is still written no more than three times for each command.
#[test]
fn learning_again_and_again_does_not_wear_out_the_eeprom() {
    const REFILLS: u32 = 8;
    let mut bench = Bench::new();
    bench.settings = Settings { learning_rows: 8192, ..SETTINGS };
    let settings = bench.settings;
    let mut noise = Noise::new(30);
    let mut app = bench.start_with(settings);
    (1..=MAX_WRITES).for_each(|tag| assert_eq!(ask(&mut app, tag, &Command::Relearn).nack, None));
    let mut before = 0;
    for refill in 0..2 * REFILLS {
        if refill == REFILLS {
            // What may be written in a row has been.
            before = worst(&mut app);
        }
        for _ in 0..REFILL_PERIODS {
            sense(&mut app, &mut noise, 0.0);
            app.sample(1);
            while app.poll() != Request::Idle {}
        }
        assert_eq!(ask(&mut app, 251, &Command::Relearn).nack, None);
        assert_eq!(ask(&mut app, 252, &Command::Relearn).nack, Some(Refusal::TooOften));
        app.line().outgoing.clear();
        drop(app);
        app = bench.start_with(settings);
    }
    let written = worst(&mut app) - before;
    assert!((REFILLS / 2..=3 * REFILLS).contains(&written), "{written}");
}

/// One learning of the boards, from beginning to end: as `Config::DEFAULT` says.
#[test]
fn each_page_is_written_ten_times_while_the_board_learns() {
    let mut bench = Bench::new();
    let settings = Settings { learning_rows: 8192, ..SETTINGS };
    let mut app = bench.start_with(settings);
    let mut noise = Noise::new(31);
    for _ in 0..8192 + 600 {
        sense(&mut app, &mut noise, 0.0);
        app.sample(1);
        while app.poll() != Request::Idle {}
    }
    assert_eq!(app.monitor().stage(), Stage::Monitoring);
    let written = worst(&mut app);
    assert!((8..=10).contains(&written), "{written}");
}
