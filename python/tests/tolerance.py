"""Every limit of these tests, with its reason. What has none is compared bit for bit."""

#: MMD² in float64 against numpy's sum: rounding over some thousand pairs of values up to 1.
PAIRS = 1e-12
#: A control: another bandwidth or estimate differs by far more than rounding.
CONTROL = 1e-4
#: A bandwidth is kept in float32, with a relative rounding error of at most 6e-8.
SINGLE = 1e-6
#: What such a rounding of the bandwidth does to MMD², relatively.
OF_SINGLE = 1e-5
#: From 16 to 1024 frequencies, errors go down at least as the root of the count: by 8, half of it for
#: the luck of 20 seeds.
FEWER_ERRORS = 4
#: Error of 1024 frequencies, relatively: 1/√1024 of a kernel near 1, over an MMD² of about its size.
MANY_FREQUENCIES = 0.05
#: Rejections of 200 tests at the level 0.1: 20, and 3.5 deviations of a binomial variable.
REJECTED = (5, 35)
#: Rejections of 100 tests of blocks at the level 0.1: 10, and 3.5 deviations of a binomial variable.
REJECTED_BLOCKS = 20
#: A control: the same tests of rows that are worth a sixth of their number.
REJECTED_ROWS = 30
#: p-values of two runs of draws: deviations of their difference, and one draw.
P_VALUE_DEVIATIONS = 4
#: Rows after which three deviations on a channel are found, and by which its beginning is off.
SOON = 20
#: The same beside a cycle of 20 deviations, whose profile is not exact.
SOON_IN_A_CYCLE = 60
#: Rows after which a change of four deviations of a single channel is found.
AT_ONCE = 10
#: Rows after which ADWIN finds it, which looks only now and then.
ADWIN = 100
#: Length of a cycle that is found, relatively, as in the tests of the tool.
CYCLE = 0.005
#: A deviation from 512 rows: 1/√1024 of it, three times, and as much for outliers that are cut.
DEVIATION = 0.3
#: Part of the rows that are missing, over the first rows, which are not counted.
PART = 0.01
#: Part of a call in which other threads make no progress. With the lock released it is a few
#: milliseconds; with the lock kept, all of it.
STALLED = 0.7
