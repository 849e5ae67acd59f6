/*
 * Context switches and wake-ups of the threads of a tree of processes, or of all threads. `scripts/bpf.sh` compiles this into switches.bpf.o, which
 * `instr` carries and loads; mod.rs has the other side of everything below.
 *
 * Switches and wake-ups happen with interrupts off: each processor writes them into a ring of its own, without a lock. Begins, names and new programs,
 * which are rare, go through one ring of the kernel's. By that the reader is called when a processor's ring fills.
 */

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))

/* ---- the kernel's types, by name: the loader puts in the offsets that they have on this machine ---- */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct thread_info {
    int preempt_count;
};
struct sched_entity {
    u64 exec_start;
    u64 sum_exec_runtime;
    u64 prev_sum_exec_runtime;
};
struct task_struct {
    struct thread_info thread_info;
    void *stack;
    u32 flags;
    int prio;
    struct sched_entity se;
    int pid;
    int tgid;
    char comm[16];
};
struct pt_regs {
    u64 orig_ax;
};
#pragma clang attribute pop

/* ---- helpers of the kernel, by number (linux/bpf.h) ---- */

static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static long (*const map_update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*const map_delete)(void *map, const void *key) = (void *)3;
static u64 (*const now)(void) = (void *)5;
static u32 (*const processor_number)(void) = (void *)8;
static long (*const read_text)(void *to, u32 size, const void *from) = (void *)115;
static void *(*const ring_reserve)(void *ring, u64 size, u64 flags) = (void *)131;
static void (*const ring_submit)(void *data, u64 flags) = (void *)132;
static struct task_struct *(*const current_task)(void) = (void *)158;
/* Where the thread came into the kernel: they lie at the end of its stack. */
static struct pt_regs *(*const registers_of)(const struct task_struct *task) = (void *)175;

/* ---- what the loader sets ---- */

const volatile u32 whole_system; /* all threads, not those in `threads` */
const volatile u32 launcher;     /* the thread whose new processes are followed, from their exec on */
const volatile u32 ring_bits;    /* slots of a ring, as a power of two */
const volatile u32 in_order;     /* what this processor stores, others see in the same order */

/* ---- maps ---- */

#define MAP(name, type_, key_, value_, entries, flags_)                                                                                              \
    struct {                                                                                                                                         \
        int (*type)[type_];                                                                                                                          \
        key_ *key;                                                                                                                                   \
        value_ *value;                                                                                                                               \
        int (*max_entries)[entries];                                                                                                                 \
        int (*map_flags)[flags_];                                                                                                                    \
    } name SEC(".maps")

#define TYPE_HASH 1
#define TYPE_ARRAY 2
#define TYPE_RING 27
#define SHOWN 1024 /* BPF_F_MMAPABLE */

/* A thread that is followed. `task` tells a thread from the next one that gets its number. */
struct thread {
    u64 task;
    u64 is_active; /* 0: it has not become a program yet */
};
MAP(threads, TYPE_HASH, u32, struct thread, 32768, 0);

/*
 * The thread that became active last of those whose numbers end alike; 0: none, or it has ended. What is not here may still be in `threads`, which takes five times as long to ask.
 * It is written where `threads` is and nowhere else, so the two never differ.
 */
#define RECENT 4096
MAP(recent, TYPE_ARRAY, u32, u32, RECENT, 0);

/* Where a processor's ring is. The reader alone writes `tail`. */
struct place {
    u64 head;
    u64 lost;     /* since the last slot that was written */
    u32 runs;     /* the thread to which the last switch led */
    u32 runs_is;  /* KNOWN, FOLLOWED */
    u32 runs_pid; /* of one that is followed */
    u32 unused;
    u64 last;   /* when the last switch was that has a slot */
    u64 offset; /* `now` less the time in which the scheduler accounts */
    u64 unused_too[2];
    u64 tail;
    u64 unused_here[7];
};
MAP(places, TYPE_ARRAY, u32, struct place, 1, SHOWN);

#define FOLLOWED 1
#define KNOWN 2 /* there was a switch before */

enum kind { SWITCH, WAKE, LOST };
enum leave { BLOCKED, READY, YIELDED, ENDED };
enum context { THREAD, INTERRUPT, UNKNOWN };

/*
 * A switch: from `first` to `second`; a wake-up: `first` wakes `second`; a loss: of how many.
 * bits: kind 0-1, leave or context 2-3, first is followed 4, second is followed 5, priorities of first 8-15 and of second 16-23.
 */
