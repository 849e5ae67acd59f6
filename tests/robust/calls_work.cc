// The functions that calls.cc calls: each call crosses from one object into another, where the linker can lead it elsewhere.
#include <csetjmp>
#include <instr/instr.h>
#include <unistd.h>

#include "calls.h"

extern jmp_buf back;

long outer(int how)
{
    return inner(how) + 1;
}

long leave(int how)
{
    if (how != DEEP_JUMP && how != DEEP_RETURN && how > DEEP_JUMP)
        return outer(how - 1);
    switch (how) {
    case THROW:
        throw 7;
    case JUMP:
    case DEEP_JUMP:
        longjmp(back, 1);
    case CANCEL:
        for (;;)
            pause();
    case STOP:
        instr_stop();
    }
    return 1;
}
