/* Statistics and fusion rules of the graph engine: whatever a file holds, it is read or refused. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/graph/files/ge_statistics.h"
#include "host/offline/fusion_rule.h"
#include "io/tensor/tensor_file.h"

#define LIMIT ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_statistics(struct tdc_arena *arena, const char *path)
{
    struct tdc_ge_statistics statistics;
    struct tdc_error error;
    uint64_t sizes[TDC_MAX_DIMENSIONS];
    size_t count;
    if (tdc_ge_statistics_read(arena, path, &statistics, &error) != TDC_OK)
        return;
    for (size_t i = 0; i < statistics.count; i++) {
        const struct tdc_ge_statistic *one = &statistics.tensors[i];
        if (tdc_ge_statistics_find(&statistics, one->output, one->index) == NULL)
            __builtin_trap();
        (void)strlen(tdc_ge_statistic_dtype(one));
        tdc_ge_statistic_shape(one, sizes, TDC_MAX_DIMENSIONS, &count);
    }
}

/* The same rule for both sides: each way of joining two is tried. */
static void read_rules(struct tdc_arena *arena, const char *path)
{
    struct tdc_fusion_rule rules[3];
    struct tdc_error error;
    bool good = true;
    for (size_t i = 0; i < 3; i++)
        good &= tdc_fusion_rule_read(arena, path, &rules[i], &error) == TDC_OK;
    if (good) {
        size_t seen = 0;
        tdc_fusion_rule_through(arena, &rules[0], &rules[2]);
        tdc_fusion_rule_against(arena, &rules[1], &rules[2]);
        for (size_t i = 0; i < rules[0].group_count; i++)
            for (const struct tdc_rule_op *op = rules[0].groups[i]; op != NULL; op = op->next)
                seen += op->group == i;
        if (seen != rules[0].count)
            __builtin_trap();
    }
    for (size_t i = 0; i < 3; i++)
        tdc_fusion_rule_free(&rules[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct tdc_arena arena;
    int file = memfd_create("fuzz", 0);
    if (size == 0 || file < 0 || write(file, data, size) != (ssize_t)size) {
        if (file >= 0)
            close(file);
        return 0;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    tdc_arena_init(&arena, LIMIT);
    if (data[0] == '{')
        read_rules(&arena, path);
    else
        read_statistics(&arena, path);
    tdc_arena_free(&arena);
    close(file);
    return 0;
}
