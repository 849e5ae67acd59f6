#include "probes/local.h"

_Thread_local struct instr_local instr_local __attribute__((tls_model("initial-exec")));
