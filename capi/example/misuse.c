/* Wrong calls: each is refused with its own number, and changes nothing. Runs on the host. */
#include <stdio.h>
#include <string.h>

#include "fastmmd.h"

static int failures;

#define EXPECT(wanted, call) expect((wanted), (call), #call, __LINE__)

static void expect(long wanted, long got, const char *call, int line)
{
    if (wanted != got) {
        printf("line %d: %s gives %ld, not %ld\n", line, call, got, wanted);
        failures++;
    }
}

#define WORDS FASTMMD_WORDS(FASTMMD_F32_3_BYTES)

static uint64_t memory[WORDS + 1];
static uint64_t other[FASTMMD_WORDS(FASTMMD_I16_3_BYTES)];
static unsigned char saved[FASTMMD_F32_3_SAVED_BYTES];
static unsigned char again[FASTMMD_F32_3_SAVED_BYTES];

/* Whether the detector is as it was when `saved` was written. */
static int is_as_it_was(const fastmmd_detector *detector)
{
    size_t length = 0;
    return fastmmd_save(detector, again, sizeof again, &length) == FASTMMD_OK
        && length == sizeof saved && memcmp(saved, again, length) == 0;
}

static void creation(const fastmmd_settings *good)
{
    fastmmd_detector *detector = NULL;
    fastmmd_settings bad = *good;
    const fastmmd_shape *shape = &fastmmd_f32_3;

    EXPECT(FASTMMD_ERROR_NULL, fastmmd_defaults(NULL, 1e4f));
    EXPECT(FASTMMD_ERROR_NULL, fastmmd_create(NULL, sizeof memory, shape, good, &detector));
    EXPECT(FASTMMD_ERROR_NULL, fastmmd_create(memory, sizeof memory, NULL, good, &detector));
    EXPECT(FASTMMD_ERROR_NULL, fastmmd_create(memory, sizeof memory, shape, NULL, &detector));
    EXPECT(FASTMMD_ERROR_NULL, fastmmd_create(memory, sizeof memory, shape, good, NULL));
    EXPECT(FASTMMD_ERROR_MISALIGNED,
           fastmmd_create((char *)memory + 4, sizeof memory - 4, shape, good, &detector));
    EXPECT(FASTMMD_ERROR_MEMORY_TOO_SMALL,
           fastmmd_create(memory, fastmmd_bytes(shape) - 1, shape, good, &detector));
    bad.bytes = 0;
    EXPECT(FASTMMD_ERROR_SETTINGS, fastmmd_create(memory, sizeof memory, shape, &bad, &detector));
    bad = *good;
    bad.not_a_number = 2;
    EXPECT(FASTMMD_ERROR_NOT_A_NUMBER,
           fastmmd_create(memory, sizeof memory, shape, &bad, &detector));
    bad = *good;
    bad.mean_time_between_false_alarms = 1.0f;
    EXPECT(FASTMMD_ERROR_MEAN_TIME, fastmmd_create(memory, sizeof memory, shape, &bad, &detector));
    bad = *good;
    bad.learning_rows = 255;
    EXPECT(FASTMMD_ERROR_LEARNING_ROWS,
           fastmmd_create(memory, sizeof memory, shape, &bad, &detector));
    bad = *good;
    bad.period = 50.0f;
    EXPECT(FASTMMD_ERROR_PERIOD, fastmmd_create(memory, sizeof memory, shape, &bad, &detector));
    EXPECT(1, detector == NULL);
    EXPECT(0, (long)memory[0]);
    EXPECT(0, (long)fastmmd_bytes(NULL));
    EXPECT(0, (long)fastmmd_saved_bytes(NULL));
    EXPECT(0, (long)fastmmd_channels(NULL));
}

/* What each call says of memory in which there is no detector. */
static void no_detector(fastmmd_detector *detector, int32_t wanted)
{
    const float row[3] = {0.0f, 0.0f, 0.0f};
    const int16_t counts[3] = {0, 0, 0};
    fastmmd_settings settings;
    fastmmd_alarm alarm;
    fastmmd_status status;
    fastmmd_quality quality;
    float mean_time;
    size_t taken = 7;
    EXPECT(FASTMMD_OK, fastmmd_defaults(&settings, 1e4f));
    EXPECT(wanted, fastmmd_push_f32(detector, row, &alarm));
    EXPECT(wanted, fastmmd_push_i16(detector, counts, &alarm));
    EXPECT(wanted, fastmmd_push_partial_f32(detector, row, 7u, &alarm));
    EXPECT(wanted, fastmmd_push_partial_i16(detector, counts, 7u, &alarm));
    EXPECT(wanted, fastmmd_push_many_f32(detector, row, 1, &taken, &alarm));
    EXPECT(wanted, fastmmd_push_many_i16(detector, counts, 1, &taken, &alarm));
    EXPECT(wanted, fastmmd_skip(detector, 1));
    EXPECT(wanted, fastmmd_relearn(detector));
    EXPECT(wanted, fastmmd_relearn_with(detector, &settings));
    EXPECT(wanted, fastmmd_dismiss(detector));
    EXPECT(wanted, fastmmd_restore(detector, saved, sizeof saved));
    EXPECT(wanted, fastmmd_save(detector, again, sizeof again, NULL));
    EXPECT(wanted, fastmmd_get_status(detector, &status));
    EXPECT(wanted, fastmmd_get_alarm(detector, &alarm));
    EXPECT(wanted, fastmmd_get_quality(detector, 0, &quality));
    EXPECT(wanted, fastmmd_supported_mean_time(detector, &mean_time));
    EXPECT(wanted, fastmmd_get_settings(detector, &settings));
    EXPECT(7, (long)taken);
}

