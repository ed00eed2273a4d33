/* test_comm_graph.c - ranks that communicate: links, layers and what comes first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/analysis/communication/comm_graph.h"

static const struct tdc_comm_rules raising = {.raise_layers = true};

/* A collective of all ranks; wrong inputs are told by `input`, wrong outputs alone by `culprit`. */
static void collective(struct tdc_comm_graph *graph, size_t call, const char *name, bool input,
                       bool culprit)
{
    const struct tdc_comm_call details = {.end = TDC_COMM_LINK,
                                          .suspicious = input || culprit,
                                          .suspicious_input = input,
                                          .culprit = culprit};
    assert_true(tdc_comm_graph_communication(graph, call, name, &details));
}

static void directed(struct tdc_comm_graph *graph, size_t call, const char *name,
                     enum tdc_comm_end end, long partner, bool input)
{
    const struct tdc_comm_call details = {.end = end,
                                          .has_partners = true,
                                          .partners = &partner,
                                          .partner_count = 1,
                                          .suspicious = input,
                                          .suspicious_input = input};
    assert_true(tdc_comm_graph_communication(graph, call, name, &details));
}

static struct tdc_comm_result search(struct tdc_comm_graph *graph)
{
    struct tdc_comm_result result;
    assert_true(tdc_comm_graph_search(graph, NULL, NULL, &result));
    return result;
}

static void names_of_calls(void **state)
{
    (void)state;
    assert_true(tdc_comm_is_call("Distributed.all_reduce.0.forward"));
    assert_true(tdc_comm_is_call("communication.comm_func.all_gather.0.forward"));
    assert_false(tdc_comm_is_call("Distributed.barrier.0.forward"));
    assert_false(tdc_comm_is_call("Torch.scatter.0.forward"));
    struct tdc_comm_api api = tdc_comm_api_of("Distributed.isend.3.forward");
    assert_memory_equal(api.text, "isend", api.length);
    assert_memory_equal(tdc_comm_partner_api(api).text, "irecv", 5);
    assert_int_equal(tdc_comm_api_of("Distributed.isend").length, 0);
    assert_int_equal(tdc_comm_named_end(api), TDC_COMM_DST);
}

static void before_any_communication(void **state)
{
    (void)state;
    struct tdc_comm_graph *graph = tdc_comm_graph_new(&raising);
    for (long rank = 0; rank < 2; rank++) {
        assert_true(tdc_comm_graph_rank(graph, rank));
        assert_true(tdc_comm_graph_compute(graph, 0, "Functional.a.0.forward", false));
        assert_true(tdc_comm_graph_compute(graph, 1, "Functional.b.0.forward", rank == 1));
        collective(graph, 2, "Distributed.all_reduce.0.forward", rank == 1, rank == 0);
    }
    struct tdc_comm_result result = search(graph);
    assert_int_equal(result.phase, TDC_COMM_BEFORE);
    assert_int_equal(result.count, 1);
    assert_int_equal(result.findings[0].rank, 1);
    assert_string_equal(result.findings[0].name, "Functional.b.0.forward");
    tdc_comm_graph_free(graph);
}

/* Rank 1 goes wrong between two collectives; rank 0 gets it with the second. */
static void between_two(void **state)
{
    (void)state;
    struct tdc_comm_graph *graph = tdc_comm_graph_new(&raising);
    for (long rank = 0; rank < 2; rank++) {
        assert_true(tdc_comm_graph_rank(graph, rank));
        collective(graph, 0, "Distributed.all_reduce.0.forward", false, false);
        assert_true(tdc_comm_graph_compute(graph, 1, "Functional.a.0.forward", rank == 1));
        collective(graph, 2, "Distributed.all_reduce.1.forward", rank == 1, rank == 0);
        assert_true(tdc_comm_graph_compute(graph, 3, "Functional.b.0.forward", true));
    }
    struct tdc_comm_result result = search(graph);
    assert_int_equal(result.phase, TDC_COMM_DURING);
    assert_int_equal(result.count, 1);
    assert_int_equal(result.findings[0].rank, 1);
    assert_int_equal(result.findings[0].call, 1);
    assert_int_equal(result.unlinked, 0);
    tdc_comm_graph_free(graph);
}

static void after_the_last(void **state)
{
    (void)state;
    struct tdc_comm_graph *graph = tdc_comm_graph_new(&raising);
    for (long rank = 0; rank < 2; rank++) {
        assert_true(tdc_comm_graph_rank(graph, rank));
        collective(graph, 0, "Distributed.all_reduce.0.forward", false, false);
        assert_true(tdc_comm_graph_compute(graph, 1, "Functional.a.0.forward", rank == 0));
    }
    struct tdc_comm_result result = search(graph);
    assert_int_equal(result.phase, TDC_COMM_AFTER);
    assert_int_equal(result.count, 1);
    tdc_comm_graph_free(graph);
}

/* What one rank says of another that was not dumped, or that made fewer calls. */
static void ranks_that_disagree(void **state)
{
    (void)state;
    struct tdc_comm_graph *graph = tdc_comm_graph_new(&raising);
    assert_true(tdc_comm_graph_rank(graph, 0));
    directed(graph, 0, "Distributed.send.0.forward", TDC_COMM_SRC, 7, false);
    directed(graph, 1, "Distributed.send.1.forward", TDC_COMM_SRC, 1, false);
    directed(graph, 2, "Distributed.send.2.forward", TDC_COMM_SRC, 1, false);
    assert_true(tdc_comm_graph_rank(graph, 1));
    directed(graph, 0, "Distributed.recv.0.forward", TDC_COMM_DST, 0, false);
    struct tdc_comm_result result = search(graph);
    assert_int_equal(result.phase, TDC_COMM_NOWHERE);
    assert_int_equal(result.absent_partners, 1);
    assert_int_equal(result.absent_rank, 7);
    assert_int_equal(result.unlinked, 2);
    assert_string_equal(result.unlinked_call, "Distributed.send.0.forward");
    tdc_comm_graph_free(graph);
}

static void nothing_at_all(void **state)
{
    (void)state;
    struct tdc_comm_graph *graph = tdc_comm_graph_new(&raising);
    assert_int_equal(search(graph).phase, TDC_COMM_NOWHERE);
    assert_true(tdc_comm_graph_rank(graph, 3));
    assert_int_equal(search(graph).count, 0);
    tdc_comm_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_calls),      cmocka_unit_test(before_any_communication),
        cmocka_unit_test(between_two),         cmocka_unit_test(after_the_last),
        cmocka_unit_test(ranks_that_disagree), cmocka_unit_test(nothing_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
