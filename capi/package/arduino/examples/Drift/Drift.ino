// Watches the analogue inputs A0, A1 and A2, and tells when they no longer do what they did.
#include <fastmmd.h>

static uint64_t memory[FASTMMD_WORDS(FASTMMD_I16_3_BYTES)];
static fastmmd_detector *detector;

static void stop_if_refused(int32_t result) {
  if (result < 0) {
    Serial.println(fastmmd_error_text(result));
    while (true) {
      delay(1000);
    }
  }
}

void setup() {
  Serial.begin(115200);
  fastmmd_settings settings;
  // A false alarm in 80,000 rows: in 13 minutes, at 10 ms a row. Ten times the rows learned from is the
  // most that they support.
  stop_if_refused(fastmmd_defaults(&settings, 8e4f));
  settings.learning_rows = 8192;
  stop_if_refused(
      fastmmd_create(memory, sizeof memory, &fastmmd_i16_3, &settings, &detector));
}

void loop() {
  const int16_t row[3] = {(int16_t)analogRead(A0), (int16_t)analogRead(A1),
                          (int16_t)analogRead(A2)};
  fastmmd_alarm alarm;
  const int32_t verdict = fastmmd_push_i16(detector, row, &alarm);
  stop_if_refused(verdict);
  if (verdict == FASTMMD_ALARM || verdict == FASTMMD_AMENDED) {
    Serial.print("channel ");
    Serial.print(alarm.channel);
    Serial.print(": ");
    Serial.print(fastmmd_change_name(alarm.change));
    Serial.print(" since row ");
    Serial.println((unsigned long)alarm.since);
  }
  delay(10);
}
