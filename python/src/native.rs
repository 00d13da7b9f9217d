//! The detector.

use std::sync::{Mutex, MutexGuard, PoisonError};

use fastmmd::dynamic::{self, Map};
use fastmmd::{Alarm, Config, Error, Verdict};
use fastmmd_tune::detector::Detector;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyList};
use self_cell::self_cell;

use crate::error::{of_record, of_row, of_settings, value_error};
use crate::{settings, told};

self_cell!(
    /// A detector together with the map that it borrows.
    struct Whole {
        owner: Map,
        #[covariant]
        dependent: Detector,
    }
);

/// All that changes from row to row.
struct State {
    whole: Whole,
    /// The code of the last verdict, if a row was pushed since this object was made.
    last: Option<u8>,
}

impl State {
    fn detector(&self) -> &Detector<'_> {
        self.whole.borrow_dependent()
    }

    fn last_alarm(&self) -> Option<Alarm> {
        match self.detector() {
            Detector::Plain(it) => it.last_alarm(),
            Detector::Cyclic(it) => it.last_alarm(),
        }
    }
}

/// The core's detector for rows of a known width. `fastmmd.DriftDetector` is what users call.
#[pyclass(frozen, module = "fastmmd._native", name = "Detector")]
pub(crate) struct Native {
    names: Vec<String>,
    state: Mutex<State>,
}

/// What some rows gave.
#[derive(Default)]
struct Run {
    verdicts: Vec<u8>,
    statistics: Vec<f32>,
    thresholds: Vec<f32>,
    /// Alarms and amendments, in the order of their rows.
    alarms: Vec<(Alarm, bool)>,
}

impl Native {
    /// The state for a short moment. Waits for a thread in a long call without keeping others from
    /// running.
    fn state(&self, py: Python<'_>) -> MutexGuard<'_, State> {
        // No panic can leave the state half changed: the core has none.
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn of(names: Vec<String>, whole: Whole, last: Option<u8>) -> Self {
        Self { names, state: Mutex::new(State { whole, last }) }
    }

    /// Takes rows one after the other, all or none; after learning only if `watch`.
    fn run(&self, rows: &[f32], watch: bool) -> Result<Run, (Error, usize)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut run = Run::default();
        let refused = state.whole.with_dependent_mut(|_, detector| {
            let before = detector.clone();
            for (number, row) in rows.chunks_exact(self.names.len()).enumerate() {
                if !watch && detector.stage().is_learned() {
                    break;
                }
                match detector.push(row) {
                    Ok(verdict) => run.note(&verdict, detector),
                    Err(error) => {
                        *detector = before;
                        return Some((error, number));
                    }
                }
            }
            None
        });
        match refused {
            Some(refused) => Err(refused),
            None => {
                state.last = run.verdicts.last().copied().or(state.last);
                Ok(run)
            }
        }
    }
}

impl Run {
    fn note(&mut self, verdict: &Verdict, detector: &Detector<'_>) {
        self.verdicts.push(verdict.code());
        let nearest = detector.nearest();
        self.statistics.push(nearest.map_or(f32::NAN, |it| it.statistic));
        self.thresholds.push(nearest.map_or(f32::NAN, |it| it.threshold));
        match verdict {
            Verdict::Alarm(alarm) => self.alarms.push((*alarm, false)),
            Verdict::Amended(alarm) => self.alarms.push((*alarm, true)),
            Verdict::Learning { .. } | Verdict::Healthy | Verdict::Drifting => {}
        }
    }
}

/// Verdicts, statistics, thresholds and alarms of some rows.
type Told<'py> = (
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<f32>>,
    Bound<'py, PyArray1<f32>>,
    Bound<'py, PyList>,
);

