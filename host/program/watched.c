#include "host/program/watched.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/terminal/message.h"
#include "io/platform/platform.h"
#include "tdcmp.h"

/* Signals that mean the program. */
static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};
#define PASSED_ON (sizeof passed_on / sizeof *passed_on)

static volatile sig_atomic_t child, caught;

static void pass_on(int number)
{
    int kept = errno;
    if (number != SIGCONT && number != SIGUSR1 && number != SIGUSR2)
        caught = number;
    kill((pid_t)child, number);
    errno = kept;
}

/* What the child says at its end. */
struct word {
    unsigned char code;
    unsigned char held; /* it may stay for ever */
};

_Noreturn static void be_child(int (*program)(int argc, char **argv), int argc, char **argv,
                               pid_t parent, const int pipes[2])
{
    close(pipes[0]);
    tdc_die_with_parent();
    if (getppid() != parent)
        _exit(TDC_EXIT_TROUBLE);
    struct word word = {.code = (unsigned char)program(argc, argv)};
    word.held = tdc_io_held() != 0;
    if (word.held != 0) {
        /* a process that stays would keep those waiting who read what it printed */
        fflush(NULL);
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
            close(fd);
    }
    ssize_t told = write(pipes[1], &word, sizeof word);
    (void)told; /* without it the exit code of the process is looked at */
    exit(word.code);
}

/* Whether it has ended within the time. */
static bool ended(int *status, int milliseconds)
{
    const struct timespec step = {.tv_nsec = 5000000};
    for (int passed = 0;; passed += 5) {
        pid_t found = waitpid((pid_t)child, status, WNOHANG);
        if (found == child)
            return true;
        if (passed >= milliseconds || (found < 0 && errno != EINTR))
            return false;
        nanosleep(&step, NULL);
    }
}

static int code_of(int status)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    int number = WTERMSIG(status);
    signal(number, SIG_DFL);
    raise(number);
    return 128 + number;
}

static int be_parent(int from)
{
    enum {
        TO_END = 2000 /* milliseconds for a process that has nothing left to do */
    };
    struct word word;
    ssize_t got;
    int status;
    do
        got = read(from, &word, sizeof word);
    while (got < 0 && errno == EINTR && caught == 0);
    bool told = got == (ssize_t)sizeof word;
    if ((told && word.held != 0) || caught != 0) {
        if (ended(&status, TO_END))
            return code_of(status);
        return told ? word.code : 128 + caught;
    }
    while (waitpid((pid_t)child, &status, 0) < 0)
        if (errno != EINTR)
            return TDC_EXIT_TROUBLE;
    return code_of(status);
}

int tdc_run_watched(int (*program)(int argc, char **argv), int argc, char **argv)
{
    int pipes[2];
    if (!tdc_io_remote() || pipe(pipes) != 0)
        return program(argc, argv);
    if (pipes[0] <= STDERR_FILENO || pipes[1] <= STDERR_FILENO) { /* one of these was closed */
        close(pipes[0]);
        close(pipes[1]);
        return program(argc, argv);
    }
    pid_t parent = getpid();
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* none is lost before the child is known */
    child = fork();
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        be_child(program, argc, argv, parent, pipes);
    }
    close(pipes[1]);
    if (child < 0) {
        close(pipes[0]);
        sigprocmask(SIG_SETMASK, &before, NULL);
        return program(argc, argv);
    }
    struct sigaction action = {.sa_handler = pass_on};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < PASSED_ON; i++) {
        struct sigaction had;
        if (sigaction(passed_on[i], NULL, &had) == 0 && had.sa_handler != SIG_IGN)
            sigaction(passed_on[i], &action, NULL);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return be_parent(pipes[0]);
}
