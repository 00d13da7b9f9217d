/* fastmmd: drift detection on a microcontroller, in constant memory.
 *
 * Made by `cargo xtask capi --overwrite` from the sources of the library. MIT or Apache-2.0.
 *
 * Results are int32_t: 0 or more for an answer, less than 0 for an error. A refused call leaves the
 * detector as it was. Nothing is allocated.
 *
 * Every pointer is null, which is refused where it is not allowed, or points to memory of its type
 * and of the stated length. A detector is used by one call at a time: with several threads, or from
 * an interrupt, guard it. Its memory may not be moved while a call uses it, nor be written by others.
 */
#ifndef FASTMMD_H
#define FASTMMD_H

#include <stddef.h>
#include <stdint.h>

// Done.
#define FASTMMD_OK 0

// Verdict: still learning what is healthy.
#define FASTMMD_LEARNING 1

// Verdict: nothing differs from what was learned by more than the promise allows.
#define FASTMMD_HEALTHY 2

// Verdict: something has changed. Once for each cause.
#define FASTMMD_ALARM 3

// Verdict: an alarm of 32 rows before, as it looks now.
#define FASTMMD_AMENDED 4

// Verdict: something that an alarm was raised for still differs.
#define FASTMMD_DRIFTING 5

// Stage: learning.
#define FASTMMD_STAGE_LEARNING 0

// Stage: comparing rows with what was learned.
#define FASTMMD_STAGE_MONITORING 1

// Stage: the same, while something differs.
#define FASTMMD_STAGE_DRIFT 2

// Change: the level of a channel.
#define FASTMMD_CHANGE_LEVEL 0

// Change: its spread.
#define FASTMMD_CHANGE_SPREAD 1

// Change: the shape of its distribution, or how channels go together.
#define FASTMMD_CHANGE_SHAPE 2

// Change: single readings far out, more often than was learned.
#define FASTMMD_CHANGE_OUTLIERS 3

// Change: it has stopped moving.
#define FASTMMD_CHANGE_STUCK 4

// Change: its readings do not come.
#define FASTMMD_CHANGE_MISSING 5

// Leg: the level of a channel: cumulative sum and long means.
#define FASTMMD_LEG_LEVEL 0

// Leg: short means of what its past does not predict.
#define FASTMMD_LEG_JUMP 1

// Leg: the spread of that.
#define FASTMMD_LEG_SPREAD 2

// Leg: readings farther out than those learned.
#define FASTMMD_LEG_RANGE 3

// Leg: the joint distribution of all channels.
#define FASTMMD_LEG_VALUES 4

// Leg: the joint distribution of what their past does not predict.
#define FASTMMD_LEG_INNOVATIONS 5

// Leg: a reading that does not change at all.
#define FASTMMD_LEG_STUCK 6

// Leg: readings that do not come.
#define FASTMMD_LEG_MISSING 7

// The level of a channel stayed while learning.
#define FASTMMD_STEADY 0

// It may wander: alarms of the level need more evidence.
#define FASTMMD_DOUBTFUL 1

// It wanders: the legs of the level are off.
#define FASTMMD_WANDERING 2

// Setting: a row with a reading that is not a number is refused.
#define FASTMMD_NAN_REFUSED 0

// Setting: such a reading is missing; the others of its row count.
#define FASTMMD_NAN_MISSING 1

// A pointer is null.
#define FASTMMD_ERROR_NULL (-1)

// A pointer is not aligned for what it points to; memory of a detector: to FASTMMD_ALIGN bytes.
#define FASTMMD_ERROR_MISALIGNED (-2)

// The memory is smaller than fastmmd_bytes says.
#define FASTMMD_ERROR_MEMORY_TOO_SMALL (-3)

// There is no detector at this address: not created, or written over.
#define FASTMMD_ERROR_NOT_A_DETECTOR (-4)

// Rows of float for a detector of int16_t, or the other way round.
#define FASTMMD_ERROR_WRONG_NUMBERS (-5)

