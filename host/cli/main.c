/* main.c - which command, and what to do when interrupted: all of the program but `main`. */
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
#include "host/terminal/nearest.h"
#include "host/terminal/parse.h"

static const char usage[] =
    "tdcmp - compare two dumps of a neural network\n"
    "\n"
    "usage: tdcmp COMMAND ...\n"
    "\n"
    "  compare TEST REF    compare two dumps: files, ranks, steps or dump roots\n"
    "  show RESULT CALL    one call of a comparison: stack, tensors, worst elements, histogram\n"
    "  precheck DUMP       judge each operator of one dump by a float64 reference\n"
    "  trace TEST REF      with which call differences begin, and which side is off\n"
    "  diff A B            compare two checkpoints, tensor files or folders of them by name\n"
    "  match TEST REF      which row faces which, and why; --suggest proposes layer mappings\n"
    "  inspect DUMP        is a dump sane: files, dtypes, shapes, NaN, sizes\n"
    "  ranks STEP          are replicated tensors equal on all ranks, and which deviates\n"
    "  overflow STEP       which call made the first NaN or infinity, over all ranks\n"
    "  gradients TEST REF  how far two runs agree about the signs of their gradients\n"
    "  kernels TEST REF    the tensors of single kernels, file by file\n"
    "  merge OUT           join the parts of shards; --config: metrics of ranks side by side\n"
    "  config_check REF TEST  compare two packed configurations or two checkpoints\n"
    "  align               the rules for runs laid out differently that the program carries\n"
    "  convert DUMP        GE dump files to npy\n"
    "  devices             which devices there are, or why there is none\n"
    "  bench               how fast tdcmp is on this machine\n"
    "  help COMMAND        options and an example of a command; COMMAND --help too\n"
    "  -V, --version       version of program and library\n"
    "\n"
    "TEST is the run under test, REF the reference.\n"
    "\n"
    "example: tdcmp compare test/step0 ref/step0 -o result\n"
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
    "and that of msit, for dumps of TorchAir:\n"
    "  tdcmp llm compare --my-path GE --golden-path FX [-o DIR] [-r RANK]\n";

/* The commands in words of this program. */
static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"compare", tdc_command_compare},
    {"show", tdc_command_show},
    {"precheck", tdc_command_precheck},
    {"trace", tdc_command_trace},
    {"match", tdc_command_match},
    {"diff", tdc_command_diff},
    {"inspect", tdc_command_inspect},
    {"ranks", tdc_command_ranks},
    {"convert", tdc_command_convert},
    {"align", tdc_command_align},
    {"llm", tdc_command_llm},
    {"overflow", tdc_command_overflow},
    {"gradients", tdc_command_gradients},
    {"kernels", tdc_command_kernels},
    {"merge", tdc_command_merge},
    {"config_check", tdc_command_config_check},
    {"devices", tdc_command_devices},
    {"bench", tdc_command_bench},
};
#define COMMANDS (sizeof commands / sizeof *commands)

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
    /* storage may keep the process, which must not keep who reads its output */
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
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

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[COMMANDS + 1] = {[COMMANDS] = "help"};
    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    const char *nearest = tdc_nearest(name, names, COMMANDS + 1);
    tdc_complain("there is no command '%s'%s%s%s (tdcmp --help lists them)", name,
                 nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                 nearest != NULL ? "'?" : "");
    return TDC_EXIT_TROUBLE;
}

static int run_command(int argc, char **argv)
{
    if (strcmp(argv[1], "-f") == 0 || strcmp(argv[1], "--framework") == 0)
        return tdc_msprobe_form(argc, argv);
    const struct tdc_word26 *word = tdc_word26_find(argc - 1, argv + 1);
    if (word != NULL)
        return word->run(argc - 1, argv + 1);
    const struct command *command = find_command(argv[1]);
    return command != NULL ? command->run(argc - 1, argv + 1) : unknown_command(argv[1]);
}

/* `help`, `help compare`, `help bench make`. */
static int print_help(int argc, char **argv)
{
    static char option[] = "--help";
    if (argc < 3) {
        fputs(usage, stdout);
        return TDC_EXIT_SAME;
    }
    const struct command *command = find_command(argv[2]);
    if (command == NULL)
        return unknown_command(argv[2]);
    char *words[] = {argv[2], argc > 3 ? argv[3] : option, argc > 3 ? option : NULL, NULL};
    return command->run(argc > 3 ? 3 : 2, words);
}

void tdc_print_version(void)
{
    printf("tdcmp %s (%s kernels)\n", tdc_version(), tdc_cpu_name());
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        fputs(usage, stderr);
        return TDC_EXIT_TROUBLE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return print_help(argc, argv);
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        tdc_print_version();
        return TDC_EXIT_SAME;
    }
    watch_runtime();
    int code = run_command(argc, argv);
    tdc_devices_end();
    returned = true;
    return code;
}

/* How long storage is waited for, before anything is looked at; its command takes the option. */
static bool take_patience(int argc, char **argv)
{
    static const char name[] = "--io-timeout";
    const char *given = getenv("TDC_IO_TIMEOUT");
    double seconds;
    if (given != NULL && !tdc_take_io_timeout(given))
        return false;
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0 && tdc_parse_real(argv[i + 1], &seconds) && seconds >= 0)
            tdc_io_timeout(seconds);
    return true;
}

/* Commands look at the paths they are given, and at what is near them: each has to answer. */
static bool paths_answer(int argc, char **argv)
{
    struct tdc_error error;
    for (int i = 1; i < argc && tdc_io_remote(); i++) {
        const char *equals = argv[i][0] == '-' ? strchr(argv[i], '=') : NULL;
        if (tdc_io_probe(equals != NULL ? equals + 1 : argv[i], &error) != TDC_OK) {
            tdc_complain("%s", error.message);
            return false;
        }
    }
    return true;
}

int tdc_program(int argc, char **argv)
{
    if (!open_standard_files())
        return TDC_EXIT_TROUBLE;
    watch_signals();
    if (!take_patience(argc, argv) || !paths_answer(argc, argv))
        return TDC_EXIT_TROUBLE;
    return check_output(run(argc, argv));
}
