"""From a log to settings to `reference.bin`, cell by cell.

    python log_to_device.py pump.csv --healthy 3400 --out build

Needs pandas. Without a log, one is made: a pump whose current drifts at the end.
"""

# %% What is asked
import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import fastmmd

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("log", nargs="?", type=Path, help="a CSV file; by default a synthetic pump")
parser.add_argument("--healthy", type=int, help="so many of the first rows are healthy")
parser.add_argument("--out", type=Path, default=Path(), help="folder of what is written")
parser.add_argument("--plot", action="store_true", help="also draw the rest of the log")
arguments = parser.parse_args()
arguments.out.mkdir(parents=True, exist_ok=True)

# %% The log: columns of numbers, empty cells are missing readings
if arguments.log is None:
    rng = np.random.default_rng(1)
    turn = np.sin(np.arange(9000) * 2 * np.pi / 240)
    log = pd.DataFrame(
        {
            "vibration": rng.normal(size=9000),
            "current": 4.0 + 0.5 * turn + 0.1 * rng.normal(size=9000),
        }
    )
    log.loc[8000:, "current"] += 0.2
    log = log.round(5)
    arguments.log, arguments.healthy = arguments.out / "log.csv", 8000
    log.to_csv(arguments.log, index=False)
log = pd.read_csv(arguments.log).select_dtypes("number")
healthy = log[: arguments.healthy]
print(f"{len(log)} rows of {', '.join(log.columns)}; {len(healthy)} are healthy")

# %% Settings: is there a cycle? which changes are found, and how soon?
tuned = fastmmd.tune(healthy)
if tuned.cycle is not None:
    print(f"a cycle of {tuned.cycle:.2f} rows")
for change in tuned.best.changes:
    size = "" if change.size is None else f" ({change.size:g})"
    delay = "" if change.median_delay is None else f", after {change.median_delay} rows"
    name = tuned.channels[change.channel]
    print(f"{name}: {change.change}{size}: {change.found} of {change.tried}{delay}")
best = tuned.best
print(f"{best.false_alarms} false alarms; {best.expected_false_alarms:.1f} are promised")
tuned.save(arguments.out / "settings.toml")

# %% Learn as the device would, and keep the bytes that it keeps
detector = tuned.detector().learn(healthy)
for name, channel in detector.quality.channels.items():
    print(f"{name}: level {channel.level:.4g}, deviation {channel.deviation:.3g}, ", end="")
    print(f"{channel.steadiness}, worth {channel.independent_rows:.0f} independent rows")
reference = arguments.out / "reference.bin"
print(f"{reference}: {len(detector.save(reference))} bytes")

# %% What would it have said about the rest of the log?
rest = fastmmd.DriftDetector.load(reference, channels=list(log.columns))
said = rest.predict(log[rest.rows :])
for alarm in said.alarms:
    print(f"row {alarm.row}: {alarm.channel_name}, {alarm.change}, since row {alarm.since}")
if arguments.plot:
    said.plot().figure.savefig(arguments.out / "said.svg")

# %% To the device, as the command does it
print(f"fastmmd export {arguments.log} --settings {arguments.out / 'settings.toml'} -o same.bin")
print(f"fastmmd device /dev/ttyACM0 --key board.key push {reference}")
