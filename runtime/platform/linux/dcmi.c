/*
 * The power of the whole machine, as its management controller tells it: the command Get Power Reading of DCMI (Data Center Manageability
 * Interface 1.5, 6.6.1), sent through the kernel's IPMI driver (linux/ipmi.h; Documentation/driver-api/ipmi.rst).
 *
 * A controller answers in milliseconds to hundreds of them, and one question is asked at a time; so it is asked at begin and end and on a
 * period only, never by a thread that is busy with a region. What does not answer in time is a reading without a value.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "core/cold.h"

#include "platform/linux/energy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ipmi.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/linux/files.h"
#include "platform/platform.h"

#define NETFN_DCMI 0x2cu /* IPMI calls it the group extension */
#define GET_POWER_READING 0x02u
#define DCMI 0xdcu             /* which group: first byte of question and answer */
#define SYSTEM_POWER 0x01u     /* mode: statistics of the system */
#define MEASURING 0x40u        /* bit of the state, the answer's last byte */
#define ANSWER_BYTES 19u       /* completion code, group, four powers, time stamp, period, state */
#define PATIENCE_NS 250000000u /* a controller that is busy elsewhere takes this long */

/* Readings of this family that cannot wait for it. */
#define TOO_OFTEN (INSTR_AT_REGION | INSTR_AT_IMPLICIT | INSTR_AT_TASK | INSTR_AT_TASK_BEGIN | INSTR_AT_SAMPLE | INSTR_AT_FUNCTION)

static struct {
    struct instr_sensor sensor;
    char path[INSTR_FILE_PATH];
    struct instr_turn asking;
    pid_t owner; /* the driver queues answers by open file: a forked child needs its own */
    dev_t device;
    ino_t inode;
    long asked; /* number of the last question */
} meter;

/* Opens the driver's file; 0, or errno. */
static int open_meter(void)
{
    struct stat status;
    const bool had_turn = instr_platform_turn_begin();
    const int fd = instr_high_descriptor(open(meter.path, O_RDWR | O_CLOEXEC | O_NONBLOCK));
    instr_platform_turn_end(had_turn);
    if (fd < 0)
        return errno;
    if (fstat(fd, &status) != 0) {
        const int error = errno;
        close(fd);
        return error;
    }
    meter.device = status.st_dev;
    meter.inode = status.st_ino;
    meter.owner = getpid();
    meter.sensor.handle = fd;
    return 0;
}

/* Opens it again in a forked child, and where the program closed a descriptor it did not know. */
static int ensure_open(void)
{
    struct stat status;
    const bool ours =
        fstat(meter.sensor.handle, &status) == 0 && status.st_dev == meter.device && status.st_ino == meter.inode;
    if (ours && meter.owner == getpid())
        return 0;
    if (ours)
        close(meter.sensor.handle);
    return open_meter();
}

static int ask(void)
{
    struct ipmi_system_interface_addr to = {.addr_type = IPMI_SYSTEM_INTERFACE_ADDR_TYPE, .channel = IPMI_BMC_CHANNEL};
    unsigned char question[] = {DCMI, SYSTEM_POWER, 0, 0};
    struct ipmi_req request = {.addr = (unsigned char *)&to, .addr_len = sizeof to, .msgid = ++meter.asked};
    request.msg.netfn = NETFN_DCMI;
    request.msg.cmd = GET_POWER_READING;
    request.msg.data = question;
    request.msg.data_len = sizeof question;
    return ioctl(meter.sensor.handle, IPMICTL_SEND_COMMAND, &request) == 0 ? 0 : errno;
}

