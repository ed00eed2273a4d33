/*
 * bench_command.h - the subcommands of `tdcmp bench`.
 *
 * A subcommand gets argv[0] as its name and returns the exit code: 0, or 2 when it could not do the
 * work. Results go to stdout, everything else to stderr.
 */
#ifndef TDC_BENCH_COMMAND_H
#define TDC_BENCH_COMMAND_H

/* `tdcmp bench`: argv[1] says which. */
int tdc_command_bench(int argc, char **argv);

/* Without a subcommand, or `matrix`: synthetic dumps, or the two named. */
int tdc_bench_plain(int argc, char **argv);
void tdc_bench_print_help(void);
int tdc_bench_compare(int argc, char **argv);
int tdc_bench_kernels(int argc, char **argv);
int tdc_bench_io(int argc, char **argv);
int tdc_bench_match(int argc, char **argv);
int tdc_bench_cluster(int argc, char **argv);
int tdc_bench_make(int argc, char **argv);
int tdc_bench_network(int argc, char **argv);
int tdc_bench_device(int argc, char **argv);
int tdc_bench_trace(int argc, char **argv);
int tdc_bench_align(int argc, char **argv);
int tdc_bench_reference(int argc, char **argv);

#endif
