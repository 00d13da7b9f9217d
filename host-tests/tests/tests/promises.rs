//! What can be promised, by the settings alone.

use fastmmd::Config;

/// Defect 10. Warnings stopped at 2²⁰ rows, promises above 10⁹ were refused, and settings that
/// followed the advice of a warning could be refused.
#[test]
fn a_month_can_be_promised_and_advice_can_be_followed() {
    // 100 Hz and a month between false alarms.
    let month = Config::seconds(100.0, 30.0 * 86_400.0);
    assert_eq!(month.check(), Ok(()));
    assert_eq!(month.warnings().count(), 1);
    assert_eq!(Config::rows(1e13).check(), Ok(()));
    for learning_rows in [256, 400, 4096, 16_384, 1 << 20, 1 << 22] {
        let settings = Config { learning_rows, ..month };
        assert_eq!(settings.check(), Ok(()));
        // What is said to be supported is allowed, and gives no warning.
        let advised = Config { learning_rows, ..Config::rows(settings.supported_mean_time()) };
        assert_eq!((advised.check(), advised.warnings().count()), (Ok(()), 0), "{learning_rows}");
    }
    // More rows never support less.
    let supported =
        |learning_rows| Config { learning_rows, ..Config::rows(1e5) }.supported_mean_time();
    assert!((256..20_000).all(|rows| supported(rows) <= supported(rows + 1)));
}
