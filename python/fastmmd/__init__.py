"""Drift detection with the same bits as on the microcontroller.

``DriftDetector`` reports when the distribution of readings has changed, since when, on which channel
and how. You state one number: the mean time between false alarms. ``mmd2`` and ``two_sample_test``
compare two samples, ``tune`` finds settings for a log.
"""

from ._native import Detector as _Detector
from .detector import DriftDetector
from .report import (
    VERDICTS,
    Alarm,
    ChannelQuality,
    LegStatus,
    Mute,
    Open,
    Prediction,
    Quality,
)
from .samples import MissingDependencyError
from .tuning import Candidate, Change, Tuned, tune
from .two_sample import TwoSampleResult, mmd2, two_sample_test

__version__: str = _Detector.version()

__all__ = [
    "VERDICTS",
    "Alarm",
    "Candidate",
    "Change",
    "ChannelQuality",
    "DriftDetector",
    "LegStatus",
    "MissingDependencyError",
    "Mute",
    "Open",
    "Prediction",
    "Quality",
    "Tuned",
    "TwoSampleResult",
    "mmd2",
    "tune",
    "two_sample_test",
]
