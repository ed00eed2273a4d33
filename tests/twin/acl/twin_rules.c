/* twin_rules.c - settings, counting and failing calls, what must hold at the end. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/twin/acl/acl_twin.h"
#include "tests/twin/kernel_runner.h"

struct twin twin = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
_Thread_local int twin_current = -1;

void twin_broken(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("acl_twin: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    fflush(stderr);
    _exit(99);
}

/* ---- settings -------------------------------------------------------------------------------- */

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

/* "12:507015:deferred" */
static void read_failure(const char *name, uint64_t *at, int *code, bool *deferred)
{
    const char *text = getenv(name);
    char *end;
    if (text == NULL)
        return;
    *at = strtoull(text, &end, 10);
    if (*end != ':')
        twin_broken("%s=%s: expected N:CODE", name, text);
    *code = (int)strtol(end + 1, &end, 10);
    if (deferred != NULL)
        *deferred = strcmp(end, ":deferred") == 0;
}

static void read_schedule(struct twin_settings *settings)
{
    const char *text = getenv("ACL_TWIN_SCHEDULE");
    settings->random = 88172645463325252u;
    if (text == NULL || strcmp(text, "eager") == 0)
        settings->schedule = TWIN_EAGER;
    else if (strcmp(text, "lazy") == 0)
        settings->schedule = TWIN_LAZY;
    else if (strncmp(text, "random", 6) == 0)
        settings->schedule = TWIN_RANDOM;
    else
        twin_broken("ACL_TWIN_SCHEDULE=%s: expected eager, lazy or random", text);
    if (text != NULL && strncmp(text, "random:", 7) == 0)
        settings->random += strtoull(text + 7, NULL, 10) * 0x9E3779B97F4A7C15u;
}

static void read_flaw(void)
{
    static const char *const names[] = {"none", "zero", "flush", "divide", "stale", "fused"};
    const char *text = getenv("ACL_TWIN_FLAW");
    for (unsigned i = 0; text != NULL && i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) != 0)
            continue;
        tdc_twin_spoil((enum tdc_twin_flaw)i);
        return;
    }
    if (text != NULL)
        twin_broken("ACL_TWIN_FLAW=%s: no such flaw", text);
}

static void read_settings(void)
{
    struct twin_settings *settings = &twin.settings;
    const char *soc = getenv("ACL_TWIN_SOC");
    settings->devices = (unsigned)number_of("ACL_TWIN_DEVICES", 1);
    settings->cores = (unsigned)number_of("ACL_TWIN_CORES", 40);
    settings->memory = number_of("ACL_TWIN_MEMORY", (uint64_t)256 << 20);
    snprintf(settings->soc, sizeof settings->soc, "%s", soc != NULL ? soc : "Ascend910B3");
    read_schedule(settings);
    read_failure("ACL_TWIN_FAIL", &settings->fail_at, &settings->fail_code,
                 &settings->fail_deferred);
    read_failure("ACL_TWIN_LOST", &settings->lost_at, &settings->lost_code, NULL);
    settings->hang_at = number_of("ACL_TWIN_HANG", 0);
    settings->poison_at = number_of("ACL_TWIN_POISON", 0);
    settings->wrong_at = number_of("ACL_TWIN_WRONG", 0);
    read_flaw();
    settings->stuck = number_of("ACL_TWIN_STUCK", 0) != 0;
    settings->pinned_only = number_of("ACL_TWIN_PINNED", 0) != 0;
    settings->stub = number_of("ACL_TWIN_STUB", 0) != 0;
    const char *log = getenv("ACL_TWIN_LOG");
    if (log != NULL && (settings->log = fopen(log, "w")) == NULL)
        twin_broken("cannot write %s", log);
    if (settings->devices > TWIN_MOST_DEVICES)
        twin_broken("at most %d devices", TWIN_MOST_DEVICES);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void lose(void)
{
    twin.lost = true;
    for (struct twin_stream *stream = twin.streams; stream != NULL; stream = stream->next)
        stream->dead = stream->dead != 0 ? stream->dead : twin.settings.lost_code;
}

int twin_enter(const char *function, bool asynchronous, int *deferred)
{
    pthread_mutex_lock(&twin.lock);
    struct twin_settings *settings = &twin.settings;
    if (!twin.read) {
        twin.read = true;
        read_settings();
    }
    if (settings->stub)
        return TWIN_STUB_MODE;
    if (twin.finalised)
        twin_broken("%s after aclFinalize", function);
    twin.calls++;
    if (settings->log != NULL) {
        fprintf(settings->log, "%s\n", function);
        fflush(settings->log);
    }
    if (!twin.initialised && strcmp(function, "aclInit") != 0)
        twin_broken("%s before aclInit", function);
    if (settings->schedule == TWIN_RANDOM)
        twin_run_something();
    if (twin.calls == settings->lost_at)
        lose();
    if (twin.lost)
        return settings->lost_code;
    if (twin.calls != settings->fail_at)
        return 0;
    if (!settings->fail_deferred)
        return settings->fail_code;
    if (asynchronous && deferred != NULL)
        *deferred = settings->fail_code;
    return 0;
}

int twin_leave(int code)
{
    pthread_mutex_unlock(&twin.lock);
    return code;
}

/* ---- leaks ----------------------------------------------------------------------------------- */

void twin_check_leaks(int device)
{
    for (const struct twin_block *block = twin.blocks; block != NULL; block = block->next)
        if (!block->abandoned && (device < 0 || block->device == device))
            twin_broken("leak: %zu bytes of %s memory", block->size,
                        block->device < 0 ? "pinned" : "device");
    for (const struct twin_stream *stream = twin.streams; stream != NULL; stream = stream->next)
        if (device < 0 || stream->device == device)
            twin_broken("leak: a stream of device %d", stream->device);
    for (const struct twin_event *event = twin.events; event != NULL; event = event->next)
        if (!event->abandoned && (device < 0 || event->device == device))
            twin_broken("leak: an event of device %d", event->device);
    for (const struct twin_binary *at = twin.binaries; at != NULL; at = at->next)
        if (device < 0 && !at->abandoned)
            twin_broken("leak: the kernel %s", at->name);
    for (int i = 0; device < 0 && i < TWIN_MOST_DEVICES; i++)
        if (twin.references[i] != 0)
            twin_broken("leak: device %d was set %u times more than reset", i, twin.references[i]);
}

/* A process that ends without aclFinalize has forgotten it, unless a kernel hangs: the twin is for
 * tests of whole runs. */
static void __attribute__((destructor)) at_end(void)
{
    for (const struct twin_stream *stream = twin.streams; stream != NULL; stream = stream->next)
        if (stream->hung)
            return;
    if (twin.initialised && !twin.finalised)
        twin_broken("the process ends without aclFinalize");
}
