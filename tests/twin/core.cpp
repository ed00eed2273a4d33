#include "tests/twin/core.h"

#include "tests/twin/flawed_arithmetic.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace tdc_twin
{

static thread_local core *running = nullptr;

core &here()
{
    return *running;
}

void set_here(core *c)
{
    running = c;
}

core::core(const tdc_twin_settings &settings_, const char *kernel_, uint32_t block_,
           uint32_t blocks_, const std::vector<global_argument> &arguments_)
    : block(block_), blocks(blocks_), settings(settings_), kernel(kernel_), arguments(arguments_),
      memory(UB_BYTES, 0xfb), initialised(UB_BYTES, 0), cells(UB_BYTES / UB_BLOCK), mask_register(),
      known(), issued(), flags(), events_taken(),
      random_state((settings_.seed * 0x9e3779b97f4a7c15u + block_) | 1)
{
}

void core::complain(const std::string &what) const
{
    throw violation{std::string(kernel) + ", block " + std::to_string(block) + ", record " +
                    std::to_string(moves_out) + " of it, instruction " +
                    std::to_string(report.instructions) + " (" + current + "): " + what};
}

uint64_t core::random()
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state >> 11;
}

/* ---- instructions -------------------------------------------------------------------------- */

void core::check_operand(const instruction &, const operand &o) const
{
    if (o.region < 0 || static_cast<size_t>(o.region) >= regions.size())
        complain(std::string(o.name) + " is not a tensor in UB");
    const ub_region &r = regions[static_cast<size_t>(o.region)];
    if (o.at < r.at || o.at > r.at + r.bytes || o.bytes > r.at + r.bytes - o.at)
        complain(std::string(o.name) + " leaves its buffer: " + std::to_string(o.bytes) +
                 " bytes at " + std::to_string(o.at - r.at) + " of " + std::to_string(r.bytes));
    if (o.at % o.alignment != 0)
        complain(std::string(o.name) + " is not aligned to " + std::to_string(o.alignment) +
                 " bytes");
    if (!o.written && o.bytes > 0 && memchr(&initialised[o.at], 0, o.bytes) != nullptr)
        complain(std::string(o.name) + " was never written");
}

void core::check_overlap(const instruction &, const operand &to, const operand &from) const
{
    if (to.at >= from.at + from.bytes || from.at >= to.at + to.bytes)
        return;
    if (to.at != from.at || to.element != from.element)
        complain(std::string(to.name) + " lies partly on " + from.name);
}

/* The conflicting accesses of others must be complete; those of `what` itself are not noted yet. */
void core::check_order(const instruction &what, const char *name, const cell &c, bool written) const
{
    static const char *const names[QUEUES] = {"S", "V", "MTE2", "MTE3"};
    const vector_clock &sure = known[what.queue];
    int other = c.write_index > sure[c.write_queue] ? c.write_queue : -1;
    for (size_t q = 0; written && q < QUEUES; q++)
        if (c.reads[q] > sure[q])
            other = static_cast<int>(q);
    if (other >= 0)
        complain(std::string(name) + " is " + (written ? "written" : "read") +
                 " while an instruction of " + names[other] + " may still use it");
}

/* All checks come first: a source that is also the destination must not hide an earlier reader. */
void core::order(const instruction &what, uint32_t index)
{
    for (bool noting : {false, true}) {
        for (const operand &o : what.operands) {
            const uint32_t end = (o.at + o.bytes + UB_BLOCK - 1) / UB_BLOCK;
            for (uint32_t k = o.at / UB_BLOCK; o.bytes > 0 && k < end; k++) {
                if (!noting) {
                    check_order(what, o.name, cells[k], o.written);
                } else if (!o.written) {
                    cells[k].reads[what.queue] = index;
                } else {
                    cells[k].write_index = index;
                    cells[k].write_queue = what.queue;
                }
            }
        }
    }
    if (what.uses_mask_register) {
        check_order(what, "the mask register", mask_register, true);
        mask_register.write_index = index;
        mask_register.write_queue = what.queue;
    }
}

