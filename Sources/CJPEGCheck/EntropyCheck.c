#include "EntropyCheck.h"

#include <stdint.h>
#include <string.h>

// Bits by which a table is looked up.
enum { lookup = 11, entries = 1 << lookup, mostBits = 16, valuesOfBlock = 64 };

// A Huffman table (ITU-T T.81, F.2.2.3).
typedef struct {
    // For each length the number behind its last code; the codes are as long as a word, to be compared with one.
    uint32_t limits[mostBits + 2];
    // For each length what gives the position of a code's symbol.
    int32_t offsets[mostBits + 1];
    const uint8_t *symbols;
    // For the next bits what all symbols mean that are whole in them: how many bits they and their values take, how
    // many values they are, whether they end the block. 0 if the first of them is longer.
    uint16_t steps[entries];
} Table;

enum { stepBits = 0x1F, stepAdvance = 5, advanceMask = 0x3F, endOfBlock = 1 << 11 };

typedef struct {
    const uint8_t *next;
    const uint8_t *end;
    // The next bits, the first of them as the highest.
    uint64_t bits;
    // How many of them count; below 0 if more were taken than there were.
    int count;
} Reader;

// Takes bytes one by one up to a marker, or the end.
__attribute__((noinline)) static Reader refillByByte(Reader reader) {
    while (reader.count < 56 && reader.next < reader.end) {
        uint8_t byte = *reader.next;
        if (byte == 0xFF) {
            if (reader.end - reader.next < 2 || reader.next[1] != 0) break;
            reader.next++;
        }
        reader.next++;
        reader.bits |= (uint64_t)byte << (56 - reader.count);
        reader.count += 8;
    }
    return reader;
}

static inline __attribute__((always_inline)) Reader refill(Reader reader) {
    if (reader.count < 0) return reader;
    if (reader.end - reader.next < 8) return refillByByte(reader);
    uint64_t word;
    memcpy(&word, reader.next, sizeof word);
    word = __builtin_bswap64(word);
    // Whether one of the bytes is 0xFF.
    if ((~word - 0x0101010101010101) & word & 0x8080808080808080) return refillByByte(reader);
    reader.bits |= word >> reader.count;
    reader.next += (63 - reader.count) >> 3;
    reader.count |= 56;
    return reader;
}

static inline __attribute__((always_inline)) Reader take(Reader reader, int count) {
    reader.bits <<= count;
    reader.count -= count;
    return reader;
}

// Gives the length of the code that follows, and its symbol; 0 if it is none of the table.
static inline int find(const Table *table, uint64_t bits, int *symbol) {
    uint32_t word = (uint32_t)(bits >> 48);
    for (int length = 1; length <= mostBits; length++) {
        if (word >= table->limits[length]) continue;
        *symbol = table->symbols[(int32_t)(word >> (mostBits - length)) + table->offsets[length]];
        return length;
    }
    return 0;
}

static uint16_t steps(const Table *table, uint32_t index) {
    int used = 0, advance = 0, isEnd = 0;
    while (used < lookup && !isEnd) {
        int symbol = 0;
        int length = find(table, (uint64_t)index << (64 - lookup + used), &symbol);
        if (length == 0 || length > lookup - used) break;
        int run = symbol >> 4, size = symbol & 15;
        isEnd = size == 0 && run != 15;
        int further = isEnd ? 0 : run + 1;
        if (advance + further >= valuesOfBlock) break;
        advance += further;
        used += length + size;
    }
    return (uint16_t)(used | advance << stepAdvance | (isEnd ? endOfBlock : 0));
}

// What the first value of a block takes.
static uint16_t firstStep(const Table *table, uint32_t index) {
    int symbol = 0;
    int length = find(table, (uint64_t)index << (64 - lookup), &symbol);
    return length == 0 || length > lookup ? 0 : (uint16_t)(length + symbol);
}

