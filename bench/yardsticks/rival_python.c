#include "bench/yardsticks/rival_python.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/base/error.h"

static char script[] = "import json, sys, time\n"
                       "start = time.perf_counter()\n"
                       "for path in sys.argv[1:]:\n"
                       "    with open(path, encoding='utf-8') as file:\n"
                       "        json.load(file)\n"
                       "print(time.perf_counter() - start)\n";

/* What it printed, terminated; false when it could not be run or failed. */
static bool run_python(char *const *arguments, char *output, size_t size)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child;
    int failure = posix_spawnp(&child, "python3", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got = 1; failure == 0 && got > 0 && used < size - 1;) {
        got = read(ends[0], output + used, size - 1 - used);
        if (got > 0)
            used += (size_t)got;
        else if (got < 0 && errno == EINTR)
            got = 1;
    }
    output[used] = '\0';
    close(ends[0]);
    int status = -1;
    if (failure == 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
    return failure == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool tdc_python_there(void)
{
    char name[] = "python3", option[] = "-c", nothing[] = "import json", output[8];
    char *arguments[] = {name, option, nothing, NULL};
    return run_python(arguments, output, sizeof output);
}

tdc_status tdc_python_load(void *context, double laps[TDC_LAPS], struct tdc_error *error)
{
    const struct tdc_python_rival *rival = context;
    char name[] = "python3", option[] = "-c", output[64];
    union {
        const char *given;
        char *taken; /* posix_spawn changes no argument */
    } npu = {rival->npu}, bench = {rival->bench};
    char *arguments[] = {name, option, script, npu.taken, bench.taken, NULL};
    if (!run_python(arguments, output, sizeof output))
        return tdc_fail(error, TDC_ERR_SYSTEM, "python3 could not load %s and %s", rival->npu,
                        rival->bench);
    laps[0] = strtod(output, NULL);
    return TDC_OK;
}
