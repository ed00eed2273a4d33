/* compare_two.c - the library in thirty lines: two dumps in, the rows that differ out. */
#include <stdio.h>
#include <tdcmp.h>

int main(int argc, char **argv)
{
    if (argc != 3)
        return fprintf(stderr, "usage: compare_two NPU/dump.json BENCH/dump.json\n"), 2;
    struct tdc_options options;
    tdc_options_init(&options, sizeof options, TDC_RULES_SOUND);
    struct tdc_error error = {0};
    tdc_dump *npu = NULL, *bench = NULL;
    tdc_match *match = NULL;
    tdc_table *table = NULL;
    size_t failing = 0, left, right;
    if (tdc_dump_load(argv[1], &npu, &error) == TDC_OK &&
        tdc_dump_load(argv[2], &bench, &error) == TDC_OK &&
        tdc_match_new(npu, bench, &options, &match, &error) == TDC_OK &&
        tdc_table_new(match, &options, NULL, &table, &error) == TDC_OK &&
        tdc_compare(&table, 1, &options, &error) == TDC_OK) {
        for (size_t row = 0; row < tdc_table_rows(table); row++) {
            tdc_match_pair(match, row, &left, &right);
            if (tdc_table_class(table, row) == TDC_ROW_DIFFERENT && ++failing != 0)
                printf("%s: %s\n", tdc_dump_record_name(npu, left), tdc_table_worst(table, row));
        }
    }
    if (error.status != TDC_OK)
        fprintf(stderr, "%s\n", error.message);
    tdc_table_free(table);
    tdc_match_free(match);
    tdc_dump_free(npu);
    tdc_dump_free(bench);
    return error.status != TDC_OK ? 2 : failing != 0;
}
