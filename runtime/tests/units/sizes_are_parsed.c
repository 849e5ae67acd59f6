#include "check.h"
#include "core/settings.h"

int main(void)
{
    uint64_t n = 0;
    CHECK(instr_parse_size("65536", &n) && n == 65536);
    CHECK(instr_parse_size("64K", &n) && n == 65536);
    CHECK(instr_parse_size("4m", &n) && n == 4194304);
    CHECK(instr_parse_size("1G", &n) && n == 1073741824);
    CHECK(instr_parse_size("0", &n) && n == 0);
    CHECK(!instr_parse_size("", &n));
    CHECK(!instr_parse_size("K", &n));
    CHECK(!instr_parse_size("-1", &n));
    CHECK(!instr_parse_size("1KB", &n));
    CHECK(!instr_parse_size("1 K", &n));
    CHECK(!instr_parse_size("0x10", &n));
    CHECK(!instr_parse_size("18446744073709551616", &n)); /* 2^64 */
    CHECK(!instr_parse_size("18446744073709551615G", &n));
    return failures != 0;
}
