/* Products give the same bits when the memory for their panels is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "reference/primitives/matrix/gemm.h"

static bool refusing;
static int refused;

/* In place of the system's: gemm.c takes its panels from it. */
void *aligned_alloc(size_t alignment, size_t size)
{
    void *memory;
    refused += refusing;
    return !refusing && posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}

static void fill(double *x, int count, int seed)
{
    for (int i = 0; i < count; i++)
        x[i] = 1.0 / (1 + (i * 7 + seed) % 1013) - 1.0 / 3;
}

static void the_same_bits(bool transposed, bool add)
{
    enum {
        M = 40,
        N = 37,
        K = 600
    };
    static double a[M * K], b[K * N], with[M * N], without[M * N];
    fill(a, M * K, 1);
    fill(b, K * N, 2);
    fill(with, M * N, 3);
    fill(without, M * N, 3);
    struct tdc_matrix left = {a, transposed ? M : K, transposed};
    struct tdc_matrix right = {b, transposed ? K : N, transposed};
    tdc_gemm(M, N, K, left, right, with, N, add);
    refusing = true;
    refused = 0;
    tdc_gemm(M, N, K, left, right, without, N, add);
    refusing = false;
    assert_true(refused > 0);
    assert_memory_equal(with, without, sizeof with);
}

static void products_without_panels(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        the_same_bits(i % 2 != 0, i / 2 != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products_without_panels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
