/* What a program on the emulated board needs of it: text, an end, and a counter. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

/* Prints on the console of the emulator. */
void print(const char *text);
void print_number(uint32_t number);
void print_hexadecimal(uint32_t number);

/* Ends the emulator with an exit code. */
void finish(uint32_t code);

/* SysTick: counts down, 24 bits. */
void counter_start(void);
uint32_t counter_now(void);
#define COUNTER_LARGEST 0x00ffffffu

#endif
