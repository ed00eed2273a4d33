/* Two sections write one number without any order: the sanitizer must say so. */
#include <stdio.h>

int main(void)
{
    volatile int shared = 0;
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        for (int i = 0; i < 100000; i++)
            shared = shared + 1;
#pragma omp section
        for (int i = 0; i < 100000; i++)
            shared = shared + 1;
    }
    printf("%d\n", shared);
    return 0;
}
