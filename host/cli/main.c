/* main.c - which command, and what to do when interrupted. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/commands/bench_command.h"
#include "host/cli/msprobe26/words26.h"
#include "host/cli/shared/command.h"

static const char usage[] =
    "tdcmp - compare two dumps of a neural network\n"
    "\n"
    "usage: tdcmp COMMAND ...\n"
    "\n"
    "  compare NPU BENCH   compare two dumps: files, ranks, steps or dump roots\n"
    "  precheck DUMP       judge each operator of one dump by a float64 reference\n"
    "  trace NPU BENCH     with which call differences begin, and which side is off\n"
    "  gradients NPU BENCH how far two runs agree about the signs of their gradients\n"
    "  merge DIR           metrics of all ranks' results side by side\n"
    "  overflow STEP       which call made the first NaN or infinity, over all ranks\n"
    "  config_check A B    compare two packed configurations or two checkpoints\n"
    "  match NPU BENCH     which row faces which, and why; --suggest proposes layer mappings\n"
    "  inspect DUMP        is a dump sane: files, dtypes, shapes, NaN, sizes\n"
    "  ranks STEP          are replicated tensors equal on all ranks, and which deviates\n"
    "  convert DUMP        GE dump files to npy\n"
    "  devices             which devices there are, or why there is none\n"
    "  bench A B           the speed of comparing two dumps of yours, warm and cold\n"
    "  bench compare       speed of a comparison beside a bare read, on synthetic dumps\n"
    "  bench kernels       the arithmetic alone, each CPU variant\n"
    "  bench io            how fast files are read\n"
    "  bench match         how the time to match names grows with the records\n"
    "  bench make          writes a synthetic dump\n"
    "  bench device        how fast a card compares, hop by hop\n"
    "  bench reference     the float64 reference of operators\n"
    "  --version, -V       version of program and library\n"
    "  COMMAND --help      options and an example of a command\n"
    "\n"
    "msprobe's form, for scripts that call msprobe today:\n"
    "  tdcmp -f pytorch compare -i compare.json -o output [-s] [-c] [-f] [-hl] [-dm FILE]\n"
    "  tdcmp -f mindspore compare ... [-cm [FILE]] [-am [FILE]] [-lm [FILE]]\n"
    "  tdcmp -f mindspore run_ut -api_info dump.json [-o DIR] [-csv_path FILE] "
    "[-save_error_data]\n"
    "  tdcmp -f mindspore multi_run_ut -api_info dump.json ... [-d ID ...]\n"
    "  tdcmp -f pytorch run_ut -api_info dump.json ... [-f] [-config FILE]\n"
    "and that of msprobe 26:\n"
    "  tdcmp compare -tp TARGET -gp GOLDEN [-o DIR] [--xlsx] [-fm] [-cm [FILE]] [-dm FILE] ...\n"
    "\n"
    "example: tdcmp compare npu_dump/step0 gpu_dump/step0 -o result\n";

/* A closed descriptor 0, 1 or 2 would be the first file opened: messages would go into results. */
static bool open_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) != fd)
            return false;
    return true;
}

/* What a command printed may have met a full disk. */
static int check_output(int code)
{
    bool failed = ferror(stdout) != 0;
    int number = 0;
    while (fflush(stdout) != 0) {
        number = errno;
        failed |= number != EINTR;
        if (failed)
            break;
        clearerr(stdout);
    }
    if (!failed)
        return code;
    tdc_complain("the standard output cannot be written%s%s", number != 0 ? ": " : "",
                 number != 0 ? strerror(number) : "");
    return TDC_EXIT_TROUBLE;
}

/* Results get their names only when complete: removing the temporaries leaves nothing broken. */
static void interrupted(int number)
{
    if (isatty(STDERR_FILENO)) {
        static const char erase[] = "\r\x1b[K";
        ssize_t ignored = write(STDERR_FILENO, erase, sizeof erase - 1);
        (void)ignored;
    }
    tdc_out_files_end();
    _exit(128 + number);
}

