/* Learns from rows of three readings, and tells of every change. Prints what capi/twin prints, which
 * does the same in Rust. Saved half-way, and goes on in a detector that was restored. */
#include "board.h"
#include "fastmmd.h"
#include "rows.h"

/* uint64_t, so that it is aligned. */
static uint64_t memory[2][FASTMMD_WORDS(SHAPE_BYTES)];
static unsigned char saved[SHAPE_SAVED_BYTES];

static uint64_t digest = 0xcbf29ce484222325u;

/* FNV-1a. */
static void add(const void *value, size_t bytes)
{
    const unsigned char *byte = value;
    size_t at;
    for (at = 0; at < bytes; at++) {
        digest = (digest ^ byte[at]) * 0x0100000001b3u;
    }
}

static void add_code(int32_t code)
{
    unsigned char byte = (unsigned char)code;
    add(&byte, 1);
}

static void add_alarm(const fastmmd_alarm *alarm)
{
    add(&alarm->row, sizeof alarm->row);
    add(&alarm->since, sizeof alarm->since);
    add(&alarm->channel, sizeof alarm->channel);
    add_code(alarm->change);
    add_code(alarm->leg);
    add(&alarm->window, sizeof alarm->window);
    add(&alarm->score, sizeof alarm->score);
    add(&alarm->threshold, sizeof alarm->threshold);
}

static void add_status(const fastmmd_status *status)
{
    add(&status->rows, sizeof status->rows);
    add_code(status->stage);
    add(&status->progress, sizeof status->progress);
    add(&status->statistic, sizeof status->statistic);
    add(&status->threshold, sizeof status->threshold);
    add(&status->open, sizeof status->open);
}

static void tell(const fastmmd_alarm *alarm)
{
    print("row ");
    print_number((uint32_t)alarm->row);
    print(" since ");
    print_number((uint32_t)alarm->since);
    print(" channel ");
    print_number(alarm->channel);
    print(" ");
    print(fastmmd_change_name(alarm->change));
    print(" by ");
    print(fastmmd_leg_name(alarm->leg));
    print("\n");
}

/* Ends the program with what is wrong. */
static int32_t expect(int32_t result)
{
    if (result < 0) {
        print(fastmmd_error_text(result));
        print("\n");
        finish(1u);
    }
    return result;
}

static void note(int32_t verdict, const fastmmd_alarm *alarm)
{
    if (verdict == FASTMMD_ALARM || verdict == FASTMMD_AMENDED) {
        add_alarm(alarm);
    }
    if (verdict == FASTMMD_ALARM) {
        tell(alarm);
    }
}

/* All rows up to the last ones, one by one. */
static fastmmd_detector *one_by_one(fastmmd_detector *detector, const fastmmd_settings *settings)
{
    fastmmd_alarm alarm;
    fastmmd_status status;
    reading row[CHANNELS];
    uint32_t at;
    for (at = 0u; at < IN_BATCHES; at++) {
        int32_t verdict;
        if (at == ROWS / 2u) {
            expect(fastmmd_save(detector, saved, sizeof saved, NULL));
            expect(fastmmd_create(memory[1], sizeof memory[1], &SHAPE, settings, &detector));
            expect(fastmmd_restore(detector, saved, sizeof saved));
        }
        rows_next(row);
        verdict = expect(PUSH(detector, row, &alarm));
        note(verdict, &alarm);
        add_code(verdict);
        if (at % BETWEEN == 0u) {
            expect(fastmmd_get_status(detector, &status));
            add_status(&status);
        }
    }
    return detector;
}

/* The others, several at once. */
static void in_batches(fastmmd_detector *detector)
{
    fastmmd_alarm alarm;
    reading rows[BATCH][CHANNELS];
    uint32_t at;
    for (at = IN_BATCHES; at < ROWS; at += BATCH) {
        uint32_t row;
        size_t done = 0;
        for (row = 0u; row < BATCH; row++) {
            rows_next(rows[row]);
        }
        while (done < BATCH) {
            size_t taken = 0;
            note(expect(PUSH_MANY(detector, rows[done], BATCH - done, &taken, &alarm)), &alarm);
            done += taken;
        }
    }
}

int main(void)
{
    fastmmd_settings settings;
    fastmmd_detector *detector = NULL;
    fastmmd_quality quality;
    size_t channel;
    size_t length = 0;

    expect(fastmmd_defaults(&settings, MEAN_TIME));
    expect(fastmmd_create(memory[0], sizeof memory[0], &SHAPE, &settings, &detector));
    detector = one_by_one(detector, &settings);
    in_batches(detector);
    for (channel = 0; channel < CHANNELS; channel++) {
        expect(fastmmd_get_quality(detector, channel, &quality));
        add(&quality.level, sizeof quality.level);
        add(&quality.deviation, sizeof quality.deviation);
        add(&quality.ties, sizeof quality.ties);
        add(&quality.rise, sizeof quality.rise);
    }
    expect(fastmmd_save(detector, saved, sizeof saved, &length));
    add(saved, length);
    print_number((uint32_t)length);
    print(" bytes saved\ndigest ");
    print_hexadecimal((uint32_t)(digest >> 32));
    print_hexadecimal((uint32_t)digest);
    print("\n");
    return 0;
}
