#include "CPlaces.h"

// C23, which clang has as an extension; SwiftPM's own way to embed a file takes minutes for this much.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char places[] = {
#embed "places.txt"
};

const unsigned char *larder_places(void) { return places; }
size_t larder_places_length(void) { return sizeof places; }
