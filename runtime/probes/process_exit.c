/* _exit and relatives run no handlers: the trace is closed here. A child of vfork shares its parent's memory and closes nothing. */
#include "core/process.h"
#include "core/thread.h"
#include "instr/probes.h"
#include "platform/platform.h"

void instr_probe_process_exit(void (*real)(int), int status)
{
    instr_finish();
    real(status);
}
