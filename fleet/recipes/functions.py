"""The functions in the Python package datafusion: the same bytes for any partition, and typed errors.

Usage: python functions.py FOLDER, with PYTHONPATH where fastmmd_fleet.so (or .pyd) lies; FOLDER holds
what `fastmmd-fleet generate` wrote.
"""

import sys

import datafusion
import fastmmd_fleet

EMBED = "SELECT mmd_embed('frequencies=32', x, y, z) AS state FROM telemetry"
ODDEST = """
WITH devices AS (SELECT device, mmd_embed(x, y, z) AS state FROM telemetry GROUP BY device),
     fleet AS (SELECT mmd_merge(state) AS state FROM devices)
SELECT device, mmd2(devices.state, fleet.state) AS mmd2 FROM devices, fleet ORDER BY 2 DESC LIMIT 1
"""


def session(partitions: int) -> datafusion.SessionContext:
    config = datafusion.SessionConfig().with_target_partitions(partitions)
    context = datafusion.SessionContext(config)
    fastmmd_fleet.register(context)
    context.register_parquet("telemetry", sys.argv[1])
    return context


def main() -> int:
    states = [session(count).sql(EMBED).to_pydict()["state"][0] for count in (1, 7)]
    assert states[0] == states[1] and len(states[0]) > 500
    print(session(2).sql(ODDEST).to_pydict())
    mixed = "SELECT mmd2(mmd_embed(x), mmd_embed('seed=2', x), 'pump-1') FROM telemetry"
    try:
        session(1).sql(mixed).collect()
    except Exception as error:  # the package has one type of its own for all of the engine's errors
        assert "device pump-1: a state of another map" in str(error), error
        return 0
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