static void wrong_addresses(void)
{
    static uint64_t zeros[4];
    static uint64_t ones[4];
    memset(ones, 0xff, sizeof ones);
    no_detector(NULL, FASTMMD_ERROR_NULL);
    no_detector((fastmmd_detector *)zeros, FASTMMD_ERROR_NOT_A_DETECTOR);
    no_detector((fastmmd_detector *)ones, FASTMMD_ERROR_NOT_A_DETECTOR);
    no_detector((fastmmd_detector *)((char *)zeros + 4), FASTMMD_ERROR_MISALIGNED);
}

/* A detector whose first word, or second, was written over. */
static void written_over(fastmmd_detector *detector)
{
    size_t word;
    for (word = 0; word < 2; word++) {
        uint64_t kept = memory[word];
        memory[word] ^= 64u;
        no_detector(detector, FASTMMD_ERROR_NOT_A_DETECTOR);
        memory[word] = kept;
    }
}

static void rows(fastmmd_detector *detector)
{
    float row[3] = {0.0f, 0.0f, 0.0f};
    const int16_t counts[3] = {0, 0, 0};
    const float zero = 0.0f;
    fastmmd_alarm alarm;
    size_t taken = 7;
    EXPECT(FASTMMD_ERROR_NULL, fastmmd_push_f32(detector, NULL, &alarm));
    EXPECT(FASTMMD_ERROR_WRONG_NUMBERS, fastmmd_push_i16(detector, counts, &alarm));
    EXPECT(FASTMMD_ERROR_NULL, fastmmd_push_many_f32(detector, row, 1, NULL, &alarm));
    EXPECT(FASTMMD_ERROR_NULL, fastmmd_push_many_f32(detector, NULL, 1, &taken, &alarm));
    EXPECT(FASTMMD_ERROR_TOO_MANY_ROWS,
           fastmmd_push_many_f32(detector, row, SIZE_MAX, &taken, &alarm));
    EXPECT(FASTMMD_ERROR_TOO_MANY_ROWS,
           fastmmd_push_many_f32(detector, row, SIZE_MAX / 12, &taken, &alarm));
    EXPECT(FASTMMD_ERROR_WRONG_NUMBERS,
           fastmmd_push_many_i16(detector, counts, 1, &taken, &alarm));
    EXPECT(7, (long)taken);
    EXPECT(FASTMMD_OK, fastmmd_push_many_f32(detector, NULL, 0, &taken, NULL));
    EXPECT(0, (long)taken);
    row[2] = zero / zero;
    EXPECT(FASTMMD_ERROR_NOT_FINITE - 2, fastmmd_push_f32(detector, row, &alarm));
    row[2] = 0.0f;
    row[1] = 3e38f;
    EXPECT(FASTMMD_ERROR_TOO_LARGE - 1, fastmmd_push_f32(detector, row, &alarm));
    EXPECT(2, fastmmd_error_channel(FASTMMD_ERROR_NOT_FINITE - 2));
    EXPECT(1, fastmmd_error_channel(FASTMMD_ERROR_TOO_LARGE - 1));
    EXPECT(-1, fastmmd_error_channel(FASTMMD_ERROR_NULL));
    EXPECT(-1, fastmmd_error_channel(INT32_MIN));
}

