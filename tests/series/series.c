// Touches so many pages, uses so many milliseconds of processor time, and says what the system counted: FAULTS=n CPU_NS=n.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>

static struct rusage used(void) {
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage;
}

static long long cpu_ns(struct rusage usage) {
	struct timeval sum;
	timeradd(&usage.ru_utime, &usage.ru_stime, &sum);
	return sum.tv_sec * 1000000000LL + sum.tv_usec * 1000LL;
}

int main(int count, char **words) {
	if (count != 3) return 2;
	size_t bytes = strtoul(words[1], NULL, 10) * 4096;
	long long least = atoll(words[2]) * 1000000LL;
	char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED) return 1;
	// A huge page would be one fault for many pages. Where there are none, this is refused, and nothing lost.
	(void)madvise(pages, bytes, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < bytes; at += 4096) pages[at] = 1;
	while (cpu_ns(used()) < least) {}
	struct rusage usage = used();
	printf("FAULTS=%ld CPU_NS=%lld\n", usage.ru_minflt + usage.ru_majflt, cpu_ns(usage));
	return 0;
}
