/* synthetic.c - tensors made by all threads, then the json files that list them. */
#include "bench/synthetic.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <omp.h>
#include <zlib.h>

#include "bench/synthetic_json.h"
#include "bench/synthetic_network.h"
#include "bench/synthetic_values.h"
#include "io/error.h"

/* Blocks made before they are written: 256 KB of the widest type, which stays in the L2 cache. */
#define CHUNK_BLOCKS   8
#define CHUNK_ELEMENTS (CHUNK_BLOCKS * TDC_VALUES_BLOCK)
#define PATH_SIZE      4096

#define MOST_TENSORS  ((uint64_t)10000000)
#define MOST_ELEMENTS ((uint64_t)1 << 36)
#define MOST_FOLDERS  1000000

enum {
    NPU,
    BENCH,
    SIDES
};

static const char *const side_names[SIDES] = {"npu", "bench"};

/* One pair of dumps in the making. */
struct maker {
    const struct tdc_synthetic *settings;
    struct tdc_synthetic_shape shape;
    uint64_t seed;
    char folders[SIDES][PATH_SIZE];
    char data_folders[SIDES][PATH_SIZE];
    struct tdc_synthetic_record *records[SIDES];
};

/* What a thread works with. */
struct workplace {
    unsigned char *buffers[SIDES];
    struct tdc_synthetic_file files[SIDES];
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

static tdc_status check_settings(const struct tdc_synthetic *settings, struct tdc_error *error)
{
    uint64_t bytes = settings->elements * tdc_dtype_size(settings->dtype);
    if (settings->tensors < 1 || settings->tensors > MOST_TENSORS)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "tensors of a dump: 1 to %llu",
                        (unsigned long long)MOST_TENSORS);
    if (settings->elements < 1 || settings->elements > MOST_ELEMENTS)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "elements of a tensor: 1 to %llu",
                        (unsigned long long)MOST_ELEMENTS);
    if (!tdc_values_supported(settings->dtype))
        return tdc_fail(error, TDC_ERR_ARGUMENT, "no synthetic data of type %s",
                        tdc_dtype_name(settings->dtype));
    if (settings->layout == TDC_LAYOUT_NPY && tdc_numpy_dtype_name(settings->dtype) == NULL)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "numpy files have no %s",
                        tdc_dtype_name(settings->dtype));
    if (settings->task == TDC_MODE_TENSOR && settings->layout == TDC_LAYOUT_PT &&
        bytes > TDC_PT_LARGEST)
        return tdc_fail(error, TDC_ERR_ARGUMENT,
                        "a synthetic .pt holds less than 4 GB: use .npy or more tensors");
    if (!(settings->share >= 0 && settings->share <= 1))
        return tdc_fail(error, TDC_ERR_ARGUMENT, "share of faulty tensors: 0 to 1");
    if (settings->ranks > MOST_FOLDERS || settings->steps > MOST_FOLDERS || settings->indent > 16)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "too many ranks, steps or blanks");
    return TDC_OK;
}

