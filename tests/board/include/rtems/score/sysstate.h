/* rtems/score/sysstate.h */
#ifndef BOARD_SYSSTATE_H
#define BOARD_SYSSTATE_H
#include <stdbool.h>
typedef enum { SYSTEM_STATE_BEFORE_INITIALIZATION, SYSTEM_STATE_BEFORE_MULTITASKING, SYSTEM_STATE_UP, SYSTEM_STATE_TERMINATED } System_state_Codes;
extern System_state_Codes _System_state_Current;
static inline System_state_Codes _System_state_Get(void) { return _System_state_Current; }
static inline bool _System_state_Is_up(System_state_Codes state) { return state == SYSTEM_STATE_UP; }
#endif
