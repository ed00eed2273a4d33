/* tensor_data.c - the content of a tensor file in eight bytes per element. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/source.h"
#include "host/precheck/rebuild/input_file.h"
#include "host/precheck/rebuild/rebuild.h"
#include "io/base/clock.h"
#include "io/file/mapping_guard.h"
#include "io/base/utf8_step.h"
#include "kernels/dtype.h"
#include "kernels/pair.h"

/* Elements gathered at a time from files with gaps or foreign byte order. */
#define GATHERED 4096
/* Elements of a dense file that a thread reads at a time; a call that has several shares them. */
#define PIECE ((int64_t)1 << 19)
/* Bytes of a file from which on its pages are worth a look of their own. */
#define TOUCHED_FROM ((size_t)1 << 16)
#define PAGE         4096

struct reading {
    const struct tdc_tensor *file;
    struct tdc_reference_tensor *tensor;
    unsigned char *buffer;
    size_t first, count; /* of a piece */
    double seconds[2];   /* reading, widening */
    bool done;
};

/* Out of range is undefined in the frameworks; here it stays the nearest bound. */
static int64_t truncated(double value)
{
    if (isnan(value))
        return 0;
    return value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

static bool is_whole(tdc_dtype dtype)
{
    return dtype >= TDC_BOOL && dtype <= TDC_U64;
}

static int64_t whole_element(tdc_dtype dtype, const unsigned char *at)
{
    uint64_t wide = 0;
    memcpy(&wide, at, tdc_dtype_size(dtype));
    switch (dtype) {
    case TDC_BOOL:
        return wide != 0;
    case TDC_I8:
        return (int8_t)wide;
    case TDC_I16:
        return (int16_t)wide;
    case TDC_I32:
        return (int32_t)wide;
    default:
        return (int64_t)wide;
    }
}

static void decode_floats(const unsigned char *from, size_t count, double *to)
{
    for (size_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, from + i * sizeof value, sizeof value);
        to[i] = value;
    }
}

/* The upper half of a float32. */
static void decode_brains(const unsigned char *from, size_t count, double *to)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(&half, from + i * sizeof half, sizeof half);
        uint32_t bits = (uint32_t)half << 16;
        float value;
        memcpy(&value, &bits, sizeof value);
        to[i] = value;
    }
}

/* Exponent and digits moved to where float32 has them are the number times 2^-112, subnormal ones
 * too; what is not finite has the largest exponent in both. */
static void decode_halves(const unsigned char *from, size_t count, double *to)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(&half, from + i * sizeof half, sizeof half);
        uint32_t size = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000) << 16;
        uint32_t odd = size >= 0x0f800000 ? 0x70000000 : 0, bits = size | odd;
        float value;
        memcpy(&value, &bits, sizeof value);
        value = odd != 0 ? value : value * 0x1p112f;
        memcpy(&bits, &value, sizeof bits);
        bits |= sign;
        memcpy(&value, &bits, sizeof value);
        to[i] = value;
    }
}

/* `count` dense native elements to places `first` and on. */
static void decode(const struct reading *reading, const unsigned char *elements, tdc_dtype from,
                   size_t first, size_t count)
{
    struct tdc_reference_tensor *tensor = reading->tensor;
    bool real = tdc_dtype_is_floating(tensor->dtype);
    bool same = from == tensor->dtype || (from == TDC_F32 && tensor->dtype == TDC_BF16);
    void (*plain)(const unsigned char *, size_t, double *) = from == TDC_F32    ? decode_floats
                                                             : from == TDC_BF16 ? decode_brains
                                                             : from == TDC_F16  ? decode_halves
                                                                                : NULL;
    if (real && same && plain != NULL && !tensor->complex) {
        plain(elements, count, tensor->real + first);
        return;
    }
    size_t size = tdc_dtype_size(from);
    for (size_t i = 0; i < count; i++) {
        const unsigned char *at = elements + i * size;
        double imaginary;
        if (tensor->complex) {
            double *parts = tensor->real + 2 * (first + i);
            parts[0] = tdc_element_value(from, at, &imaginary);
            parts[1] = imaginary;
            continue;
        }
        if (!real && is_whole(from)) {
            tensor->whole[first + i] = whole_element(from, at);
            continue;
        }
        double value = tdc_element_value(from, at, &imaginary);
        if (real)
            tensor->real[first + i] = same ? value : tdc_reference_round(value, tensor->dtype);
        else
            tensor->whole[first + i] = tensor->dtype == TDC_BOOL ? value != 0 : truncated(value);
    }
}