void core::issue(instruction &&what)
{
    current = what.name;
    report.instructions++;
    report.lane_operations += what.lanes;
    if (what.queue == QUEUE_MTE3)
        moves_out++;
    for (const operand &o : what.operands) {
        check_operand(what, o);
        for (const operand &from : what.operands)
            if (o.written && !from.written)
                check_overlap(what, o, from);
    }
    const vector_clock after = known[what.queue];
    if (what.queue == owing) {
        owing = QUEUES;
        for (size_t q = 0; q < QUEUES; q++)
            if (after[q] < owed[q])
                complain("it starts before what it had to wait for");
    }
    uint32_t index = ++issued[what.queue];
    order(what, index);
    if (what.queue == QUEUE_S) /* one after the other */
        known[QUEUE_S][QUEUE_S] = index;
    for (const operand &o : what.operands)
        if (o.written && o.bytes > 0)
            memset(&initialised[o.at], 1, o.bytes);
    if (what.uses_mask_register)
        memset(&initialised[UB_SCRATCH], 0, UB_BYTES - UB_SCRATCH);
    if (settings.schedule == TDC_TWIN_LATE || settings.schedule == TDC_TWIN_SHUFFLED)
        later.push_back({what.queue, after, std::move(what.run), false});
    else
        what.run();
}

/* ---- order --------------------------------------------------------------------------------- */

bool core::next_barrier()
{
    return ++report.barriers != settings.dropped_barrier;
}

void core::barrier(int queue)
{
    if (!next_barrier())
        return;
    if (queue < QUEUES) {
        size_t q = static_cast<size_t>(queue);
        known[q][q] = issued[q];
    } else {
        known.fill(issued);
    }
}

core::flag_state &core::state_of(flag which, uint32_t id)
{
    if (id >= EVENT_IDS)
        complain("there is no event " + std::to_string(id));
    return flags[(which.from * QUEUES + which.to) * EVENT_IDS + id];
}

void core::set_flag(flag which, uint32_t id)
{
    flag_state &f = state_of(which, id);
    if (f.set)
        complain("a flag is set twice");
    f.set = true;
    f.clock = known[which.from];
    f.clock[which.from] = issued[which.from];
}

void core::wait_flag(flag which, uint32_t id)
{
    flag_state &f = state_of(which, id);
    if (!f.set)
        complain("a wait for a flag that nobody sets");
    report.waits++;
    /* a flag nobody waits for stays set */
    if (report.waits == settings.dropped_wait)
        return;
    f.set = false;
    if (report.waits == settings.unordered_wait) {
        owed = f.clock;
        owing = which.to;
        return;
    }
    for (size_t q = 0; q < QUEUES; q++)
        if (known[which.to][q] < f.clock[q])
            known[which.to][q] = f.clock[q];
}

uint32_t core::take_event(flag which)
{
    uint32_t &taken = events_taken[which.from * QUEUES + which.to];
    for (uint32_t id = 0; id < EVENT_IDS; id++) {
        if ((taken >> id & 1) == 0) {
            taken |= 1u << id;
            return id;
        }
    }
    complain("more than 8 events in one direction");
}

void core::give_event(flag which, uint32_t id)
{
    events_taken[which.from * QUEUES + which.to] &= ~(1u << id);
}

/* ---- memory -------------------------------------------------------------------------------- */

int core::add_region(uint32_t bytes)
{
    current = "InitBuffer";
    if (!pipe_open)
        complain("there is no TPipe");
    if (tensors_used)
        complain("a buffer after the first tensor was taken");
    if (bytes == 0 || bytes > UB_USABLE)
        complain("a buffer of " + std::to_string(bytes) + " bytes");
    bytes = (bytes + UB_BLOCK - 1) / UB_BLOCK * UB_BLOCK;
    if (regions.size() == MOST_BUFFERS)
        complain("more than 64 buffers");
    if (bytes > UB_USABLE - allocated)
        complain("UB is full: " + std::to_string(allocated) + " + " + std::to_string(bytes) +
                 " of " + std::to_string(UB_USABLE) + " bytes");
    regions.push_back({allocated, bytes});
    allocated += bytes;
    report.ub_high_water = allocated;
    return static_cast<int>(regions.size() - 1);
}

int core::region_of(uint32_t at) const
{
    for (size_t i = 0; i < regions.size(); i++)
        if (at >= regions[i].at && at - regions[i].at < regions[i].bytes)
            return static_cast<int>(i);
    return -1;
}

void core::check_region(uint32_t at, uint32_t bytes) const
{
    const int region = region_of(at);
    if (region < 0 || region != region_of(at + bytes - 1))
        complain(std::to_string(bytes) + " bytes at " + std::to_string(at) + " leave their buffer");
}

uint32_t core::region_start(int r) const
{
    return regions[static_cast<size_t>(r)].at;
}

uint32_t core::region_bytes(int r) const
{
    return regions[static_cast<size_t>(r)].bytes;
}

void core::forget(uint32_t at, uint32_t bytes)
{
    memset(&initialised[at], 0, bytes);
}

