#include "CPQ.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

// Each function: its result, its name, its parameters, its arguments.
#define FUNCTIONS(F)                                                                                                   \
    F(int, PQlibVersion, (void), ())                                                                                   \
    F(PGconn *, PQconnectStartParams, (const char *const *k, const char *const *v, int e), (k, v, e))                  \
    F(int, PQconnectPoll, (PGconn * c), (c))                                                                           \
    F(int, PQstatus, (const PGconn *c), (c))                                                                           \
    F(int, PQsocket, (const PGconn *c), (c))                                                                           \
    F(int, PQserverVersion, (const PGconn *c), (c))                                                                    \
    F(const char *, PQparameterStatus, (const PGconn *c, const char *n), (c, n))                                       \
    F(char *, PQerrorMessage, (const PGconn *c), (c))                                                                  \
    F(int, PQsetErrorVerbosity, (PGconn * c, int v), (c, v))                                                           \
    F(int, PQsetnonblocking, (PGconn * c, int n), (c, n))                                                              \
    F(void, PQfinish, (PGconn * c), (c))                                                                               \
    F(int, PQsendQuery, (PGconn * c, const char *s), (c, s))                                                           \
    F(int, PQsendPrepare, (PGconn * c, const char *n, const char *s, int k, const unsigned int *t), (c, n, s, k, t))   \
    F(int, PQsendQueryPrepared,                                                                                        \
      (PGconn * c, const char *n, int k, const char *const *v, const int *l, const int *f, int r),                     \
      (c, n, k, v, l, f, r))                                                                                           \
    F(int, PQflush, (PGconn * c), (c))                                                                                 \
    F(int, PQconsumeInput, (PGconn * c), (c))                                                                          \
    F(int, PQisBusy, (PGconn * c), (c))                                                                                \
    F(PGresult *, PQgetResult, (PGconn * c), (c))                                                                      \
    F(PGnotify *, PQnotifies, (PGconn * c), (c))                                                                       \
    F(void, PQfreemem, (void *m), (m))                                                                                 \
    F(int, PQresultStatus, (const PGresult *r), (r))                                                                   \
    F(char *, PQresultErrorField, (const PGresult *r, int f), (r, f))                                                  \
    F(char *, PQcmdStatus, (PGresult * r), (r))                                                                        \
    F(char *, PQcmdTuples, (PGresult * r), (r))                                                                        \
    F(int, PQntuples, (const PGresult *r), (r))                                                                        \
    F(int, PQfnumber, (const PGresult *r, const char *n), (r, n))                                                      \
    F(unsigned int, PQftype, (const PGresult *r, int c), (r, c))                                                       \
    F(int, PQgetisnull, (const PGresult *r, int i, int c), (r, i, c))                                                  \
    F(int, PQgetlength, (const PGresult *r, int i, int c), (r, i, c))                                                  \
    F(char *, PQgetvalue, (const PGresult *r, int i, int c), (r, i, c))                                                \
    F(void, PQclear, (PGresult * r), (r))

#define DEFINE(type, name, parameters, arguments)                                                                      \
    static type(*libpq_##name) parameters;                                                                             \
    type larder_##name parameters { return libpq_##name arguments; }
FUNCTIONS(DEFINE)

typedef void (*Receiver)(void *counter, const PGresult *remark);
static Receiver (*setNoticeReceiver)(PGconn *, Receiver, void *);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char reason[512];

static void explain(const char *text) { strncat(reason, text, sizeof reason - strlen(reason) - 1); }

static void *function(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found && !reason[0]) {
        explain("libpq.so.5 has no ");
        explain(name);
    }
    return found;
}

// The library stays open to the end of the process.
static void load(void) {
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        explain(why ? why : "libpq.so.5 cannot be opened");
        return;
    }
#define LOOK_UP(type, name, parameters, arguments) *(void **)&libpq_##name = function(library, #name);
    FUNCTIONS(LOOK_UP)
    *(void **)&setNoticeReceiver = function(library, "PQsetNoticeReceiver");
}

const char *larder_pq_load(void) {
    pthread_once(&once, load);
    return reason[0] ? reason : NULL;
}

static void count(void *counter, const PGresult *remark) {
    (void)remark;
    *(long *)counter += 1;
}

void larder_pq_count_remarks(PGconn *connection, long *remarks) { setNoticeReceiver(connection, count, remarks); }