// libjpeg has checked the table: its codes fit into their lengths.
static void fill(Table *table, const JHUFF_TBL *source, uint16_t (*step)(const Table *, uint32_t)) {
    uint32_t code = 0;
    int32_t position = 0;
    table->symbols = source->huffval;
    for (int length = 1; length <= mostBits; length++) {
        table->offsets[length] = position - (int32_t)code;
        code += source->bits[length];
        position += source->bits[length];
        table->limits[length] = code << (mostBits - length);
        code <<= 1;
    }
    for (uint32_t index = 0; index < entries; index++) table->steps[index] = step(table, index);
}

// Reads a block; the count of the reader is below 0 if it has a fault.
static inline __attribute__((always_inline)) Reader block(Reader reader, const Table *first, const Table *others) {
    static const Reader fault = {.count = -1};
    int symbol = 0;
    reader = refill(reader);
    uint16_t value = first->steps[reader.bits >> (64 - lookup)];
    if (value != 0) {
        reader = take(reader, value & stepBits);
    } else {
        int length = find(first, reader.bits, &symbol);
        if (length == 0) return fault;
        reader = take(reader, length + symbol);
    }
    int index = 1;
    while (index < valuesOfBlock) {
        if (reader.count < 32) reader = refill(reader);
        if (reader.count < 0) return fault;
        uint16_t step = others->steps[reader.bits >> (64 - lookup)];
        int after = index + (step >> stepAdvance & advanceMask);
        if (step != 0 && after < valuesOfBlock) {
            reader = take(reader, step & stepBits);
            if (step & endOfBlock) return reader;
            index = after;
            continue;
        }
        int length = find(others, reader.bits, &symbol);
        if (length == 0) return fault;
        int run = symbol >> 4, size = symbol & 15;
        reader = take(reader, length + size);
        if (size == 0 && run != 15) return reader;
        index += run + 1;
    }
    return index == valuesOfBlock ? reader : fault;
}

// Skips the bits up to a marker, of which there must be less than a byte, and the marker.
static Reader marker(Reader reader, uint8_t expected) {
    static const Reader fault = {.count = -1};
    if (reader.count < 0) return fault;
    reader = refillByByte(reader);
    if (reader.count >= 8 || reader.end - reader.next < 2) return fault;
    if (reader.next[0] != 0xFF || reader.next[1] != expected) return fault;
    return (Reader){.next = reader.next + 2, .end = reader.end};
}

int larder_entropy_is_whole(j_decompress_ptr picture, const unsigned char *bytes, size_t count,
                            int (*isLate)(j_decompress_ptr)) {
    Table *tables = picture->mem->alloc_large((j_common_ptr)picture, JPOOL_IMAGE, 2 * NUM_HUFF_TBLS * sizeof(Table));
    const Table *first[D_MAX_BLOCKS_IN_MCU], *others[D_MAX_BLOCKS_IN_MCU];
    for (int component = 0; component < picture->comps_in_scan; component++) {
        const jpeg_component_info *info = picture->cur_comp_info[component];
        fill(&tables[info->dc_tbl_no], picture->dc_huff_tbl_ptrs[info->dc_tbl_no], firstStep);
        fill(&tables[NUM_HUFF_TBLS + info->ac_tbl_no], picture->ac_huff_tbl_ptrs[info->ac_tbl_no], steps);
    }
    for (int index = 0; index < picture->blocks_in_MCU; index++) {
        const jpeg_component_info *info = picture->cur_comp_info[picture->MCU_membership[index]];
        first[index] = &tables[info->dc_tbl_no];
        others[index] = &tables[NUM_HUFF_TBLS + info->ac_tbl_no];
    }
    Reader reader = {.next = bytes, .end = bytes + count};
    unsigned interval = picture->restart_interval, rest = interval, restarts = 0;
    for (JDIMENSION row = 0; row < picture->MCU_rows_in_scan; row++) {
        if (isLate(picture)) return 0;
        for (JDIMENSION column = 0; column < picture->MCUs_per_row; column++) {
            if (interval != 0 && rest-- == 0) {
                reader = marker(reader, (uint8_t)(JPEG_RST0 + restarts++ % 8));
                rest = interval - 1;
            }
            for (int index = 0; index < picture->blocks_in_MCU; index++)
                reader = block(reader, first[index], others[index]);
            if (reader.count < 0) return 0;
        }
    }
    return marker(reader, JPEG_EOI).count >= 0;
}
