#include "core/cold.h"

#include "core/packet.h"

#include <string.h>

#include "core/process.h"
#include "core/record.h"
#include "core/settings.h"
#include "core/switches.h"
#include "sinks/sink.h"

uint8_t instr_uuid[16];

/*
 * Kept free in each packet for the runtime's own last events, so that a full buffer has them too: clock_sync, stack, sample_lost, thread_time and
 * thread_end.
 */
#define LAST_WORDS_BYTES (4u * (5u * INSTR_EXTENDED_WORDS + 6u + (1u + 3u * INSTR_ADDR_WORDS) + 1u + 4u))

static char *slot_base(const struct instr_thread *t, uint32_t slot)
{
    return t->base + (size_t)(t->size / t->slots) * slot;
}

static void put_field32(char *packet, unsigned offset, uint32_t value)
{
    memcpy(packet + offset, &value, sizeof value);
}

static void put_field64(char *packet, unsigned offset, uint64_t value)
{
    instr_put64((uint32_t *)(void *)(packet + offset), value);
}

static void set_cursor(struct instr_thread *t, char *cursor)
{
    t->cursor = cursor;
    INSTR_TELL(t, cursor);
}

static void set_next_seq(struct instr_thread *t, uint64_t number)
{
    t->next_seq = number;
    INSTR_TELL(t, next_seq);
}

void instr_packet_nested(struct instr_thread *t)
{
    volatile uint32_t *const told = &INSTR_WINDOW_OF(t)->nested;
    uint32_t newest = instr_count(&t->nested, 1);
    uint32_t nested;
    do { /* a handler that interrupts another one here has the newer number */
        nested = newest;
        *told = nested;
        newest = *(volatile uint32_t *)&t->nested;
    } while (nested != newest);
}

/* Adds what signal handlers lost to the thread's count. */
static void count_nested(struct instr_thread *t)
{
    const uint32_t lost = *(volatile uint32_t *)&t->lost_nested;
    const uint32_t more = lost - t->lost_counted;
    instr_lose(t, more);
    t->lost_counted = lost;
    t->settled += more;
    INSTR_TELL(t, settled);
}

void instr_packet_clear(struct instr_thread *t)
{
    for (uint32_t i = 0; i < t->slots; i++)
        memset(slot_base(t, i), 0, INSTR_PACKET_HEADER_BYTES);
    t->cursor = t->base;
}

/* The bytes of a slot that may be filled. */
static size_t slot_room(const struct instr_thread *t)
{
    return (size_t)(t->size / t->slots);
}

/* All that a slot held is gone. */
static void empty_slot(struct instr_thread *t, uint32_t slot)
{
    t->slot_bytes[slot] = 0;
    t->slot_events[slot] = 0;
    put_field64(slot_base(t, slot), INSTR_PACKET_CONTENT_BITS, 0);
    set_cursor(t, slot_base(t, slot));
}

/* When a packet ends or begins, but not before `least`. */
static uint64_t border(const struct instr_thread *t, uint64_t least)
{
    const uint64_t now = INSTR_HAS_SWITCHES && t->behind ? least : instr_ticks(instr_process_clock());
    return now < least ? least : now;
}

#if INSTR_HAS_FUNCTIONS
/* Packets of the process so far. A forked child counts on, so that it knows its own from its parent's. */
static uint32_t packets;

static void number_packet(struct instr_thread *t)
{
    t->packet_number = instr_count(&packets, 1);
    if (t->packet_number == 0)
        t->packet_number = instr_count(&packets, 1);
}
#endif

