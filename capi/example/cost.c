/* Counts the instructions of rows in QEMU, as capi/twin/src/bin/cost.rs does in Rust. */
#include "board.h"
#include "fastmmd.h"
#include "rows.h"

#define LEARNING 4096u
#define MONITORING 1024u

static uint64_t memory[FASTMMD_WORDS(SHAPE_BYTES)];

static void count(fastmmd_detector *detector, const char *what, uint32_t rows)
{
    uint32_t ticks = 0u;
    uint32_t row;
    for (row = 0u; row < rows; row++) {
        fastmmd_alarm alarm;
        reading readings[CHANNELS];
        uint32_t before;
        int32_t verdict;
        rows_next(readings);
        before = counter_now();
        verdict = PUSH(detector, readings, &alarm);
        ticks += (before - counter_now()) & COUNTER_LARGEST;
        if (verdict < 0) {
            finish(1u);
        }
    }
    print(what);
    print(" ");
    print_number(ticks / rows);
    print("\n");
}

int main(void)
{
    fastmmd_settings settings;
    fastmmd_detector *detector = NULL;
    counter_start();
    if (fastmmd_defaults(&settings, MEAN_TIME) != FASTMMD_OK
        || fastmmd_create(memory, sizeof memory, &SHAPE, &settings, &detector) != FASTMMD_OK) {
        return 1;
    }
    count(detector, "learning", LEARNING);
    count(detector, "monitoring", MONITORING);
    return 0;
}
