/* Written by many threads, read after the end of the region: in order, no race. */
#include <stdio.h>

int main(void)
{
    int parts[4] = {0};
    int total = 0;
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < 4; i++)
        parts[i] = i + 1;
    for (int i = 0; i < 4; i++)
        total += parts[i];
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        parts[0] = total;
#pragma omp section
        parts[1] = total;
    }
    return parts[0] + parts[1] == 20 ? 0 : 1;
}
