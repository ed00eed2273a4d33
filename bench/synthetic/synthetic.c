/* synthetic.c - tensors made by all threads, then the json files that list them. */
#include "bench/synthetic/synthetic.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <omp.h>
#include <zlib.h>

#include "bench/synthetic/synthetic_chunk.h"
#include "bench/synthetic/synthetic_json.h"
#include "bench/synthetic/synthetic_network.h"
#include "io/base/error.h"
#include "io/file/out_file.h"
#include "kernels/dtype.h"

#define PATH_SIZE 4096

#define MOST_TENSORS  ((uint64_t)10000000)
#define MOST_ELEMENTS ((uint64_t)1 << 36)
#define MOST_FOLDERS  1000000

static const char *const side_names[TDC_SIDES] = {"npu", "bench"};

/* One pair of dumps in the making. */
struct maker {
    const struct tdc_synthetic *settings;
    struct tdc_synthetic_shape shapes[TDC_SIDES];
    uint64_t seed;
    char folders[TDC_SIDES][PATH_SIZE];
    char data_folders[TDC_SIDES][PATH_SIZE];
    struct tdc_synthetic_record *records[TDC_SIDES];
};

/* What a thread works with. */
struct workplace {
    unsigned char *buffers[TDC_SIDES];
    struct tdc_synthetic_file files[TDC_SIDES];
};

void tdc_synthetic_init(struct tdc_synthetic *settings)
{
    *settings = (struct tdc_synthetic){
        .tensors = 200,
        .elements = 4096,
        .dtype = TDC_F32,
        .task = TDC_MODE_TENSOR,
        .layout = TDC_LAYOUT_PT,
        .share = 0.05,
        .rounding = true,
        .stacks = true,
        .indent = 1,
        .seed = 1,
    };
}

static tdc_dtype dtype_of(const struct tdc_synthetic *settings, int side)
{
    bool own = side == TDC_SIDE_BENCH && settings->bench_dtype != TDC_DTYPE_NONE;
    return own ? settings->bench_dtype : settings->dtype;
}

static tdc_status check_side(const struct tdc_synthetic *settings, int side,
                             struct tdc_error *error)
{
    tdc_dtype dtype = dtype_of(settings, side);
    uint64_t bytes = settings->elements * tdc_dtype_size(dtype);
    if (!tdc_values_supported(dtype))
        return tdc_fail(error, TDC_ERR_ARGUMENT, "no synthetic data of type %s",
                        tdc_dtype_name(dtype));
    if (settings->layout == TDC_LAYOUT_NPY && tdc_dtype_entry(dtype)->numpy == NULL)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "numpy files have no %s", tdc_dtype_name(dtype));
    if (settings->task == TDC_MODE_TENSOR && settings->layout == TDC_LAYOUT_PT &&
        bytes > TDC_PT_LARGEST)
        return tdc_fail(error, TDC_ERR_ARGUMENT,
                        "a synthetic .pt holds less than 4 GB: use .npy or more tensors");
    return TDC_OK;
}

static tdc_status check_settings(const struct tdc_synthetic *settings, struct tdc_error *error)
{
    if (settings->tensors < 1 || settings->tensors > MOST_TENSORS)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "tensors of a dump: 1 to %llu",
                        (unsigned long long)MOST_TENSORS);
    if (settings->elements < 1 || settings->elements > MOST_ELEMENTS)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "elements of a tensor: 1 to %llu",
                        (unsigned long long)MOST_ELEMENTS);
    for (int side = 0; side < TDC_SIDES; side++) {
        tdc_status status = check_side(settings, side, error);
        if (status != TDC_OK)
            return status;
    }
    if (tdc_values_rounds(settings->dtype) != tdc_values_rounds(dtype_of(settings, TDC_SIDE_BENCH)))
        return tdc_fail(error, TDC_ERR_ARGUMENT,
                        "both sides must be floating point numbers, or both whole numbers");
    if (!(settings->share >= 0 && settings->share <= 1))
        return tdc_fail(error, TDC_ERR_ARGUMENT, "share of faulty tensors: 0 to 1");
    if (settings->ranks > MOST_FOLDERS || settings->steps > MOST_FOLDERS || settings->indent > 16)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "too many ranks, steps or blanks");
    return TDC_OK;
}

/* As square as powers of two allow, for a look of rows and columns. */
static struct tdc_synthetic_shape shape_of(const struct tdc_synthetic *settings, int side)
{
    uint64_t columns = 1;
    while (settings->elements % (2 * columns) == 0 && 4 * columns * columns <= settings->elements)
        columns *= 2;
    struct tdc_synthetic_shape shape = {dtype_of(settings, side), 1, {settings->elements, 0}};
    if (columns > 1) {
        shape.dimensions = 2;
        shape.sizes[0] = settings->elements / columns;
        shape.sizes[1] = columns;
    }
    return shape;
}

