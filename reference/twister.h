/* twister.h - MT19937, the generator of numpy and of PyTorch's CPU tensors. */
#ifndef TDC_REFERENCE_TWISTER_H
#define TDC_REFERENCE_TWISTER_H

#include <stdint.h>

#define TDC_TWISTER_WORDS 624

struct tdc_twister {
    uint32_t words[TDC_TWISTER_WORDS];
    unsigned next;
};

void tdc_twister_seed(struct tdc_twister *twister, uint32_t seed);
uint32_t tdc_twister_word(struct tdc_twister *twister);

#endif
