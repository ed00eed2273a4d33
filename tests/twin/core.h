/*
 * core.h - one vector core of the twin: its UB, its queues, and the rules it enforces.
 *
 * Every call of the twin's kernel_operator.h becomes an instruction with the bytes it reads and
 * writes. TDC_TWIN_CHECKED executes it at once, after checking bounds, alignment, initialisation,
 * overlap and order. The other schedules note it down, and finish() executes all of them in an
 * order of its own that flags and barriers allow.
 *
 * Order: each queue has a vector clock of what is certainly complete before its next instruction. A
 * barrier tells a queue about itself, a flag carries the setter's clock to the waiter. For each 32
 * bytes of UB the last write and the last read per queue are remembered; an access whose
 * conflicting predecessor is not in its clock is an error, also between two vector instructions.
 */
#ifndef TDC_TESTS_TWIN_CORE_H
#define TDC_TESTS_TWIN_CORE_H

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/twin/kernel_runner.h"

namespace tdc_twin
{

constexpr uint32_t UB_BYTES = 196608;
constexpr uint32_t UB_USABLE = 188160;
/* Select in the modes with a tensor or scalar overwrites the UB from here on. */
constexpr uint32_t UB_SCRATCH = 188416;
constexpr uint32_t UB_BLOCK = 32;
constexpr uint32_t MOST_BUFFERS = 64;
constexpr uint32_t EVENT_IDS = 8;

enum queue_id {
    QUEUE_S,
    QUEUE_V,
    QUEUE_MTE2,
    QUEUE_MTE3,
    QUEUES
};

/* clock[q] = instructions of queue q that are certainly complete */
using vector_clock = std::array<uint32_t, QUEUES>;

struct violation {
    std::string text;
};

/* Bytes of UB an instruction touches. `region` is the buffer the tensor was cut from. */
struct operand {
    const char *name;
    int region;
    uint32_t at, bytes;
    uint32_t alignment;
    uint32_t element; /* bytes; a destination may lie on a source of the same element size */
    bool written;
};

struct instruction {
    const char *name;
    queue_id queue;
    uint64_t lanes;
    std::vector<operand> operands;
    std::function<void()> run;
    bool uses_mask_register;
};

struct global_argument {
    uint8_t *base;
    uint64_t bytes;
    bool writable;
};

struct global_write {
    uint64_t at, bytes;
};

struct flag {
    queue_id from, to;
};

enum buffer_state {
    BUFFER_FREE,
    BUFFER_ALLOCATED,
    BUFFER_ENQUEUED,
    BUFFER_DEQUEUED
};

struct queue_buffer {
    int region;
    buffer_state state;
    bool freed_before; /* its flag of release is set */
    uint32_t event;    /* id of both flags */
};

/* The state of a TQue; the core owns it so that it can be checked at the end. */
struct tensor_queue {
    flag filled, released;
    uint32_t depth;
    std::vector<queue_buffer> buffers;
    std::vector<size_t> waiting; /* indices into buffers, oldest first */
    size_t next;                 /* buffers are handed out in turn */
};

class core
{
  public:
    core(const tdc_twin_settings &settings, const char *kernel, uint32_t block, uint32_t blocks,
         const std::vector<global_argument> &arguments);

    [[noreturn]] void complain(const std::string &what) const;

    void issue(instruction &&what);
    void barrier(int queue); /* QUEUES: all */
    bool next_barrier();     /* counts it; false: it is to be dropped */
    void set_flag(flag which, uint32_t id);
    void wait_flag(flag which, uint32_t id);
    uint32_t take_event(flag which);
    void give_event(flag which, uint32_t id);

    int add_region(uint32_t bytes);
    /* The buffer that a byte of UB belongs to, -1: none. An access must not leave it. */
    int region_of(uint32_t at) const;
    void check_region(uint32_t at, uint32_t bytes) const;
    std::vector<uint8_t> copy_of_ub() const
    {
        return memory;
    }
    uint32_t region_start(int region) const;
    uint32_t region_bytes(int region) const;

    int add_queue(flag filled, flag released, uint32_t depth, uint32_t buffers, uint32_t bytes);
    int allocate(int queue);
    void enqueue(int queue, int region, uint32_t at);
    int dequeue(int queue);
    void release(int queue, int region, uint32_t at);
    const tensor_queue &queue_of(int queue) const;

    /* The bytes must lie in one argument, which must be writable for a write. */
    void check_global(const char *name, const void *address, uint64_t bytes, bool written,
                      uint32_t alignment = UB_BLOCK);
    /* These bytes of UB hold nothing any more. */
    void forget(uint32_t at, uint32_t bytes);
    /* Executes what is noted down: somebody wants to see a value. */
    void run_pending();

    void open_pipe();
    void finish();

    float divide(float x, float y);
    /* How often something was copied into a place of UB before: counts the asking. */
    unsigned copies_into(const void *place);
    uint8_t *ub(uint32_t at)
    {
        return memory.data() + at;
    }

    const uint32_t block, blocks;
    tdc_twin_report report = {};
    std::vector<global_write> writes; /* bytes from the start of the records */

  private:
    struct cell {
        uint32_t write_index;
        queue_id write_queue;
        vector_clock reads;
    };
    struct flag_state {
        bool set;
        vector_clock clock;
    };
    struct pending {
        queue_id queue;
        vector_clock after;
        std::function<void()> run;
        bool done;
    };
    struct ub_region {
        uint32_t at, bytes;
    };

    void check_operand(const instruction &what, const operand &o) const;
    void check_overlap(const instruction &what, const operand &to, const operand &from) const;
    void check_order(const instruction &what, const char *name, const cell &c, bool written) const;
    void order(const instruction &what, uint32_t index);
    bool may_run(const pending &p, const vector_clock &complete) const;
    std::vector<size_t> runnable(const std::vector<size_t> &of_queue,
                                 const vector_clock &complete) const;
    uint64_t random();
    flag_state &state_of(flag which, uint32_t id);

    const tdc_twin_settings settings;
    const char *const kernel;
    const std::vector<global_argument> arguments;
    std::vector<uint8_t> memory, initialised;
    std::vector<cell> cells;
    cell mask_register;
    std::vector<ub_region> regions;
    std::vector<tensor_queue> queues;
    std::array<vector_clock, QUEUES> known;
    vector_clock issued;
    std::array<flag_state, QUEUES * QUEUES * EVENT_IDS> flags;
    std::array<uint32_t, QUEUES * QUEUES> events_taken;
    std::vector<pending> later;
    vector_clock executed = {}; /* instructions before those of `later` */
    const char *current = "";
    uint64_t moves_out = 0, random_state;
    uint32_t allocated = 0;
    std::map<const void *, unsigned> copies;
    /* of settings.unordered_wait: what the next instruction of `owing` must know all the same */
    vector_clock owed = {};
    queue_id owing = QUEUES;
    bool pipe_open = false, pipe_used = false, tensors_used = false;
};

/* The core that runs on this thread. */
core &here();
void set_here(core *c);

} // namespace tdc_twin

#endif
