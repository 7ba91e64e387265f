// C11 threads by POSIX threads: the thread sanitizer knows the latter alone, and crashes in a thread that glibc's
// thrd_create started. Preloaded by the sanitizer runs of the tests; librdkafka starts its threads this way.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

struct start {
    thrd_start_t function;
    void *argument;
};

static void *run(void *context) {
    struct start start = *(struct start *)context;
    free(context);
    return (void *)(intptr_t)start.function(start.argument);
}

int thrd_create(thrd_t *thread, thrd_start_t function, void *argument) {
    struct start *start = malloc(sizeof *start);
    if (!start) return thrd_nomem;
    start->function = function;
    start->argument = argument;
    int error = pthread_create(thread, NULL, run, start);
    if (error) free(start);
    return error ? thrd_error : thrd_success;
}

int thrd_join(thrd_t thread, int *result) {
    void *value;
    if (pthread_join(thread, &value)) return thrd_error;
    if (result) *result = (int)(intptr_t)value;
    return thrd_success;
}

int thrd_detach(thrd_t thread) { return pthread_detach(thread) ? thrd_error : thrd_success; }