void instr_packet_open(struct instr_thread *t)
{
    char *const packet = t->cursor;
    const uint64_t now = border(t, t->last_ticks);
    /* The cursor goes last: until then whoever reads the window finds no packet here, or one that holds nothing. */
    put_field64(packet, INSTR_PACKET_CONTENT_BITS, 0);
    put_field32(packet, INSTR_PACKET_MAGIC, INSTR_CTF_MAGIC);
    memcpy(packet + INSTR_PACKET_UUID, instr_uuid, sizeof instr_uuid);
    put_field32(packet, INSTR_PACKET_STREAM_ID, 0);
    put_field64(packet, INSTR_PACKET_BEGIN, now);
    put_field64(packet, INSTR_PACKET_END, 0);
    put_field64(packet, INSTR_PACKET_BITS, 0);
    put_field64(packet, INSTR_PACKET_SEQ, t->next_seq);
    put_field64(packet, INSTR_PACKET_DISCARDED, t->discarded);
    put_field32(packet, INSTR_PACKET_THREAD, t->index);
    put_field32(packet, INSTR_PACKET_OS_TID, t->os_tid);
    put_field32(packet, INSTR_PACKET_TASK_THREAD, t->task_thread);
    put_field32(packet, INSTR_PACKET_TASK_SEQ, t->task_seq);
    put_field32(packet, INSTR_PACKET_REGION_THREAD, t->region_thread);
    put_field32(packet, INSTR_PACKET_REGION_SEQ, t->region_seq);
    put_field32(packet, INSTR_PACKET_FLAGS, t->overwrote ? INSTR_PACKET_FLAG_OVERWROTE : 0);
    put_field32(packet, INSTR_PACKET_TASKS_CREATED, t->next_task);
    t->processor = INSTR_NONE; /* each packet tells anew where its thread runs */
    t->packet = packet;
    t->last_event = now;
    t->events = 0;
    t->slot_end = slot_base(t, t->slot) + slot_room(t) - LAST_WORDS_BYTES;
    INSTR_ROOM(t) = t->slot_end;
    (void)instr_switches_plan(t);
    memset(t->strings, 0, sizeof t->strings);
#if INSTR_HAS_FUNCTIONS
    number_packet(t);
#endif
    INSTR_BARRIER();
    set_cursor(t, packet + INSTR_PACKET_HEADER_BYTES);
}

/* Completes the header of the packet being filled. */
static void close_packet(struct instr_thread *t)
{
    char *const packet = t->packet;
    const size_t bytes = (size_t)(t->cursor - packet);
    const uint64_t now = border(t, instr_last_time(t));
    t->last_ticks = now;
    count_nested(t);
    put_field64(packet, INSTR_PACKET_END, now);
    t->counted[t->slot] = t->discarded;
    put_field64(packet, INSTR_PACKET_DISCARDED, t->discarded);
    put_field64(packet, INSTR_PACKET_BITS, (uint64_t)bytes * 8);
    INSTR_BARRIER();
    put_field64(packet, INSTR_PACKET_CONTENT_BITS, (uint64_t)bytes * 8);
    t->slot_bytes[t->slot] += (uint32_t)bytes;
    t->slot_events[t->slot] += t->events;
    t->slot_packets++;
    t->events = 0;
    set_next_seq(t, t->next_seq + 1);
}

uint32_t *instr_put_header(struct instr_thread *t, unsigned id, uint64_t ticks)
{
    uint32_t *const p = (uint32_t *)(void *)t->cursor;
    if (ticks < instr_last_time(t))
        ticks = instr_last_time(t);
    const bool is_near = ticks - t->last_event < INSTR_TIME_RANGE;
    t->last_event = ticks;
    if (is_near)
        return instr_put32(p, instr_header(id, ticks));
    return instr_put64(instr_put32(p, INSTR_BITS(INSTR_EXTENDED, 0, INSTR_ID_BITS) | INSTR_BITS(id, INSTR_ID_BITS, INSTR_TIME_BITS)), ticks);
}

#if !INSTR_ARCH_SMALL
uint32_t *instr_open_apart(struct instr_thread *t, unsigned id, size_t words, uint64_t now)
{
    const size_t bytes = 4 * (INSTR_EXTENDED_WORDS + words);
    instr_switches_look(t); /* as a rule the thread's last event was long ago */
    if (t->slot_end - t->cursor < (ptrdiff_t)bytes && instr_make_room(t, t->slot_end, bytes) == NULL)
        return NULL;
    return instr_put_header(t, id, now);
}
#endif

static bool append(struct instr_thread *t, const char *end, unsigned id, uint64_t ticks, const uint32_t *words, unsigned count)
{
    if (end - t->cursor < 4 * (ptrdiff_t)(INSTR_EXTENDED_WORDS + count))
        return false;
    uint32_t *p = instr_put_header(t, id, ticks);
    memcpy(p, words, 4 * (size_t)count);
    INSTR_BARRIER();
    set_cursor(t, (char *)(p + count));
    t->events++;
    return true;
}

bool instr_packet_append(struct instr_thread *t, unsigned id, const uint32_t *words, unsigned count)
{
    return append(t, t->slot_end + LAST_WORDS_BYTES, id, instr_ticks(instr_process_clock()), words, count);
}

bool instr_packet_put(struct instr_thread *t, unsigned id, uint64_t ticks, const uint32_t *words, unsigned count)
{
    return append(t, t->slot_end, id, ticks, words, count);
}

