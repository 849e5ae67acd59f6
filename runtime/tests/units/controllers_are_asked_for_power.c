/* A management controller whose driver is this program: it answers as a list says, late, wrongly or not at all. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ipmi.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/settings.h"
#include "platform/linux/energy.h"
#include "sensors/sensors.h"

/* DCMI 1.5, table 6-16: 215 W now, 180 to 300 W, 210 W on average, a second of statistics, measuring. */
static const unsigned char READING[] = {0x00, 0xdc, 215, 0, 180, 0, 0x2c, 1, 210, 0, 0, 0, 0, 0, 0xe8, 3, 0, 0, 0x40};

static struct {
    unsigned char bytes[64];
    unsigned count; /* 0: no answer at all */
    long late;      /* added to the question's number: an answer to an earlier one comes first */
    int trouble;    /* errno of sending */
} script;
static long asked;
static unsigned questions;
static unsigned waiting; /* answers */

static void says(const void *bytes, unsigned count)
{
    memset(&script, 0, sizeof script);
    memcpy(script.bytes, bytes, count);
    script.count = count;
}

static int sent(const struct ipmi_req *request)
{
    static const unsigned char QUESTION[] = {0xdc, 1, 0, 0};
    const struct ipmi_system_interface_addr *to = (const void *)request->addr;
    CHECK(request->addr_len == sizeof *to && to->addr_type == IPMI_SYSTEM_INTERFACE_ADDR_TYPE);
    CHECK(to->channel == IPMI_BMC_CHANNEL && to->lun == 0);
    CHECK(request->msg.netfn == 0x2c && request->msg.cmd == 2);
    CHECK(request->msg.data_len == sizeof QUESTION && memcmp(request->msg.data, QUESTION, sizeof QUESTION) == 0);
    asked = request->msgid;
    questions++;
    waiting = script.count == 0 ? 0 : script.late != 0 ? 2 : 1;
    errno = script.trouble;
    return script.trouble == 0 ? 0 : -1;
}

static int received(struct ipmi_recv *message)
{
    if (waiting == 0) {
        errno = EAGAIN;
        return -1;
    }
    const bool late = waiting-- == 2;
    const unsigned room = message->msg.data_len;
    memcpy(message->msg.data, script.bytes, script.count < room ? script.count : room);
    if (late)
        message->msg.data[2] ^= 0xff;
    message->msg.data_len = (unsigned short)(script.count < room ? script.count : room);
    message->recv_type = IPMI_RESPONSE_RECV_TYPE;
    message->msgid = asked + (late ? script.late : 0);
    errno = EMSGSIZE;
    return script.count > room ? -1 : 0;
}

int ioctl(int fd, unsigned long what, ...)
{
    va_list more;
    va_start(more, what);
    void *argument = va_arg(more, void *);
    va_end(more);
    (void)fd;
    if (what == (unsigned long)IPMICTL_SEND_COMMAND)
        return sent(argument);
    if (what == (unsigned long)IPMICTL_RECEIVE_MSG_TRUNC)
        return received(argument);
    errno = ENOTTY;
    return -1;
}

/* What is there when the controller is looked for: the reason against it, or NULL. */
static const char *discovered(void)
{
    instr_sensor_trouble_count = 0;
    instr_sensor_count = 0;
    instr_discover_dcmi();
    CHECK(instr_sensor_count + instr_sensor_trouble_count == 1);
    return instr_sensor_count == 1 ? NULL : instr_sensor_troubles[0].why;
}

static int power(int64_t *watts)
{
    return instr_sensors[0]->read(instr_sensors[0], watts);
}

static void tells_why_not(void)
{
    says("\xc1", 1); /* invalid command */
    CHECK(strstr(discovered(), "no power reading of DCMI") != NULL);
    says(READING, 5);
    CHECK(strstr(discovered(), "does not answer as DCMI says") != NULL);
    unsigned char other[sizeof READING];
    memcpy(other, READING, sizeof other);
    other[1] = 0;
    says(other, sizeof other);
    CHECK(strstr(discovered(), "does not answer as DCMI says") != NULL);
    memcpy(other, READING, sizeof other);
    other[18] = 0;
    says(other, sizeof other);
    CHECK(strstr(discovered(), "does not measure power now") != NULL);
    says("", 0);
    CHECK(strstr(discovered(), "does not answer in time") != NULL);
}

static void reads(void)
{
    int64_t watts = 0;
    says(READING, sizeof READING);
    CHECK(discovered() == NULL);
    CHECK(strcmp(instr_sensors[0]->name, "ipmi/power") == 0 && strcmp(instr_sensors[0]->unit, "W") == 0);
    CHECK((instr_sensors[0]->skip & (INSTR_AT_REGION | INSTR_AT_TASK | INSTR_AT_SAMPLE)) != 0);
    CHECK((instr_sensors[0]->skip & (INSTR_AT_BEGIN_END | INSTR_AT_PERIOD)) == 0);
    CHECK(power(&watts) == 0 && watts == 215);
    script.bytes[3] = 2;
    CHECK(power(&watts) == 0 && watts == 215 + 512);
    script.count += 7; /* a later version may append */
    CHECK(power(&watts) == 0 && watts == 215 + 512);
    script.late = -1;
    CHECK(power(&watts) == 0 && watts == 215 + 512);
    says("\xc0", 1); /* busy: this time */
    CHECK(power(&watts) == -1);
    says("\xc1", 1);
    CHECK(power(&watts) == EOPNOTSUPP);
    says(READING, sizeof READING);
    script.trouble = ENODEV;
    CHECK(power(&watts) == ENODEV);
}

/* The program closed the descriptor, and a child was forked: both ask through a file of their own. */
static void opens_again(void)
{
    int64_t watts = 0;
    int status = 1;
    says(READING, sizeof READING);
    close(instr_sensors[0]->handle);
    CHECK(power(&watts) == 0 && watts == 215);
    const int parents = instr_sensors[0]->handle;
    const int kept = dup(parents);
    const pid_t child = fork();
    if (child == 0) {
        const unsigned before = questions;
        const bool asks = power(&watts) == 0 && watts == 215 && questions == before + 1;
        _exit(asks && fcntl(kept, F_GETFD) >= 0 ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(fcntl(parents, F_GETFD) >= 0);
}

int main(void)
{
    char root[] = "/tmp/instr-dcmi-XXXXXX";
    char path[64];
    CHECK(mkdtemp(root) != NULL);
    instr_settings.sensors = "ipmi";
    instr_settings.sensors_root = root;
    CHECK(strstr(discovered(), "there is no /dev/ipmi0") != NULL);
    snprintf(path, sizeof path, "%s/dev", root);
    CHECK(mkdir(path, 0700) == 0);
    snprintf(path, sizeof path, "%s/dev/ipmi0", root);
    const int file = open(path, O_CREAT | O_WRONLY, 0600);
    CHECK(file >= 0 && close(file) == 0);
    tells_why_not();
    reads();
    opens_again();
    unlink(path);
    snprintf(path, sizeof path, "%s/dev", root);
    rmdir(path);
    rmdir(root);
    return failures != 0;
}
