"""Times mmd_embed against avg and stddev, against the same sums in DuckDB, and on more threads.

Usage: python speed.py TOOL FOLDER, with the program fastmmd-fleet and what its `generate` wrote. DuckDB computes
the same integers from the same rows: cos and sin of every frequency, rounded and added up, once over arrays and
once as a column for each. The tool's times are without its start.
"""

import json
import math
import subprocess
import sys
import time

import duckdb

UNIT = 1 << 24
# What the made-up devices are like, so that phases are small.
LEVELS, DEVIATIONS = (20, 5, 100), (2, 0.5, 10)
WORDS = f"level={','.join(map(str, LEVELS))} deviation={','.join(map(str, DEVIATIONS))}"
MOMENTS = "SELECT avg(x), avg(y), avg(z), stddev(x), stddev(y), stddev(z) FROM t"
EMBED = f"SELECT mmd_inspect(mmd_embed('{WORDS}', x, y, z))['sums'] AS sums FROM t"
# So small that no phase is a whole turn, so large that 2⁻²⁴ hardly matters.
STEP = 0.01


class Tool:
    """The program, over the folder as table t."""

    def __init__(self, program: str, folder: str):
        self.program, self.folder = program, folder
        self.start = min(self.timed("SELECT 1 AS one", 1)[0] for _ in range(3))

    def timed(self, sql: str, partitions: int) -> tuple[float, list[dict]]:
        command = [self.program, "query", sql, "--table", f"t={self.folder}", "--json"]
        start = time.perf_counter()
        told = subprocess.run([*command, "--partitions", str(partitions)], check=True, capture_output=True)
        return time.perf_counter() - start, [json.loads(line) for line in told.stdout.splitlines()]

    def seconds(self, sql: str, partitions: int) -> float:
        return max(min(self.timed(sql, partitions)[0] for _ in range(3)) - self.start, 1e-3)

    def frequencies(self) -> list[list[float]]:
        """Radians per unit of each channel, from the phases of one row that is a little off in it."""
        by_channel = []
        for channel in range(3):
            row = ", ".join(str(STEP if channel == other else 0.0) for other in range(3))
            sums = self.timed(f"SELECT mmd_inspect(mmd_embed({row}))['sums'] AS sums", 1)[1][0]["sums"]
            by_channel.append([math.atan2(s, c) / STEP for c, s in zip(sums[::2], sums[1::2])])
        return [list(one) for one in zip(*by_channel)]


def as_columns(frequencies: list[list[float]]) -> str:
    """One expression for each sum."""
    scaled = [f"({name} - {level}) / {deviation}" for name, level, deviation in zip("xyz", LEVELS, DEVIATIONS)]
    phases = []
    for number, omega in enumerate(frequencies):
        terms = [f"{w} * {'uvw'[place]}" for place, w in enumerate(omega) if w != 0]
        phases.append(f"{' + '.join(terms) or '0.0'} AS p{number}")
    sums = [
        f"sum(CAST(round({name}(p{number}) * {UNIT}) AS BIGINT))"
        for number in range(len(frequencies))
        for name in ("cos", "sin")
    ]
    inner = ", ".join(f"{value} AS {name}" for value, name in zip(scaled, "uvw"))
    return f"SELECT {', '.join(sums)} FROM (SELECT {', '.join(phases)} FROM (SELECT {inner} FROM t))"


def over_arrays(frequencies: list[list[float]]) -> str:
    """All rows with all frequencies, each an array."""
    scaled = [f"({name} - {level}) / {deviation}" for name, level, deviation in zip("xyz", LEVELS, DEVIATIONS)]
    omega = ", ".join(f"({number}, {one})" for number, one in enumerate(frequencies))
    return f"""
        WITH f(k, omega) AS (VALUES {omega}),
            phases AS (SELECT k, list_dot_product(omega, [{', '.join(scaled)}]) AS p FROM t, f)
        SELECT sum(CAST(round(cos(p) * {UNIT}) AS BIGINT)), sum(CAST(round(sin(p) * {UNIT}) AS BIGINT))
        FROM phases GROUP BY k ORDER BY k"""


def duck(sql: str, threads: int, runs: int) -> tuple[float, list[int]]:
    duckdb.execute(f"SET threads = {threads}")
    best = math.inf
    for _ in range(runs):
        start = time.perf_counter()
        rows = duckdb.execute(sql).fetchall()
        best = min(best, time.perf_counter() - start)
    return best, [value for row in rows for value in row]


def main() -> int:
    tool = Tool(*sys.argv[1:3])
    duckdb.execute(f"CREATE VIEW t AS SELECT * FROM read_parquet('{sys.argv[2]}/*.parquet')")
    count = duckdb.execute("SELECT count(*) FROM t").fetchone()[0]
    exact = tool.timed(EMBED, 1)[1][0]["sums"]
    frequencies = tool.frequencies()
    embed = {threads: tool.seconds(EMBED, threads) for threads in (1, 2)}
    moments = tool.seconds(MOMENTS, 1)
    columns = {threads: duck(as_columns(frequencies), threads, 2) for threads in (1, 2)}
    arrays = duck(over_arrays(frequencies), 1, 1)
    print(f"{count} rows of 3 channels, {len(frequencies)} frequencies, one thread: {embed[1]:.2f} s by mmd_embed")
    print(f"avg and stddev of the same columns: mmd_embed takes {embed[1] / moments:.1f} times as long")
    print(f"DuckDB, the same sums over arrays: {arrays[0] / embed[1]:.1f} times as long as mmd_embed")
    print(f"DuckDB, a column for each sum: {columns[1][0] / embed[1]:.1f} times as long as mmd_embed")
    print(f"two threads: mmd_embed {embed[1] / embed[2]:.2f} times as fast, DuckDB {columns[1][0] / columns[2][0]:.2f}")
    for name, sums in (("arrays", arrays[1]), ("columns", columns[1][1])):
        worst = max(abs(own - other) for own, other in zip(exact, sums, strict=True)) / count / UNIT
        print(f"means of DuckDB over {name} are within {worst:.1e} of those of mmd_embed")
        # Frequencies are only known to some 1e-6 here; the control is that there is something to compare.
        if worst > 1e-4 or max(map(abs, exact)) < 0.1 * count * UNIT:
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