static void append_flush(struct instr_thread *t, uint64_t begin, size_t bytes)
{
    uint32_t words[3];
    instr_put32(instr_put64(words, begin), (uint32_t)bytes);
    (void)instr_packet_append(t, INSTR_EV_FLUSH, words, 3);
}

void instr_append_clock_sync(struct instr_thread *t)
{
    struct instr_clock_pair pair;
    uint32_t words[6];
    instr_read_clocks(&pair);
    instr_put64(instr_put64(instr_put64(words, pair.ticks), pair.monotonic_ns), pair.realtime_ns);
    (void)instr_packet_append(t, INSTR_EV_CLOCK_SYNC, words, 6);
}

/* Hands over what the first slot holds, all complete packets, or counts its events as discarded. The bytes that got through. */
static size_t hand_over(struct instr_thread *t)
{
    size_t bytes = t->slot_bytes[0];
    if (instr_sink_append(t->stream, slot_base(t, 0), bytes)) {
        t->told = t->counted[0];
        t->appended += t->slot_events[0] + t->own_events;
    } else {
        bytes = 0;
        instr_lose(t, t->slot_events[0]);
        set_next_seq(t, t->next_seq - t->slot_packets); /* the numbers are used by the next packets that get through */
    }
    t->slot_packets = 0;
    return bytes;
}

static bool turn_stream(struct instr_thread *t)
{
    const uint64_t begin = instr_ticks(instr_process_clock());
    close_packet(t);
    const size_t bytes = hand_over(t);
    empty_slot(t, 0);
    instr_packet_open(t);
    if (INSTR_HAS_SWITCHES && t->behind)
        return true;
    append_flush(t, begin, bytes);
    instr_append_clock_sync(t);
    t->own_events = t->events;
    t->events = 0; /* these are none of the program's: when the packet is lost, nobody misses them */
    return true;
}

/* Moves to the next slot of the ring, whose packets are lost. */
static void step_ring(struct instr_thread *t)
{
    const uint32_t next = t->slot + 1 < t->slots ? t->slot + 1 : 0;
    if (t->slot_bytes[next] != 0) {
        instr_lose(t, t->slot_events[next]);
        t->overwrote = 1;
    }
    empty_slot(t, next);
    INSTR_BARRIER();
    t->slot = next;
    INSTR_TELL(t, slot);
}

static bool turn_ring(struct instr_thread *t)
{
    close_packet(t);
    step_ring(t);
    instr_packet_open(t);
    return true;
}

bool instr_packet_turn(struct instr_thread *t)
{
    if (!t->sampling.taking && !(INSTR_HAS_SWITCHES && t->behind)) /* the dynamic linker's lock may be held by who waits for what was interrupted */
        instr_modules_changed();
    /* A signal handler may end the process in here: then the packet must not be handed over a second time. */
    bool turned = false;
    t->turning = 1;
    INSTR_BARRIER();
    if (instr_settings.policy == INSTR_POLICY_STREAM)
        turned = turn_stream(t);
    else if (instr_settings.policy == INSTR_POLICY_RING)
        turned = turn_ring(t);
    INSTR_BARRIER();
    t->turning = 0;
    return turned;
}

bool instr_packet_finish(struct instr_thread *t)
{
    close_packet(t);
    return instr_packet_hand_over(t);
}

bool instr_packet_hand_over(struct instr_thread *t)
{
    /* Slots follow each other in time beginning with the one after the current. */
    for (uint32_t i = 1; i <= t->slots; i++) {
        const uint32_t slot = (t->slot + i) % t->slots;
        if (t->slot_bytes[slot] == 0)
            continue;
        if (!instr_sink_append(t->stream, slot_base(t, slot), t->slot_bytes[slot]))
            return false; /* later ones would leave a gap in the stream */
        t->told = t->counted[slot];
        t->appended += t->slot_events[slot];
        t->slot_events[slot] = 0;
        if (t->slots == 1 || (slot == 0 && !t->overwrote)) /* in a ring the first packet alone begins with some */
            t->appended += t->own_events;
    }
    return true;
}

#if INSTR_HAS_TAKEOVER
#define LEAST_ROOM 512u /* for the packet of a thread that does little */