// The settings were not set by fastmmd_defaults, or by that of another version.
#define FASTMMD_ERROR_SETTINGS (-6)

// There is no such channel.
#define FASTMMD_ERROR_NO_SUCH_CHANNEL (-7)

// The rows would not fit into memory.
#define FASTMMD_ERROR_TOO_MANY_ROWS (-8)

// The setting mean_time_between_false_alarms is out of range.
#define FASTMMD_ERROR_MEAN_TIME (-20)

// The setting learning_rows is out of range.
#define FASTMMD_ERROR_LEARNING_ROWS (-21)

// The setting period is out of range, or the shape has no cycle.
#define FASTMMD_ERROR_PERIOD (-22)

// The setting relearn_after is out of range.
#define FASTMMD_ERROR_RELEARN_AFTER (-23)

// The setting not_a_number is none of FASTMMD_NAN_....
#define FASTMMD_ERROR_NOT_A_NUMBER (-24)

// The buffer is smaller than fastmmd_saved_bytes says.
#define FASTMMD_ERROR_BUFFER_TOO_SMALL (-40)

// The bytes are not a saved state.
#define FASTMMD_ERROR_NOT_A_STATE (-41)

// The saved state has a newer format.
#define FASTMMD_ERROR_NEWER_VERSION (-42)

// The saved state is cut short, or has bytes left over.
#define FASTMMD_ERROR_WRONG_LENGTH (-43)

// The saved state is incomplete or altered.
#define FASTMMD_ERROR_CHECKSUM (-44)

// The saved state is of another shape.
#define FASTMMD_ERROR_WRONG_SHAPE (-45)

// The saved state is of another map.
#define FASTMMD_ERROR_MAP_MISMATCH (-46)

// The saved values contradict each other.
#define FASTMMD_ERROR_INCONSISTENT (-47)

// Refused for a reason that this version has no number for.
#define FASTMMD_ERROR_OTHER (-99)

// Less the number of the channel: its reading is not a finite number. fastmmd_error_channel gives
// the channel of an error.
#define FASTMMD_ERROR_NOT_FINITE (-1000)

// Less the number of the channel: its reading is too large.
#define FASTMMD_ERROR_TOO_LARGE (-2000)

// Alignment of a detector's memory, in bytes: that of uint64_t.
#define FASTMMD_ALIGN 8

// What stands before a detector in the caller's memory. C knows of it by address alone.
typedef struct fastmmd_detector fastmmd_detector;

// A kind of detector: its numbers, channels and legs.
typedef struct fastmmd_shape fastmmd_shape;

// What a user states. Set by fastmmd_defaults, then changed.
typedef struct fastmmd_settings {
  // Length of this structure, in bytes: tells a version of the library from another.
  uint32_t bytes;
  // The promise: mean time between false alarms, in rows, from 1e2 to 1e15.
  float mean_time_between_false_alarms;
  // Rows to learn from, all of which should be healthy: 256 to 4194304. By default 4096.
  uint32_t learning_rows;
  // What a reading that is not a number means: FASTMMD_NAN_REFUSED (the default) or
  // FASTMMD_NAN_MISSING.
  int32_t not_a_number;
  // Length of a known cycle, in rows, from 4 to 1048576, at most a quarter of learning_rows; for
  // shapes with a cycle alone. 0, the default: none.
  float period;
  // Rows after which a lasting drift is learned as healthy. 0, the default: never.
  uint32_t relearn_after;
} fastmmd_settings;

// What an alarm says.
typedef struct fastmmd_alarm {
  // The row it was raised on, counted from 0 over all rows pushed.
  uint64_t row;
  // The row on which the change seems to have begun.
  uint64_t since;
  // The channel that changed most, counted from 0.
  uint32_t channel;
  // What about it changed: FASTMMD_CHANGE_....
  int32_t change;
  // Which leg found it: FASTMMD_LEG_....
  int32_t leg;
  // Rows that the statistic looks back over.
  uint32_t window;
  // The statistic. How far it is beyond the threshold: score / threshold.
  float score;
  // The threshold that it passed, in the same units.
  float threshold;
} fastmmd_alarm;

