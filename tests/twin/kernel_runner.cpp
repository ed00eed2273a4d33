#include "tests/twin/kernel_runner.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>

#include "kernels/ascend/tile_layout.h"
#include "tests/twin/core.h"

using kernel_entry = void (*)(uint8_t *, uint8_t *, uint8_t *, uint64_t);

#define TDC_TWIN_KERNEL(name, ...) extern "C" void name(uint8_t *, uint8_t *, uint8_t *, uint64_t);
#include "tests/twin/kernel_list.h"
#undef TDC_TWIN_KERNEL

#define TDC_TWIN_KERNEL(name, ...)                                                                 \
    extern "C" void name##_3510(uint8_t *, uint8_t *, uint8_t *, uint64_t);
#include "tests/twin/kernel_list.h"
#undef TDC_TWIN_KERNEL

namespace
{

struct kernel {
    const char *name;
    kernel_entry entry;
    size_t n_bytes, b_bytes; /* of an element */
    size_t pairs = TDC_TILE_PAIRS;
};

const kernel kernels[] = {
#define TDC_TWIN_KERNEL(name, ...) {#name, name, __VA_ARGS__},
#include "tests/twin/kernel_list.h"
#undef TDC_TWIN_KERNEL
};

const kernel register_kernels[] = {
#define TDC_TWIN_KERNEL(name, ...) {#name TDC_TWIN_3510, name##_3510, __VA_ARGS__},
#include "tests/twin/kernel_list.h"
#undef TDC_TWIN_KERNEL
};

const kernel *kernel_called(const std::string &name)
{
    for (const kernel &k : kernels)
        if (name == k.name)
            return &k;
    for (const kernel &k : register_kernels)
        if (name == k.name)
            return &k;
    return nullptr;
}

struct launch {
    tdc_twin_settings settings;
    const kernel *which;
    uint32_t blocks;
    uint8_t *n, *b, *records;
    uint64_t tiles;
};

struct block_result {
    tdc_twin_report report = {};
    std::vector<tdc_twin::global_write> writes;
    std::string complaint;
};

std::vector<tdc_twin::global_argument> arguments_of(const launch &l)
{
    const uint64_t pairs = l.tiles * l.which->pairs;
    return {{l.n, pairs * l.which->n_bytes, false},
            {l.b, pairs * l.which->b_bytes, false},
            {l.records, l.tiles * TDC_TILE_RECORD_BYTES, true}};
}

void run_block(const launch &l, uint32_t block, block_result &result)
{
    auto core = std::make_unique<tdc_twin::core>(l.settings, l.which->name, block, l.blocks,
                                                 arguments_of(l));
    tdc_twin::set_here(core.get());
    try {
        l.which->entry(l.n, l.b, l.records, l.tiles);
    } catch (const tdc_twin::violation &found) {
        result.complaint = found.text;
    }
    tdc_twin::set_here(nullptr);
    result.report = core->report;
    result.writes = core->writes;
}

/* Two threads, each with its half of the blocks, from the last one down. */
void run_on_threads(const launch &l, std::vector<block_result> &results)
{
    auto work = [&](uint32_t first) {
        for (uint32_t block = l.blocks; block-- > 0;)
            if (block % 2 == first)
                run_block(l, block, results[block]);
    };
    std::thread other(work, 0);
    work(1);
    other.join();
}

std::string overlap_of(std::vector<block_result> &results)
{
    std::vector<tdc_twin::global_write> all;
    for (const block_result &r : results)
        all.insert(all.end(), r.writes.begin(), r.writes.end());
    std::sort(all.begin(), all.end(), [](const auto &x, const auto &y) { return x.at < y.at; });
    for (size_t i = 1; i < all.size(); i++)
        if (all[i].at < all[i - 1].at + all[i - 1].bytes)
            return "byte " + std::to_string(all[i].at) + " of the records is written twice";
    return "";
}

void add_up(tdc_twin_report &sum, const tdc_twin_report &one)
{
    sum.instructions += one.instructions;
    sum.register_instructions += one.register_instructions;
    sum.lane_operations += one.lane_operations;
    sum.barriers += one.barriers;
    sum.waits += one.waits;
    sum.bytes_in += one.bytes_in;
    sum.bytes_out += one.bytes_out;
    sum.ub_high_water = std::max(sum.ub_high_water, one.ub_high_water);
}

std::string run(const launch &l, tdc_twin_report &report)
{
    if (l.blocks == 0 || l.blocks > 65535)
        return "a launch of " + std::to_string(l.blocks) + " blocks";
    std::vector<block_result> results(l.blocks);
    if (l.settings.schedule == TDC_TWIN_THREADS)
        run_on_threads(l, results);
    else
        for (uint32_t block = 0; block < l.blocks; block++)
            run_block(l, block, results[block]);
    for (const block_result &r : results)
        add_up(report, r.report);
    for (const block_result &r : results)
        if (!r.complaint.empty())
            return r.complaint;
    return overlap_of(results);
}

} // namespace

const char *tdc_twin_kernel_name(size_t i, size_t *n_tile, size_t *b_tile)
{
    if (i >= sizeof kernels / sizeof kernels[0])
        return nullptr;
    *n_tile = kernels[i].n_bytes * kernels[i].pairs;
    *b_tile = kernels[i].b_bytes * kernels[i].pairs;
    return kernels[i].name;
}

int tdc_twin_run_kernel_as(const struct tdc_twin_settings *settings, const char *name,
                           uint32_t blocks, void *n, void *b, void *records, uint64_t tiles,
                           struct tdc_twin_report *report)
{
    tdc_twin_report unwanted;
    tdc_twin_report &to = report != nullptr ? *report : unwanted;
    to = {};
    std::string complaint = std::string("there is no kernel ") + name;
    if (const kernel *which = kernel_called(name))
        complaint = run({*settings, which, blocks, static_cast<uint8_t *>(n),
                         static_cast<uint8_t *>(b), static_cast<uint8_t *>(records), tiles},
                        to);
    snprintf(to.complaint, sizeof to.complaint, "%s", complaint.c_str());
    return complaint.empty() ? 0 : 1;
}

int tdc_twin_run_kernel(const char *name, uint32_t blocks, void *n, void *b, void *records,
                        uint64_t tiles, struct tdc_twin_report *report)
{
    const tdc_twin_settings usual = {TDC_TWIN_CHECKED, 1, 0, 0, 0, 0};
    return tdc_twin_run_kernel_as(&usual, name, blocks, n, b, records, tiles, report);
}
