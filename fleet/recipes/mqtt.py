"""Writes what devices publish over MQTT to Parquet files, which `fastmmd-fleet` reads.

Messages are JSON objects of numbers, such as {"x": 1.5, "y": 2}, on
topics telemetry/SITE/DEVICE. A file of at most ROWS rows, or of MINUTES, is written whole and then renamed, so
that a reader never sees half of one: FOLDER/site=SITE/TIME.parquet with columns device, time and the numbers.
A message that is no such object is counted and left out. Ends with SIGTERM or ^C, and writes what it has.
"""

import argparse
import json
import signal
import sys
import threading
import time
from pathlib import Path

import paho.mqtt.client as mqtt
import pyarrow
import pyarrow.parquet

ROWS, MINUTES = 100_000, 10


class Writer:
    """Rows by site, until they are written."""

    def __init__(self, folder: Path):
        self.folder, self.sites, self.refused = folder, {}, 0
        self.count, self.since, self.files = 0, time.monotonic(), 0

    def take(self, topic: str, payload: bytes) -> None:
        try:
            _, site, device = topic.split("/")
            values = {name: float(value) for name, value in json.loads(payload).items()}
        except (ValueError, TypeError, AttributeError):
            self.refused += 1
            return
        self.sites.setdefault(site, []).append({"device": device, "time": time.time_ns(), **values})
        self.count += 1

    def is_due(self) -> bool:
        return self.count >= ROWS or time.monotonic() - self.since > 60 * MINUTES

    def write(self) -> None:
        for site, rows in self.sites.items():
            folder = self.folder / f"site={site}"
            folder.mkdir(parents=True, exist_ok=True)
            # Every name that any row has: a reading that is missing is null.
            names = dict.fromkeys(name for row in rows for name in row)
            columns = {name: [row.get(name) for row in rows] for name in names}
            self.files += 1
            file = folder / f"{time.time_ns()}-{self.files}.parquet"
            part = file.with_suffix(".part")
            pyarrow.parquet.write_table(pyarrow.table(columns), part)
            part.rename(file)
        self.sites, self.count, self.since = {}, 0, time.monotonic()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--host", default="localhost")
    parser.add_argument("--port", type=int, default=1883)
    arguments = parser.parse_args()
    writer, ends = Writer(arguments.folder), threading.Event()
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    client.on_connect = lambda client, *_: client.subscribe("telemetry/+/+", qos=1)
    client.on_subscribe = lambda *_: print("subscribed", flush=True)
    client.on_message = lambda _client, _data, message: writer.take(message.topic, message.payload)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ends.set())
    client.connect(arguments.host, arguments.port)
    # All in one thread, so that no row comes while a file is written.
    while not ends.is_set():
        if client.loop(timeout=0.2) != mqtt.MQTT_ERR_SUCCESS and not ends.is_set():
            time.sleep(1)
            client.reconnect()
        if writer.is_due():
            writer.write()
    writer.write()
    if writer.refused:
        print(f"{writer.refused} messages were no objects of numbers", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