struct slot {
    u64 time;
    u32 first_tid;
    u32 first_pid;
    u32 second_tid;
    u32 second_pid;
    u64 bits;
};
MAP(slots, TYPE_ARRAY, u32, struct slot, 1, SHOWN);

enum rare_kind { FORK, EXEC, NAME, CALL };
struct rare {
    u64 time;
    u32 kind;
    u32 processor;
    u32 tid;
    u32 pid;
    u32 parent_tid;
    u32 parent_pid;
    char name[16];
};
struct {
    int (*type)[TYPE_RING];
    int (*max_entries)[1 << 20];
} rares SEC(".maps");

/* What was lost of it, and threads for which there was no room. */
struct losses {
    u64 rares;
    u64 threads;
};
MAP(losses, TYPE_ARRAY, u32, struct losses, 1, SHOWN);

/* ---- the rings ---- */

INLINE struct place *place_of(u32 processor)
{
    return map_lookup(&places, &processor);
}

INLINE struct slot *slot_at(u32 processor, u64 head)
{
    const u32 at = processor << ring_bits | (head & ((1u << ring_bits) - 1));
    return map_lookup(&slots, &at);
}

/* The slot is written before the head says so. Where a store is not enough: an atomic operation that gives the old value is a barrier. */
INLINE void publish(struct place *place)
{
    if (in_order) {
        __asm__ volatile("" : : : "memory");
        *(volatile u64 *)&place->head = place->head + 1;
        return;
    }
    u64 old = __sync_fetch_and_add(&place->head, 1);
    __asm__ volatile("" : : "r"(old) : "memory");
}

/* When the reader gets what is rare: it comes by itself; it is woken, where it sleeps for long. */
#define LATER 1
#define NOW 2

/* At each quarter of a ring. The kernel wakes it by an interrupt of its own, behind the switch. */
INLINE void call_reader(const struct place *place)
{
    const u64 used = place->head - *(volatile u64 *)&place->tail;
    if (used == 0 || (used & ((1ull << (ring_bits - 2)) - 1)) != 0)
        return;
    struct rare *call = ring_reserve(&rares, sizeof *call, 0);
    if (call == 0)
        return; /* it has enough to read */
    call->kind = CALL;
    ring_submit(call, NOW);
}

INLINE struct slot *reserve(struct place *place, u32 processor, u64 time)
{
    const u64 used = place->head - *(volatile u64 *)&place->tail;
    if (used + 2 > 1ull << ring_bits) {
        place->lost++;
        return 0;
    }
    if (place->lost != 0) {
        struct slot *loss = slot_at(processor, place->head);
        if (loss == 0)
            return 0;
        loss->time = time;
        loss->first_tid = (u32)place->lost;
        loss->first_pid = place->lost >> 32;
        loss->bits = LOST;
        place->lost = 0;
        publish(place);
    }
    return slot_at(processor, place->head);
}

/* ---- who is followed ---- */

INLINE u32 *recent_of(u32 tid)
{
    const u32 at = tid % RECENT;
    return map_lookup(&recent, &at);
}

INLINE int is_followed(u32 tid)
{
    if (tid == 0)
        return 0;
    if (whole_system)
        return 1;
    const u32 *known = recent_of(tid);
    if (known != 0 && *known == tid)
        return 1;
    const struct thread *thread = map_lookup(&threads, &tid);
    return thread != 0 && thread->is_active;
}

INLINE void count_loss(int of_threads)
{
    const u32 zero = 0;
    struct losses *all = map_lookup(&losses, &zero);
    if (all != 0)
        __sync_fetch_and_add(of_threads ? &all->threads : &all->rares, 1);
}

/*
 * A kernel may not tell of every switch: Linux 6.18 has been seen to leave out those from some threads of the first process, for perf's tracepoint, too. Then
 * another thread runs than the one to which the last switch led, and the switch to it is written when that is noticed. When it came is in the scheduler's
 * account of a thread of the fair class: it ran so much since it came, up to a time of the scheduler's clock, which `now` is ahead of by `offset`. Of others,
 * and of the thread that left, it is known only that it was behind the last switch.
 */
