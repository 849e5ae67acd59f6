/* Included before any code by files whose speed does not matter: they are compiled for size, which counts on an embedded board. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("Os")
#endif
