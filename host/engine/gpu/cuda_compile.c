/* cuda_compile.c - the kernels compiled at run time, where the build had no nvcc or its PTX is too
 * new for the driver. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/engine/gpu/cuda_table.h"
#include "io/base/error.h"
#include "kernels/gpu/pair_gpu.h"

static struct tdc_runtime_library library;
static struct tdc_nvrtc nvrtc;
static pthread_once_t loaded = PTHREAD_ONCE_INIT;

static void load(void)
{
    static const char *const places[] = {"libnvrtc.so.13",
                                         "libnvrtc.so.12",
                                         "libnvrtc.so.11.2",
                                         "libnvrtc.so",
                                         "/usr/local/cuda/lib64/libnvrtc.so",
                                         NULL};
    if (!tdc_runtime_open(&library, "TDC_NVRTC_LIBRARY", places))
        return;
#define CUDA_FN(result, name, symbol, arguments)
#define NVRTC_FN(name, arguments) tdc_runtime_resolve(&library, true, #name, &nvrtc.name);
#define CUDA_CONST(name, value)
#include "host/engine/gpu/cuda_functions.h"
#undef CUDA_FN
#undef NVRTC_FN
#undef CUDA_CONST
}

static char *whole_text(void)
{
    size_t length = strlen(tdc_gpu_dialect_cuda), at = length;
    for (unsigned i = 0; i < TDC_GPU_TEXTS; i++)
        length += strlen(tdc_gpu_texts[i]);
    char *text = malloc(length + 1);
    if (text == NULL)
        return NULL;
    memcpy(text, tdc_gpu_dialect_cuda, at);
    for (unsigned i = 0; i < TDC_GPU_TEXTS; i++) {
        size_t part = strlen(tdc_gpu_texts[i]);
        memcpy(text + at, tdc_gpu_texts[i], part);
        at += part;
    }
    text[at] = '\0';
    return text;
}

/* The first line of what the compiler said. */
static void add_log(void *program, char *log, size_t size)
{
    size_t length = 0;
    log[0] = '\0';
    if (nvrtc.nvrtcGetProgramLogSize(program, &length) != 0 || length == 0 || length > 1u << 20)
        return;
    char *whole = malloc(length + 1);
    if (whole == NULL)
        return;
    whole[0] = whole[length] = '\0';
    if (nvrtc.nvrtcGetProgramLog(program, whole) == 0)
        snprintf(log, size, " (%.300s)", whole);
    log[strcspn(log, "\n")] = '\0';
    free(whole);
}

static char *compile(void *program, int architecture, struct tdc_error *error)
{
    char target[64], log[400];
    snprintf(target, sizeof target, "--gpu-architecture=compute_%d", architecture);
    const char *const options[] = {target, "--fmad=false"};
    int code = nvrtc.nvrtcCompileProgram(program, 2, options);
    if (code != 0) {
        add_log(program, log, sizeof log);
        tdc_fail(error, TDC_ERR_DEVICE, "NVRTC: nvrtcCompileProgram: %d%s", code, log);
        return NULL;
    }
    size_t length = 0;
    code = nvrtc.nvrtcGetPTXSize(program, &length);
    char *text = code == 0 ? malloc(length + 1) : NULL;
    if (text != NULL)
        code = nvrtc.nvrtcGetPTX(program, text);
    if (text == NULL || code != 0) {
        tdc_fail(error, TDC_ERR_DEVICE, "NVRTC: its result could not be had: %d", code);
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

char *tdc_cuda_compile(int architecture, struct tdc_error *error)
{
    pthread_once(&loaded, load);
    if (library.state != TDC_RUNTIME_USABLE) {
        tdc_fail(error, TDC_ERR_DEVICE, "NVRTC: %s", library.reason);
        return NULL;
    }
    char *source = whole_text(), *made = NULL;
    void *program;
    int code = source == NULL
                   ? -1
                   : nvrtc.nvrtcCreateProgram(&program, source, "pair_gpu.cu", 0, NULL, NULL);
    if (code == 0) {
        made = compile(program, architecture, error);
        nvrtc.nvrtcDestroyProgram(&program);
    } else {
        tdc_fail(error, TDC_ERR_DEVICE, "NVRTC: nvrtcCreateProgram: %d", code);
    }
    free(source);
    return made;
}
