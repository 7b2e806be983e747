#include "CPangoCairo.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#define DEFINE(type, name, parameters, arguments)                                                                      \
    static type(*library_##name) parameters;                                                                          \
    type larder_##name parameters { return library_##name arguments; }
LARDER_PANGO_FUNCTIONS(DEFINE)

static const char *reason;

static void *function(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found && !reason) reason = dlerror();
    return found;
}

// Those of cairo and GObject are found as well: dlsym(3) searches what the library needs.
const char *larder_pango_load(void) {
    static bool isLoaded;
    if (isLoaded) return NULL;
    reason = NULL;
    void *library = dlopen("libpangocairo-1.0.so.0", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return dlerror();
#define LOOK_UP(type, name, parameters, arguments) *(void **)&library_##name = function(library, #name);
    LARDER_PANGO_FUNCTIONS(LOOK_UP)
    isLoaded = !reason;
    return reason;
}
