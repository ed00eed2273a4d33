/*
 * kernel_runner.h - runs a device kernel, compiled with the twin of Ascend C, on this machine.
 */
#ifndef TDC_TESTS_TWIN_KERNEL_RUNNER_H
#define TDC_TESTS_TWIN_KERNEL_RUNNER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tdc_twin_report {
    char complaint[320];   /* empty, or kernel, block, instruction and what is wrong with it */
    uint64_t instructions; /* vector and move instructions of all blocks */
    uint64_t register_instructions; /* of vector functions; each of these is one of the former */
    uint64_t lane_operations;       /* elements they worked on */
    uint64_t barriers, waits;
    uint64_t bytes_in, bytes_out; /* between global memory and UB */
    uint32_t ub_high_water;       /* bytes of UB given to buffers, the largest of all blocks */
};

enum tdc_twin_schedule {
    TDC_TWIN_CHECKED,  /* in program order, every rule checked */
    TDC_TWIN_LATE,     /* each queue as early or late as flags and barriers allow, last first */
    TDC_TWIN_SHUFFLED, /* any order flags and barriers allow */
    TDC_TWIN_THREADS   /* as TDC_TWIN_CHECKED, the blocks on threads and in another order */
};

struct tdc_twin_settings {
    enum tdc_twin_schedule schedule;
    uint64_t seed;    /* of the shuffle and of what Div gets wrong */
    int exact_divide; /* 0: Div is off by up to 1 ulp and flushes subnormals, at random */
    /* Mutations without compiling, of each block; 0: none. The n-th barrier or flag wait is
     * missing; or the wait takes the flag but does not wait, which is an error unless another wait
     * tells the queue as much before its next instruction. */
    uint64_t dropped_barrier, dropped_wait, unordered_wait;
};

/*
 * 0 when the kernel broke no rule. n and b hold `tiles` tiles of the kernel's dtypes, records has
 * room for a record each. `report` may be NULL. The first form uses {TDC_TWIN_CHECKED, 1}. Safe
 * to call from several threads.
 */
int tdc_twin_run_kernel(const char *name, uint32_t blocks, void *n, void *b, void *records,
                        uint64_t tiles, struct tdc_twin_report *report);
int tdc_twin_run_kernel_as(const struct tdc_twin_settings *settings, const char *name,
                           uint32_t blocks, void *n, void *b, void *records, uint64_t tiles,
                           struct tdc_twin_report *report);

/* The kernels of architecture 3510 are called as the others, with this behind. */
#define TDC_TWIN_3510 "_3510"

/* The i-th kernel of 2201, NULL at the end, with the bytes of a tile of n and b. */
const char *tdc_twin_kernel_name(size_t i, size_t *n_tile, size_t *b_tile);

/* What may be wrong with a device, for whole runs: the self-test must notice. */
enum tdc_twin_flaw {
    TDC_TWIN_SOUND,
    TDC_TWIN_ROUNDS_TO_ZERO,
    TDC_TWIN_FLUSHES_SUBNORMALS,
    TDC_TWIN_DIVIDES_BADLY, /* by up to 4 ulp */
    TDC_TWIN_STALE_BUFFERS, /* what comes into a buffer for the second time does not arrive */
    TDC_TWIN_FUSES          /* no flaw: the multiply-add rounds once */
};
void tdc_twin_spoil(enum tdc_twin_flaw flaw);

#ifdef __cplusplus
}
#endif

#endif
