/* Rows of three readings with changes at known places: the same as of capi/twin in Rust. */
#ifndef ROWS_H
#define ROWS_H

#include <stdint.h>

#define CHANNELS 3
#define ROWS 200000u
/* From here on, rows are pushed in batches. */
#define IN_BATCHES 180000u
#define BATCH 8u
/* One status in so many rows is part of the digest. */
#define BETWEEN 1000u
/* The promise: mean time between false alarms, in rows. */
#define MEAN_TIME 1e4f

#ifdef INTEGERS
typedef int16_t reading;
#define SHAPE fastmmd_i16_3
#define SHAPE_BYTES FASTMMD_I16_3_BYTES
#define SHAPE_SAVED_BYTES FASTMMD_I16_3_SAVED_BYTES
#define PUSH fastmmd_push_i16
#define PUSH_MANY fastmmd_push_many_i16
#define READING(counts) (counts)
#else
typedef float reading;
#define SHAPE fastmmd_f32_3
#define SHAPE_BYTES FASTMMD_F32_3_BYTES
#define SHAPE_SAVED_BYTES FASTMMD_F32_3_SAVED_BYTES
#define PUSH fastmmd_push_f32
#define PUSH_MANY fastmmd_push_many_f32
#define READING(counts) ((float)(counts) / 512.0f)
#endif

static uint32_t rows_state = 0x12345678u;
static uint32_t rows_row;
static int16_t rows_slow;
static int16_t rows_last;

static int16_t rows_part(unsigned shift)
{
    return (int16_t)((rows_state >> shift) & 0x3ffu);
}

/* About normal, with a deviation of 512. */
static int16_t rows_noise(void)
{
    rows_state ^= rows_state << 13;
    rows_state ^= rows_state >> 17;
    rows_state ^= rows_state << 5;
    return (int16_t)(rows_part(0) + rows_part(10) + rows_part(20) - 1534);
}

static void rows_next(reading row[CHANNELS])
{
    uint32_t at = rows_row;
    int16_t x = rows_noise();
    int16_t y = rows_noise();
    int16_t z = rows_noise();
    rows_slow = (int16_t)(rows_slow + (z - rows_slow) / 4);
    if (at >= 40000u && at < 45000u) {
        y = (int16_t)(y + 800);
    }
    if (at >= 80000u && at < 90000u) {
        x = (int16_t)(x * 2);
    }
    if (at >= 150000u) {
        x = (int16_t)(x + (int16_t)((at - 150000u) / 64u));
    }
    if (!(at >= 120000u && at < 124000u)) {
        rows_last = rows_slow;
    }
    rows_row = at + 1u;
    row[0] = READING(x);
    row[1] = READING(y);
    row[2] = READING(rows_last);
}

#endif