INLINE void catch_up(struct place *place, u32 processor, const struct task_struct *runs, int followed, u64 offset)
{
    const u32 before = place->runs_is;
    if (!(before & KNOWN) || (!followed && !(before & FOLLOWED)))
        return;
    u64 came = runs->se.exec_start + offset - (runs->se.sum_exec_runtime - runs->se.prev_sum_exec_runtime);
    if (came < place->last || came > now())
        came = place->last;
    struct slot *slot = reserve(place, processor, came);
    if (slot != 0) {
        slot->time = came;
        slot->first_tid = place->runs;
        slot->first_pid = place->runs_pid;
        slot->second_tid = runs->pid;
        slot->second_pid = runs->tgid;
        slot->bits = SWITCH | BLOCKED << 2 | (before & FOLLOWED) << 4 | followed << 5 | (runs->prio & 255) << 16;
        publish(place);
    }
    place->runs = runs->pid;
    place->runs_is = KNOWN | followed;
    place->runs_pid = runs->tgid;
    place->last = came;
}

INLINE void follow(u32 tid, const struct thread *thread)
{
    if (map_update(&threads, &tid, thread, 0) != 0) {
        count_loss(1);
        return;
    }
    u32 *known = recent_of(tid);
    if (known == 0)
        return;
    if (thread->is_active)
        *known = tid;
    else if (*known == tid)
        *known = 0;
}

INLINE void forget(u32 tid)
{
    map_delete(&threads, &tid);
    u32 *known = recent_of(tid);
    if (known != 0 && *known == tid)
        *known = 0;
}

INLINE struct rare *rare(enum rare_kind kind, const struct task_struct *task)
{
    struct rare *found = ring_reserve(&rares, sizeof *found, 0);
    if (found == 0) {
        count_loss(0);
        return 0;
    }
    found->time = now();
    found->kind = kind;
    found->processor = processor_number();
    found->tid = task->pid;
    found->pid = task->tgid;
    found->parent_tid = 0;
    found->parent_pid = 0;
    return found;
}


/* ---- the events ---- */

#define EXISTS(field) __builtin_preserve_field_info(field, 2)

#define TASK_DEAD 0x80u
#define PF_KTHREAD 0x00200000u
#define SCHED_YIELD 24 /* x86-64 */

/* Whether a thread that could go on is in the system call by which it gives its processor away. */
INLINE int yields(const struct task_struct *task)
{
    if (!EXISTS(((struct pt_regs *)0)->orig_ax) || task->flags & PF_KTHREAD)
        return 0;
    const struct pt_regs *registers = registers_of(task);
    return registers->orig_ax == SCHED_YIELD;
}

SEC("tp_btf/sched_switch")
int on_switch(u64 *arguments)
{
    const int is_preempted = (u8)arguments[0];
    struct task_struct *from = (void *)arguments[1];
    struct task_struct *to = (void *)arguments[2];
    const u32 state = (u32)arguments[3];
    const u32 processor = processor_number();
    struct place *place = place_of(processor);
    if (place == 0)
        return 0;
    const u32 from_tid = from->pid, to_tid = to->pid;
    const int is_told = place->runs == from_tid && place->runs_is & KNOWN;
    const int from_followed = is_told ? place->runs_is & FOLLOWED : is_followed(from_tid);
    const int to_followed = is_followed(to_tid);
    if (!is_told)
        catch_up(place, processor, from, from_followed, now() - from->se.exec_start);
    place->runs = to_tid;
    place->runs_is = KNOWN | to_followed;
    if (!from_followed && !to_followed)
        return 0;
    enum leave leave = BLOCKED;
    if (state & TASK_DEAD) {
        leave = ENDED;
        if (!whole_system) {
            const struct thread *thread = map_lookup(&threads, &from_tid);
            if (thread != 0 && thread->task == (u64)from)
                forget(from_tid);
        }
    } else if (is_preempted) {
        leave = READY;
    } else if (state == 0) {
        leave = from_followed && yields(from) ? YIELDED : READY;
    }
    const u64 time = now();
    place->runs_pid = to->tgid;
    place->last = time;
    place->offset = time - from->se.exec_start;
    struct slot *slot = reserve(place, processor, time);
    if (slot == 0)
        return 0;
    slot->time = time;
    slot->first_tid = from_tid;
    slot->first_pid = from->tgid;
    slot->second_tid = to_tid;
    slot->second_pid = to->tgid;
    slot->bits = SWITCH | leave << 2 | from_followed << 4 | to_followed << 5 | (from->prio & 255) << 8 | (to->prio & 255) << 16;
    publish(place);
    call_reader(place);
    return 0;
}

