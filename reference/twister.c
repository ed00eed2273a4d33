#include "reference/twister.h"

#define SHIFT_WORDS 397

void tdc_twister_seed(struct tdc_twister *twister, uint32_t seed)
{
    twister->words[0] = seed;
    for (uint32_t i = 1; i < TDC_TWISTER_WORDS; i++) {
        uint32_t last = twister->words[i - 1];
        twister->words[i] = 1812433253u * (last ^ (last >> 30)) + i;
    }
    twister->next = TDC_TWISTER_WORDS;
}

static void turn(struct tdc_twister *twister)
{
    uint32_t *words = twister->words;
    for (unsigned i = 0; i < TDC_TWISTER_WORDS; i++) {
        uint32_t mixed =
            (words[i] & 0x80000000u) | (words[(i + 1) % TDC_TWISTER_WORDS] & 0x7fffffffu);
        words[i] = words[(i + SHIFT_WORDS) % TDC_TWISTER_WORDS] ^ (mixed >> 1) ^
                   ((mixed & 1) != 0 ? 0x9908b0dfu : 0);
    }
    twister->next = 0;
}

uint32_t tdc_twister_word(struct tdc_twister *twister)
{
    if (twister->next == TDC_TWISTER_WORDS)
        turn(twister);
    uint32_t y = twister->words[twister->next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}