/* The answer to the last question, `*bytes` of it; 0, -1 when none came in time, else errno. Late answers to others are dropped. */
static int answer(unsigned char data[ANSWER_BYTES], unsigned *bytes)
{
    const uint64_t until = instr_platform_monotonic_ns() + PATIENCE_NS;
    for (uint64_t now = 0; now < until; now = instr_platform_monotonic_ns()) {
        struct ipmi_addr from;
        struct ipmi_recv received = {.addr = (unsigned char *)&from, .addr_len = sizeof from};
        received.msg.data = data;
        received.msg.data_len = ANSWER_BYTES;
        /* A longer answer is cut, which the driver tells by this error. */
        if (ioctl(meter.sensor.handle, IPMICTL_RECEIVE_MSG_TRUNC, &received) == 0 || errno == EMSGSIZE) {
            if (received.recv_type != IPMI_RESPONSE_RECV_TYPE || received.msgid != meter.asked)
                continue;
            *bytes = received.msg.data_len;
            return 0;
        }
        if (errno != EAGAIN && errno != EINTR)
            return errno;
        struct pollfd wait = {.fd = meter.sensor.handle, .events = POLLIN};
        (void)poll(&wait, 1, PATIENCE_NS / 1000000);
    }
    return -1;
}

/* Completion codes (IPMI 2.0, 5.2): busy, out of time and of room pass. */
static bool passes(unsigned code)
{
    return code == 0xc0 || code == 0xc3 || code == 0xc4 || code == 0xce || code == 0xcf || code == 0xd2 || code == 0xd5 || code == 0xff;
}

static int read_alone(int64_t *watts)
{
    unsigned char data[ANSWER_BYTES];
    unsigned bytes = 0;
    int error = ensure_open();
    if (error == 0)
        error = ask();
    if (error == 0)
        error = answer(data, &bytes);
    if (error != 0)
        return error;
    if (bytes != 0 && data[0] != 0)
        return passes(data[0]) ? -1 : EOPNOTSUPP;
    if (bytes < ANSWER_BYTES || data[1] != DCMI)
        return EPROTO;
    *watts = data[2] | data[3] << 8;
    return (data[ANSWER_BYTES - 1] & MEASURING) != 0 ? 0 : -1;
}

static int read_power(struct instr_sensor *s, int64_t *values)
{
    (void)s;
    if (!instr_turn_take(&meter.asking))
        return -1;
    const int error = read_alone(values);
    instr_turn_give(&meter.asking);
    return error;
}

static const char *open_and_try(struct instr_sensor *s)
{
    int64_t watts;
    int error = open_meter();
    if (error == 0)
        error = read_power(s, &watts);
    switch (error) {
    case 0:
        return NULL;
    case -1:
        return "the management controller does not measure power now, or does not answer in time";
    case EACCES:
    case EPERM:
        return "permission denied (instr doctor says what to do)";
    case EOPNOTSUPP:
        return "the management controller has no power reading of DCMI";
    default:
        return "the management controller does not answer as DCMI says";
    }
}

void instr_discover_dcmi(void)
{
    /* Where distributions put it; as ipmitool looks for it. */
    static const char *const PLACES[] = {"/dev/ipmi0", "/dev/ipmi/0", "/dev/ipmidev/0"};
    if (!instr_sensor_family_wanted("ipmi"))
        return;
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++) {
        if (!instr_file_path(meter.path, sizeof meter.path, INSTR_PIECES(PLACES[i])) || access(meter.path, F_OK) != 0)
            continue;
        meter.sensor = (struct instr_sensor){.name = "ipmi/power",
                                             .unit = "W",
                                             .source = meter.path,
                                             .values = 1,
                                             .kind = INSTR_SENSOR_LEVEL,
                                             .skip = TOO_OFTEN,
                                             .init = open_and_try,
                                             .read = read_power,
                                             .handle = -1};
        if (!instr_sensor_offer(&meter.sensor) && meter.sensor.handle >= 0) {
            close(meter.sensor.handle);
            meter.sensor.handle = -1;
        }
        return;
    }
    instr_sensor_missing("ipmi", "there is no /dev/ipmi0: no management controller, or its driver (ipmi_si, ipmi_devintf) is not loaded");
}
