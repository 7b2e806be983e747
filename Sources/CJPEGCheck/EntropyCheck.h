#ifndef LARDER_ENTROPY_CHECK_H
#define LARDER_ENTROPY_CHECK_H

#include <stddef.h>

// clang-format off
#include <stdio.h>
#include <jpeglib.h>
// clang-format on

// Reads the data of a picture in one scan with Huffman codes, and computes no values: a third of the time of libjpeg.
//
// It accepts only what has no fault at all: each code is one of the picture's tables, no block has too many values, all
// blocks and all restart markers are there, and the marker for the end follows at once. What is refused here, libjpeg
// has to judge.
//
// `picture` is one whose header was read and whose decompression was begun; `bytes` is what follows the header.
// `isLate` is asked now and then whether to end.
int larder_entropy_is_whole(j_decompress_ptr picture, const unsigned char *bytes, size_t count,
                            int (*isLate)(j_decompress_ptr));

#endif
