/* json_printer.c - Python's json.dump(..., indent=n), value by value. */
#include "bench/synthetic/json_printer.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/base/error.h"
#include "io/text/pytext.h"

static void put_text(struct tdc_json_printer *printer, const char *text)
{
    tdc_put(&printer->out, text, strlen(text));
}

static void start_line(struct tdc_json_printer *printer)
{
    TDC_PUT_LITERAL(&printer->out, "\n");
    for (unsigned i = 0; i < printer->depth * printer->indent; i++)
        tdc_putc(&printer->out, ' ');
}

/* A comma if due, a new line, and the key if there is one. */
static void put_key(struct tdc_json_printer *printer, const char *key)
{
    if (printer->follows)
        tdc_putc(&printer->out, ',');
    start_line(printer);
    printer->follows = true;
    if (key == NULL)
        return;
    tdc_putc(&printer->out, '"');
    put_text(printer, key);
    TDC_PUT_LITERAL(&printer->out, "\": ");
}

void tdc_json_open(struct tdc_json_printer *printer, const char *key, char bracket)
{
    put_key(printer, key);
    tdc_putc(&printer->out, bracket);
    printer->depth++;
    printer->follows = false;
}

void tdc_json_close(struct tdc_json_printer *printer, char bracket)
{
    printer->depth--;
    if (printer->follows) /* an empty level stays on its line */
        start_line(printer);
    tdc_putc(&printer->out, bracket);
    printer->follows = true;
}

void tdc_json_raw(struct tdc_json_printer *printer, const char *key, const char *value)
{
    put_key(printer, key);
    put_text(printer, value);
}

void tdc_json_string(struct tdc_json_printer *printer, const char *key, const char *value)
{
    put_key(printer, key);
    tdc_putc(&printer->out, '"');
    put_text(printer, value);
    tdc_putc(&printer->out, '"');
}

/* Collectors take statistics in float32 and print them as Python's float. */
void tdc_json_float(struct tdc_json_printer *printer, const char *key, double value)
{
    char text[TDC_FLOAT_TEXT];
    put_key(printer, key);
    if (isnan(value))
        put_text(printer, "NaN");
    else if (isinf((float)value))
        put_text(printer, value > 0 ? "Infinity" : "-Infinity");
    else
        tdc_put(&printer->out, text, tdc_float_repr((double)(float)value, text));
}

tdc_status tdc_json_printer_open(struct tdc_json_printer *printer, unsigned indent,
                                 const char *folder, const char *name, struct tdc_error *error)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return tdc_fail(error, TDC_ERR_ARGUMENT, "%s: path too long", folder);
    *printer = (struct tdc_json_printer){.indent = indent};
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (fd < 0)
        return tdc_fail_errno(error, TDC_ERR_WRITE, errno, "%s", path);
    if (!tdc_byte_writer_start(&printer->out, fd)) {
        close(fd);
        return tdc_fail(error, TDC_ERR_MEMORY, "%s: out of memory", path);
    }
    tdc_putc(&printer->out, '{');
    printer->depth = 1;
    return TDC_OK;
}

tdc_status tdc_json_printer_close(struct tdc_json_printer *printer, const char *folder,
                                  const char *name, struct tdc_error *error)
{
    tdc_json_close(printer, '}');
    tdc_byte_writer_flush(&printer->out);
    int failure = printer->out.failure;
    if (close(printer->out.fd) != 0 && failure == 0)
        failure = errno;
    tdc_byte_writer_free(&printer->out);
    if (failure != 0)
        return tdc_fail_errno(error, TDC_ERR_WRITE, failure, "%s/%s", folder, name);
    return TDC_OK;
}
