#include "CContract.h"

#include <string.h>

// C23, which clang has as an extension; SwiftPM's own way to embed a file takes long for these.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char controls[] = {
#embed "../../openapi-sandbox.yaml"
};

static const char screens[] = {
#embed "../Kit/Screens/contract.yaml"
, 0};
static const char web[] = {
#embed "../Kit/Screens/Web/contract.yaml"
, 0};
static const char disk[] = {
#embed "../Apps/Disk/contract.yaml"
, 0};
static const char pdf[] = {
#embed "../Apps/PDF/contract.yaml"
, 0};
static const char ships[] = {
#embed "../Apps/Ships/contract.yaml"
, 0};
static const char shop[] = {
#embed "../Apps/Shop/contract.yaml"
, 0};
static const char notes[] = {
#embed "../Apps/Notes/contract.yaml"
, 0};

static const struct {
    const char *name;
    const char *text;
} contracts[] = {{"screens", screens}, {"web", web},   {"disk", disk},  {"pdf", pdf},
                 {"ships", ships},     {"shop", shop}, {"notes", notes}};

const char *larder_contract_text(const char *name) {
    for (size_t i = 0; i < sizeof contracts / sizeof contracts[0]; i++)
        if (strcmp(contracts[i].name, name) == 0) return contracts[i].text;
    return NULL;
}

const unsigned char *larder_controls_bytes(void) { return controls; }
size_t larder_controls_size(void) { return sizeof controls; }
