/* main.c - the program `tdcmp`. */
#include "host/cli/shared/command.h"
#include "host/program/watched.h"

int main(int argc, char **argv)
{
    return tdc_run_watched(tdc_program, argc, argv);
}
