"""Merges and ranks exported states in plain DuckDB SQL, and checks the result against the tool's.

Usage: python rank_states.py STATES.parquet [TOOL], with columns device and those of mmd_inspect: weight,
frequencies, amplitude and sums. No extension is needed: sums are BIGINT[]. With a column mmd2, MMD² as the
tool has it, both are compared; with the program fastmmd-fleet as TOOL, and a column state, the time of both.
"""

import subprocess
import sys
import time

import duckdb

RANKED = """
WITH long AS (
    SELECT device, weight, unnest(sums) AS s, generate_subscripts(sums, 1) AS k,
           frequencies, amplitude, {known} AS expected
    FROM read_parquet($path)),
fleet AS (SELECT k, sum(s) AS s FROM long GROUP BY k),
total AS (SELECT sum(weight) AS weight FROM read_parquet($path))
SELECT device, any_value(expected) AS expected,
       any_value(amplitude) / any_value(frequencies)
           * sum(pow((long.s / long.weight - fleet.s / total.weight) / 16777216.0, 2)) AS mmd2
FROM long JOIN fleet USING (k) CROSS JOIN total
GROUP BY device ORDER BY 3 DESC
"""
BY_TOOL = """
WITH fleet AS (SELECT mmd_merge(state) AS state FROM t)
SELECT device, mmd2(t.state, fleet.state) AS mmd2 FROM t, fleet ORDER BY mmd2 DESC
"""


def by_tool(path: str, tool: str) -> float:
    """Seconds that the tool takes for the same ranking, its start included."""
    start = time.perf_counter()
    command = [tool, "query", BY_TOOL, "--table", f"t={path}", "--json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> int:
    path = {"path": sys.argv[1]}
    names = duckdb.execute("DESCRIBE SELECT * FROM read_parquet($path)", path).fetchall()
    compares = any(name == "mmd2" for name, *_ in names)
    ranked = RANKED.format(known="mmd2" if compares else "NULL")
    start = time.perf_counter()
    rows = duckdb.execute(ranked, path).fetchall()
    seconds = time.perf_counter() - start
    largest = rows[0][2]
    print(f"{len(rows)} devices in {seconds:.2f} s; largest MMD² {largest:.4f} of {rows[0][0]}")
    if not compares:
        return 0
    worst = max(abs(expected - mmd2) for _, expected, mmd2 in rows)
    print(f"farthest from the tool's by {worst:.1e}")
    if len(sys.argv) > 2:
        own = by_tool(*sys.argv[1:3])
        print(f"by the tool in {own:.2f} s: DuckDB over arrays takes {seconds / own:.1f} times as long")
    # The core computes in f32; the control is that there is something to compare.
    return 0 if worst < 1e-5 and largest > 1e-3 else 1


if __name__ == "__main__":
    raise SystemExit(main())
