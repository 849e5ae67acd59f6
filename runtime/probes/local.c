#include "probes/local.h"

_Thread_local struct instr_local instr_local INSTR_TLS;