/*
 * Whether the processor does the thread's own work, or an interrupt's, which has nothing to do with the thread below it. x86-64 has no count of interrupts
 * that programs may read everywhere. But an interrupt of the kernel has a stack of its own, which soft ones have, too; and one of user code, which
 * stays on the thread's stack, has entered the kernel without a system call. (So has a fault; what that wakes counts as woken by an interrupt.)
 */
INLINE enum context context(const struct task_struct *current)
{
    if (EXISTS(((struct task_struct *)0)->thread_info.preempt_count)) /* other processors: also soft ones, and those that cannot be masked */
        return current->thread_info.preempt_count & 0x00ff0100 ? INTERRUPT : THREAD;
    if (!EXISTS(((struct pt_regs *)0)->orig_ax))
        return UNKNOWN;
    const struct pt_regs *registers = registers_of(current);
    const u64 begin = (u64)current->stack, end = (u64)registers;
    u64 here;
    __asm__ volatile("%0 = r10" : "=r"(here)); /* this program's own frame */
    if (here < begin || here >= end)
        return INTERRUPT;
    return !(current->flags & PF_KTHREAD) && (long long)registers->orig_ax == -1 ? INTERRUPT : THREAD;
}

SEC("tp_btf/sched_waking")
int on_waking(u64 *arguments)
{
    const struct task_struct *woken = (void *)arguments[0];
    const struct task_struct *current = current_task();
    const u32 tid = woken->pid;
    if (tid == (u32)current->pid || !is_followed(tid))
        return 0;
    const u32 processor = processor_number();
    struct place *place = place_of(processor);
    if (place == 0)
        return 0;
    if (place->runs != (u32)current->pid)
        catch_up(place, processor, current, is_followed(current->pid), place->offset);
    const u64 time = now();
    struct slot *slot = reserve(place, processor, time);
    if (slot == 0)
        return 0;
    slot->time = time;
    slot->first_tid = current->pid;
    slot->first_pid = current->tgid;
    slot->second_tid = tid;
    slot->second_pid = woken->tgid;
    slot->bits = WAKE | context(current) << 2;
    publish(place);
    call_reader(place);
    return 0;
}

SEC("tp_btf/sched_process_fork")
int on_fork(u64 *arguments)
{
    const struct task_struct *parent = (void *)arguments[0];
    const struct task_struct *child = (void *)arguments[1];
    const u32 parent_tid = parent->pid, tid = child->pid;
    struct thread new = {.task = (u64)child, .is_active = 1};
    if (!whole_system) {
        if (parent_tid == launcher && parent->tgid != child->tgid)
            new.is_active = 0;
        else if (!is_followed(parent_tid))
            return 0;
        follow(tid, &new);
    }
    if (!new.is_active)
        return 0;
    struct rare *told = rare(FORK, child);
    if (told == 0)
        return 0;
    told->parent_tid = parent_tid;
    told->parent_pid = parent->tgid;
    ring_submit(told, LATER);
    return 0;
}

SEC("tp_btf/sched_process_exec")
int on_exec(u64 *arguments)
{
    const struct task_struct *task = (void *)arguments[0];
    const u32 before = (u32)arguments[1], tid = task->pid;
    if (!whole_system) {
        /* A thread that is not the first of its process gets that one's number. */
        if (map_lookup(&threads, &before) == 0)
            return 0;
        if (before != tid)
            forget(before);
        struct thread active = {.task = (u64)task, .is_active = 1};
        follow(tid, &active);
    }
    struct place *place = place_of(processor_number());
    if (place != 0) {
        place->runs = tid;
        place->runs_is = KNOWN | FOLLOWED;
        place->runs_pid = task->tgid;
    }
    struct rare *told = rare(EXEC, task);
    if (told == 0)
        return 0;
    read_text(told->name, sizeof told->name, task->comm);
    ring_submit(told, NOW);
    return 0;
}

SEC("tp_btf/task_rename")
int on_name(u64 *arguments)
{
    const struct task_struct *task = (void *)arguments[0];
    if (!is_followed(task->pid))
        return 0;
    struct rare *told = rare(NAME, task);
    if (told == 0)
        return 0;
    read_text(told->name, sizeof told->name, (const void *)arguments[1]);
    ring_submit(told, LATER);
    return 0;
}

/* By this a test sees whether the object is that of this file. */
const char source[] SEC(".source") = SOURCE_SHA256;

/* Licences with which the kernel lets programs call all of its helpers. */
char licence[] SEC("license") = "Dual MIT/GPL";
