/* device.c - see device.h. */
#include "host/engine/device.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/base/error.h"
#include "io/file/mapping_guard.h"
#include "io/base/team.h"

/* Starting a device takes a second or two; the CPU compares so much in that time. */
#define LEAST_BYTES ((uint64_t)4 << 30)

/* ---- what was asked for ---------------------------------------------------------------------- */

/* "0,1,5": each once. */
static bool parse_ids(const char *text, struct tdc_device_request *request)
{
    for (;;) {
        char *end;
        if (*text < '0' || *text > '9' || request->count == TDC_DEVICE_MOST)
            return false;
        unsigned long id = strtoul(text, &end, 10);
        if (id > 65535)
            return false;
        for (unsigned i = 0; i < request->count; i++)
            if (request->ids[i] == (int32_t)id)
                return false;
        request->ids[request->count++] = (int32_t)id;
        if (*end == '\0')
            return true;
        if (*end != ',')
            return false;
        text = end + 1;
    }
}

bool tdc_device_parse(const char *text, struct tdc_device_request *request)
{
    *request = (struct tdc_device_request){.kind = TDC_DEVICE_AUTO, .count = 1};
    if (text == NULL || strcmp(text, "auto") == 0)
        return true;
    request->kind = strcmp(text, "cpu") == 0 ? TDC_DEVICE_CPU : TDC_DEVICE_GPU;
    if (request->kind == TDC_DEVICE_CPU || strcmp(text, "gpu") == 0)
        return true;
    request->kind = TDC_DEVICE_NAMED;
    for (unsigned i = 0; i < TDC_DEVICE_FAMILIES; i++) {
        size_t length = strlen(tdc_device_families[i]->name);
        if (strncmp(text, tdc_device_families[i]->name, length) != 0)
            continue;
        request->family = tdc_device_families[i];
        if (text[length] == '\0')
            return true;
        request->count = 0;
        request->all = strcmp(text + length, ":all") == 0;
        return request->all || (text[length] == ':' && parse_ids(text + length + 1, request));
    }
    return false;
}

bool tdc_device_valid(const char *text)
{
    struct tdc_device_request request;
    return tdc_device_parse(text, &request);
}

/* ---- measuring ------------------------------------------------------------------------------- */

enum {
    SAMPLE_CHUNKS = 8
};

struct sample {
    float *n, *b;
    struct tdc_pair_plan plan;
    struct tdc_pair_sums sums[SAMPLE_CHUNKS];
};

static bool make_sample(struct sample *sample, enum tdc_relative_rule rule)
{
    size_t count = SAMPLE_CHUNKS * TDC_PAIR_CHUNK;
    sample->n = malloc(count * sizeof *sample->n);
    sample->b = malloc(count * sizeof *sample->b);
    if (sample->n == NULL || sample->b == NULL ||
        !tdc_pair_plan_make(TDC_F32, TDC_F32, rule, tdc_cpu_variant_chosen(), &sample->plan))
        return false;
    uint32_t state = 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        sample->b[i] = (float)(state >> 8) * 0x1p-24f + 0.5f;
        sample->n[i] = sample->b[i] * (1.0f + (float)(state & 255) * 0x1p-16f);
    }
    return true;
}

/* Bytes per second of one thread over the sample; 0 when the backend failed. The first round warms
 * up. */
static double rate_of(const struct tdc_backend *backend, struct sample *sample)
{
    void *state;
    if (backend->open(backend->context, &state, NULL) != TDC_OK)
        return 0;
    double start = 0;
    for (int round = 0; round < 2; round++) {
        struct tdc_backend_chunk chunks[SAMPLE_CHUNKS];
        start = omp_get_wtime();
        for (size_t i = 0; i < SAMPLE_CHUNKS; i++)
            chunks[i] = (struct tdc_backend_chunk){
                .plan = &sample->plan,
                .n = sample->n + i * TDC_PAIR_CHUNK,
                .b = sample->b + i * TDC_PAIR_CHUNK,
                .count = TDC_PAIR_CHUNK,
                .sums = &sample->sums[i],
            };
        tdc_chunks_run(backend, state, chunks, SAMPLE_CHUNKS);
    }
    double seconds = omp_get_wtime() - start;
    backend->close(state);
    return (double)(SAMPLE_CHUNKS * TDC_PAIR_CHUNK * 2 * sizeof(float)) / seconds;
}

static void say(const struct tdc_options *options, tdc_message_level level, const char *text)
{
    if (options->message != NULL)
        options->message(options->context, level, text);
}

