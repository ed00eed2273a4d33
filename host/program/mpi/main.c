/*
 * main.c - the program `tdcmp-mpi`: tdcmp for processes that MPI has started (docs/cluster.md).
 *
 * Pieces of work are counted by one number in the memory of process 0, which all add to without
 * asking it (MPI_Fetch_and_op). What is found goes to process 0, which writes. Before each step
 * that all take together they agree that nobody has failed: a process that cannot go on ends the
 * others, and none waits for it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cli/share/sharing.h"
#include "host/program/watched.h"

/* Counts of MPI are ints: what is larger is sent in pieces of this size. */
#define MOST_BYTES ((size_t)1 << 30)
/* Times that a run divides work: one per comparison, one per dump of a precheck. */
#define STAGES 65536

struct team {
    int index, count;
    MPI_Win window;
    uint64_t *counters; /* of process 0: by stage */
    bool broken;        /* someone has failed: no more steps together */
};

/* Whether all go on; false for all if it is false for one. */
static bool agree(struct team *team, bool well)
{
    int mine = well, all = 0;
    if (team->broken)
        return false;
    if (MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) != MPI_SUCCESS || all == 0)
        team->broken = true;
    return !team->broken;
}

static bool claim(void *context, uint64_t stage, uint64_t *number)
{
    struct team *team = context;
    const uint64_t one = 1;
    return stage < STAGES &&
           MPI_Fetch_and_op(&one, number, MPI_UINT64_T, 0, (MPI_Aint)stage, MPI_SUM,
                            team->window) == MPI_SUCCESS &&
           MPI_Win_flush(0, team->window) == MPI_SUCCESS;
}

static bool send_bytes(const char *bytes, size_t size)
{
    uint64_t length = size;
    bool sent = MPI_Send(&length, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD) == MPI_SUCCESS;
    for (size_t at = 0; at < size && sent; at += MOST_BYTES) {
        size_t part = size - at < MOST_BYTES ? size - at : MOST_BYTES;
        sent = MPI_Send(bytes + at, (int)part, MPI_BYTE, 0, 1, MPI_COMM_WORLD) == MPI_SUCCESS;
    }
    return sent;
}

/* The bytes of one process, or NULL; the caller's to free. */
static char *receive_bytes(int from, size_t *size)
{
    uint64_t length = 0;
    if (MPI_Recv(&length, 1, MPI_UINT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
        MPI_SUCCESS)
        return NULL;
    char *bytes = malloc((size_t)length + 1);
    bool received = bytes != NULL;
    for (size_t at = 0; at < length && received; at += MOST_BYTES) {
        size_t part = (size_t)length - at < MOST_BYTES ? (size_t)length - at : MOST_BYTES;
        received = MPI_Recv(bytes + at, (int)part, MPI_BYTE, from, 1, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE) == MPI_SUCCESS;
    }
    if (!received) {
        free(bytes);
        return NULL;
    }
    *size = (size_t)length;
    return bytes;
}

static bool gather(void *context, const void *bytes, size_t size,
                   bool (*take)(void *taker, const void *bytes, size_t size), void *taker)
{
    struct team *team = context;
    if (!agree(team, true))
        return false;
    bool well = true;
    if (team->index != 0)
        well = send_bytes(bytes, size);
    for (int from = 1; team->index == 0 && from < team->count; from++) {
        size_t length = 0;
        char *received = receive_bytes(from, &length);
        well = well && received != NULL && take(taker, received, length);
        free(received);
    }
    return agree(team, well);
}

static bool add(void *context, uint64_t *numbers, size_t count)
{
    const struct team *team = context;
    bool root = team->index == 0;
    return MPI_Reduce(root ? MPI_IN_PLACE : numbers, root ? numbers : NULL, (int)count,
                      MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD) == MPI_SUCCESS;
}

static bool open_window(struct team *team)
{
    MPI_Aint size = team->index == 0 ? (MPI_Aint)(STAGES * sizeof(uint64_t)) : 0;
    if (MPI_Win_allocate(size, sizeof(uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &team->counters,
                         &team->window) != MPI_SUCCESS)
        return false;
    if (size != 0)
        memset(team->counters, 0, (size_t)size);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Win_lock_all(0, team->window) == MPI_SUCCESS;
}

/* Commands that processes do together; all others are process 0's alone. */
static bool is_shared(int argc, char **argv)
{
    if (argc < 2 || (strcmp(argv[1], "compare") != 0 && strcmp(argv[1], "precheck") != 0))
        return false;
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0 ||
            strcmp(argv[i], "--list-apis") == 0 || strcmp(argv[i], "--explain") == 0)
            return false;
    return true;
}

/* What processes other than 0 say is shown only when process 0 has not failed by itself: it would
 * have said the same. */
static FILE *hold_messages(int *before)
{
    FILE *held = tmpfile();
    fflush(stderr);
    *before = held != NULL ? dup(STDERR_FILENO) : -1;
    if (*before < 0 || dup2(fileno(held), STDERR_FILENO) < 0)
        return NULL;
    return held;
}

static void show_messages(FILE *held, int before, bool wanted)
{
    fflush(stderr);
    if (held == NULL || dup2(before, STDERR_FILENO) < 0)
        return;
    rewind(held);
    for (int c; wanted && (c = getc(held)) != EOF;)
        putc(c, stderr);
    fclose(held);
    close(before);
}

static int run_together(struct team *team, int argc, char **argv)
{
    const struct tdc_program_team program = {
        .team = {.context = team, .claim = claim, .gather = gather, .add = add},
        .index = (unsigned)team->index,
        .count = (unsigned)team->count};
    int before = -1, root = 0;
    FILE *held = team->index != 0 ? hold_messages(&before) : NULL;
    tdc_program_team = &program;
    int code = tdc_program(argc, argv);
    tdc_program_team = NULL;
    if (!team->broken)
        agree(team, code != TDC_EXIT_TROUBLE);
    root = code;
    MPI_Bcast(&root, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (team->index != 0)
        show_messages(held, before,
                      code == TDC_EXIT_TROUBLE && (root != TDC_EXIT_TROUBLE || !team->broken));
    /* one answer for whoever started the processes: of all, or that some could not work */
    return team->broken || root == TDC_EXIT_TROUBLE ? TDC_EXIT_TROUBLE : root;
}

static int run(int argc, char **argv)
{
    struct team team = {0};
    int provided = 0, code = TDC_EXIT_TROUBLE;
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        return TDC_EXIT_TROUBLE;
    MPI_Comm_rank(MPI_COMM_WORLD, &team.index);
    MPI_Comm_size(MPI_COMM_WORLD, &team.count);
    if (!is_shared(argc, argv)) {
        code = team.index == 0 ? tdc_program(argc, argv) : TDC_EXIT_SAME;
    } else if (open_window(&team)) {
        code = run_together(&team, argc, argv);
        MPI_Win_unlock_all(team.window);
        MPI_Win_free(&team.window);
    }
    MPI_Finalize();
    return code;
}

int main(int argc, char **argv)
{
    return tdc_run_watched(run, argc, argv);
}
