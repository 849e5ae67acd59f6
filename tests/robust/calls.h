// How `leave` ends, and with it the calls around it.
enum { RETURN, THROW, JUMP, CANCEL, STOP, DEEP_JUMP = 100, DEEP_RETURN = 200 };

// DEEP_JUMP + n, DEEP_RETURN + n: leave calls outer n times before the innermost one ends so. That call does not leave its object: it is not recorded.

extern "C" {
long outer(int how); // calls inner
long inner(int how); // calls leave
long leave(int how);
}