/* Elements [first, first + count) of a dense file. */
static void read_piece(void *argument)
{
    struct reading *reading = argument;
    const struct tdc_tensor *file = reading->file;
    tdc_dtype dtype = tdc_source_dtype(file);
    const unsigned char *from =
        (const unsigned char *)file->data + reading->first * tdc_dtype_size(dtype);
    /* pages are brought to memory before they are decoded: the two are timed apart */
    double start = tdc_seconds();
    size_t bytes = reading->count * tdc_dtype_size(dtype);
    for (size_t at = 0; bytes >= TOUCHED_FROM && at < bytes; at += PAGE)
        (void)*(const volatile unsigned char *)(from + at);
    double touched = tdc_seconds();
    decode(reading, from, dtype, reading->first, reading->count);
    reading->seconds[0] = touched - start;
    reading->seconds[1] = tdc_seconds() - touched;
    reading->done = true;
}

static void read_gathered(void *argument)
{
    struct reading *reading = argument;
    const struct tdc_tensor *file = reading->file;
    tdc_dtype dtype = tdc_source_dtype(file);
    size_t count = (size_t)file->count;
    double start = tdc_seconds();
    for (size_t first = 0; first < count; first += GATHERED) {
        size_t part = count - first < GATHERED ? count - first : GATHERED;
        if (!tdc_gather_elements(file, first, part, reading->buffer))
            return;
        decode(reading, reading->buffer, dtype, first, part);
    }
    reading->seconds[1] = tdc_seconds() - start;
    reading->done = true;
}

/* Piece i, of which the file has several. False: a page had vanished. */
static bool read_piece_at(const struct reading *all, int64_t i, double seconds[2])
{
    struct reading piece = *all;
    int64_t rest = (int64_t)all->file->count - i * PIECE;
    piece.first = (size_t)(i * PIECE);
    piece.count = (size_t)(rest < PIECE ? rest : PIECE);
    bool whole = tdc_guarded_read(read_piece, &piece);
    seconds[0] = piece.seconds[0];
    seconds[1] = piece.seconds[1];
    return whole;
}

static int read_together(const struct reading *all, int64_t pieces, double seconds[2])
{
    /* nanoseconds; a reduction of several variables would export a lock of clang's */
    atomic_uint_fast64_t reads = 0, decodes = 0;
    atomic_int vanished = 0;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < pieces; i++) {
        double took[2];
        if (!read_piece_at(all, i, took))
            atomic_fetch_add(&vanished, 1);
        atomic_fetch_add(&reads, (uint_fast64_t)(took[0] * 1e9));
        atomic_fetch_add(&decodes, (uint_fast64_t)(took[1] * 1e9));
    }
    seconds[0] = (double)atomic_load(&reads) * 1e-9;
    seconds[1] = (double)atomic_load(&decodes) * 1e-9;
    return atomic_load(&vanished);
}

/* False: a page had vanished. */
static bool read_pieces(struct tdc_rebuild *rebuild, struct reading *reading)
{
    int64_t pieces = ((int64_t)reading->file->count + PIECE - 1) / PIECE;
    double seconds[2] = {0, 0}, start = tdc_seconds();
    int vanished = 0;
    if (pieces > 1)
        vanished = read_together(reading, pieces, seconds);
    else if (pieces == 1)
        vanished = !read_piece_at(reading, 0, seconds);
    /* what threads did side by side counts once */
    double all = seconds[0] + seconds[1], took = tdc_seconds() - start;
    double share = all > 0 ? seconds[0] / all : 0;
    rebuild->work[TDC_WORK_READING] += took * share;
    rebuild->work[TDC_WORK_WIDENING] += took * (1 - share);
    reading->done = true;
    return vanished == 0;
}

static bool guarded(struct tdc_rebuild *rebuild, struct reading *reading, const char *path)
{
    const struct tdc_tensor *file = reading->file;
    if (!tdc_guard_begin())
        return tdc_give_reason(rebuild->reason, "cannot install a signal handler");
    bool whole;
    if (file->dense && !file->swapped && file->dtype != TDC_TEXT) {
        whole = read_pieces(rebuild, reading);
    } else {
        whole = tdc_guarded_read(read_gathered, reading);
        rebuild->work[TDC_WORK_WIDENING] += reading->seconds[1];
    }
    tdc_guard_end();
    if (!whole)
        return tdc_give_reason(rebuild->reason, "%s: changed while being read", path);
    return reading->done || tdc_give_reason(rebuild->reason, "%s: not a tensor of numbers", path);
}