/* ---- one tensor ------------------------------------------------------------------------------ */

/* Spread evenly: of the first n tensors n * share are faulty, rounded down. */
static bool is_faulty(const struct tdc_synthetic *settings, uint64_t tensor)
{
    return (uint64_t)((double)(tensor + 1) * settings->share) >
           (uint64_t)((double)tensor * settings->share);
}

static bool is_mixed(const struct tdc_synthetic *settings)
{
    return dtype_of(settings, TDC_SIDE_BENCH) != settings->dtype;
}

/* Sides of different types are rounded differently already. */
static bool is_rounded(const struct tdc_synthetic *settings)
{
    bool narrow = tdc_dtype_size(settings->dtype) < 4;
    return settings->rounding && tdc_values_rounds(settings->dtype) && !is_mixed(settings) &&
           settings->task != TDC_MODE_DIGEST && (settings->task == TDC_MODE_TENSOR || !narrow);
}

/* File name without suffix, and whether it is a parameter of the network. */
static bool name_tensor(const struct tdc_synthetic *settings, uint64_t tensor, char *stem,
                        size_t size)
{
    struct tdc_network_call call;
    tdc_network_call(settings->tensors, tdc_network_call_of(settings->tensors, tensor), &call);
    unsigned position = (unsigned)(tensor - call.first);
    bool output = position >= call.inputs;
    snprintf(stem, size, "%s.%s.%u", call.name, output ? "output" : "input",
             output ? position - call.inputs : position);
    return !output && position >= call.inputs - call.weights;
}

static tdc_status make_elements(const struct maker *maker, struct workplace *place,
                                const struct tdc_chunk_plan *plan, uint64_t tensor,
                                struct tdc_error *error)
{
    const struct tdc_synthetic *settings = maker->settings;
    bool differ = tdc_chunk_differs(plan);
    struct tdc_synthetic_record *records[TDC_SIDES] = {&maker->records[TDC_SIDE_NPU][tensor],
                                                       &maker->records[TDC_SIDE_BENCH][tensor]};
    struct tdc_values_statistics *statistics[TDC_SIDES] = {&records[TDC_SIDE_NPU]->statistics,
                                                           &records[TDC_SIDE_BENCH]->statistics};
    for (int side = 0; side < TDC_SIDES; side++)
        tdc_values_statistics_clear(statistics[side]);
    tdc_status status = TDC_OK;
    for (uint64_t done = 0; done < settings->elements && status == TDC_OK;) {
        uint64_t left = settings->elements - done;
        size_t count = left < TDC_CHUNK_ELEMENTS ? (size_t)left : TDC_CHUNK_ELEMENTS;
        uint32_t crcs[TDC_SIDES] = {0};
        if (tdc_cancel_is_set(settings->cancel))
            return tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
        tdc_chunk_make(plan, done, count, place->buffers, statistics, crcs);
        for (int side = 0; side < TDC_SIDES && status == TDC_OK; side++) {
            size_t bytes = count * tdc_dtype_size(plan->values[side].dtype);
            records[side]->crc =
                (uint32_t)crc32_combine(records[side]->crc, crcs[side], (z_off_t)bytes);
            if (settings->task == TDC_MODE_TENSOR)
                status = tdc_synthetic_file_add(&place->files[side],
                                                place->buffers[differ ? side : TDC_SIDE_BENCH],
                                                bytes, crcs[side], error);
        }
        done += count;
    }
    if (!differ)
        *statistics[TDC_SIDE_NPU] = *statistics[TDC_SIDE_BENCH];
    return status;
}

static tdc_status make_tensor(const struct maker *maker, struct workplace *place, uint64_t tensor,
                              struct tdc_error *error)
{
    const struct tdc_synthetic *settings = maker->settings;
    char stem[TDC_NETWORK_NAME + 32];
    bool weight = name_tensor(settings, tensor, stem, sizeof stem);
    bool files = settings->task == TDC_MODE_TENSOR;
    struct tdc_values values = {settings->dtype,
                                tdc_values_mix(maker->seed ^ tdc_values_mix(tensor)),
                                weight ? 0.02F : 1.0F};
    struct tdc_chunk_plan plan = {
        .values = {values, values},
        .fault = is_faulty(settings, tensor),
        .rounded = is_rounded(settings) && !settings->noise,
        .noisy = settings->noise && files,
        .mixed = is_mixed(settings),
        .crc = settings->task == TDC_MODE_DIGEST || (files && settings->layout == TDC_LAYOUT_PT),
    };
    plan.values[TDC_SIDE_BENCH].dtype = dtype_of(settings, TDC_SIDE_BENCH);
    int opened = 0;
    tdc_status status = TDC_OK;
    for (; files && opened < TDC_SIDES; opened++) {
        status = tdc_synthetic_file_open(&place->files[opened], maker->data_folders[opened], stem,
                                         settings->layout, &maker->shapes[opened], error);
        if (status != TDC_OK)
            break;
    }
    if (status == TDC_OK)
        status = make_elements(maker, place, &plan, tensor, error);
    for (int side = 0; side < opened; side++) {
        if (status == TDC_OK)
            status = tdc_synthetic_file_close(&place->files[side], error);
        else
            tdc_synthetic_file_drop(&place->files[side]);
    }
    return status;
}

