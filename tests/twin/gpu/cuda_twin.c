/* cuda_twin.c - see cuda_twin.h. Prototypes are those of host/engine/gpu/cuda_functions.h. */
#include "tests/twin/gpu/cuda_twin.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/twin/gpu/kernels_in_c.h"

#define CUDA_FN(result, name, symbol, arguments) TWIN_EXPORT result symbol arguments;
#define NVRTC_FN(name, arguments)                TWIN_EXPORT int name arguments;
#define CUDA_CONST(name, value)                  TWIN_##name = value,
enum {
#undef CUDA_FN
#undef NVRTC_FN
#define CUDA_FN(result, name, symbol, arguments)
#define NVRTC_FN(name, arguments)
#include "host/engine/gpu/cuda_functions.h"
};
#undef CUDA_FN
#undef NVRTC_FN
#undef CUDA_CONST
#define CUDA_FN(result, name, symbol, arguments) TWIN_EXPORT result symbol arguments;
#define NVRTC_FN(name, arguments)                TWIN_EXPORT int name arguments;
#define CUDA_CONST(name, value)
#include "host/engine/gpu/cuda_functions.h"
#undef CUDA_FN
#undef NVRTC_FN
#undef CUDA_CONST

/* Device memory is told by addresses that no host has. */
#define FAR         ((uint64_t)1 << 60)
#define ALLOCATIONS 256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    long calls, failing, live;
    int code, behaviour;
    const char *failed;
    struct {
        uint64_t start;
        size_t size;
    } memory[ALLOCATIONS];
} twin;
static _Thread_local void *current;
static char contexts[2], module_mark;