static void watch_signals(void)
{
    struct sigaction action = {.sa_handler = interrupted};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGPIPE, &action, NULL);
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &action, NULL);
    /* a full disk or a file size limit is an error code of write, not a death */
    signal(SIGXFSZ, SIG_IGN);
}

/*
 * OpenMP's runtimes end the process when they get no thread or no memory, the one of GCC by
 * exit(1), which would mean differences, the one of LLVM by abort(). The exit code says what
 * happened, and no temporary stays.
 */
static bool returned; /* from the command */
static atomic_flag leaving = ATOMIC_FLAG_INIT;

/* Several threads may be out of memory at once, and each that calls exit takes the next handler:
 * as many are registered as there can be threads. The first leaves, the others wait for it. */
#define EXITING_THREADS 1024

static void leave_in_trouble(void)
{
    static const char text[] = "tdcmp: ended by the OpenMP runtime\n";
    if (returned)
        return;
    while (atomic_flag_test_and_set(&leaving))
        pause();
    tdc_out_files_remove();
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    _exit(TDC_EXIT_TROUBLE);
}

#ifdef __clang__
static void aborted(int number)
{
    (void)number;
    leave_in_trouble();
}
#endif

static void watch_runtime(void)
{
    for (int i = 0; i < EXITING_THREADS && atexit(leave_in_trouble) == 0; i++)
        ;
#ifdef __clang__
    signal(SIGABRT, aborted);
#endif
}

static int run_command(int argc, char **argv)
{
    if (strcmp(argv[1], "-f") == 0 || strcmp(argv[1], "--framework") == 0)
        return tdc_msprobe_form(argc, argv);
    const struct tdc_word26 *word = tdc_word26_find(argc - 1, argv + 1);
    if (word != NULL)
        return word->run(argc - 1, argv + 1);
    if (strcmp(argv[1], "compare") == 0)
        return tdc_command_compare(argc - 1, argv + 1);
    if (strcmp(argv[1], "precheck") == 0)
        return tdc_command_precheck(argc - 1, argv + 1);
    if (strcmp(argv[1], "gradients") == 0)
        return tdc_command_gradients(argc - 1, argv + 1);
    if (strcmp(argv[1], "trace") == 0)
        return tdc_command_trace(argc - 1, argv + 1);
    if (strcmp(argv[1], "merge") == 0)
        return tdc_command_merge(argc - 1, argv + 1);
    if (strcmp(argv[1], "overflow") == 0)
        return tdc_command_overflow(argc - 1, argv + 1);
    if (strcmp(argv[1], "inspect") == 0)
        return tdc_command_inspect(argc - 1, argv + 1);
    if (strcmp(argv[1], "ranks") == 0)
        return tdc_command_ranks(argc - 1, argv + 1);
    if (strcmp(argv[1], "convert") == 0)
        return tdc_command_convert(argc - 1, argv + 1);
    if (strcmp(argv[1], "match") == 0)
        return tdc_command_match(argc - 1, argv + 1);
    if (strcmp(argv[1], "devices") == 0)
        return tdc_command_devices(argc - 1, argv + 1);
    if (strcmp(argv[1], "bench") == 0)
        return tdc_command_bench(argc - 1, argv + 1);
    tdc_complain("unknown command '%s' (tdcmp --help lists them)", argv[1]);
    return TDC_EXIT_TROUBLE;
}

static int run(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        fputs(usage, argc < 2 ? stderr : stdout);
        return argc < 2 ? TDC_EXIT_TROUBLE : TDC_EXIT_SAME;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("tdcmp %s (%s kernels)\n", tdc_version(), tdc_cpu_name());
        return TDC_EXIT_SAME;
    }
    watch_runtime();
    int code = run_command(argc, argv);
    tdc_devices_end();
    returned = true;
    return code;
}

int main(int argc, char **argv)
{
    if (!open_standard_files())
        return TDC_EXIT_TROUBLE;
    watch_signals();
    return check_output(run(argc, argv));
}
