"""What is installed."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
from pathlib import Path

import fastmmd
import fastmmd._native


def test_types_are_part_of_the_package() -> None:
    files = {entry.name for entry in importlib.resources.files("fastmmd").iterdir()}
    assert {"py.typed", "_native.pyi"} <= files


def test_the_installed_package_is_tested() -> None:
    # Not the source beside the tests, which has no compiled half.
    assert "site-packages" in Path(fastmmd.__file__).parts


def test_one_wheel_is_for_all_versions() -> None:
    assert ".abi3." in Path(fastmmd._native.__file__).name


def test_licences_are_part_of_the_package() -> None:
    files = importlib.metadata.files("fastmmd") or []
    licences = {file.name: file.read_text() for file in files if "licenses" in file.parts}
    project = Path(__file__).parents[2]
    assert licences == {name: (project / name).read_text() for name in ("LICENSE-MIT", "LICENSE-APACHE")}
    assert "Permission is hereby granted" in licences["LICENSE-MIT"]


def test_versions_agree() -> None:
    assert fastmmd.__version__ == importlib.metadata.version("fastmmd")


def test_everything_public_is_there_and_documented() -> None:
    for name in fastmmd.__all__:
        assert name == "VERDICTS" or getattr(fastmmd, name).__doc__, name
    methods = [name for name in vars(fastmmd.DriftDetector) if not name.startswith("_")]
    assert all(getattr(fastmmd.DriftDetector, name).__doc__ for name in methods)
