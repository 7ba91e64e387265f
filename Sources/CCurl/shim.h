#pragma once
// The type check macros need the option as a constant, which it is not in the functions below.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// Swift does not import variadic C functions, so each type of argument gets a function of its own.

static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

/// libcurl copies the string, except for CURLOPT_POSTFIELDS.
static inline CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

typedef size_t (*ccurl_receive)(char *bytes, size_t size, size_t count, void *owner);

static inline CURLcode ccurl_set_receive(CURL *easy, CURLoption option, ccurl_receive value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

/// The result in a `CURLMSG_DONE` message; it lies in a union, which Swift imports without a name.
static inline CURLcode ccurl_result(const CURLMsg *message) { return message->data.result; }

// Brotli and Zstandard come into the process with a libcurl that was built with them, so they are looked up there and
// need no packages of their own. (libcurl's own decoding is not used: it takes a compressed stream that was cut for a
// whole one.) The signatures are those of brotli/decode.h and zstd.h, stable since 1.0 of both.

struct ccurl_brotli {
    void *(*create)(void *allocate, void *free, void *opaque);
    /// 0 error, 1 whole, 2 wants input, 3 wants room.
    int (*decompress)(void *state, size_t *in_left, const uint8_t **in, size_t *out_left, uint8_t **out, size_t *total);
    void (*destroy)(void *state);
};

static inline bool ccurl_find_brotli(struct ccurl_brotli *found) {
    *(void **)&found->create = dlsym(0, "BrotliDecoderCreateInstance");
    *(void **)&found->decompress = dlsym(0, "BrotliDecoderDecompressStream");
    *(void **)&found->destroy = dlsym(0, "BrotliDecoderDestroyInstance");
    return found->create && found->decompress && found->destroy;
}

struct ccurl_zstd_input { const void *bytes; size_t size; size_t position; };
struct ccurl_zstd_output { void *bytes; size_t size; size_t position; };

struct ccurl_zstd {
    void *(*create)(void);
    /// 0 when a frame is whole, else an error or a hint of how much is missing.
    size_t (*decompress)(void *state, struct ccurl_zstd_output *out, struct ccurl_zstd_input *in);
    unsigned (*is_error)(size_t result);
    /// Parameter 100 is the largest window, as a power of two.
    size_t (*set)(void *state, int parameter, int value);
    size_t (*destroy)(void *state);
};

static inline bool ccurl_find_zstd(struct ccurl_zstd *found) {
    *(void **)&found->create = dlsym(0, "ZSTD_createDStream");
    *(void **)&found->decompress = dlsym(0, "ZSTD_decompressStream");
    *(void **)&found->set = dlsym(0, "ZSTD_DCtx_setParameter");
    *(void **)&found->is_error = dlsym(0, "ZSTD_isError");
    *(void **)&found->destroy = dlsym(0, "ZSTD_freeDStream");
    return found->create && found->decompress && found->set && found->is_error && found->destroy;
}