// How a detector stands after the last row.
typedef struct fastmmd_status {
  // Rows pushed in all, also before learning anew: the number of the next one.
  uint64_t rows;
  // What it is doing: FASTMMD_STAGE_....
  int32_t stage;
  // Part done of learning, from 0 to 1.
  float progress;
  // The statistic nearest to its threshold, or farthest beyond; 0 while learning.
  float statistic;
  // Its threshold; 0 while learning.
  float threshold;
  // How many things differ from what was learned, now.
  uint32_t open;
  // Always 0.
  uint32_t reserved;
} fastmmd_status;

// What is known of a channel after learning, or so far.
typedef struct fastmmd_quality {
  // Level in use, in the units of the readings.
  float level;
  // Deviation in use, likewise; 0 for a channel that has not moved while learning.
  float deviation;
  // Part of the learning rows whose reading was the same as the one before, from 0 to 1.
  float ties;
  // Part of the learning rows without a reading, from 0 to 1.
  float missing;
  // How far the second half of the learning rows lies above the first, in the units of the
  // readings.
  float rise;
  // Whether the level stays: FASTMMD_STEADY, FASTMMD_DOUBTFUL or FASTMMD_WANDERING.
  int32_t steadiness;
  // So many independent rows would tell the level as well.
  float independent_rows;
  // The longest mean time between false alarms that learning from this channel supports, in rows.
  // Below 100, the shortest that can be stated, it supports none.
  float supported_mean_time;
} fastmmd_quality;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The library's version, such as "0.1.0".
const char *fastmmd_version(void);

// What a result says, in English. Never null.
const char *fastmmd_error_text(int32_t result);

// The channel whose reading an error is about, counted from 0; -1 if it is about none.
int32_t fastmmd_error_channel(int32_t result);

// The name of a FASTMMD_CHANGE_..., in lower case. Never null.
const char *fastmmd_change_name(int32_t change);

// The name of a FASTMMD_LEG_..., in lower case. Never null.
const char *fastmmd_leg_name(int32_t leg);

// Bytes of memory that a detector of this shape needs, at most its FASTMMD_..._BYTES; 0 for null.
size_t fastmmd_bytes(const struct fastmmd_shape *shape);

// Bytes of the saved state of such a detector: always its FASTMMD_..._SAVED_BYTES; 0 for null.
size_t fastmmd_saved_bytes(const struct fastmmd_shape *shape);

// Channels of such a detector; 0 for null.
size_t fastmmd_channels(const struct fastmmd_shape *shape);

// The default settings: 4096 learning rows, no cycle, never learned anew.
//
// mean_time is the promise: the mean time between false alarms, in rows. It is checked by
// fastmmd_create.
int32_t fastmmd_defaults(struct fastmmd_settings *settings, float mean_time);

// Makes a detector that has seen nothing in the caller's memory, and gives its address.
//
// The memory is aligned to FASTMMD_ALIGN bytes and of at least fastmmd_bytes(shape), and is used as
// long as the detector is. Nothing has to be freed. A refused call leaves memory and detector as they
// were. While it runs it takes as much stack as the detector has bytes.
int32_t fastmmd_create(void *memory,
                       size_t bytes,
                       const struct fastmmd_shape *shape,
                       const struct fastmmd_settings *settings,
                       struct fastmmd_detector **detector);

// Takes one row of a detector of float: a reading for each channel, in the sensor's own units.
//
// Returns a verdict: FASTMMD_LEARNING, FASTMMD_HEALTHY, FASTMMD_ALARM, FASTMMD_AMENDED or
// FASTMMD_DRIFTING. With FASTMMD_ALARM and FASTMMD_AMENDED, alarm is written unless it is null. A
// refused row is not counted: FASTMMD_ERROR_NOT_FINITE or FASTMMD_ERROR_TOO_LARGE, less the channel. With
// a cycle call fastmmd_skip for it, so that the phase is kept.
int32_t fastmmd_push_f32(struct fastmmd_detector *detector,
                         const float *row,
                         struct fastmmd_alarm *alarm);

