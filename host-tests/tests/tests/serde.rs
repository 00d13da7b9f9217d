//! Serialises settings and verdicts.

use fastmmd::monitor::{Cyclic, NotANumber, Open, coupling};
use fastmmd::{Alarm, Config, Detector, Fourier, Verdict};

static MAP: Fourier<1, 16> = Fourier::additive(1);

#[test]
fn settings_go_through_text_and_back() {
    let config = Config {
        learning_rows: 1024,
        not_a_number: NotANumber::Missing,
        relearn_after: Some(500),
        ..Config::rows(4000.0)
    };
    let text = serde_json::to_string(&config).unwrap();
    assert!(text.contains("\"learning_rows\":1024") && text.contains("\"Missing\""), "{text}");
    let back: Config = serde_json::from_str(&text).unwrap();
    assert_eq!(back, config);
    // Legs are a type, and no part of the text.
    let cyclic = config.with_period(24.0);
    let text = serde_json::to_string(&cyclic).unwrap();
    assert!(text.contains("\"period\":24.0"), "{text}");
    let back: Config<Cyclic<32>> = serde_json::from_str(&text).unwrap();
    assert_eq!(back, cyclic);
    // Legs without a profile refuse a period when they are used, as always.
    let without: Config = serde_json::from_str(&text).unwrap();
    assert!(Detector::new(&MAP, without).is_err());

    let config = coupling::Config { window: 64, ..coupling::Config::rows(4000.0) };
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<coupling::Config>(&text).unwrap(), config);
}

#[test]
fn what_a_detector_says_goes_through_text_and_back() {
    let config = Config { learning_rows: 1024, ..Config::rows(1e4) };
    let mut detector = Detector::new(&MAP, config).unwrap();
    let mut raised = None;
    for row in 0..1600_u16 {
        let step = if row < 1500 { 0.0 } else { 5.0 };
        let noise = (f32::from(row) * f32::from(row) * 0.618_034).fract();
        let verdict = detector.push(&[noise + step]).unwrap();
        if matches!(verdict, Verdict::Alarm(_)) {
            raised = raised.or(Some(verdict));
        }
    }
    let verdict = raised.unwrap();
    let text = serde_json::to_string(&verdict).unwrap();
    assert!(text.contains("\"channel\":0"), "{text}");
    assert_eq!(serde_json::from_str::<Verdict>(&text).unwrap(), verdict);
    let alarm = detector.last_alarm().unwrap();
    let text = serde_json::to_string(&alarm).unwrap();
    assert_eq!(serde_json::from_str::<Alarm>(&text).unwrap(), alarm);
    let open: Vec<Open> = detector.open().collect();
    assert!(!open.is_empty());
    let text = serde_json::to_string(&open).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Open>>(&text).unwrap(), open);
    for quality in detector.quality() {
        let text = serde_json::to_string(&quality).unwrap();
        assert_eq!(
            serde_json::from_str::<fastmmd::monitor::ChannelQuality>(&text).unwrap(),
            quality
        );
    }
}
