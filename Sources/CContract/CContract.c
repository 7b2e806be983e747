#include "CContract.h"

// C23, which clang has as an extension; SwiftPM's own way to embed a file takes minutes for one of this size.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char contract[] = {
#embed "../../openapi.yaml"
};

static const unsigned char controls[] = {
#embed "../../openapi-sandbox.yaml"
};

const unsigned char *larder_contract_bytes(void) { return contract; }
size_t larder_contract_size(void) { return sizeof contract; }

const unsigned char *larder_controls_bytes(void) { return controls; }
size_t larder_controls_size(void) { return sizeof controls; }