void core::check_global(const char *name, const void *address, uint64_t bytes, bool written,
                        uint32_t alignment)
{
    const uint8_t *at = static_cast<const uint8_t *>(address);
    for (const global_argument &a : arguments) {
        if (at < a.base || at >= a.base + a.bytes)
            continue;
        if (bytes > static_cast<uint64_t>(a.base + a.bytes - at))
            complain(std::string(name) + " runs over the end of an argument");
        if (written && !a.writable)
            complain(std::string(name) + " writes to an input");
        if (!written && a.writable)
            complain(std::string(name) + " reads from an output");
        if ((at - a.base) % alignment != 0)
            complain(std::string(name) + " is not aligned to " + std::to_string(alignment) +
                     " bytes in global memory");
        if (written)
            writes.push_back({static_cast<uint64_t>(at - a.base), bytes});
        (written ? report.bytes_out : report.bytes_in) += bytes;
        return;
    }
    complain(std::string(name) + " lies outside of all arguments");
}

void core::open_pipe()
{
    if (pipe_used)
        complain("a second TPipe");
    pipe_open = pipe_used = true;
}

/* ---- queues -------------------------------------------------------------------------------- */

int core::add_queue(flag filled, flag released, uint32_t depth, uint32_t buffers, uint32_t bytes)
{
    tensor_queue q = {filled, released, depth, {}, {}, 0};
    for (uint32_t i = 0; i < buffers; i++) {
        uint32_t event = take_event(filled);
        if (take_event(released) != event)
            complain("events of a queue out of step");
        q.buffers.push_back({add_region(bytes), BUFFER_FREE, false, event});
    }
    queues.push_back(q);
    return static_cast<int>(queues.size() - 1);
}

const tensor_queue &core::queue_of(int queue) const
{
    if (queue < 0)
        complain("a queue without buffers");
    return queues[static_cast<size_t>(queue)];
}

int core::allocate(int queue)
{
    current = "AllocTensor";
    tensors_used = true;
    queue_of(queue);
    tensor_queue &q = queues[static_cast<size_t>(queue)];
    queue_buffer &buffer = q.buffers[q.next];
    if (buffer.state != BUFFER_FREE)
        complain("no free buffer: this would wait for ever");
    q.next = (q.next + 1) % q.buffers.size();
    if (buffer.freed_before)
        wait_flag(q.released, buffer.event);
    buffer.freed_before = false;
    buffer.state = BUFFER_ALLOCATED;
    /* what an earlier user left behind is not data */
    const ub_region &r = regions[static_cast<size_t>(buffer.region)];
    memset(&initialised[r.at], 0, r.bytes);
    return buffer.region;
}

static queue_buffer *buffer_at(tensor_queue &q, int region, buffer_state state)
{
    for (queue_buffer &buffer : q.buffers)
        if (buffer.region == region && buffer.state == state)
            return &buffer;
    return nullptr;
}

void core::enqueue(int queue, int region, uint32_t at)
{
    current = "EnQue";
    queue_of(queue);
    tensor_queue &q = queues[static_cast<size_t>(queue)];
    queue_buffer *buffer = buffer_at(q, region, BUFFER_ALLOCATED);
    if (buffer == nullptr || at != region_start(region))
        complain("the tensor was not allocated from this queue");
    if (q.waiting.size() >= q.depth)
        complain("more tensors enqueued than the depth of the queue");
    set_flag(q.filled, buffer->event);
    buffer->state = BUFFER_ENQUEUED;
    q.waiting.push_back(static_cast<size_t>(buffer - q.buffers.data()));
}

int core::dequeue(int queue)
{
    current = "DeQue";
    queue_of(queue);
    tensor_queue &q = queues[static_cast<size_t>(queue)];
    if (q.waiting.empty())
        complain("the queue is empty");
    queue_buffer &buffer = q.buffers[q.waiting.front()];
    q.waiting.erase(q.waiting.begin());
    wait_flag(q.filled, buffer.event);
    buffer.state = BUFFER_DEQUEUED;
    return buffer.region;
}

void core::release(int queue, int region, uint32_t at)
{
    current = "FreeTensor";
    queue_of(queue);
    tensor_queue &q = queues[static_cast<size_t>(queue)];
    queue_buffer *buffer = buffer_at(q, region, BUFFER_DEQUEUED);
    if (buffer == nullptr || at != region_start(region))
        complain("the tensor was not dequeued from this queue");
    set_flag(q.released, buffer->event);
    buffer->freed_before = true;
    buffer->state = BUFFER_FREE;
}

/* ---- the end ------------------------------------------------------------------------------- */