// The same for a detector of int16_t. No row is refused.
int32_t fastmmd_push_i16(struct fastmmd_detector *detector,
                         const int16_t *row,
                         struct fastmmd_alarm *alarm);

// As fastmmd_push_f32, for a row in which readings may be missing: bit c of present says whether
// channel c has one.
int32_t fastmmd_push_partial_f32(struct fastmmd_detector *detector,
                                 const float *row,
                                 uint32_t present,
                                 struct fastmmd_alarm *alarm);

// The same for a detector of int16_t.
int32_t fastmmd_push_partial_i16(struct fastmmd_detector *detector,
                                 const int16_t *row,
                                 uint32_t present,
                                 struct fastmmd_alarm *alarm);

// Takes rows that stand one after the other, up to the first that raises or amends an alarm: taken
// gets their number, and the rest is for another call. Returns the verdict on the last row taken, or
// FASTMMD_OK if count is 0. An error is that of the row after those taken; one of the arguments
// leaves taken as it was.
int32_t fastmmd_push_many_f32(struct fastmmd_detector *detector,
                              const float *rows,
                              size_t count,
                              size_t *taken,
                              struct fastmmd_alarm *alarm);

// The same for a detector of int16_t.
int32_t fastmmd_push_many_i16(struct fastmmd_detector *detector,
                              const int16_t *rows,
                              size_t count,
                              size_t *taken,
                              struct fastmmd_alarm *alarm);

// Says that so many rows passed that were never pushed, while the device was off for example: a known
// cycle goes on by as many. They are not counted.
int32_t fastmmd_skip(struct fastmmd_detector *detector,
                     uint32_t rows);

// Forgets everything learned, and learns anew. Rows go on being counted.
int32_t fastmmd_relearn(struct fastmmd_detector *detector);

// The same under other settings. If they are refused, nothing is forgotten.
int32_t fastmmd_relearn_with(struct fastmmd_detector *detector,
                             const struct fastmmd_settings *settings);

// Says that what differs now is nothing: it closes, and the same does not alarm again while other
// things do.
int32_t fastmmd_dismiss(struct fastmmd_detector *detector);

// Takes up a saved state, settings included, and goes on from it bit for bit. The detector was created
// with the same shape. Any bytes may be tried: those that are torn, foreign or altered are refused,
// and change nothing.
int32_t fastmmd_restore(struct fastmmd_detector *detector,
                        const void *saved,
                        size_t bytes);

// Writes the whole state, with a checksum, to a buffer of at least fastmmd_saved_bytes, and its length
// to written unless that is null. The bytes are the same for every processor.
int32_t fastmmd_save(const struct fastmmd_detector *detector,
                     void *out,
                     size_t bytes,
                     size_t *written);

// How the detector stands after the last row; also how far learning is.
int32_t fastmmd_get_status(const struct fastmmd_detector *detector, struct fastmmd_status *status);

// The last alarm raised, as it was amended: 1 if there is one, 0 if there never was. It still stands
// while the stage is FASTMMD_STAGE_DRIFT.
int32_t fastmmd_get_alarm(const struct fastmmd_detector *detector,
                          struct fastmmd_alarm *alarm);

// What is known of a channel, and how good its learning rows were.
int32_t fastmmd_get_quality(const struct fastmmd_detector *detector,
                            size_t channel,
                            struct fastmmd_quality *quality);

// The longest mean time between false alarms that the learning supports, in rows: that of the settings,
// or that of the channel that supports least. Below 100, the shortest that can be stated, it supports
// none. A promise beyond it may not be kept: state a shorter one, or learn from more rows.
int32_t fastmmd_supported_mean_time(const struct fastmmd_detector *detector,
                                    float *mean_time);

