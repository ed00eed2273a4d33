#include <unistd.h>

#include "tdcmp.h"

void tdc_interrupt(int number)
{
    tdc_out_files_remove();
    _exit(128 + number);
}
