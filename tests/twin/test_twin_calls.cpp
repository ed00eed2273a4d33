/* test_twin_calls - the calls of the twin that the kernels do without: what they compute, what they
 * refuse, and which types they are not made for. */
#include <algorithm>
#include <cstdarg>
#include <csetjmp>
#include <cstddef>
extern "C" {
#include <cmocka.h>
}

#include "tests/twin/kernel_operator.h"

using namespace AscendC;

namespace
{

/* ---- types ----------------------------------------------------------------------------------- */

template <typename T> using tensor = const LocalTensor<T> &;

#define CALLABLE(name, call)                                                                       \
    template <typename T> auto name(int)->decltype(call, std::true_type{});                        \
    template <typename T> std::false_type name(...);

CALLABLE(adds,
         Add(std::declval<tensor<T>>(), std::declval<tensor<T>>(), std::declval<tensor<T>>(), 8))
CALLABLE(divides,
         Div(std::declval<tensor<T>>(), std::declval<tensor<T>>(), std::declval<tensor<T>>(), 8))
CALLABLE(ands,
         And(std::declval<tensor<T>>(), std::declval<tensor<T>>(), std::declval<tensor<T>>(), 8))
CALLABLE(duplicates, Duplicate(std::declval<tensor<T>>(), std::declval<T>(), 8))
CALLABLE(compares, Compare(std::declval<tensor<uint8_t>>(), std::declval<tensor<T>>(),
                           std::declval<tensor<T>>(), CMPMODE::EQ, 64))
CALLABLE(reduces,
         WholeReduceSum(std::declval<tensor<T>>(), std::declval<tensor<T>>(), 8, 1, 1, 1, 8))
CALLABLE(widens,
         Cast(std::declval<tensor<float>>(), std::declval<tensor<T>>(), RoundMode::CAST_NONE, 8))

static_assert(decltype(adds<half>(0))::value && decltype(adds<int32_t>(0))::value, "");
static_assert(!decltype(adds<bfloat16_t>(0))::value && !decltype(adds<uint16_t>(0))::value, "");
static_assert(decltype(divides<half>(0))::value && !decltype(divides<int32_t>(0))::value, "");
static_assert(decltype(ands<uint16_t>(0))::value && !decltype(ands<float>(0))::value, "");
static_assert(decltype(duplicates<bfloat16_t>(0))::value, "");
static_assert(!decltype(duplicates<int64_t>(0))::value, "");
static_assert(decltype(compares<int32_t>(0))::value && !decltype(compares<int16_t>(0))::value, "");
static_assert(decltype(reduces<half>(0))::value && !decltype(reduces<int32_t>(0))::value, "");
static_assert(decltype(widens<bfloat16_t>(0))::value && !decltype(widens<uint16_t>(0))::value, "");

/* ---- running --------------------------------------------------------------------------------- */

constexpr uint32_t COUNT = 256;

struct memory {
    alignas(512) float in[COUNT];
    alignas(512) float out[COUNT];
};

/* What a kernel has: a buffer in, one out, three to work with. */
struct bench {
    TPipe pipe;
    GlobalTensor<float> in, out;
    TQue<TPosition::VECIN, 1> arriving;
    TQue<TPosition::VECOUT, 1> leaving;
    TBuf<TPosition::VECCALC> space[3];
    LocalTensor<float> x, y, z;

    explicit bench(memory &m)
    {
        in.SetGlobalBuffer(m.in, COUNT);
        out.SetGlobalBuffer(m.out, COUNT);
        pipe.InitBuffer(arriving, 1, sizeof m.in);
        pipe.InitBuffer(leaving, 1, sizeof m.out);
        for (TBuf<TPosition::VECCALC> &one : space)
            pipe.InitBuffer(one, sizeof m.in);
        y = space[0].Get<float>();
        z = space[1].Get<float>();
    }
    void load()
    {
        LocalTensor<float> to = arriving.AllocTensor<float>();
        DataCopy(to, in, COUNT);
        arriving.EnQue(to);
        x = arriving.DeQue<float>();
    }
    void store(const LocalTensor<float> &from)
    {
        LocalTensor<float> to = leaving.AllocTensor<float>();
        PipeBarrier<PIPE_V>();
        Adds(to, from, 0.0f, COUNT);
        leaving.EnQue(to);
        LocalTensor<float> done = leaving.DeQue<float>();
        DataCopy(out, done, COUNT);
        leaving.FreeTensor(done);
        arriving.FreeTensor(x);
    }
};

/* The complaint, or "". */
template <typename F> std::string run(memory &m, tdc_twin_schedule schedule, F kernel)
{
    const tdc_twin_settings settings = {schedule, 2, 1, 0, 0, 0};
    tdc_twin::core core(settings, "test", 0, 1,
                        {{reinterpret_cast<uint8_t *>(m.in), sizeof m.in, false},
                         {reinterpret_cast<uint8_t *>(m.out), sizeof m.out, true}});
    tdc_twin::set_here(&core);
    std::string complaint;
    try {
        bench b(m);
        kernel(b);
    } catch (const tdc_twin::violation &found) {
        complaint = found.text;
    }
    tdc_twin::set_here(nullptr);
    return complaint;
}

void fill(memory &m)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        m.in[i] = static_cast<float>((i * 37) % 101) / 4 - 10;
        m.out[i] = -1;
    }
}