// The settings under which it learns or has learned.
int32_t fastmmd_get_settings(const struct fastmmd_detector *detector,
                             struct fastmmd_settings *settings);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/* Shapes: the number type of the readings, and their channels. A program links those
 * that it names. */

/* Elements of a uint64_t array of at least so many bytes: static, it is memory for a
 * detector, aligned. */
#define FASTMMD_WORDS(bytes) (((bytes) + 7) / 8)

#define FASTMMD_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of 1 float. */
extern const struct fastmmd_shape fastmmd_f32_1;
#define FASTMMD_F32_1_BYTES 2600
#define FASTMMD_F32_1_SAVED_BYTES 2604

/* Rows of 2 float. */
extern const struct fastmmd_shape fastmmd_f32_2;
#define FASTMMD_F32_2_BYTES 3872
#define FASTMMD_F32_2_SAVED_BYTES 3871

/* Rows of 3 float. */
extern const struct fastmmd_shape fastmmd_f32_3;
#define FASTMMD_F32_3_BYTES 5144
#define FASTMMD_F32_3_SAVED_BYTES 5138

/* Rows of 4 float. */
extern const struct fastmmd_shape fastmmd_f32_4;
#define FASTMMD_F32_4_BYTES 6416
#define FASTMMD_F32_4_SAVED_BYTES 6405

/* Rows of 6 float. */
extern const struct fastmmd_shape fastmmd_f32_6;
#define FASTMMD_F32_6_BYTES 8960
#define FASTMMD_F32_6_SAVED_BYTES 8939

/* Rows of 1 float, with a cycle. */
extern const struct fastmmd_shape fastmmd_f32_1_cycle;
#define FASTMMD_F32_1_CYCLE_BYTES 3000
#define FASTMMD_F32_1_CYCLE_SAVED_BYTES 3004

/* Rows of 3 float, with a cycle. */
extern const struct fastmmd_shape fastmmd_f32_3_cycle;
#define FASTMMD_F32_3_CYCLE_BYTES 6312
#define FASTMMD_F32_3_CYCLE_SAVED_BYTES 6306

/* Rows of 1 int16_t. */
extern const struct fastmmd_shape fastmmd_i16_1;
#define FASTMMD_I16_1_BYTES 2600
#define FASTMMD_I16_1_SAVED_BYTES 2602

/* Rows of 2 int16_t. */
extern const struct fastmmd_shape fastmmd_i16_2;
#define FASTMMD_I16_2_BYTES 3872
#define FASTMMD_I16_2_SAVED_BYTES 3867

/* Rows of 3 int16_t. */
extern const struct fastmmd_shape fastmmd_i16_3;
#define FASTMMD_I16_3_BYTES 5144
#define FASTMMD_I16_3_SAVED_BYTES 5132

/* Rows of 4 int16_t. */
extern const struct fastmmd_shape fastmmd_i16_4;
#define FASTMMD_I16_4_BYTES 6416
#define FASTMMD_I16_4_SAVED_BYTES 6397

/* Rows of 6 int16_t. */
extern const struct fastmmd_shape fastmmd_i16_6;
#define FASTMMD_I16_6_BYTES 8960
#define FASTMMD_I16_6_SAVED_BYTES 8927

/* Rows of 1 int16_t, with a cycle. */
extern const struct fastmmd_shape fastmmd_i16_1_cycle;
#define FASTMMD_I16_1_CYCLE_BYTES 3000
#define FASTMMD_I16_1_CYCLE_SAVED_BYTES 3002

/* Rows of 3 int16_t, with a cycle. */
extern const struct fastmmd_shape fastmmd_i16_3_cycle;
#define FASTMMD_I16_3_CYCLE_BYTES 6312
#define FASTMMD_I16_3_CYCLE_SAVED_BYTES 6300

#ifdef __cplusplus
}
#endif

#endif /* FASTMMD_H */