/*
 * The CPU's rate is that of one thread times the threads: what memory may take away from that
 * speaks for the device, and the link of the device is shared by all threads. TDC_AUTO_CPU_RATE
 * takes its place where cores are wanted for other work.
 */
static double cpu_rate(struct sample *sample, int threads)
{
    const char *given = getenv("TDC_AUTO_CPU_RATE");
    return given != NULL && given[0] != '\0' ? strtod(given, NULL) * 1e9
                                             : rate_of(&tdc_backend_cpu, sample) * threads;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The first card of a family; false with *error set when there is none. */
static bool find_card(const struct tdc_device_family *family, struct tdc_device_request *request,
                      struct tdc_error *error)
{
    unsigned count = family->count(error);
    for (unsigned i = 0; i < count; i++)
        if (family->is_card(i)) {
            *request = (struct tdc_device_request){
                .kind = TDC_DEVICE_NAMED, .family = family, .count = 1, .ids = {(int32_t)i}};
            return true;
        }
    if (count != 0)
        tdc_fail(error, TDC_ERR_NOT_FOUND, "no device of %s is a card", family->name);
    return false;
}

/* Checks the ids against what is there, so that the message can name the number. */
static tdc_status settle_ids(struct tdc_device_request *request, struct tdc_error *error)
{
    unsigned there = request->family->count(error);
    if (there == 0)
        return error->status;
    if (request->all) {
        request->count = there < TDC_DEVICE_MOST ? there : TDC_DEVICE_MOST;
        for (unsigned i = 0; i < request->count; i++)
            request->ids[i] = (int32_t)i;
    }
    for (unsigned i = 0; i < request->count; i++)
        if ((uint32_t)request->ids[i] >= there)
            return tdc_fail(error, TDC_ERR_NOT_FOUND, "there is no device %d (%u found)",
                            (int)request->ids[i], there);
    return TDC_OK;
}

tdc_status tdc_device_open(struct tdc_device_request *request, enum tdc_relative_rule rule,
                           bool no_fallback, bool timed, struct tdc_device_run **run,
                           struct tdc_error *error)
{
    struct tdc_error other;
    if (request->kind == TDC_DEVICE_GPU && !find_card(&tdc_family_cuda, request, error) &&
        !find_card(&tdc_family_opencl, request, &other)) {
        char first[400];
        snprintf(first, sizeof first, "%.390s", error->message);
        return tdc_fail(error, TDC_ERR_NOT_FOUND, "%s; %.390s", first, other.message);
    }
    tdc_status status = settle_ids(request, error);
    return status != TDC_OK ? status
                            : tdc_device_run_open(request->family, request->ids, request->count,
                                                  rule, no_fallback, timed, run, error);
}

/* ---- the fastest ----------------------------------------------------------------------------- */

/* Closes the slower of two runs, of which one may be NULL. */
static struct tdc_device_run *faster_of(struct tdc_device_run *first, double *first_rate,
                                        struct tdc_device_run *second, double second_rate)
{
    bool better = first == NULL || second_rate > *first_rate;
    struct tdc_device_run *worse = better ? first : second;
    if (worse != NULL)
        tdc_device_run_close(worse);
    if (better)
        *first_rate = second_rate;
    return better ? second : first;
}

/*
 * The fastest card of all families, one of each; what cannot be opened is told in *reason, which
 * stays empty where there is no card at all. A card of NVIDIA's is one of OpenCL, too: that family
 * is not asked then.
 */
static struct tdc_device_run *fastest_card(const struct tdc_options *options,
                                           enum tdc_relative_rule rule, struct sample *sample,
                                           double *rate, struct tdc_error *reason)
{
    struct tdc_device_run *best = NULL;
    bool cuda = false;
    for (unsigned i = 0; i < TDC_DEVICE_FAMILIES; i++) {
        const struct tdc_device_family *family = tdc_device_families[i];
        struct tdc_device_request request;
        struct tdc_device_run *run = NULL;
        struct tdc_error error = {0};
        tdc_status status = TDC_ERR_NOT_FOUND;
        if (family == &tdc_family_opencl && cuda)
            continue;
        if (find_card(family, &request, &error))
            status = tdc_device_open(&request, rule, (options->flags & TDC_OPTION_NO_FALLBACK) != 0,
                                     false, &run, &error);
        else
            status = error.status;
        cuda |= family == &tdc_family_cuda && status == TDC_OK;
        if (status == TDC_OK)
            best = faster_of(best, rate, run, rate_of(&run->backend, sample));
        else if (status != TDC_ERR_NOT_FOUND && reason->status == TDC_OK)
            *reason = error;
    }
    return best;
}

static struct tdc_device_run *measure(const struct tdc_options *options,
                                      enum tdc_relative_rule rule, struct tdc_error *reason)
{
    struct sample sample = {0};
    struct tdc_device_run *run = NULL;
    double device = 0;
    if (make_sample(&sample, rule) && tdc_guard_begin()) {
        run = fastest_card(options, rule, &sample, &device, reason);
        int threads = tdc_team_size(options->threads);
        double cpu = run != NULL ? cpu_rate(&sample, threads) : 0;
        tdc_guard_end();
        if (run != NULL) {
            /* a device that works beside the CPU costs it a thread, which feeds it, and no more */
            bool beside = run->backend.busy != NULL;
            run->beside_cpu = beside;
            bool faster =
                device > (beside ? cpu / threads : cpu) && tdc_device_run_trouble(run)[0] == '\0';
            char text[300];
            snprintf(text, sizeof text,
                     "device auto: %s %.1f GB/s, CPU with %d threads %.1f GB/s: using the %s",
                     run->name, device * 1e-9, threads, cpu * 1e-9,
                     faster ? beside ? "device and the CPU" : "device" : "CPU");
            say(options, TDC_MESSAGE_INFO, text);
            *reason = (struct tdc_error){0};
            if (!faster) {
                tdc_device_run_close(run);
                run = NULL;
            }
        }
    }
    free(sample.n);
    free(sample.b);
    return run;
}

/* ---- choosing -------------------------------------------------------------------------------- */

static uint64_t least_bytes(void)
{
    const char *given = getenv("TDC_AUTO_LEAST");
    return given != NULL ? strtoull(given, NULL, 10) : LEAST_BYTES;
}

tdc_status tdc_device_choose(const struct tdc_options *options, enum tdc_relative_rule rule,
                             uint64_t bytes, struct tdc_device_choice *choice,
                             struct tdc_error *error)
{
    *choice = (struct tdc_device_choice){.backend = &tdc_backend_cpu};
    struct tdc_device_request request;
    if (!tdc_device_parse(options->device, &request))
        return tdc_fail(error, TDC_ERR_ARGUMENT, "no such device: %s", options->device);
    bool automatic = request.kind == TDC_DEVICE_AUTO;
    bool no_fallback = (options->flags & TDC_OPTION_NO_FALLBACK) != 0;
    if (request.kind == TDC_DEVICE_CPU || (automatic && bytes < least_bytes()))
        return TDC_OK;
    struct tdc_error reason = {0};
    struct tdc_device_run *run = NULL;
    if (automatic)
        run = measure(options, rule, &reason);
    else if (tdc_device_open(&request, rule, no_fallback, false, &run, &reason) != TDC_OK)
        run = NULL;
    if (run != NULL)
        *choice = (struct tdc_device_choice){&run->backend, run};
    if (run != NULL || reason.status == TDC_OK)
        return TDC_OK;
    bool absent = reason.status == TDC_ERR_NOT_FOUND;
    if (!automatic && (absent || no_fallback || reason.status != TDC_ERR_DEVICE))
        return tdc_fail(error, absent ? TDC_ERR_DEVICE : reason.status, "--device %s: %s",
                        options->device, reason.message);
    char text[1200];
    snprintf(text, sizeof text, "%s; the CPU is used", reason.message);
    say(options, TDC_MESSAGE_WARNING, text);
    return TDC_OK;
}

tdc_status tdc_device_finish(struct tdc_device_choice *choice, const struct tdc_options *options,
                             tdc_status status, struct tdc_error *error)
{
    struct tdc_device_run *run = choice->run;
    if (run == NULL)
        return status;
    const char *trouble = tdc_device_run_trouble(run);
    if (tdc_device_run_failed(run)) {
        status = tdc_fail(error, TDC_ERR_DEVICE, "%s", trouble);
    } else if (trouble[0] != '\0') {
        char text[1400];
        snprintf(text, sizeof text, "%s; the CPU did %llu chunks in its place", trouble,
                 (unsigned long long)tdc_device_run_figures(run).fallbacks);
        say(options, TDC_MESSAGE_WARNING, text);
    }
    tdc_device_run_close(run);
    choice->run = NULL;
    return status;
}