static void broken(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("cuda twin: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

void cuda_twin_arm(long call, int code)
{
    pthread_mutex_lock(&lock);
    twin.calls = 0;
    twin.failing = call;
    twin.code = code;
    twin.failed = NULL;
    pthread_mutex_unlock(&lock);
}

long cuda_twin_calls(void)
{
    return twin.calls;
}

const char *cuda_twin_failed(void)
{
    return twin.failed;
}

long cuda_twin_live(void)
{
    return twin.live;
}

void cuda_twin_behave(int how)
{
    twin.behaviour = how;
}

/* The code this call is to fail with; `live` changes the number of objects unless it does. */
static int enter(const char *name, int live)
{
    pthread_mutex_lock(&lock);
    int code = ++twin.calls == twin.failing ? twin.code : 0;
    if (code != 0)
        twin.failed = name;
    /* what is given back is gone even when that is reported as a failure */
    if (code == 0 || live < 0)
        twin.live += live;
    pthread_mutex_unlock(&lock);
    return code;
}

#define ENTER(live)                                                                                \
    do {                                                                                           \
        int code_ = enter(__func__, live);                                                         \
        if (code_ != 0)                                                                            \
            return code_;                                                                          \
    } while (0)

#define IN_CONTEXT(live)                                                                           \
    do {                                                                                           \
        if (current == NULL)                                                                       \
            broken("%s without a context", __func__);                                              \
        ENTER(live);                                                                               \
    } while (0)

/* ---- devices --------------------------------------------------------------------------------- */

int cuInit(unsigned flags)
{
    (void)flags;
    const char *fail = getenv("CUDA_TWIN_FAIL"), *wrong = getenv("CUDA_TWIN_WRONG");
    char *colon;
    if (fail != NULL) {
        twin.failing = strtol(fail, &colon, 10);
        twin.code = (int)strtol(colon + 1, NULL, 10);
    }
    if (wrong != NULL)
        twin.behaviour = CUDA_TWIN_WRONG;
    ENTER(0);
    return 0;
}

int cuGetErrorName(int code, const char **name)
{
    *name = code == TWIN_CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_TWIN";
    return 0;
}

int cuDeviceGetCount(int *count)
{
    ENTER(0);
    *count = 2;
    return 0;
}

int cuDeviceGet(int *device, int number)
{
    ENTER(0);
    if (number < 0 || number > 1)
        return TWIN_CUDA_ERROR_INVALID_DEVICE;
    *device = number;
    return 0;
}

int cuDeviceGetName(char *name, int size, int device)
{
    ENTER(0);
    snprintf(name, (size_t)size, "Twin %d", device);
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    ENTER(0);
    *bytes = (size_t)1 << 33;
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    ENTER(0);
    *value = attribute == TWIN_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT       ? 2
             : attribute == TWIN_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 8
                                                                              : 0;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    ENTER(1);
    *context = &contexts[device];
    return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    ENTER(-1);
    return 0;
}

int cuCtxSetCurrent(void *context)
{
    ENTER(0);
    current = context;
    return 0;
}

int cuCtxGetCurrent(void **context)
{
    ENTER(0);
    *context = current;
    return 0;
}

int cuCtxGetDevice(int *device)
{
    IN_CONTEXT(0);
    *device = current == &contexts[1];
    return 0;
}

/* ---- modules --------------------------------------------------------------------------------- */

static const char compiled[] = "// by the twin of NVRTC\n.version 8.0\n";

int cuModuleLoadData(void **module, const void *image)
{
    IN_CONTEXT(0);
    bool own = strcmp(image, compiled) == 0;
    if (strstr(image, ".version") == NULL)
        broken("a module without a version");
    if (!own)
        for (unsigned i = 0; i < TDC_GPU_KERNELS; i++)
            if (strstr(image, tdc_gpu_kernel_names[i]) == NULL)
                broken("no %s in the module", tdc_gpu_kernel_names[i]);
    if (!own && twin.behaviour == CUDA_TWIN_OLD)
        return TWIN_CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    *module = &module_mark;
    pthread_mutex_lock(&lock);
    twin.live++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int cuModuleUnload(void *module)
{
    (void)module;
    IN_CONTEXT(-1);
    return 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    (void)module;
    IN_CONTEXT(0);
    for (unsigned i = 0; i < TDC_GPU_KERNELS; i++)
        if (strcmp(name, tdc_gpu_kernel_names[i]) == 0) {
            *function = (void *)(uintptr_t)(i + 1);
            return 0;
        }
    broken("no kernel %s", name);
    return 0;
}

int nvrtcCreateProgram(void **program, const char *source, const char *name, int headers,
                       const char *const *header_texts, const char *const *header_names)
{
    (void)name;
    (void)headers;
    (void)header_texts;
    (void)header_names;
    ENTER(1);
    if (strncmp(source, "/* dialect_cuda.h", 17) != 0 || strstr(source, "tdc_pair_any") == NULL ||
        strstr(source, "tdc_join_lanes") == NULL)
        broken("NVRTC was given another text");
    *program = strdup(source);
    return 0;
}

int nvrtcDestroyProgram(void **program)
{
    int code = enter(__func__, -1);
    free(*program);
    return code;
}

int nvrtcCompileProgram(void *program, int count, const char *const *options)
{
    (void)program;
    ENTER(0);
    if (count != 2 || strcmp(options[0], "--gpu-architecture=compute_80") != 0 ||
        strcmp(options[1], "--fmad=false") != 0)
        broken("NVRTC was given other options");
    return 0;
}

int nvrtcGetPTXSize(void *program, size_t *size)
{
    (void)program;
    ENTER(0);
    *size = sizeof compiled;
    return 0;
}

int nvrtcGetPTX(void *program, char *text)
{
    (void)program;
    ENTER(0);
    memcpy(text, compiled, sizeof compiled);
    return 0;
}

int nvrtcGetProgramLogSize(void *program, size_t *size)
{
    (void)program;
    *size = 5;
    return 0;
}

int nvrtcGetProgramLog(void *program, char *text)
{
    (void)program;
    memcpy(text, "twin", 5);
    return 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

int cuMemAlloc_v2(uint64_t *address, size_t size)
{
    IN_CONTEXT(1);
    void *memory = aligned_alloc(256, (size + 255) / 256 * 256);
    if (memory == NULL)
        broken("out of memory");
    memset(memory, 0xa5, size);
    pthread_mutex_lock(&lock);
    for (unsigned i = 0;; i++) {
        if (i == ALLOCATIONS)
            broken("too many allocations");
        if (twin.memory[i].size == 0) {
            twin.memory[i].start = (uint64_t)(uintptr_t)memory;
            twin.memory[i].size = size;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    *address = (uint64_t)(uintptr_t)memory + FAR;
    return 0;
}

/* The host's address of `bytes` on the device. */
static void *near(uint64_t address, uint64_t bytes)
{
    uint64_t start = address - FAR;
    bool inside = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < ALLOCATIONS; i++)
        inside |= start >= twin.memory[i].start && bytes <= twin.memory[i].size &&
                  start - twin.memory[i].start <= twin.memory[i].size - bytes;
    pthread_mutex_unlock(&lock);
    if (!inside)
        broken("%llu bytes leave their allocation", (unsigned long long)bytes);
    return (void *)(uintptr_t)start;
}

int cuMemFree_v2(uint64_t address)
{
    if (current == NULL)
        broken("cuMemFree without a context");
    int code = enter(__func__, -1);
    void *memory = near(address, 1);
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < ALLOCATIONS; i++)
        if (twin.memory[i].start == (uint64_t)(uintptr_t)memory)
            twin.memory[i].size = twin.memory[i].start = 0;
    pthread_mutex_unlock(&lock);
    free(memory);
    return code;
}

int cuMemHostAlloc(void **memory, size_t size, unsigned flags)
{
    (void)flags;
    IN_CONTEXT(1);
    *memory = aligned_alloc(256, (size + 255) / 256 * 256);
    return *memory != NULL ? 0 : TWIN_CUDA_ERROR_OUT_OF_MEMORY;
}

int cuMemFreeHost(void *memory)
{
    int code = enter(__func__, -1);
    free(memory);
    return code;
}

/* ---- streams --------------------------------------------------------------------------------- */

enum {
    COPY_IN,
    COPY_OUT,
    KERNEL
};

struct operation {
    int kind;
    unsigned kernel;
    uint64_t device, items;
    void *host;
    size_t bytes;
    uint64_t addresses[4];
    struct gpu_pair pair;
};

#define OPERATIONS 4096
struct stream {
    unsigned count, asked;
    struct operation operations[OPERATIONS];
};

/* The stream without a name is everybody's. */
static struct stream common;

static struct stream *stream_of(void *handle)
{
    return handle != NULL ? handle : &common;
}

static struct operation *append(void *handle)
{
    struct stream *stream = stream_of(handle);
    if (stream->count == OPERATIONS)
        broken("a stream is full");
    struct operation *operation = &stream->operations[stream->count++];
    *operation = (struct operation){0};
    return operation;
}

int cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    IN_CONTEXT(1);
    *stream = calloc(1, sizeof(struct stream));
    return *stream != NULL ? 0 : TWIN_CUDA_ERROR_OUT_OF_MEMORY;
}

static uint64_t size_of(uint32_t code)
{
    return GPU_CODE_SIZE(code);
}

/* The last pair of a launch, by its table. */
static uint64_t last_pair(const struct gpu_pair *pair, const gpu_u32 *table)
{
    uint64_t blocks = 0, last = 0;
    for (unsigned i = 0; i < pair->chunks; i++) {
        if (table[2 * i] != blocks || table[2 * i + 1] > GPU_CHUNK)
            broken("chunk %u of the table begins at %u and has %u pairs", i, table[2 * i],
                   table[2 * i + 1]);
        last = blocks * GPU_BLOCK + table[2 * i + 1];
        blocks += (table[2 * i + 1] + GPU_BLOCK - 1) / GPU_BLOCK;
    }
    if (blocks != pair->blocks)
        broken("a table of %llu blocks", (unsigned long long)blocks);
    return last;
}

/* Everything a kernel reads and writes must be inside of allocations. */
static void run_kernel(const struct operation *operation)
{
    const struct gpu_pair *pair = &operation->pair;
    bool join = operation->kernel == TDC_GPU_JOIN;
    uint64_t lanes = pair->blocks * TDC_GPU_BLOCK_BYTES;
    struct gpu_pair copy = *pair;
    void *pointers[4];
    void *arguments[5] = {&pointers[0], &pointers[1], &pointers[2], &pointers[3], &copy};
    gpu_u32 *table = near(operation->addresses[join ? 0 : 2], pair->chunks * TDC_GPU_ENTRY_BYTES);
    if (join) {
        pointers[0] = table;
        pointers[1] = near(operation->addresses[1], lanes);
        pointers[2] = near(operation->addresses[2], pair->chunks * TDC_GPU_CHUNK_BYTES);
        arguments[3] = &copy;
    } else {
        uint64_t last = last_pair(pair, table);
        pointers[0] = near(operation->addresses[0], pair->n_at + last * size_of(pair->n_code));
        pointers[1] = near(operation->addresses[1], pair->b_at + last * size_of(pair->b_code));
        pointers[2] = table;
        pointers[3] = near(operation->addresses[3], lanes);
    }
    gpu_run_in_c(operation->kernel, operation->items, arguments);
    if (join && twin.behaviour == CUDA_TWIN_WRONG)
        ((gpu_u64 *)pointers[2])[0] ^= 0x100000;
}

static void execute(struct stream *stream)
{
    for (unsigned i = 0; i < stream->count; i++) {
        const struct operation *operation = &stream->operations[i];
        if (operation->kind == COPY_IN)
            memcpy(near(operation->device, operation->bytes), operation->host, operation->bytes);
        else if (operation->kind == COPY_OUT)
            memcpy(operation->host, near(operation->device, operation->bytes), operation->bytes);
        else
            run_kernel(operation);
    }
    stream->count = stream->asked = 0;
}

int cuStreamDestroy_v2(void *stream)
{
    if (((struct stream *)stream)->count != 0)
        broken("a stream is destroyed while something is under way");
    int code = enter(__func__, -1);
    free(stream);
    return code;
}

int cuStreamQuery(void *stream)
{
    IN_CONTEXT(0);
    if (stream_of(stream)->count != 0 &&
        (twin.behaviour == CUDA_TWIN_HANG || stream_of(stream)->asked++ < 2))
        return TWIN_CUDA_ERROR_NOT_READY;
    execute(stream_of(stream));
    return 0;
}

/* For tests: the backend asks, as nothing else ends in time. */
TWIN_EXPORT int cuStreamSynchronize(void *stream);
int cuStreamSynchronize(void *stream)
{
    int code = enter(__func__, 0);
    execute(stream_of(stream));
    return code;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
    IN_CONTEXT(0);
    struct operation *operation = append(stream);
    operation->kind = COPY_IN;
    operation->device = to;
    operation->host = (void *)(uintptr_t)from;
    operation->bytes = bytes;
    return 0;
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
    IN_CONTEXT(0);
    struct operation *operation = append(stream);
    operation->kind = COPY_OUT;
    operation->device = from;
    operation->host = to;
    operation->bytes = bytes;
    return 0;
}

int cuLaunchKernel(void *function, unsigned blocks, unsigned y, unsigned z, unsigned threads,
                   unsigned block_y, unsigned block_z, unsigned shared, void *stream,
                   void **arguments, void **extra)
{
    IN_CONTEXT(0);
    if (y != 1 || z != 1 || block_y != 1 || block_z != 1 || shared != 0 || extra != NULL ||
        threads != TDC_GPU_GROUP || blocks == 0)
        broken("a launch of another shape");
    struct operation *operation = append(stream);
    operation->kind = KERNEL;
    operation->kernel = (unsigned)((uintptr_t)function - 1);
    operation->items = (uint64_t)blocks * threads;
    unsigned addresses = operation->kernel == TDC_GPU_JOIN ? 3 : 4;
    for (unsigned i = 0; i < addresses; i++)
        memcpy(&operation->addresses[i], arguments[i], sizeof operation->addresses[i]);
    memcpy(&operation->pair, arguments[addresses], sizeof operation->pair);
    return 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* A clock that goes on by a quarter of a millisecond with every event. */
static double clock_milliseconds;

int cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    IN_CONTEXT(1);
    *event = calloc(1, sizeof(double));
    return *event != NULL ? 0 : TWIN_CUDA_ERROR_OUT_OF_MEMORY;
}

int cuEventDestroy_v2(void *event)
{
    int code = enter(__func__, -1);
    free(event);
    return code;
}

int cuEventRecord(void *event, void *stream)
{
    (void)stream;
    IN_CONTEXT(0);
    pthread_mutex_lock(&lock);
    *(double *)event = clock_milliseconds += 0.25;
    pthread_mutex_unlock(&lock);
    return 0;
}

int cuEventElapsedTime(float *milliseconds, void *from, void *to)
{
    IN_CONTEXT(0);
    *milliseconds = (float)(*(const double *)to - *(const double *)from);
    return 0;
}
