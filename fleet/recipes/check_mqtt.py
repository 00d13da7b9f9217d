"""Runs mqtt.py against a broker on this computer: what is published is what the tool reads.

Usage: python check_mqtt.py FOLDER TOOL, with the program fastmmd-fleet and mosquitto installed.
"""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import paho.mqtt.client as mqtt

DEVICES, ROWS = 30, 40


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def answers(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def publish(port: int) -> None:
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", port)
    client.loop_start()
    for row in range(ROWS):
        for device in range(DEVICES):
            text = json.dumps({"x": row + device / 100, "y": row % 7})
            told = client.publish(f"telemetry/site-{device % 2}/pump-{device:02}", text, qos=1)
    client.publish("telemetry/site-0/pump-00", "no object", qos=1).wait_for_publish(20)
    told.wait_for_publish(20)
    client.loop_stop()


def main() -> int:
    folder, tool, port = Path(sys.argv[1]), sys.argv[2], free_port()
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder.with_suffix(".conf")
    settings.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n")
    broker = subprocess.Popen(["mosquitto", "-c", settings], stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 20
        while not answers(port):
            assert time.monotonic() < until, "the broker does not answer"
            time.sleep(0.05)
        command = [sys.executable, "mqtt.py", folder, "--host", "127.0.0.1", "--port", str(port)]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert writer.stdout.readline() == "subscribed\n"
        publish(port)
        # The broker hands on what it has taken.
        time.sleep(1)
        writer.terminate()
        complaint = writer.communicate(timeout=30)[1]
    finally:
        broker.terminate()
        broker.wait()
    assert "1 messages were no objects" in complaint, complaint
    sql = "SELECT site, count(DISTINCT device) AS devices, count(*) AS rows, sum(x) AS x FROM t GROUP BY 1 ORDER BY 1"
    told = subprocess.run([tool, "query", sql, "--table", f"t={folder}", "--json"], check=True, capture_output=True)
    sites = [json.loads(line) for line in told.stdout.splitlines()]
    print(sites)
    assert [(site["devices"], site["rows"]) for site in sites] == [(DEVICES // 2, DEVICES // 2 * ROWS)] * 2
    expected = sum(row + device / 100 for row in range(ROWS) for device in range(DEVICES))
    assert abs(sum(site["x"] for site in sites) - expected) < 1e-6
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
