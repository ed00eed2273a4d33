/*
 * The engine over jobs that lie: what they say of their size, what the headers of their files say,
 * how long the files really are, and files that shrink while they are read. Whatever is true, each
 * job has one outcome, and without files that shrink the outcomes are the same for any number of
 * threads.
 *
 * The first byte: threads, way of reading, rule of relative errors. Then six bytes a job.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/engine/engine.h"
#include "tests/unit/io/made_zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_JOBS     24
#define JOB_BYTES     6
#define MOST_BYTES    ((size_t)24 << 20) /* of all files of an input: more would only be slow */
#define MOST_ELEMENTS ((size_t)9 << 19)  /* of all pairs: four of more than a span */
#define SPAN          ((size_t)1 << 20)  /* float32 elements of a span */

static void require(bool fact)
{
    if (!fact)
        abort();
}

/* ---- files ----------------------------------------------------------------------------------- */

static char folder[64]; /* lasts as long as the process */

static const char *file_path(char path[128], const char *name)
{
    snprintf(path, 128, "%s/%s", folder, name);
    return path;
}

static void remove_folder(void)
{
    rmdir(folder);
}

static void make_folder(void)
{
    if (folder[0] != '\0')
        return;
    snprintf(folder, sizeof folder, "%s/fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    require(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
}

/* The head, and as many bytes after it as are there: a hole, and a few values at its start. */
static void write_file(const char *name, const void *head, size_t length, size_t content)
{
    static const unsigned char values[] = {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0xc0, 0x7f, 1};
    char path[128];
    int fd = open(file_path(path, name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    require(fd >= 0 && write(fd, head, length) == (ssize_t)length);
    size_t some = content < sizeof values ? content : sizeof values;
    require(write(fd, values, some) == (ssize_t)some);
    require(ftruncate(fd, (off_t)(length + content)) == 0);
    close(fd);
}

struct file {
    char name[16];
    bool view;          /* a .pt file of one element that is repeated, else .npy */
    unsigned kind;      /* of element, order */
    size_t elements;    /* that the header claims */
    int64_t difference; /* of the bytes there to what they take */
};

static const struct {
    const char *descr;
    unsigned size;
} types[] = {{"<f4", 4}, {">f4", 4},   {"<f2", 2}, {"<f8", 8},
             {"|u1", 1}, {"<c16", 16}, {"<i8", 8}, {"|S3", 3}};

static size_t real_bytes(const struct file *file)
{
    if (file->view)
        return 0; /* to speak of */
    int64_t bytes = (int64_t)(file->elements * types[file->kind % 8].size) + file->difference;
    return bytes > 0 ? (size_t)bytes : 0;
}

static void write_npy(const struct file *file)
{
    char text[128], head[128];
    bool fortran = (file->kind & 8) != 0, square = (file->kind & 16) != 0;
    int length =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (%s%zu,), }",
                 types[file->kind % 8].descr, fortran ? "True" : "False", square ? "2, " : "",
                 square ? file->elements / 2 : file->elements);
    require(length > 0 && length < 117);
    memcpy(head, "\x93NUMPY\1\0\x76\0", 10);
    memset(head + 10, ' ', 118);
    memcpy(head + 10, text, (size_t)length);
    head[127] = '\n';
    write_file(file->name, head, sizeof head, real_bytes(file));
}

/* One stored float that a view of stride 0 repeats. */
static void write_view(const struct file *file)
{
    static const char before[] = "\x80\2ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storage"
                                 "ctorch\nFloatStorage\nX\1\0\0\0"
                                 "0X\3\0\0\0cpuK\1tQK\0(J";
    static const char after[] = "t(K\0t\x89"
                                "ccollections\nOrderedDict\n)RtR.";
    static const float stored = 2;
    static struct made_zip zip;
    char pickle[256];
    memcpy(pickle, before, sizeof before - 1);
    made_put((unsigned char *)pickle + sizeof before - 1, file->elements, 4);
    memcpy(pickle + sizeof before + 3, after, sizeof after - 1);
    const struct made_member members[] = {{"a/data.pkl", pickle, sizeof before + sizeof after + 2},
                                          {"a/data/0", &stored, 4}};
    make_zip(&zip, members, 2, false);
    write_file(file->name, zip.bytes, zip.size, 0);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

struct lie {
    struct file n, b;
    uint64_t claimed;
    unsigned shrinks; /* after so many calls the NPU file does; 0: never */
    struct tdc_outcome outcome;
    unsigned delivered;
};

struct attack {
    struct lie lies[MOST_JOBS];
    size_t count;
    pthread_mutex_t lock;
    unsigned calls;
};

static struct file describe(char side, size_t job, uint8_t kind, uint8_t low, uint8_t high)
{
    static const int64_t differences[] = {0, 0, 0, -1, 1, -4096, 4096, INT32_MIN};
    struct file file = {
        .view = kind == 0xff, .kind = kind & 31, .difference = differences[kind >> 5]};
    /* below a chunk, around one, around a span, several spans */
    static const size_t bases[] = {0, TDC_PAIR_CHUNK - 16, SPAN - 16, 2 * SPAN};
    file.elements = bases[high % 4] + low + (size_t)(high >> 2) * 64;
    if ((file.kind & 16) != 0)
        file.elements &= ~(size_t)1;
    snprintf(file.name, sizeof file.name, "%c%zu.%s", side, job, file.view ? "pt" : "npy");
    return file;
}

static void write_side(const struct file *file)
{
    if (file->view)
        write_view(file);
    else
        write_npy(file);
}

/* What the bytes say, as far as it is not too much. */
static void plan(struct attack *attack, const uint8_t *data, size_t size)
{
    size_t bytes = 0, elements = 0;
    for (attack->count = 0; attack->count < MOST_JOBS && size >= JOB_BYTES;
         data += JOB_BYTES, size -= JOB_BYTES) {
        struct lie *lie = &attack->lies[attack->count];
        memset(lie, 0, sizeof *lie);
        lie->n = describe('n', attack->count, data[0], data[1], data[2]);
        lie->b = describe('b', attack->count, data[3] < 16 ? data[0] : data[3], data[1], data[2]);
        lie->b.difference = data[3] < 16 ? 0 : lie->b.difference;
        lie->b.elements += (data[3] & 0x60) == 0x60; /* another shape */
        lie->claimed = (uint64_t)1 << data[4] % 64;
        lie->shrinks = data[5] < 128 ? 0 : data[5] % 8 + 1;
        bytes += real_bytes(&lie->n) + real_bytes(&lie->b);
        elements += lie->n.elements;
        if (bytes > MOST_BYTES || elements > MOST_ELEMENTS)
            break;
        attack->count++;
    }
}

static void write_files(const struct attack *attack)
{
    for (size_t i = 0; i < attack->count; i++) {
        write_side(&attack->lies[i].n);
        write_side(&attack->lies[i].b);
    }
}

static void remove_files(const struct attack *attack)
{
    char path[128];
    for (size_t i = 0; i < attack->count; i++) {
        unlink(file_path(path, attack->lies[i].n.name));
        unlink(file_path(path, attack->lies[i].b.name));
    }
}

/* Called by any thread, after spans and pairs. */
static void shrink(void *context, uint64_t rows, uint64_t bytes)
{
    (void)rows;
    (void)bytes;
    struct attack *attack = context;
    char path[128];
    pthread_mutex_lock(&attack->lock);
    attack->calls++;
    for (size_t i = 0; i < attack->count; i++)
        if (attack->lies[i].shrinks == attack->calls)
            require(truncate(file_path(path, attack->lies[i].n.name), attack->calls * 37) == 0);
    pthread_mutex_unlock(&attack->lock);
}

static void deliver(void *context, const struct tdc_job *job, const struct tdc_outcome *outcome)
{
    (void)context;
    struct lie *lie = job->row;
    lie->outcome = *outcome;
    lie->delivered++;
}

static void check(const struct attack *attack)
{
    for (size_t i = 0; i < attack->count; i++) {
        const struct lie *lie = &attack->lies[i];
        const struct tdc_outcome *outcome = &lie->outcome;
        require(lie->delivered == 1);
        require((outcome->code == TDC_OUTCOME_UNREADABLE) == (outcome->error.message[0] != '\0') ||
                outcome->code == TDC_OUTCOME_NOT_NUMBERS);
        if (outcome->code == TDC_OUTCOME_COMPARED)
            require(outcome->count == lie->n.elements && outcome->sums.count == lie->n.elements);
    }
}

static void run(struct attack *attack, int threads, uint8_t how, bool shrinking)
{
    struct tdc_job jobs[MOST_JOBS];
    attack->calls = 0;
    for (size_t i = 0; i < attack->count; i++) {
        struct lie *lie = &attack->lies[i];
        lie->delivered = 0;
        jobs[i] = (struct tdc_job){.n_folder = folder,
                                   .n_file = lie->n.name,
                                   .b_folder = folder,
                                   .b_file = lie->b.name,
                                   .bytes = lie->claimed,
                                   .order = i,
                                   .row = lie};
    }
    struct tdc_options options;
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    options.context = attack;
    options.progress = shrinking ? shrink : NULL;
    struct tdc_engine engine = {
        .backend = &tdc_backend_cpu,
        .rule = (how & 16) != 0 ? TDC_RELATIVE_NATIVE : TDC_RELATIVE_F64,
        .io = (tdc_io)(how >> 2 & 3),
        .threads = threads,
        .options = &options,
        .done = deliver,
    };
    require(tdc_engine_run(&engine, jobs, attack->count, NULL) == TDC_OK);
    check(attack);
}

static bool same(const struct tdc_outcome *a, const struct tdc_outcome *b)
{
    return a->code == b->code &&
           (a->code != TDC_OUTCOME_COMPARED || memcmp(&a->sums, &b->sums, sizeof a->sums) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct attack attack = {.lock = PTHREAD_MUTEX_INITIALIZER};
    static struct tdc_outcome alone[MOST_JOBS];
    if (size < 1 + JOB_BYTES)
        return 0;
    make_folder();
    plan(&attack, data + 1, size - 1);
    write_files(&attack);
    run(&attack, 1, data[0], false);
    for (size_t i = 0; i < attack.count; i++)
        alone[i] = attack.lies[i].outcome;
    run(&attack, 2 + (data[0] & 3), data[0], false);
    bool shrinking = false;
    for (size_t i = 0; i < attack.count; i++) {
        require(same(&alone[i], &attack.lies[i].outcome));
        shrinking |= attack.lies[i].shrinks != 0;
    }
    if (shrinking)
        run(&attack, 1 + (data[0] & 3), data[0], true);
    remove_files(&attack);
    return 0;
}