static bool load(struct tdc_rebuild *rebuild, const char *path, const struct tdc_tensor *file,
                 tdc_dtype dtype, struct tdc_reference_tensor **tensor)
{
    int64_t shape[TDC_REFERENCE_RANK];
    bool complex = tdc_dtype_is_complex(dtype);
    if (file->coding != TDC_CODING_PLAIN)
        return tdc_give_reason(rebuild->reason, "%s: quantised or packed elements", path);
    if (file->dimensions + complex > TDC_REFERENCE_RANK)
        return tdc_give_reason(rebuild->reason, "%s: too many dimensions", path);
    for (unsigned d = 0; d < file->dimensions; d++)
        shape[d] = (int64_t)file->shape[d];
    if (complex) {
        shape[file->dimensions] = 2;
        dtype = tdc_dtype_part(dtype);
    }
    *tensor = tdc_reference_tensor_new(rebuild->arena, dtype, file->dimensions + complex, shape);
    if (*tensor != NULL)
        (*tensor)->complex = complex;
    bool gathers = !file->dense || file->swapped || file->dtype == TDC_TEXT;
    struct reading reading = {
        .file = file,
        .tensor = *tensor,
        .buffer = tdc_arena_take(rebuild->arena, gathers ? (size_t)GATHERED * 32 : 1)};
    if (*tensor == NULL || reading.buffer == NULL)
        return tdc_give_reason(rebuild->reason, "the call needs more memory than a call may take");
    return guarded(rebuild, &reading, path);
}

static char *path_of(struct tdc_rebuild *rebuild, const char *file_name)
{
    const char *folder = rebuild->calls->data_folder;
    size_t length = strlen(folder), more = strlen(file_name);
    char *path = tdc_arena_take(rebuild->arena, length + more + 2);
    if (path == NULL)
        return NULL;
    memcpy(path, folder, length);
    path[length] = '/';
    memcpy(path + length + 1, file_name, more + 1);
    return path;
}

bool tdc_read_tensor(struct tdc_rebuild *rebuild, const char *file_name, size_t expected,
                     tdc_dtype dtype, struct tdc_reference_tensor **tensor)
{
    if (file_name == NULL)
        return tdc_give_reason(rebuild->reason,
                               TDC_JSON_PARSE_FAILED "data_name field in api_info.json is missing");
    /* a dump must not lead out of its folder */
    if (strchr(file_name, '/') != NULL)
        return tdc_give_reason(rebuild->reason, "data_name with a slash");
    if (strstr(file_name, TDC_UTF8_NUL) != NULL)
        return tdc_give_reason(rebuild->reason, "data_name with a NUL");
    const char *path = path_of(rebuild, file_name);
    if (path == NULL)
        return tdc_give_reason(rebuild->reason, "out of memory");
    bool below =
        file_name[0] != '\0' && tdc_open_folder(rebuild->folder, rebuild->calls->data_folder);
    struct tdc_tensor_place place = {rebuild->folder->descriptor, file_name, expected};
    struct tdc_error error = {0};
    struct tdc_tensor file;
    double start = tdc_seconds();
    tdc_status status = rebuild->check_files ? tdc_input_file_check(path, &error) : TDC_OK;
    bool loaded = false;
    if (status != TDC_OK) {
        tdc_give_reason(rebuild->reason, "%s", tdc_input_file_exception(status));
    } else if (tdc_tensor_open_with(rebuild->scratch, path, below ? &place : NULL, NULL, &file,
                                    &error) != TDC_OK) {
        tdc_give_reason(rebuild->reason, "%.500s", error.message);
        rebuild->arena->exhausted |= error.status == TDC_ERR_MEMORY;
        *rebuild->unreadable |= error.status == TDC_ERR_READ;
    } else {
        rebuild->work[TDC_WORK_READING] += tdc_seconds() - start;
        loaded = load(rebuild, path, &file, dtype, tensor);
        *rebuild->bytes += loaded ? file.count * tdc_dtype_size(file.dtype) : 0;
        tdc_tensor_close(&file);
    }
    return loaded;
}