/* ---- one pair of dumps ----------------------------------------------------------------------- */

/* How many tensors are not links to others. */
static uint64_t made_tensors(const struct tdc_synthetic *settings)
{
    bool some = settings->distinct > 0 && settings->distinct < settings->tensors;
    return some ? settings->distinct : settings->tensors;
}

static const char *suffix_of(const struct tdc_synthetic *settings)
{
    return settings->layout == TDC_LAYOUT_PT ? "pt" : "npy";
}

static tdc_status link_tensor(const struct maker *maker, int side, uint64_t from, uint64_t to,
                              struct tdc_error *error)
{
    const struct tdc_synthetic *settings = maker->settings;
    char paths[2][PATH_SIZE + TDC_NETWORK_NAME + 64];
    uint64_t tensors[2] = {from, to};
    maker->records[side][to] = maker->records[side][from];
    if (settings->task != TDC_MODE_TENSOR)
        return TDC_OK;
    for (int i = 0; i < 2; i++) {
        char stem[TDC_NETWORK_NAME + 32];
        name_tensor(settings, tensors[i], stem, sizeof stem);
        snprintf(paths[i], sizeof paths[i], "%s/%s.%s", maker->data_folders[side], stem,
                 suffix_of(settings));
    }
    if (link(paths[0], paths[1]) != 0)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", paths[1]);
    return TDC_OK;
}

static tdc_status link_tensors(const struct maker *maker, struct tdc_error *error)
{
    uint64_t made = made_tensors(maker->settings);
    tdc_status status = TDC_OK;
    for (uint64_t i = made; i < maker->settings->tensors; i++)
        for (int side = 0; side < TDC_SIDES && status == TDC_OK; side++)
            status = link_tensor(maker, side, i % made, i, error);
    return status;
}

static tdc_status make_tensors(const struct maker *maker, struct tdc_error *error)
{
    const struct tdc_synthetic *settings = maker->settings;
    int threads = settings->threads > 0 ? settings->threads : omp_get_num_procs();
    size_t room = TDC_CHUNK_ELEMENTS * TDC_VALUES_WIDEST;
    atomic_int failed = TDC_OK;
    int64_t tensors = (int64_t)made_tensors(settings);
#pragma omp parallel num_threads(threads)
    {
        struct workplace *place = calloc(1, sizeof *place);
        unsigned char *room_of_both = aligned_alloc(64, TDC_SIDES * room);
        struct tdc_error own = {0};
        tdc_status status = TDC_OK;
        if (place == NULL || room_of_both == NULL) {
            status = tdc_fail(&own, TDC_ERR_MEMORY, "out of memory");
        } else {
            place->buffers[TDC_SIDE_NPU] = room_of_both;
            place->buffers[TDC_SIDE_BENCH] = room_of_both + room;
        }
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < tensors; i++)
            if (status == TDC_OK && atomic_load(&failed) == TDC_OK)
                status = make_tensor(maker, place, (uint64_t)i, &own);
        int none = TDC_OK;
        if (status != TDC_OK && atomic_compare_exchange_strong(&failed, &none, (int)status))
            if (error != NULL)
                *error = own;
        free(room_of_both);
        free(place);
    }
    return (tdc_status)atomic_load(&failed);
}

static tdc_status make_jsons(const struct maker *maker, struct tdc_synthetic_totals *totals,
                             struct tdc_error *error)
{
    const struct tdc_synthetic *settings = maker->settings;
    uint64_t rows = 0;
    for (int side = 0; side < TDC_SIDES; side++) {
        struct tdc_synthetic_json json = {
            .task = settings->task,
            .shape = maker->shapes[side],
            .suffix = suffix_of(settings),
            .indent = settings->indent,
            .tensors = settings->tensors,
            .records = maker->records[side],
        };
        uint64_t bytes = 0;
        tdc_status status =
            tdc_synthetic_dump_json(&json, maker->folders[side], &rows, &bytes, error);
        if (status == TDC_OK && settings->stacks)
            status = tdc_synthetic_stack_json(settings->tensors, settings->indent,
                                              maker->folders[side], error);
        if (status != TDC_OK)
            return status;
        totals->json_bytes += bytes;
    }
    totals->rows += rows;
    return TDC_OK;
}

