/* Packets of a thread: opening, closing, handing them to the sink. Callers hold the thread's guard (limit is NULL). */
#ifndef INSTR_PACKET_H
#define INSTR_PACKET_H

#include <stdbool.h>

#include "core/thread.h"

/* UUID of the trace, as in the metadata. */
extern uint8_t instr_uuid[16];

/* Starts the packet `t->next_seq` at the cursor. */
void instr_packet_open(struct instr_thread *t);

/*
 * The current packet is full: hands it over (stream), moves to the next slot (ring), or does nothing (end). True when there is
 * now an empty packet. A packet the sink refused is counted as discarded.
 */
bool instr_packet_turn(struct instr_thread *t);

/* Hands over everything the window still holds. False when the sink refused: then the window must be kept. */
bool instr_packet_finish(struct instr_thread *t);

/* The same without completing the packet that is being filled: there is none, its thread has left the window. */
bool instr_packet_hand_over(struct instr_thread *t);

#if INSTR_HAS_TAKEOVER
/*
 * The thread ends: completes its packet. True: the window can be taken over as it is. False: it is full, or no file, and has to be handed over
 * before.
 */
bool instr_packet_leave(struct instr_thread *t);

/* Hands over what ended threads left, or counts it as discarded: the window is empty. */
void instr_packet_empty(struct instr_thread *t);

/* Starts the first packet of the window's next thread. */
void instr_packet_take_over(struct instr_thread *t);
#endif

/* Writes an event although tracing is off; for the runtime's own last events. False when it does not fit. */
bool instr_packet_append(struct instr_thread *t, unsigned id, const uint32_t *words, unsigned count);

/* As instr_packet_append(), with room left for these, at `ticks` or, if that is later, at the last event's time. */
bool instr_packet_put(struct instr_thread *t, unsigned id, uint64_t ticks, const uint32_t *words, unsigned count);

/* Puts the text behind `address` into the packet. */
bool instr_packet_string(struct instr_thread *t, const char *address, uint64_t ticks);

/* Whether a full packet makes room for another one. */
bool instr_packet_may_turn(const struct instr_thread *t);

/* One more event came while another one was being written: says so to the host. Called by handlers. */
void instr_packet_nested(struct instr_thread *t);

/* Forgets what an earlier thread left in the window. */
void instr_packet_clear(struct instr_thread *t);

#endif
