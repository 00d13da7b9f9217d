"""Times mmd_embed against avg and stddev, against the same sums in DuckDB, and on more threads.

Usage: python speed.py FOLDER, with PYTHONPATH where fastmmd_fleet.so (or .pyd) lies; FOLDER holds what
`fastmmd-fleet generate` wrote. The engine is that of the Python package datafusion, as its makers build it. DuckDB
computes the same integers from the same rows: cos and sin of every frequency, rounded and added up, once over arrays
and once as a column for each. Fails if a ratio of processor times is beyond its limit.
"""

import math
import sys
import time

import datafusion
import duckdb
import fastmmd_fleet

# Times of avg and stddev that mmd_embed may take, and times of mmd_embed that DuckDB takes at least.
MOST, LEAST = 5.0, 4.0
UNIT = 1 << 24
# What the made-up devices are like, so that phases are small.
LEVELS, DEVIATIONS = (20, 5, 100), (2, 0.5, 10)
WORDS = f"level={','.join(map(str, LEVELS))} deviation={','.join(map(str, DEVIATIONS))}"
MOMENTS = "SELECT avg(x), avg(y), avg(z), stddev(x), stddev(y), stddev(z) FROM t"
EMBED = f"SELECT mmd_inspect(mmd_embed('{WORDS}', x, y, z))['sums'] AS sums FROM t"
# So small that no phase is a whole turn, so large that 2⁻²⁴ hardly matters.
STEP = 0.01


def engine(threads: int) -> datafusion.SessionContext:
    """DataFusion with the functions, over the folder as table t."""
    config = datafusion.SessionConfig().with_target_partitions(threads)
    context = datafusion.SessionContext(config)
    fastmmd_fleet.register(context)
    context.register_parquet("t", sys.argv[1])
    return context


def timed(run, runs: int) -> tuple[float, float]:
    """Seconds and processor seconds, the least of some runs."""
    times = []
    for _ in range(runs):
        start, used = time.perf_counter(), time.process_time()
        run()
        times.append((time.perf_counter() - start, time.process_time() - used))
    return tuple(map(min, zip(*times)))


def sums_of(sql: str) -> list[int]:
    return engine(1).sql(sql).to_pydict()["sums"][0]


def frequencies_of_map() -> list[list[float]]:
    """Radians per unit of each channel, from the phases of one row that is a little off in it."""
    by_channel = []
    for channel in range(3):
        row = ", ".join(str(STEP if channel == other else 0.0) for other in range(3))
        sums = sums_of(f"SELECT mmd_inspect(mmd_embed({row}))['sums'] AS sums")
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


def duck(sql: str, threads: int) -> list[int]:
    duckdb.execute(f"SET threads = {threads}")
    return [value for row in duckdb.execute(sql).fetchall() for value in row]


def main() -> int:
    duckdb.execute(f"CREATE VIEW t AS SELECT * FROM read_parquet('{sys.argv[1]}/*.parquet')")
    count = duckdb.execute("SELECT count(*) FROM t").fetchone()[0]
    exact, frequencies = sums_of(EMBED), frequencies_of_map()
    contexts = {threads: engine(threads) for threads in (1, 2)}
    embed = {threads: timed(lambda: contexts[threads].sql(EMBED).collect(), 3) for threads in (1, 2)}
    moments = timed(lambda: contexts[1].sql(MOMENTS).collect(), 3)
    columns = {threads: timed(lambda: duck(as_columns(frequencies), threads), 2) for threads in (1, 2)}
    arrays = timed(lambda: duck(over_arrays(frequencies), 1), 1)
    over_moments, by_arrays, by_columns = (
        embed[1][1] / moments[1], arrays[1] / embed[1][1], columns[1][1] / embed[1][1]
    )
    print(f"{count} rows of 3 channels, {len(frequencies)} frequencies, processor time on one thread:")
    print(f"avg and stddev of the same columns: mmd_embed takes {over_moments:.1f} times as long")
    print(f"DuckDB, the same sums over arrays: {by_arrays:.1f} times as long as mmd_embed")
    print(f"DuckDB, a column for each sum: {by_columns:.1f} times as long as mmd_embed")
    faster = [one[1][0] / one[2][0] for one in (embed, columns)]
    print(f"two threads: mmd_embed {faster[0]:.2f} times as fast, DuckDB {faster[1]:.2f}")
    if over_moments > MOST or min(by_arrays, by_columns) < LEAST:
        print(f"beyond the limits: at most {MOST} times avg and stddev, DuckDB at least {LEAST} times")
        return 1
    for name, sql in (("arrays", over_arrays(frequencies)), ("columns", as_columns(frequencies))):
        sums = duck(sql, 2)
        worst = max(abs(own - other) for own, other in zip(exact, sums, strict=True)) / count / UNIT
        print(f"means of DuckDB over {name} are within {worst:.1e} of those of mmd_embed")
        # Frequencies are only known to some 1e-6 here; the control is that there is something to compare.
        if worst > 1e-4 or max(map(abs, exact)) < 0.1 * count * UNIT:
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