static void states(fastmmd_detector *detector, const fastmmd_settings *good)
{
    fastmmd_detector *integers = NULL;
    fastmmd_settings bad = *good;
    fastmmd_quality quality;
    unsigned char record[sizeof saved];
    memcpy(record, saved, sizeof saved);
    EXPECT(FASTMMD_ERROR_NULL, fastmmd_save(detector, NULL, sizeof again, NULL));
    EXPECT(FASTMMD_ERROR_BUFFER_TOO_SMALL,
           fastmmd_save(detector, again, sizeof again - 1, NULL));
    EXPECT(FASTMMD_ERROR_NULL, fastmmd_restore(detector, NULL, sizeof saved));
    EXPECT(FASTMMD_ERROR_NOT_A_STATE, fastmmd_restore(detector, NULL, 0));
    EXPECT(FASTMMD_ERROR_WRONG_LENGTH, fastmmd_restore(detector, record, sizeof record - 1));
    record[sizeof record / 2] ^= 1u;
    EXPECT(FASTMMD_ERROR_CHECKSUM, fastmmd_restore(detector, record, sizeof record));
    EXPECT(FASTMMD_OK, fastmmd_create(other, sizeof other, &fastmmd_i16_3, good, &integers));
    EXPECT(1, fastmmd_restore(integers, saved, sizeof saved) < 0);
    EXPECT(FASTMMD_ERROR_NO_SUCH_CHANNEL, fastmmd_get_quality(detector, 3, &quality));
    EXPECT(FASTMMD_ERROR_NULL, fastmmd_get_quality(detector, 0, NULL));
    EXPECT(FASTMMD_ERROR_NULL, fastmmd_supported_mean_time(detector, NULL));
    EXPECT(FASTMMD_ERROR_NULL, fastmmd_get_status(detector, NULL));
    EXPECT(FASTMMD_ERROR_NULL, fastmmd_get_alarm(detector, NULL));
    EXPECT(FASTMMD_ERROR_NULL, fastmmd_get_settings(detector, NULL));
    EXPECT(FASTMMD_ERROR_NULL, fastmmd_relearn_with(detector, NULL));
    bad.learning_rows = 0;
    EXPECT(FASTMMD_ERROR_LEARNING_ROWS, fastmmd_relearn_with(detector, &bad));
}

/* What is right is not refused; and that each code has a text. */
static void right_calls(fastmmd_detector *detector, const fastmmd_settings *good)
{
    const float row[6] = {0.5f, -0.5f, 0.25f, 0.5f, -0.5f, 0.25f};
    fastmmd_alarm alarm;
    fastmmd_status status;
    fastmmd_settings settings;
    size_t taken = 0;
    int32_t code;
    EXPECT(FASTMMD_LEARNING, fastmmd_push_f32(detector, row, NULL));
    EXPECT(FASTMMD_LEARNING, fastmmd_push_partial_f32(detector, row, 5u, &alarm));
    EXPECT(FASTMMD_LEARNING, fastmmd_push_many_f32(detector, row, 2, &taken, &alarm));
    EXPECT(2, (long)taken);
    EXPECT(0, is_as_it_was(detector));
    EXPECT(FASTMMD_OK, fastmmd_get_status(detector, &status));
    EXPECT(6, (long)status.rows);
    EXPECT(FASTMMD_STAGE_LEARNING, status.stage);
    EXPECT(0, fastmmd_get_alarm(detector, &alarm));
    EXPECT(FASTMMD_OK, fastmmd_skip(detector, 3));
    EXPECT(FASTMMD_OK, fastmmd_dismiss(detector));
    EXPECT(FASTMMD_OK, fastmmd_restore(detector, saved, sizeof saved));
    EXPECT(1, is_as_it_was(detector));
    EXPECT(FASTMMD_OK, fastmmd_get_settings(detector, &settings));
    EXPECT(0, memcmp(good, &settings, sizeof settings));
    EXPECT(FASTMMD_OK, fastmmd_relearn(detector));
    EXPECT(0, strcmp(FASTMMD_VERSION, fastmmd_version()));
    for (code = -60; code <= 5; code++) {
        EXPECT(1, strlen(fastmmd_error_text(code)) > 3);
    }
    EXPECT(0, strcmp("level", fastmmd_change_name(FASTMMD_CHANGE_LEVEL)));
    EXPECT(0, strcmp("range", fastmmd_leg_name(FASTMMD_LEG_RANGE)));
    EXPECT(0, strcmp("unknown", fastmmd_leg_name(-1)));
}

int main(void)
{
    fastmmd_settings settings;
    fastmmd_detector *detector = NULL;
    const float row[3] = {1.0f, 2.0f, 3.0f};
    EXPECT(FASTMMD_OK, fastmmd_defaults(&settings, 1e4f));
    EXPECT(4096, (long)settings.learning_rows);
    creation(&settings);
    wrong_addresses();
    EXPECT(FASTMMD_OK,
           fastmmd_create(memory, FASTMMD_F32_3_BYTES, &fastmmd_f32_3, &settings, &detector));
    EXPECT(0, (long)memory[WORDS]);
    EXPECT(FASTMMD_LEARNING, fastmmd_push_f32(detector, row, NULL));
    EXPECT(FASTMMD_LEARNING, fastmmd_push_f32(detector, row, NULL));
    EXPECT(FASTMMD_OK, fastmmd_save(detector, saved, sizeof saved, NULL));
    EXPECT(1, is_as_it_was(detector));
    written_over(detector);
    EXPECT(1, is_as_it_was(detector));
    rows(detector);
    EXPECT(1, is_as_it_was(detector));
    states(detector, &settings);
    EXPECT(1, is_as_it_was(detector));
    right_calls(detector, &settings);
    printf("%d failures\n", failures);
    return failures != 0;
}
