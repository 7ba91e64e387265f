#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// The first stage of simdjson behind a C interface: it checks UTF-8 and the ends of strings, and finds the position of
// each token, 16 to 64 bytes at a time with the best instructions of the machine. No exception crosses this line.

#ifdef __cplusplus
extern "C" {
#endif

// The positions of the tokens of one document. One owner; not for two threads at once.
typedef struct csimdjson_index csimdjson_index;

// NULL if there is no memory.
csimdjson_index *csimdjson_open(void);

void csimdjson_close(csimdjson_index *index);

typedef enum csimdjson_outcome {
    CSIMDJSON_OK = 0,
    CSIMDJSON_EMPTY,
    CSIMDJSON_UNCLOSED_STRING,
    CSIMDJSON_CONTROL_CHARACTER,
    CSIMDJSON_NOT_UTF8,
    CSIMDJSON_TOO_LARGE,
    CSIMDJSON_NO_MEMORY,
    CSIMDJSON_OTHER,
} csimdjson_outcome;

// Indexes `count` bytes. Reads no byte past them: padding is not needed, because the last block is copied first.
csimdjson_outcome csimdjson_scan(csimdjson_index *index, const uint8_t *bytes, size_t count);

// Where the tokens begin: `{ } [ ] : ,`, opening quotes, first bytes of numbers and literals. One more entry than there
// are tokens: the last one is the byte count. Valid until the next scan.
const uint32_t *csimdjson_positions(const csimdjson_index *index);

size_t csimdjson_count(const csimdjson_index *index);

// As many entries as positions, not initialised, for the reader's own use.
uint32_t *csimdjson_partners(csimdjson_index *index);

// The offset of the first `byte` at or after `from`, or `count`.
static inline size_t csimdjson_find(const uint8_t *bytes, size_t from, size_t count, uint8_t byte) {
    if (from >= count) return count;
    const void *found = memchr(bytes + from, byte, count - from);
    return found ? (size_t)((const uint8_t *)found - bytes) : count;
}

// How many bytes fit without a new allocation.
size_t csimdjson_capacity(const csimdjson_index *index);

#ifdef __cplusplus
}
#endif
