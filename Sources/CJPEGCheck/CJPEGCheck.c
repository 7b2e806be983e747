#include "CJPEGCheck.h"

#include "EntropyCheck.h"

#include <jerror.h>
#include <pthread.h>
#include <setjmp.h>
#include <time.h>

// More scans than any encoder writes, each of which costs as much as a whole picture.
static const int mostScans = 100;
// Warnings after which a picture is not one of an encoder that is merely careless.
static const long mostWarnings = 1000;
// Coefficients of a picture in several scans that are in memory at a time beside those of others.
static const double sharedCoefficients = 32e6;

// Bytes that libjpeg sees at a time: so few that it reads each symbol with care. With more it takes a faster way, which
// does not notice symbols that the picture has no code for.
static const size_t window = 256;

static pthread_mutex_t large = PTHREAD_MUTEX_INITIALIZER;

typedef struct {
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    struct jpeg_source_mgr source;
    const unsigned char *bytes;
    size_t count;
    jmp_buf escape;
    int result;
    int isLocked;
    int isByLibraryOnly;
    double deadline;
} Check;

static double threadTime(void) {
    struct timespec time;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 ? (double)time.tv_sec + (double)time.tv_nsec / 1e9 : 0;
}

static void end(Check *check, int result) {
    check->result = result;
    longjmp(check->escape, 1);
}

static void fail(j_common_ptr picture) {
    Check *check = (Check *)picture->err;
    end(check, check->errors.msg_code == JERR_OUT_OF_MEMORY ? LARDER_JPEG_OUT_OF_MEMORY : LARDER_JPEG_DAMAGED);
}

// Missing parts of a picture, and parts that cannot be decoded, are warnings only, and become grey. Others are harmless.
static void warn(j_common_ptr picture, int level) {
    Check *check = (Check *)picture->err;
    if (level >= 0) return;
    int code = check->errors.msg_code;
    if (code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE) end(check, LARDER_JPEG_DAMAGED);
    if (++check->errors.num_warnings > mostWarnings) end(check, LARDER_JPEG_DAMAGED);
}

static void print(j_common_ptr picture) { (void)picture; }

// Called for each row of blocks.
static void progress(j_common_ptr picture) {
    Check *check = (Check *)picture->err;
    if (((j_decompress_ptr)picture)->input_scan_number > mostScans) end(check, LARDER_JPEG_DAMAGED);
    if (threadTime() > check->deadline) end(check, LARDER_JPEG_LATE);
}

static void doNothing(j_decompress_ptr picture) { (void)picture; }

static boolean fill(j_decompress_ptr picture) {
    static const unsigned char endOfImage[] = {0xFF, JPEG_EOI};
    Check *check = (Check *)picture->err;
    struct jpeg_source_mgr *source = picture->src;
    int isAtEnd = check->count == 0;
    source->next_input_byte = isAtEnd ? endOfImage : check->bytes;
    source->bytes_in_buffer = isAtEnd ? sizeof endOfImage : check->count < window ? check->count : window;
    if (isAtEnd) {
        // Of several scans there may have been more: no one else says where they end.
        if (jpeg_has_multiple_scans(picture)) end(check, LARDER_JPEG_DAMAGED);
        return TRUE;
    }
    check->bytes += source->bytes_in_buffer;
    check->count -= source->bytes_in_buffer;
    return TRUE;
}

static void skip(j_decompress_ptr picture, long count) {
    struct jpeg_source_mgr *source = picture->src;
    while (count > (long)source->bytes_in_buffer) {
        count -= (long)source->bytes_in_buffer;
        fill(picture);
    }
    if (count <= 0) return;
    source->next_input_byte += count;
    source->bytes_in_buffer -= (size_t)count;
}

static void setSource(j_decompress_ptr picture, Check *check) {
    check->source.init_source = doNothing;
    check->source.fill_input_buffer = fill;
    check->source.skip_input_data = skip;
    check->source.resync_to_restart = jpeg_resync_to_restart;
    check->source.term_source = doNothing;
    picture->src = &check->source;
}

// All coefficients of a picture in several scans are in memory: of two large ones not at a time.
static void lockIfLarge(struct jpeg_decompress_struct *picture, Check *check) {
    double coefficients = (double)picture->image_width * picture->image_height * picture->num_components;
    if (!jpeg_has_multiple_scans(picture) || coefficients < sharedCoefficients) return;
    pthread_mutex_lock(&large);
    check->isLocked = 1;
}

static int isLate(j_decompress_ptr picture) { return threadTime() > ((Check *)picture->err)->deadline; }

// Whether the data of a picture in one scan have no fault. Of others, and of those with faults, libjpeg decides.
static int isWholeWithoutValues(struct jpeg_decompress_struct *picture, Check *check) {
    if (check->isByLibraryOnly || jpeg_has_multiple_scans(picture)) return 0;
    if (picture->arith_code || picture->data_precision != 8) return 0;
    size_t count = check->count + picture->src->bytes_in_buffer;
    return larder_entropy_is_whole(picture, picture->src->next_input_byte, count, isLate);
}

static void decode(struct jpeg_decompress_struct *picture, Check *check) {
    jpeg_read_header(picture, TRUE);
    lockIfLarge(picture, check);
    picture->scale_num = 1;
    picture->scale_denom = 8;
    picture->out_color_space = picture->jpeg_color_space;
    picture->dct_method = JDCT_IFAST;
    picture->do_fancy_upsampling = FALSE;
    picture->do_block_smoothing = FALSE;
    jpeg_start_decompress(picture);
    if (isWholeWithoutValues(picture, check)) return;
    JDIMENSION width = picture->output_width * (JDIMENSION)picture->output_components;
    JSAMPARRAY row = picture->mem->alloc_sarray((j_common_ptr)picture, JPOOL_IMAGE, width, 1);
    while (picture->output_scanline < picture->output_height) jpeg_read_scanlines(picture, row, 1);
    jpeg_finish_decompress(picture);
}

int larder_jpeg_check(const unsigned char *bytes, size_t count, int seconds, int isByLibraryOnly) {
    struct jpeg_decompress_struct picture = {0};
    Check check = {.bytes = bytes, .count = count, .isByLibraryOnly = isByLibraryOnly};
    check.deadline = threadTime() + seconds;
    picture.err = jpeg_std_error(&check.errors);
    check.errors.error_exit = fail;
    check.errors.emit_message = warn;
    check.errors.output_message = print;
    check.progress.progress_monitor = progress;
    if (setjmp(check.escape) == 0) {
        jpeg_create_decompress(&picture);
        picture.progress = &check.progress;
        setSource(&picture, &check);
        decode(&picture, &check);
    }
    jpeg_destroy_decompress(&picture);
    if (check.isLocked) pthread_mutex_unlock(&large);
    return check.result;
}
