"""The example of the README runs and finds what it says."""

from __future__ import annotations

from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def example(text: str) -> str:
    return text.split("```python\n", 1)[1].split("```", 1)[0]


def test_the_first_example_runs(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    exec(example(README), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("row 5")
    assert ": heat, level, since row 5" in lines[0]
    assert (tmp_path / "reference.bin").exists()


def test_without_the_shift_it_finds_nothing(tmp_path, monkeypatch, capsys) -> None:
    # The control.
    monkeypatch.chdir(tmp_path)
    exec(example(README).replace("+= 2.0", "+= 0.0"), {})
    assert capsys.readouterr().out == ""


def test_every_name_of_the_package_is_in_the_readme() -> None:
    for name in ["DriftDetector", "mmd2", "two_sample_test", "tune"]:
        assert name in README
