/* main.c - the program `tdcmp`. */
#include "host/cli/shared/command.h"

int main(int argc, char **argv)
{
    return tdc_program(argc, argv);
}
