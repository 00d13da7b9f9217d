-- MMD² of each device from the whole fleet, in ClickHouse, over the integers that `mmd_inspect` gives.
WITH
    states AS (SELECT * FROM file('states.parquet', Parquet)),
    fleet AS (SELECT sumForEach(sums) AS sums, sum(weight) AS weight FROM states)
SELECT
    device,
    amplitude / frequencies * arraySum(
        (own, all) -> pow((own / states.weight - all / fleet.weight) / 16777216, 2),
        states.sums, fleet.sums) AS mmd2
FROM states CROSS JOIN fleet
ORDER BY mmd2 DESC
-- Columns of states are never null.
SETTINGS schema_inference_make_columns_nullable = 0
