#ifndef LARDER_JPEG_CHECK_H
#define LARDER_JPEG_CHECK_H

#include <stddef.h>

/// How a JPEG was found.
enum {
    LARDER_JPEG_WHOLE = 0,
    LARDER_JPEG_DAMAGED = 1,
    LARDER_JPEG_OUT_OF_MEMORY = 2,
    LARDER_JPEG_LATE = 3,
};

/// Reads all data of a JPEG, and discards them. May be called by several threads at a time.
///
/// A picture in one scan with Huffman codes is whole if its codes have no fault; no values are computed. All others
/// libjpeg decodes, at an eighth of their size.
///
/// @param bytes     the JPEG, which should end with the marker for its end
/// @param count     their number
/// @param seconds   processor time that it may take
/// @param isByLibraryOnly   whether libjpeg decodes every picture, for the test that both ways agree
int larder_jpeg_check(const unsigned char *bytes, size_t count, int seconds, int isByLibraryOnly);

#endif
