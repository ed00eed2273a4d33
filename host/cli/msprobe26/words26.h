/*
 * words26.h - the words of msprobe 26: commands without `-f FRAMEWORK` in front.
 *
 * Log lines go to stdout as msprobe prints them (tdc_msprobe_log). Exit codes: 0 done, 1 the work
 * failed, 2 wrong words.
 */
#ifndef TDC_CLI_WORDS26_H
#define TDC_CLI_WORDS26_H

/* One command: argv[0] is its name. */
struct tdc_word26 {
    const char *name;
    int (*run)(int argc, char **argv);
};

/*
 * The command that the words ask for, argv[0] its name; NULL when there is none of that name.
 * `compare` is msprobe's when it says -tp or -gp, and the friendly form otherwise.
 */
const struct tdc_word26 *tdc_word26_find(int argc, char **argv);

/* `compare -tp TARGET -gp GOLDEN [-o DIR] ...` */
int tdc_word26_compare(int argc, char **argv);
/* `merge_result -i DIR -o DIR -config FILE` */
int tdc_word26_merge_result(int argc, char **argv);
/* `api_precision_compare -npu FILE -gpu FILE [-o DIR]` */
int tdc_word26_precision_compare(int argc, char **argv);
/* `config_check -d [FILE ...] | -c A B | -vc NPU BENCH | -vv [YAML] LOG | -sc NPU BENCH [-o PATH]`
 */
int tdc_word26_config_check(int argc, char **argv);
/* `acc_check -api_info dump.json ...`, `multi_acc_check ...` */
int tdc_word26_acc_check(int argc, char **argv);
int tdc_word26_multi_acc_check(int argc, char **argv);
/* `overflow_check -i STEP [-o DIR]` */
int tdc_word26_overflow_check(int argc, char **argv);
/* `graph_visualize -tp TARGET [-gp GOLDEN] -o DIR [-lm [FILE]] [-oc] [-fm]` */
int tdc_word26_graph_visualize(int argc, char **argv);

#endif
