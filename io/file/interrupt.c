#include <unistd.h>

#include "io/file/listed_file.h"
#include "tdcmp.h"

void tdc_interrupt(int number)
{
    tdc_listed_leave();
    _exit(128 + number);
}
