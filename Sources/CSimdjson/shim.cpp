#include "CSimdjson.h"

#include <algorithm>
#include <memory>
#include <new>
#include <simdjson.h>

// Only stage 1 is used. The second stage of simdjson (its DOM) rejects an escaped lone surrogate and turns numbers into
// doubles; its on-demand interface looks at nothing that is not asked for. Neither may decide about upstream data.
struct csimdjson_index {
    std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
    std::unique_ptr<uint32_t[]> partners;
    size_t partners_capacity = 0;
};

namespace {

constexpr size_t smallest_capacity = 16 * 1024;

csimdjson_outcome outcome(simdjson::error_code error) noexcept {
    switch (error) {
    case simdjson::SUCCESS: return CSIMDJSON_OK;
    case simdjson::EMPTY: return CSIMDJSON_EMPTY;
    case simdjson::UNCLOSED_STRING: return CSIMDJSON_UNCLOSED_STRING;
    case simdjson::UNESCAPED_CHARS: return CSIMDJSON_CONTROL_CHARACTER;
    case simdjson::UTF8_ERROR: return CSIMDJSON_NOT_UTF8;
    case simdjson::CAPACITY: return CSIMDJSON_TOO_LARGE;
    case simdjson::MEMALLOC: return CSIMDJSON_NO_MEMORY;
    default: return CSIMDJSON_OTHER;
    }
}

simdjson::error_code reserve(csimdjson_index &index, size_t count) noexcept {
    if (index.parser && count <= index.parser->capacity()) return simdjson::SUCCESS;
    // Powers of two, so that pages of about the same size do not allocate again and again.
    size_t capacity = smallest_capacity;
    while (capacity < count) capacity *= 2;
    capacity = std::min(capacity, size_t(simdjson::SIMDJSON_MAXSIZE_BYTES));
    // A new one, not `set_capacity`: that leaves a parser without memory behind if it fails.
    index.parser.reset();
    return simdjson::get_active_implementation()->create_dom_parser_implementation(capacity, 1, index.parser);
}

} // namespace

extern "C" {

csimdjson_index *csimdjson_open(void) { return new (std::nothrow) csimdjson_index; }

void csimdjson_close(csimdjson_index *index) { delete index; }

csimdjson_outcome csimdjson_scan(csimdjson_index *index, const uint8_t *bytes, size_t count) {
    if (count == 0) return CSIMDJSON_EMPTY;
    if (count > simdjson::SIMDJSON_MAXSIZE_BYTES) return CSIMDJSON_TOO_LARGE;
    if (simdjson::error_code error = reserve(*index, count)) return outcome(error);
    if (simdjson::error_code error = index->parser->stage1(bytes, count, simdjson::stage1_mode::regular)) {
        return outcome(error);
    }
    size_t entries = size_t(index->parser->n_structural_indexes) + 1;
    if (entries > index->partners_capacity) {
        size_t capacity = std::max(entries + entries / 2, size_t(1024));
        index->partners.reset(new (std::nothrow) uint32_t[capacity]);
        index->partners_capacity = index->partners ? capacity : 0;
        if (!index->partners) return CSIMDJSON_NO_MEMORY;
    }
    return CSIMDJSON_OK;
}

const uint32_t *csimdjson_positions(const csimdjson_index *index) { return index->parser->structural_indexes.get(); }

size_t csimdjson_count(const csimdjson_index *index) { return index->parser->n_structural_indexes; }

uint32_t *csimdjson_partners(csimdjson_index *index) { return index->partners.get(); }

size_t csimdjson_capacity(const csimdjson_index *index) {
    return index->parser ? std::max(index->parser->capacity(), index->partners_capacity) : 0;
}

} // extern "C"