#[pymethods]
impl Native {
    #[new]
    #[pyo3(signature = (
        names, *, mean_time_between_false_alarms, learning_rows, period, relearn_after, missing, kernel,
        bandwidth, sampling, seed, frequencies
    ))]
    #[expect(clippy::too_many_arguments, reason = "called by name, from one place")]
    fn new(
        names: Vec<String>,
        mean_time_between_false_alarms: Option<f64>,
        learning_rows: u32,
        period: Option<f64>,
        relearn_after: Option<u32>,
        missing: &str,
        kernel: &str,
        bandwidth: f64,
        sampling: &str,
        seed: u64,
        frequencies: usize,
    ) -> PyResult<Self> {
        let config = settings::config(
            mean_time_between_false_alarms,
            learning_rows,
            period,
            relearn_after,
            missing,
        )?;
        let kernel = settings::kernel(kernel, bandwidth)?;
        let map = settings::map(kernel, sampling, seed, names.len(), frequencies)?;
        let whole = Whole::try_new(map, |map| Detector::new(map, config)).map_err(of_settings)?;
        Ok(Self::of(names, whole, None))
    }

    /// The detector of a saved state. Without names, channels are named by their numbers.
    #[staticmethod]
    #[pyo3(signature = (state, names, last))]
    fn restored(state: &[u8], names: Option<Vec<String>>, last: Option<u8>) -> PyResult<Self> {
        let map = dynamic::saved_map(state).map_err(of_record)?;
        let whole = Whole::try_new(map, |map| Detector::restored(map, state)).map_err(of_record)?;
        let channels = whole.borrow_dependent().channels();
        let names = names.unwrap_or_else(|| (0..channels).map(|it| it.to_string()).collect());
        if names.len() != channels {
            let why = format!("{} names for a state of {channels} channels", names.len());
            return Err(value_error("channels", why));
        }
        Ok(Self::of(names, whole, last))
    }

    /// The version of the package.
    #[staticmethod]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// Takes one row and returns the code of its verdict.
    fn push(&self, py: Python<'_>, row: Vec<f64>) -> PyResult<u8> {
        let row: Vec<f32> = row.into_iter().map(settings::single).collect();
        let mut state = self.state(py);
        let verdict = state.whole.with_dependent_mut(|_, detector| detector.push(&row));
        let code = verdict.map_err(|it| of_row(it, None, &row, &self.names))?.code();
        state.last = Some(code);
        Ok(code)
    }

    /// Takes rows one after the other, all or none. Without `watch`, those after learning are left
    /// out.
    fn push_rows<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f32>,
        watch: bool,
    ) -> PyResult<Told<'py>> {
        let width = rows.as_array().ncols();
        if width != self.names.len() {
            let why = format!("{width} columns for {} channels", self.names.len());
            return Err(value_error("X", why));
        }
        // Copied: while other threads run, they may write to the array.
        let rows: Vec<f32> = rows.as_array().iter().copied().collect();
        let run = py.detach(|| self.run(&rows, watch)).map_err(|(error, number)| {
            let row = rows.chunks_exact(width).nth(number).unwrap_or_default();
            of_row(error, Some(number), row, &self.names)
        })?;
        let alarms = PyList::empty(py);
        for (alarm, amended) in &run.alarms {
            alarms.append((told::alarm(py, alarm)?, *amended))?;
        }
        Ok((
            run.verdicts.into_pyarray(py),
            run.statistics.into_pyarray(py),
            run.thresholds.into_pyarray(py),
            alarms,
        ))
    }

    /// Says that so many rows passed that were never pushed.
    fn skip(&self, py: Python<'_>, rows: u32) {
        self.state(py).whole.with_dependent_mut(|_, detector| match detector {
            Detector::Plain(it) => it.skip(rows),
            Detector::Cyclic(it) => it.skip(rows),
        });
    }

    /// Forgets what was learned, and learns anew.
    fn relearn(&self, py: Python<'_>) {
        let mut state = self.state(py);
        state.whole.with_dependent_mut(|_, detector| match detector {
            Detector::Plain(it) => it.relearn(),
            Detector::Cyclic(it) => it.relearn(),
        });
        state.last = None;
    }

    /// Accepts what differs now.
    fn dismiss(&self, py: Python<'_>) {
        let mut state = self.state(py);
        state.whole.with_dependent_mut(|_, detector| match detector {
            Detector::Plain(it) => it.dismiss(),
            Detector::Cyclic(it) => it.dismiss(),
        });
        state.last = None;
    }

    /// The bytes that a device saves.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.state(py).detector().bytes().map_err(of_record)?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// The code of the last verdict.
    #[getter]
    fn last(&self, py: Python<'_>) -> Option<u8> {
        self.state(py).last
    }

    #[getter]
    fn stage(&self, py: Python<'_>) -> &'static str {
        self.state(py).detector().stage().name()
    }

    #[getter]
    fn rows(&self, py: Python<'_>) -> u64 {
        self.state(py).detector().rows()
    }

    #[getter]
    fn rows_to_learn(&self, py: Python<'_>) -> u64 {
        self.state(py).detector().rows_to_learn()
    }

    #[getter]
    fn last_alarm<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let alarm = self.state(py).last_alarm();
        alarm.map(|alarm| told::alarm(py, &alarm)).transpose()
    }

    /// The statistic that is nearest to its threshold.
    #[getter]
    fn nearest<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let nearest = self.state(py).detector().nearest();
        nearest.map(|leg| told::leg(py, &leg)).transpose()
    }

    /// Every statistic.
    #[getter]
    fn legs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let legs = self.state(py).detector().legs();
        legs.iter().map(|leg| told::leg(py, leg)).collect()
    }

    /// Everything that differs now.
    #[getter]
    fn open<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let open = self.state(py).detector().open();
        open.iter().map(|it| told::open(py, it)).collect()
    }

    /// What is known of each channel.
    #[getter]
    fn quality<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let quality = self.state(py).detector().quality();
        quality.iter().map(|it| told::quality(py, it)).collect()
    }

    /// The statistics that cannot fire.
    #[getter]
    fn mute<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mute = self.state(py).detector().mute();
        mute.iter().map(|it| told::mute(py, it)).collect()
    }

    /// What the settings promise and cannot be trusted to keep.
    #[getter]
    fn warnings(&self, py: Python<'_>) -> Vec<String> {
        let config: Config = self.state(py).detector().config();
        config.warnings().map(|warning| warning.to_string()).collect()
    }

    /// The longest promise, in rows, that the learning rows support.
    #[getter]
    fn supported_mean_time(&self, py: Python<'_>) -> f32 {
        self.state(py).detector().config().supported_mean_time()
    }

    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (config, recipe) = {
            let state = self.state(py);
            (state.detector().config(), *state.detector().recipe())
        };
        told::settings(py, &config, &recipe)
    }
}
