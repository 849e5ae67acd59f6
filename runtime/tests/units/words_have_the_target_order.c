/* Stored bytes are what CTF's integers of the target's byte order mean, also where an address is only a multiple of 4. */
#include "check.h"
#include "core/record.h"

int main(void)
{
    uint32_t words[5] = {0};
    const unsigned char *bytes = (const unsigned char *)&words[1];
    uint32_t *end = instr_put64(&words[1], UINT64_C(0x0102030405060708));
    CHECK(end == &words[3]);
    for (unsigned i = 0; i < 8; i++)
        CHECK(bytes[i] == (INSTR_BIG_ENDIAN ? i + 1 : 8 - i));

    /* id first in both orders: byte 0 on its own, then 56 bits of time. */
    end = instr_put_header(&words[1], 0x2a, UINT64_C(0xff11223344556677));
    CHECK(end == &words[3]);
    CHECK(bytes[0] == 0x2a);
    const unsigned char big[7] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77};
    for (unsigned i = 0; i < 7; i++)
        CHECK(bytes[1 + i] == (INSTR_BIG_ENDIAN ? big[i] : big[6 - i]));

    CHECK(instr_put_addr(words, 1) == words + sizeof(void *) / 4);
    return failures != 0;
}