/* As square as powers of two allow, for a look of rows and columns. */
static struct tdc_synthetic_shape shape_of(const struct tdc_synthetic *settings)
{
    uint64_t columns = 1;
    while (settings->elements % (2 * columns) == 0 && 4 * columns * columns <= settings->elements)
        columns *= 2;
    struct tdc_synthetic_shape shape = {settings->dtype, 1, {settings->elements, 0}};
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

static bool is_rounded(const struct tdc_synthetic *settings)
{
    bool narrow = tdc_dtype_size(settings->dtype) < 4;
    return settings->rounding && tdc_values_rounds(settings->dtype) &&
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

struct chunk_plan {
    struct tdc_values values;
    bool fault, rounded, crc;
};

static uint32_t crc_of(const void *bytes, size_t size)
{
    return (uint32_t)crc32(0, bytes, (uInt)size);
}

/* Makes elements of both sides; the NPU buffer is used only when the sides differ. Returns the
 * bytes, *crcs: of each side. */
static size_t make_chunk(const struct chunk_plan *plan, uint64_t first, size_t count,
                         unsigned char *const buffers[SIDES],
                         struct tdc_values_statistics *const statistics[SIDES],
                         uint32_t crcs[SIDES])
{
    tdc_dtype dtype = plan->values.dtype;
    size_t width = tdc_dtype_size(dtype), bytes = count * width;
    bool differ = plan->fault || plan->rounded;
    for (size_t done = 0; done < count; done += TDC_VALUES_BLOCK) {
        size_t part = count - done < TDC_VALUES_BLOCK ? count - done : TDC_VALUES_BLOCK;
        unsigned char *bench = buffers[BENCH] + done * width, *npu = buffers[NPU] + done * width;
        tdc_values_fill(&plan->values, (first + done) / TDC_VALUES_BLOCK, part, bench);
        tdc_values_statistics_add(statistics[BENCH], dtype, bench, part);
        if (!differ)
            continue;
        memcpy(npu, bench, part * width);
        if (plan->rounded)
            tdc_values_round(dtype, npu, part);
        if (plan->fault)
            tdc_values_spike(dtype, npu, part);
        tdc_values_statistics_add(statistics[NPU], dtype, npu, part);
    }
    if (plan->crc) {
        crcs[BENCH] = crc_of(buffers[BENCH], bytes);
        crcs[NPU] = differ ? crc_of(buffers[NPU], bytes) : crcs[BENCH];
    }
    return bytes;
}

static tdc_status make_elements(const struct maker *maker, struct workplace *place,
                                const struct chunk_plan *plan, uint64_t tensor,
                                struct tdc_error *error)
{
    const struct tdc_synthetic *settings = maker->settings;
    bool differ = plan->fault || plan->rounded;
    struct tdc_synthetic_record *records[SIDES] = {&maker->records[NPU][tensor],
                                                   &maker->records[BENCH][tensor]};
    struct tdc_values_statistics *statistics[SIDES] = {&records[NPU]->statistics,
                                                       &records[BENCH]->statistics};
    for (int side = 0; side < SIDES; side++)
        tdc_values_statistics_clear(statistics[side]);
    tdc_status status = TDC_OK;
    for (uint64_t done = 0; done < settings->elements && status == TDC_OK;) {
        uint64_t left = settings->elements - done;
        size_t count = left < CHUNK_ELEMENTS ? (size_t)left : CHUNK_ELEMENTS;
        uint32_t crcs[SIDES] = {0};
        if (settings->cancel != NULL && *settings->cancel != 0)
            return tdc_fail(error, TDC_ERR_INTERRUPTED, "interrupted");
        size_t bytes = make_chunk(plan, done, count, place->buffers, statistics, crcs);
        for (int side = 0; side < SIDES && status == TDC_OK; side++) {
            records[side]->crc =
                (uint32_t)crc32_combine(records[side]->crc, crcs[side], (z_off_t)bytes);
            if (settings->task == TDC_MODE_TENSOR)
                status = tdc_synthetic_file_add(&place->files[side],
                                                place->buffers[differ ? side : BENCH], bytes,
                                                crcs[side], error);
        }
        done += count;
    }
    if (!differ)
        *statistics[NPU] = *statistics[BENCH];
    return status;
}

static tdc_status make_tensor(const struct maker *maker, struct workplace *place, uint64_t tensor,
                              struct tdc_error *error)
{
    const struct tdc_synthetic *settings = maker->settings;
    char stem[TDC_NETWORK_NAME + 32];
    bool weight = name_tensor(settings, tensor, stem, sizeof stem);
    bool files = settings->task == TDC_MODE_TENSOR;
    struct chunk_plan plan = {
        .values = {settings->dtype, tdc_values_mix(maker->seed ^ tdc_values_mix(tensor)),
                   weight ? 0.02F : 1.0F},
        .fault = is_faulty(settings, tensor),
        .rounded = is_rounded(settings),
        .crc = settings->task == TDC_MODE_DIGEST || (files && settings->layout == TDC_LAYOUT_PT),
    };
    int opened = 0;
    tdc_status status = TDC_OK;
    for (; files && opened < SIDES; opened++) {
        status = tdc_synthetic_file_open(&place->files[opened], maker->data_folders[opened], stem,
                                         settings->layout, &maker->shape, error);
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

static tdc_status make_tensors(const struct maker *maker, struct tdc_error *error)
{
    const struct tdc_synthetic *settings = maker->settings;
    int threads = settings->threads > 0 ? settings->threads : omp_get_num_procs();
    size_t room = CHUNK_ELEMENTS * TDC_VALUES_WIDEST;
    atomic_int failed = TDC_OK;
    int64_t tensors = (int64_t)settings->tensors;
#pragma omp parallel num_threads(threads)
    {
        struct workplace *place = calloc(1, sizeof *place);
        unsigned char *room_of_both = aligned_alloc(64, SIDES * room);
        struct tdc_error own = {0};
        tdc_status status = TDC_OK;
        if (place == NULL || room_of_both == NULL) {
            status = tdc_fail(&own, TDC_ERR_MEMORY, "out of memory");
        } else {
            place->buffers[NPU] = room_of_both;
            place->buffers[BENCH] = room_of_both + room;
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
    for (int side = 0; side < SIDES; side++) {
        struct tdc_synthetic_json json = {
            .task = settings->task,
            .shape = maker->shape,
            .suffix = settings->layout == TDC_LAYOUT_PT ? "pt" : "npy",
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
    for (int side = 0; side < SIDES; side++) {
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
    maker->shape = shape_of(settings);
    maker->seed = tdc_values_mix(settings->seed ^ tdc_values_mix((uint64_t)step << 32 | rank));
    size_t count = (size_t)settings->tensors;
    maker->records[NPU] = calloc(count, sizeof(struct tdc_synthetic_record));
    maker->records[BENCH] = calloc(count, sizeof(struct tdc_synthetic_record));
    tdc_status status = TDC_OK;
    if (maker->records[NPU] == NULL || maker->records[BENCH] == NULL)
        status = tdc_fail(error, TDC_ERR_MEMORY, "out of memory");
    if (status == TDC_OK)
        status = make_folders(maker, folder, step, rank, error);
    if (status == TDC_OK)
        status = make_tensors(maker, error);
    if (status == TDC_OK)
        status = make_jsons(maker, totals, error);
    totals->dumps++;
    totals->tensors += settings->tensors;
    totals->different += (uint64_t)((double)settings->tensors * settings->share);
    totals->data_bytes +=
        SIDES * settings->tensors * settings->elements * tdc_dtype_size(settings->dtype);
    free(maker->records[NPU]);
    free(maker->records[BENCH]);
    free(maker);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Old and new files in one dump would be worse than an error. */
static tdc_status check_free(const char *folder, struct tdc_error *error)
{
    for (int side = 0; side < SIDES; side++) {
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