/* Whether the slot has room for a thread's packet: an eighth of it, so that few packets are cut in two. */
static bool has_room(const struct instr_thread *t)
{
    const size_t room = (size_t)(slot_base(t, t->slot) + slot_room(t) - t->cursor);
    /* Where a packet cannot be continued in another one, the thread is to find its window nearly empty. */
    const size_t least = instr_settings.policy == INSTR_POLICY_END ? slot_room(t) / 8 * 7 : slot_room(t) / 8;
    return room >= least && room >= LEAST_ROOM;
}

bool instr_packet_leave(struct instr_thread *t)
{
    close_packet(t);
    return t->mapped && (instr_settings.policy == INSTR_POLICY_RING || has_room(t));
}

void instr_packet_empty(struct instr_thread *t)
{
    if (t->slots == 1) {
        (void)hand_over(t);
    } else if (!instr_packet_hand_over(t)) {
        for (uint32_t i = 0; i < t->slots; i++)
            instr_lose(t, t->slot_events[i]);
    }
    for (uint32_t i = t->slots; i-- > 0;)
        empty_slot(t, i);
    t->slot = 0;
    INSTR_TELL(t, slot);
}

void instr_packet_take_over(struct instr_thread *t)
{
    if (!has_room(t) && t->slots > 1)
        step_ring(t);
    instr_packet_open(t);
}
#endif

bool instr_packet_may_turn(const struct instr_thread *t)
{
    /* Events of streams without a thread come with interrupts off, where nothing can be handed to a sink; no more can it in an interrupt. */
    return instr_settings.policy != INSTR_POLICY_END &&
           !(instr_settings.policy == INSTR_POLICY_STREAM && (t->ownerless || instr_platform_in_interrupt()));
}

/* Where an event of so many bytes goes, behind what waits; NULL: nowhere. */
static char *find_room(struct instr_thread *t, size_t bytes)
{
    const size_t most = (size_t)(t->size / t->slots) - INSTR_PACKET_HEADER_BYTES - LAST_WORDS_BYTES - 64; /* 64: flush and clock_sync */
    instr_late_write_all(t);
    if ((ptrdiff_t)bytes <= t->slot_end - t->cursor || (bytes <= most && instr_packet_may_turn(t) && instr_packet_turn(t)))
        return t->cursor;
    return NULL;
}

char *instr_make_room(struct instr_thread *t, char *limit, size_t bytes)
{
    if (instr_is_busy(limit)) { /* an event inside an event: a signal handler, or the runtime's own activity */
        if (!instr_guard_is_left(limit)) {
            (void)instr_count(&t->lost_nested, 1);
            instr_packet_nested(t);
            return NULL;
        }
        t->limit = INSTR_BUSY;
        instr_forget_time(t);
        instr_lose(t, 1); /* the one that was not completed */
    }
    if (instr_switches_step(t) && (ptrdiff_t)bytes <= t->slot_end - t->cursor)
        return t->cursor;
    struct instr_guest guest;
    instr_platform_enter(&guest);
    instr_platform_hold_signals(&guest);
    t->slow = 1;
    INSTR_BARRIER();
    instr_switches_look(t);
    char *const place = find_room(t, bytes);
    (void)instr_switches_plan(t);
    INSTR_BARRIER();
    t->slow = 0;
    if (place == NULL) {
        instr_lose(t, 1);
        t->limit = t->slot_end;
    }
    instr_platform_leave(&guest);
    return place;
}

/* The payload of a string event: the text, padded with zeros, and its address; its words. */
static size_t put_string(uint32_t *p, const char *address)
{
    size_t length = 0;
    while (length < INSTR_CFG_STRING_BYTES && address[length] != '\0')
        length++;
    if (p != NULL) {
        p[length / 4] = 0;
        memcpy(p, address, length);
        instr_put_addr(p + length / 4 + 1, (uintptr_t)address);
    }
    return INSTR_ADDR_WORDS + length / 4 + 1;
}

#if INSTR_HAS_LATE
bool instr_packet_string(struct instr_thread *t, const char *address, uint64_t ticks)
{
    uint32_t words[INSTR_ADDR_WORDS + INSTR_CFG_STRING_BYTES / 4 + 1];
    const size_t count = put_string(words, address);
    const bool put = instr_packet_put(t, INSTR_EV_STRING, ticks, words, (unsigned)count);
    if (put)
        *instr_string_place(t, address) = address;
    return put;
}
#endif

void instr_string(struct instr_thread *t, const char *address)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_STRING, put_string(NULL, address));
    if (p == NULL)
        return;
    (void)put_string(p, address);
    *instr_string_place(t, address) = address;
    instr_close(&s);
}
