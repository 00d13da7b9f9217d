"""The functions in the Python package datafusion: the bytes that the tool has, and typed errors.

Usage: python functions.py FOLDER TOOL, with PYTHONPATH where fastmmd_fleet.so (or .pyd) lies; FOLDER holds
what `fastmmd-fleet generate` wrote, TOOL is the program fastmmd-fleet.
"""

import json
import subprocess
import sys

import datafusion
import fastmmd_fleet

EMBED = "SELECT mmd_embed('frequencies=32', x, y, z) AS state FROM telemetry"
ODDEST = """
WITH devices AS (SELECT device, mmd_embed(x, y, z) AS state FROM telemetry GROUP BY device),
     fleet AS (SELECT mmd_merge(state) AS state FROM devices)
SELECT device, mmd2(devices.state, fleet.state) AS mmd2 FROM devices, fleet ORDER BY 2 DESC LIMIT 1
"""


# Every function; of two weeks of the same devices.
ALL = """
WITH map AS (SELECT mmd_scale('frequencies=32', x, y, z) AS map FROM telemetry),
     weeks AS (SELECT week, mmd_embed(map, x, y, z, mmd_weight(1.0), device) AS state
               FROM telemetry, map GROUP BY week),
     two AS (SELECT a.state AS a, b.state AS b FROM weeks a, weeks b WHERE a.week = 1 AND b.week = 2)
SELECT mmd2(a, b) AS mmd2, mmd2_unbiased(a, b) AS unbiased, mmd_p_value(a, b, 'weeks') AS p,
       mmd_witness(a, b, 20.0, 5.0, 100.0) AS witness, mmd_count(a) AS rows, mmd_map(a) AS map,
       mmd_inspect(a)['frequencies'] AS frequencies, device_state(a) = a AS taken FROM two
"""


def session(partitions: int) -> datafusion.SessionContext:
    config = datafusion.SessionConfig().with_target_partitions(partitions)
    context = datafusion.SessionContext(config)
    fastmmd_fleet.register(context)
    context.register_parquet("telemetry", sys.argv[1])
    return context


def by_tool(sql: str) -> bytes:
    """The state that the tool gives for the same query, without this package."""
    command = [sys.argv[2], "query", sql, "--table", f"telemetry={sys.argv[1]}", "--json"]
    told = subprocess.run(command, check=True, capture_output=True).stdout
    return bytes.fromhex(json.loads(told)["state"])


def main() -> int:
    expected = by_tool(EMBED)
    assert len(expected) > 500
    for count in (1, 7):
        assert session(count).sql(EMBED).to_pydict()["state"][0] == expected
    # The control: one row less gives other bytes.
    less = EMBED + " WHERE x < (SELECT max(x) FROM telemetry)"
    assert session(2).sql(less).to_pydict()["state"][0] == by_tool(less) != expected
    print(session(2).sql(ODDEST).to_pydict())
    [seen] = session(2).sql(ALL).to_pylist()
    print(seen)
    assert 0 < seen["mmd2"] < 0.1 and seen["unbiased"] < seen["mmd2"] and 0 < seen["p"] <= 1
    assert abs(seen["witness"]) < 1 and seen["rows"] > 100 and seen["taken"]
    assert seen["frequencies"] == 32 and "level=" in seen["map"]
    mixed = "SELECT mmd2(mmd_embed(x), mmd_embed('seed=2', x), 'pump-1') FROM telemetry"
    try:
        session(1).sql(mixed).collect()
    except Exception as error:  # the package has one type of its own for all of the engine's errors
        assert "device pump-1: a state of another map" in str(error), error
        return 0
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
