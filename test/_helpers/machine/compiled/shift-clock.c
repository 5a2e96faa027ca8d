/* The time of day, moved by as many seconds as the file named in SHIFT_CLOCK_FILE says: for a process into which it is preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long shift(void) {
	long seconds = 0;
	FILE *file = fopen(getenv("SHIFT_CLOCK_FILE"), "r");
	if (file) {
		if (fscanf(file, "%ld", &seconds) != 1) seconds = 0;
		fclose(file);
	}
	return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
	static int (*real)(clockid_t, struct timespec *);
	if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
	int result = real(clock, now);
	if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += shift();
	return result;
}

int gettimeofday(struct timeval *now, void *zone) {
	struct timespec exact;
	(void) zone;
	clock_gettime(CLOCK_REALTIME, &exact);
	now->tv_sec = exact.tv_sec;
	now->tv_usec = exact.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *result) {
	struct timespec exact;
	clock_gettime(CLOCK_REALTIME, &exact);
	if (result) *result = exact.tv_sec;
	return exact.tv_sec;
}