void core::finish()
{
    current = "end of kernel";
    pipe_open = false;
    for (tensor_queue &q : queues) {
        for (queue_buffer &buffer : q.buffers) {
            if (buffer.state != BUFFER_FREE)
                complain("a tensor of a queue was not freed");
            if (buffer.freed_before)
                wait_flag(q.released, buffer.event);
        }
    }
    for (const flag_state &f : flags)
        if (f.set)
            complain("a flag is still set");
    run_pending();
}

bool core::may_run(const pending &p, const vector_clock &complete) const
{
    for (size_t q = 0; q < QUEUES; q++)
        if (executed[q] + complete[q] < p.after[q])
            return false;
    return true;
}

std::vector<size_t> core::runnable(const std::vector<size_t> &of_queue,
                                   const vector_clock &complete) const
{
    std::vector<size_t> found;
    if (of_queue.empty())
        return found;
    for (size_t i = complete[later[of_queue[0]].queue]; i < of_queue.size(); i++) {
        const pending &p = later[of_queue[i]];
        /* clocks only grow: whoever comes behind must wait as well */
        if (!may_run(p, complete))
            break;
        if (!p.done)
            found.push_back(of_queue[i]);
    }
    return found;
}

void core::run_pending()
{
    std::array<std::vector<size_t>, QUEUES> by_queue;
    for (size_t i = 0; i < later.size(); i++)
        by_queue[later[i].queue].push_back(i);
    vector_clock complete = {};
    /* loads as early and stores as late as can be, or the other way round */
    static const queue_id early[QUEUES] = {QUEUE_MTE2, QUEUE_V, QUEUE_S, QUEUE_MTE3};
    for (size_t left = later.size(); left > 0; left--) {
        std::vector<size_t> found;
        size_t start = settings.schedule == TDC_TWIN_SHUFFLED ? random() % QUEUES : 0;
        for (size_t k = 0; k < QUEUES && found.empty(); k++) {
            size_t turn = (start + k) % QUEUES;
            found =
                runnable(by_queue[early[settings.seed % 2 ? turn : QUEUES - 1 - turn]], complete);
        }
        if (found.empty())
            complain("the queues wait for each other");
        size_t chosen =
            settings.schedule == TDC_TWIN_SHUFFLED ? found[random() % found.size()] : found.back();
        pending &p = later[chosen];
        p.run();
        p.run = nullptr;
        p.done = true;
        uint32_t &front = complete[p.queue];
        while (front < by_queue[p.queue].size() && later[by_queue[p.queue][front]].done)
            front++;
    }
    later.clear();
    executed = issued;
}

/* ---- division ------------------------------------------------------------------------------ */

tdc_twin_flaw flaw = TDC_TWIN_SOUND;

unsigned core::copies_into(const void *place)
{
    return copies[place]++;
}

/* Wrong at random, but for the same numbers in the same way: so are devices. */
static uint64_t chance(uint64_t seed, float x, float y)
{
    uint32_t left, right;
    memcpy(&left, &x, sizeof left);
    memcpy(&right, &y, sizeof right);
    uint64_t mixed = (seed + 1) * 0x9E3779B97F4A7C15u ^ (uint64_t{left} << 32 | right);
    mixed = (mixed ^ mixed >> 31) * 0xBF58476D1CE4E5B9u;
    return (mixed ^ mixed >> 29) >> 7;
}

static float moved(float q, bool up, uint64_t steps)
{
    for (; steps != 0 && std::isfinite(q); steps--)
        q = std::nextafter(q, up ? HUGE_VALF : -HUGE_VALF);
    return q;
}

float core::divide(float x, float y)
{
    const uint64_t luck = chance(settings.seed, x, y);
    if (flaw == TDC_TWIN_DIVIDES_BADLY)
        return moved(x / y, luck % 2 != 0, luck / 2 % 5);
    if (settings.exact_divide)
        return x / y;
    const bool flushes = settings.seed & 1;
    if (flushes && std::fpclassify(x) == FP_SUBNORMAL)
        x = std::copysign(0.0f, x);
    if (flushes && std::fpclassify(y) == FP_SUBNORMAL)
        y = std::copysign(0.0f, y);
    float q = x / y;
    if (!std::isfinite(q) || q == 0)
        return q;
    q = moved(q, luck % 4 == 0, luck % 4 < 2);
    return flushes && std::fpclassify(q) == FP_SUBNORMAL ? std::copysign(0.0f, q) : q;
}

} // namespace tdc_twin

extern "C" void tdc_twin_spoil(enum tdc_twin_flaw chosen)
{
    tdc_twin::flaw = chosen;
}
