//! Serialises settings and verdicts.

use fastmmd::condition::{Innovation, Raw};
use fastmmd::dynamic;
use fastmmd::monitor::{Bandwidth, Policy};
use fastmmd::shape::Windows;
use fastmmd::{Alarm, Config, Detector, Fourier, Verdict};

static MAP: Fourier<1, 16> = Fourier::gaussian(1);

#[test]
fn settings_go_through_text_and_back() {
    let config: Config<Raw<1>, Windows<2>> = Config {
        bandwidth: Bandwidth::MedianDistance(0.5),
        policy: Policy::Relearn { hold_off: 100, settle: 400 },
        ..Config::<Raw<1>>::rows(4000.0).with_windows([4, 64])
    };
    let text = serde_json::to_string(&config).unwrap();
    assert!(text.contains("\"windows\":[4,64]"), "{text}");
    let back: Config<Raw<1>, Windows<2>> = serde_json::from_str(&text).unwrap();
    assert_eq!(back, config);
    // Settings with another number of windows are refused.
    assert!(serde_json::from_str::<Config<Raw<1>>>(&text).is_err());
}

#[test]
fn settings_of_another_view_are_refused() {
    let config = Config::<Raw<1>>::rows(4000.0).with_windows([4, 64]);
    let text = serde_json::to_string(&config).unwrap();
    assert!(text.contains("\"view\":\"Raw\""), "{text}");
    let refused = serde_json::from_str::<Config<Innovation<1>, Windows<2>>>(&text).unwrap_err();
    assert!(refused.to_string().contains("another view"), "{refused}");
    // Settings of no view in particular suit any, and so do those of a text that names none.
    let any: dynamic::Config = serde_json::from_str(&text).unwrap();
    assert_eq!(any, dynamic::Config::of(&config));
    let unnamed = text.replace(",\"view\":\"Raw\"", "");
    for text in [serde_json::to_string(&any).unwrap(), unnamed] {
        let read: Config<Innovation<1>, Windows<2>> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, config.with_view());
    }
}

#[test]
fn an_alarm_goes_through_text_and_back() {
    let config = Config { learning_rows: 1024, ..Config::rows(1e4) };
    let mut detector = Detector::new(&MAP, config).unwrap();
    let mut alarm = None;
    for row in 0..2000_u16 {
        let step = if row < 1500 { 0.0 } else { 5.0 };
        let noise = (f32::from(row) * 0.618_034).fract();
        if let Verdict::Alarm(raised) = detector.push(&[noise + step]).unwrap() {
            alarm = alarm.or(Some(raised));
        }
    }
    let alarm = alarm.unwrap();
    let text = serde_json::to_string(&alarm).unwrap();
    assert!(text.contains("\"channel\":0"), "{text}");
    assert_eq!(serde_json::from_str::<Alarm>(&text).unwrap(), alarm);
}
