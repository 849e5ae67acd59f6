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

    /* The id first in both orders, 7 bits, then 25 of the time: its last bytes are 0x77 0x55 0x66 0x77, of the first only one bit. */
    words[1] = instr_header(0x2a, UINT64_C(0xff11223377556677));
    const unsigned char big[4] = {0x2a << 1 | 1, 0x55, 0x66, 0x77};
    const unsigned char little[4] = {0x2a | (0x77 & 1) << 7, 0x77 >> 1 | (0x66 & 1) << 7, 0x66 >> 1 | (0x55 & 1) << 7, 0x55 >> 1 | (0x77 & 1) << 7};
    for (unsigned i = 0; i < 4; i++)
        CHECK(bytes[i] == (INSTR_BIG_ENDIAN ? big[i] : little[i]));

    CHECK(instr_put_addr(words, 1) == words + sizeof(void *) / 4);
    return failures != 0;
}
