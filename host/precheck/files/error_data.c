#include "host/precheck/files/error_data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/precheck/files/saved_tensor.h"
#include "io/file/out_file.h"

struct saving {
    struct tdc_call_check *check;
    const char *folder;
    enum tdc_direction direction;
    bool pytorch; /* the layout of msprobe's PyTorch precheck */
};

static void save_tensor(const struct saving *saving, const char *place,
                        const struct tdc_reference_tensor *tensor)
{
    char *path, *name;
    if (strchr(place, '/') != NULL || strchr(saving->check->call->name, '/') != NULL ||
        asprintf(&name, "%s.%s.%s", saving->check->call->name,
                 tdc_direction_name[saving->direction], place) < 0)
        return;
    if (asprintf(&path, "%s/%s.%s", saving->folder, name, saving->pytorch ? "pt" : "npy") < 0) {
        free(name);
        return;
    }
    errno = 0;
    FILE *file = fopen(path, "wb");
    bool written = file != NULL && (saving->pytorch ? tdc_write_pt(file, tensor, name)
                                                    : tdc_write_npy(file, tensor));
    if (file != NULL && fclose(file) != 0)
        written = false;
    if (!written)
        tdc_text_addf(&saving->check->log, "%s: could not be written: %s\n", path,
                      errno != 0 ? strerror(errno) : "a dtype or size the format lacks");
    free(path);
    free(name);
}

/* CALL.forward.input.0.npy; lists add their index: CALL.forward.input.0.1.npy */
static void save_value(const struct saving *saving, const char *place,
                       const struct tdc_reference_value *value, int depth)
{
    if (value->kind == TDC_VALUE_LIST && depth < TDC_REFERENCE_DEPTH) {
        for (size_t i = 0; i < value->list.count; i++) {
            char inner[256];
            snprintf(inner, sizeof inner, "%.200s.%zu", place, i);
            save_value(saving, inner, &value->list.values[i], depth + 1);
        }
    } else if (value->kind == TDC_VALUE_TENSOR) {
        save_tensor(saving, place, value->tensor);
    }
}

/* CALL.forward.input.2.pt: numbered through, whatever lists they are in. */
static void save_flat(const struct saving *saving, const char *kind,
                      const struct tdc_reference_value *value, size_t *number, int depth)
{
    if (value->kind == TDC_VALUE_LIST && depth < TDC_REFERENCE_DEPTH) {
        for (size_t i = 0; i < value->list.count; i++)
            save_flat(saving, kind, &value->list.values[i], number, depth + 1);
        return;
    }
    char place[64];
    snprintf(place, sizeof place, "%s.%zu", kind, (*number)++);
    save_value(saving, place, value, 0);
}

static void save_list(const struct saving *saving, const char *kind,
                      const struct tdc_values *values)
{
    size_t number = 0;
    for (size_t i = 0; i < values->count; i++) {
        char place[64];
        snprintf(place, sizeof place, "%s.%zu", kind, i);
        if (saving->pytorch)
            save_flat(saving, kind, &values->list[i], &number, 0);
        else
            save_value(saving, place, &values->list[i], 0);
    }
}

static void save_slot(const struct saving *saving, const struct tdc_slot *slot)
{
    const char *tested = saving->pytorch ? "output.device" : "output";
    char place[64];
    snprintf(place, sizeof place, "%s.%zu", tested, slot->number);
    save_value(saving, place, &slot->tested, 0);
    snprintf(place, sizeof place, "output.bench.%zu", slot->number);
    save_value(saving, place, &slot->reference, 0);
}

static void save_direction(const struct saving *saving)
{
    const struct tdc_call_check *check = saving->check;
    const struct tdc_direction_check *checked = &check->directions[saving->direction];
    if (saving->direction == TDC_FORWARD) {
        save_list(saving, "input", &check->arguments);
        for (size_t i = 0; i < check->keyword_count; i++) {
            char place[160];
            snprintf(place, sizeof place, "kwargs.%.140s", check->keywords[i].name);
            save_value(saving, place, &check->keywords[i].value, 0);
        }
    } else {
        save_list(saving, "input", &check->gradients);
    }
    for (size_t i = 0; i < checked->count; i++)
        save_slot(saving, &checked->slots[i]);
}

void tdc_save_error_data(struct tdc_call_check *check, const char *folder)
{
    struct tdc_error error = {0};
    bool pytorch = check->checker->options->error_data != NULL, any = false;
    for (int d = 0; d < TDC_DIRECTIONS; d++)
        any |= check->directions[d].status == TDC_CHECK_ERROR;
    if (!any)
        return;
    if (tdc_make_folders(folder, &error) != TDC_OK) {
        tdc_text_addf(&check->log, "%s\n", error.message);
        return;
    }
    for (int d = 0; d < TDC_DIRECTIONS; d++) {
        tdc_check status = check->directions[d].status;
        struct saving saving = {check, folder, (enum tdc_direction)d, pytorch};
        if (status == TDC_CHECK_ERROR || (pytorch && status != TDC_CHECK_NONE))
            save_direction(&saving);
    }
}