template <typename F> void require(memory &m, F kernel)
{
    for (tdc_twin_schedule schedule : {TDC_TWIN_CHECKED, TDC_TWIN_LATE, TDC_TWIN_SHUFFLED}) {
        fill(m);
        const std::string complaint = run(m, schedule, kernel);
        assert_string_equal(complaint.c_str(), "");
    }
}

template <typename F> void refuse(const char *text, F kernel)
{
    memory m;
    fill(m);
    const std::string complaint = run(m, TDC_TWIN_CHECKED, kernel);
    if (complaint.find(text) == std::string::npos)
        fail_msg("expected \"%s\", got \"%s\"", text, complaint.c_str());
}

/* ---- what is computed ------------------------------------------------------------------------ */

void halves_and_integers(void **)
{
    memory m;
    require(m, [](bench &b) {
        b.load();
        const LocalTensor<half> h = b.y.ReinterpretCast<half>(), k = b.z.ReinterpretCast<half>();
        Cast(h, b.x, RoundMode::CAST_RINT, COUNT);
        PipeBarrier<PIPE_V>();
        Mul(k, h, h, COUNT);
        PipeBarrier<PIPE_V>();
        Sub(h, k, h, COUNT);
        PipeBarrier<PIPE_V>();
        const LocalTensor<float> wide = b.space[2].Get<float>(COUNT);
        Cast(wide, h, RoundMode::CAST_NONE, COUNT);
        b.store(wide);
    });
    /* quarters up to 15: squares have 12 bits at most, one more than half */
    for (uint32_t i = 0; i < COUNT; i++)
        assert_true(std::fabs(m.out[i] - (m.in[i] * m.in[i] - m.in[i])) <= 0.125f);
    require(m, [](bench &b) {
        b.load();
        const LocalTensor<int32_t> whole = b.y.ReinterpretCast<int32_t>();
        Cast(whole, b.x, RoundMode::CAST_FLOOR, COUNT);
        PipeBarrier<PIPE_V>();
        Maxs(whole, whole, int32_t{-3}, COUNT);
        PipeBarrier<PIPE_V>();
        Cast(b.z, whole, RoundMode::CAST_NONE, COUNT);
        b.store(b.z);
    });
    for (uint32_t i = 0; i < COUNT; i++)
        assert_true(m.out[i] == std::max(std::floor(m.in[i]), -3.0f));
}

void reductions(void **)
{
    memory m;
    require(m, [](bench &b) {
        b.load();
        Duplicate(b.y, 0.0f, COUNT);
        PipeBarrier<PIPE_V>();
        BlockReduceMax(b.y, b.x, 4, 64, 1, 1, 8);
        WholeReduceMin(b.y[32], b.x, 64, 4, 1, 1, 8); /* value and index */
        ReduceSum(b.y[64], b.x, b.z, COUNT);
        PipeBarrier<PIPE_V>();
        ReduceMin(b.y[72], b.x, b.z, COUNT, true);
        b.store(b.y);
    });
    float total = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        total += m.in[i];
    for (uint32_t block = 0; block < COUNT / 8; block++)
        assert_true(m.out[block] == *std::max_element(m.in + 8 * block, m.in + 8 * block + 8));
    for (uint32_t repeat = 0; repeat < 4; repeat++) {
        const float *least = std::min_element(m.in + 64 * repeat, m.in + 64 * repeat + 64);
        assert_true(m.out[32 + 2 * repeat] == *least);
        assert_int_equal(tdc_twin::same_bits<uint32_t>(m.out[33 + 2 * repeat]),
                         least - (m.in + 64 * repeat));
    }
    assert_true(m.out[64] == total);
    assert_true(m.out[72] == *std::min_element(m.in, m.in + COUNT));
}

/* Two repeats of 8 blocks each, which are to lie in turns. */
void blocks_apart(void **)
{
    memory m;
    require(m, [](bench &b) {
        b.load();
        Add(b.y, b.x, b.x[64], uint64_t{64}, uint8_t{1}, BinaryRepeatParams(2, 1, 1, 16, 8, 8));
        Copy(b.y[8], b.x, uint64_t{64}, uint8_t{1}, CopyRepeatParams(2, 1, 16, 8));
        Copy(b.y[128], b.x[128], uint64_t{64}, uint8_t{2}, CopyRepeatParams(1, 1, 8, 8));
        b.store(b.y);
    });
    for (uint32_t i = 0; i < 64; i++) {
        const uint32_t at = i / 8 * 16 + i % 8;
        assert_true(m.out[at] == m.in[i] + m.in[64 + i]);
        assert_true(m.out[at + 8] == m.in[i]);
    }
    for (uint32_t i = 128; i < COUNT; i++)
        assert_true(m.out[i] == m.in[i]);
}

