/* Start, console and counter of QEMU's boards mps2-an385 and mps2-an386. */
#include "board.h"

extern uint32_t stack_top[];
extern uint32_t data_start[], data_end[], data_stored[];
extern uint32_t bss_start[], bss_end[];

int main(void);

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

static uint32_t semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

/* A word of a block of arguments. */
static uint32_t word(const void *pointer)
{
    return (uint32_t)(uintptr_t)pointer;
}

void print(const char *text)
{
    static uint32_t output;
    uint32_t block[3];
    uint32_t length = 0u;
    if (output == 0u) {
        block[0] = word(":tt"); /* the console */
        block[1] = 4u;          /* to be written */
        block[2] = 3u;
        output = semihosting(0x01u, block); /* SYS_OPEN */
    }
    while (text[length] != '\0') {
        length++;
    }
    block[0] = output;
    block[1] = word(text);
    block[2] = length;
    (void)semihosting(0x05u, block); /* SYS_WRITE */
}

void print_number(uint32_t number)
{
    char text[11];
    unsigned at = sizeof text - 1u;
    text[at] = '\0';
    do {
        text[--at] = (char)('0' + number % 10u);
        number /= 10u;
    } while (number != 0u);
    print(&text[at]);
}

void print_hexadecimal(uint32_t number)
{
    char text[9];
    unsigned digit;
    for (digit = 0u; digit < 8u; digit++) {
        text[digit] = "0123456789abcdef"[(number >> (28u - 4u * digit)) & 0xfu];
    }
    text[8] = '\0';
    print(text);
}

void finish(uint32_t code)
{
    uint32_t block[2];
    block[0] = 0x20026u; /* ADP_Stopped_ApplicationExit */
    block[1] = code;
    (void)semihosting(0x20u, block); /* SYS_EXIT_EXTENDED */
    for (;;) {
    }
}

void counter_start(void)
{
    REGISTER(0xe000e014u) = COUNTER_LARGEST;
    REGISTER(0xe000e018u) = 0u;
    REGISTER(0xe000e010u) = 5u; /* on the core's clock, no interrupt */
}

uint32_t counter_now(void)
{
    return REGISTER(0xe000e018u);
}

void reset(void);

void reset(void)
{
    const uint32_t *from = data_stored;
    uint32_t *to;
#ifdef __ARM_FP
    REGISTER(0xe000ed88u) |= 0xfu << 20; /* the floating-point unit */
    __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
    for (to = data_start; to < data_end; to++) {
        *to = *from++;
    }
    for (to = bss_start; to < bss_end; to++) {
        *to = 0u;
    }
    finish((uint32_t)main());
}

static void fault(void)
{
    print("fault\n");
    finish(102u);
}

typedef void (*handler)(void);

__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    handler handlers[15];
} vectors = {
    stack_top,
    {reset, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault,
     fault, fault},
};