static tdc_status make_folders(struct maker *maker, const char *folder, unsigned step,
                               unsigned rank, struct tdc_error *error)
{
    for (int side = 0; side < TDC_SIDES; side++) {
        char place[64] = "";
        if (maker->settings->ranks > 0)
            snprintf(place, sizeof place, "/step%u/rank%u", step, rank);
        int length =
            snprintf(maker->folders[side], PATH_SIZE, "%s/%s%s", folder, side_names[side], place);
        int data_length = snprintf(maker->data_folders[side], PATH_SIZE, "%s/%s%s/dump_tensor_data",
                                   folder, side_names[side], place);
        if (length < 0 || data_length < 0 || data_length >= PATH_SIZE)
            return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: path too long", folder);
        bool data = maker->settings->task == TDC_MODE_TENSOR;
        tdc_status status =
            tdc_make_folders(data ? maker->data_folders[side] : maker->folders[side], error);
        if (status != TDC_OK)
            return status;
    }
    return TDC_OK;
}

static tdc_status make_pair(const struct tdc_synthetic *settings, const char *folder, unsigned step,
                            unsigned rank, struct tdc_synthetic_totals *totals,
                            struct tdc_error *error)
{
    struct maker *maker = calloc(1, sizeof *maker);
    if (maker == NULL)
        return tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    maker->settings = settings;
    for (int side = 0; side < TDC_SIDES; side++)
        maker->shapes[side] = shape_of(settings, side);
    maker->seed = tdc_values_mix(settings->seed ^ tdc_values_mix((uint64_t)step << 32 | rank));
    size_t count = (size_t)settings->tensors;
    maker->records[TDC_SIDE_NPU] = calloc(count, sizeof(struct tdc_synthetic_record));
    maker->records[TDC_SIDE_BENCH] = calloc(count, sizeof(struct tdc_synthetic_record));
    tdc_status status = TDC_OK;
    if (maker->records[TDC_SIDE_NPU] == NULL || maker->records[TDC_SIDE_BENCH] == NULL)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    if (status == TDC_OK)
        status = make_folders(maker, folder, step, rank, error);
    if (status == TDC_OK)
        status = make_tensors(maker, error);
    if (status == TDC_OK)
        status = link_tensors(maker, error);
    if (status == TDC_OK)
        status = make_jsons(maker, totals, error);
    totals->dumps++;
    totals->tensors += settings->tensors;
    totals->different += (uint64_t)((double)settings->tensors * settings->share);
    totals->data_bytes +=
        settings->tensors * settings->elements *
        (tdc_dtype_size(settings->dtype) + tdc_dtype_size(dtype_of(settings, TDC_SIDE_BENCH)));
    free(maker->records[TDC_SIDE_NPU]);
    free(maker->records[TDC_SIDE_BENCH]);
    free(maker);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Old and new files in one dump would be worse than an error. */
static tdc_status check_free(const char *folder, struct tdc_error *error)
{
    for (int side = 0; side < TDC_SIDES; side++) {
        char path[PATH_SIZE];
        struct stat state;
        int length = snprintf(path, sizeof path, "%s/%s", folder, side_names[side]);
        if (length < 0 || (size_t)length >= sizeof path)
            return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: path too long", folder);
        if (lstat(path, &state) == 0)
            return tdc_fail(error, TDC_ERR_WRITE, "%s exists already", path);
    }
    return TDC_OK;
}

tdc_status tdc_synthetic_make(const struct tdc_synthetic *settings, const char *folder,
                              struct tdc_synthetic_totals *totals, struct tdc_error *error)
{
    struct tdc_synthetic_totals sums = {0};
    tdc_status status = check_settings(settings, error);
    if (status == TDC_OK)
        status = check_free(folder, error);
    unsigned steps = settings->ranks > 0 && settings->steps > 1 ? settings->steps : 1;
    unsigned ranks = settings->ranks > 1 ? settings->ranks : 1;
    for (unsigned step = 0; step < steps && status == TDC_OK; step++)
        for (unsigned rank = 0; rank < ranks && status == TDC_OK; rank++)
            status = make_pair(settings, folder, step, rank, &sums, error);
    if (totals != NULL)
        *totals = sums;
    return status;
}