void padded_moves(void **)
{
    memory m;
    require(m, [](bench &b) {
        LocalTensor<float> to = b.arriving.AllocTensor<float>();
        /* 3 blocks of 5 floats, every second one; one element of padding in front, two behind */
        DataCopyPad(to, b.in, {3, 20, 20, 0, 0}, {true, 1, 2, 7.0f});
        b.arriving.EnQue(to);
        b.x = b.arriving.DeQue<float>();
        LocalTensor<float> result = b.leaving.AllocTensor<float>();
        Adds(result, b.x, 1.0f, 24);
        b.leaving.EnQue(result);
        LocalTensor<float> done = b.leaving.DeQue<float>();
        DataCopyPad(b.out[1], done, {3, 28, 0, 4, 0});
        b.leaving.FreeTensor(done);
        b.arriving.FreeTensor(b.x);
    });
    for (uint32_t k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < 7; i++) {
            const float expected = i == 0 || i > 5 ? 8 : m.in[10 * k + i - 1] + 1;
            assert_true(m.out[1 + 8 * k + i] == expected);
        }
        assert_true(m.out[8 * k] == -1);
    }
}

void scalars(void **)
{
    memory m;
    require(m, [](bench &b) {
        b.load();
        Adds(b.y, b.x, 2.0f, COUNT);
        const TEventID id = b.pipe.FetchEventID(HardEvent::V_S);
        SetFlag<HardEvent::V_S>(id);
        WaitFlag<HardEvent::V_S>(id);
        const float third = b.y.GetValue(3);
        b.y.SetValue(4, third);
        const TEventID back = b.pipe.AllocEventID<HardEvent::S_V>();
        SetFlag<HardEvent::S_V>(back);
        WaitFlag<HardEvent::S_V>(back);
        b.pipe.ReleaseEventID<HardEvent::S_V>(back);
        b.store(b.y);
    });
    assert_true(m.out[3] == m.in[3] + 2 && m.out[4] == m.out[3] && m.out[5] == m.in[5] + 2);
}

/* ---- what is refused ------------------------------------------------------------------------- */

void mistakes(void **)
{
    refuse("may still use it", [](bench &b) {
        b.load();
        Adds(b.y, b.x, 2.0f, COUNT);
        b.y.GetValue(3);
    });
    refuse("was never written", [](bench &b) {
        LocalTensor<float> to = b.arriving.AllocTensor<float>();
        DataCopyPad(to, b.in, {1, 20, 0, 0, 0}, {false, 0, 0, 0.0f});
        b.arriving.EnQue(to);
        b.x = b.arriving.DeQue<float>();
        Adds(b.y, b.x, 1.0f, 8);
    });
    refuse("32 bytes of padding", [](bench &b) {
        LocalTensor<float> to = b.arriving.AllocTensor<float>();
        DataCopyPad(to, b.in, {1, 20, 0, 0, 0}, {true, 9, 0, 0.0f});
    });
    refuse("a move of", [](bench &b) {
        LocalTensor<float> to = b.arriving.AllocTensor<float>();
        DataCopy(to, b.in, 7);
    });
    refuse("equality only", [](bench &b) {
        b.load();
        const LocalTensor<int32_t> bits = b.x.ReinterpretCast<int32_t>();
        Compare(b.y.ReinterpretCast<uint8_t>(), bits, bits, CMPMODE::LT, 64);
    });
    refuse("overflows", [](bench &b) {
        const LocalTensor<int16_t> small = b.y.ReinterpretCast<int16_t>();
        Duplicate(small, int16_t{30000}, 16);
        PipeBarrier<PIPE_V>();
        Add(small, small, small, 16);
    });
    refuse("a mask of", [](bench &b) {
        b.load();
        BlockReduceSum(b.y, b.x, 64, 128, 1, 1, 8);
    });
    refuse("a block that is written twice", [](bench &b) {
        b.load();
        Copy(b.y, b.x, uint64_t{64}, uint8_t{2}, CopyRepeatParams(2, 1, 8, 8));
    });
    refuse("V may still use it", [](bench &b) {
        b.load();
        Copy(b.y, b.x, uint64_t{64}, uint8_t{1}, CopyRepeatParams(2, 1, 16, 8));
        Adds(b.y[16], b.x, 1.0f, 8);
    });
    refuse("still set",
           [](bench &b) { SetFlag<HardEvent::V_S>(b.pipe.FetchEventID(HardEvent::V_S)); });
    refuse("more elements", [](bench &b) { b.space[0].Get<float>(COUNT + 1); });
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(halves_and_integers),
        cmocka_unit_test(reductions),
        cmocka_unit_test(blocks_apart),
        cmocka_unit_test(padded_moves),
        cmocka_unit_test(scalars),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
