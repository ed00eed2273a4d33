/* acl_runtime.c - see acl_runtime.h. */
#include "host/engine/ascend/acl_runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/base/error.h"

/* The state of a library that is one per process is one per process. */
static struct {
    pthread_mutex_t lock;
    bool asked, running, ours, ended, left;
    pid_t process;          /* that started it */
    struct tdc_error error; /* of the first start */
} runtime = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void start(void)
{
    runtime.asked = true;
    const struct tdc_acl_library *library = tdc_acl_load();
    if (library->base.state != TDC_RUNTIME_USABLE) {
        tdc_fail(&runtime.error, TDC_ERR_NOT_FOUND, "AscendCL: %s", library->base.reason);
        return;
    }
    /* aclFinalize would wait two seconds for the log of the device otherwise */
    setenv("ASCEND_LOG_DEVICE_FLUSH_TIMEOUT", "0", 0);
    runtime.process = getpid();
    int code = library->table.aclInit(NULL);
    runtime.running = code == 0 || code == TDC_ACL_ERROR_REPEAT_INITIALIZE;
    runtime.ours = code == 0;
    if (code == TDC_ACL_ERROR_COMPILING_STUB_MODE) {
        tdc_fail(&runtime.error, TDC_ERR_NOT_FOUND,
                 "AscendCL: %s is a stub for building (no driver is installed)",
                 library->base.path);
    } else if (!runtime.running) {
        char text[512];
        tdc_acl_describe(&library->table, "aclInit", code, text, sizeof text);
        tdc_fail(&runtime.error, TDC_ERR_DEVICE, "%s", text);
    }
}

const struct tdc_acl *tdc_acl_runtime_start(struct tdc_error *error)
{
    pthread_mutex_lock(&runtime.lock);
    if (!runtime.asked)
        start();
    bool inherited = runtime.running && runtime.process != getpid();
    if (inherited)
        tdc_fail(&runtime.error, TDC_ERR_DEVICE,
                 "AscendCL was started before this process was forked: it cannot be used in both");
    if (runtime.ended)
        tdc_fail(&runtime.error, TDC_ERR_DEVICE, "AscendCL was ended in this process");
    const struct tdc_acl *acl =
        runtime.running && !runtime.ended && !inherited ? &tdc_acl_load()->table : NULL;
    if (acl == NULL && error != NULL)
        *error = runtime.error;
    pthread_mutex_unlock(&runtime.lock);
    return acl;
}

bool tdc_acl_runtime_ours(void)
{
    pthread_mutex_lock(&runtime.lock);
    bool ours = runtime.ours;
    pthread_mutex_unlock(&runtime.lock);
    return ours;
}

void tdc_acl_runtime_leave(void)
{
    pthread_mutex_lock(&runtime.lock);
    runtime.left = true;
    pthread_mutex_unlock(&runtime.lock);
}

void tdc_acl_runtime_stop(void)
{
    pthread_mutex_lock(&runtime.lock);
    const struct tdc_acl *acl = &tdc_acl_load()->table;
    bool end = runtime.running && !runtime.ended && !runtime.left && runtime.process == getpid();
    runtime.ended |= end;
    /* every aclInit counts, also that which found it started: where the runtime takes them back one
     * by one, others in the process keep theirs, whoever came first */
    if (end && acl->aclFinalizeReference != NULL)
        acl->aclFinalizeReference(NULL);
    else if (end && runtime.ours)
        acl->aclFinalize();
    pthread_mutex_unlock(&runtime.lock);
}
