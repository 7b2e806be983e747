#ifndef LARDER_PQ_H
#define LARDER_PQ_H

/// What Larder calls of libpq, the C library of PostgreSQL.
///
/// The declarations are Larder's own and the library is opened at the first connection, so that neither building nor
/// starting needs it if no shared store is configured. Each function is libpq's of the same name behind `larder_`, and
/// may be called after larder_pq_load has returned NULL.

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

/// A notification, as libpq lays it out.
typedef struct pgNotify {
    char *relname;
    int be_pid;
    char *extra;
    struct pgNotify *next;
} PGnotify;

/// Values of libpq's enumerations, which are part of its binary interface.
enum {
    LARDER_PQ_CONNECTION_OK = 0,
    LARDER_PQ_CONNECTION_BAD = 1,

    LARDER_PQ_POLLING_FAILED = 0,
    LARDER_PQ_POLLING_READING = 1,
    LARDER_PQ_POLLING_WRITING = 2,
    LARDER_PQ_POLLING_OK = 3,

    LARDER_PQ_ERRORS_VERBOSE = 2,

    LARDER_PQ_COMMAND_OK = 1,
    LARDER_PQ_TUPLES_OK = 2,

    LARDER_PQ_FIELD_SQLSTATE = 'C',
    LARDER_PQ_FIELD_MESSAGE = 'M',
    LARDER_PQ_FIELD_CONSTRAINT = 'n',
};

/// Opens libpq.so.5 once, and looks up its functions. May be called by several threads at a time.
///
/// @return NULL, or why it cannot be used
const char *larder_pq_load(void);

int larder_PQlibVersion(void);
PGconn *larder_PQconnectStartParams(const char *const *keywords, const char *const *values, int expandsDatabaseName);
int larder_PQconnectPoll(PGconn *connection);
int larder_PQstatus(const PGconn *connection);
int larder_PQsocket(const PGconn *connection);
int larder_PQserverVersion(const PGconn *connection);
const char *larder_PQparameterStatus(const PGconn *connection, const char *name);
char *larder_PQerrorMessage(const PGconn *connection);
int larder_PQsetErrorVerbosity(PGconn *connection, int verbosity);
int larder_PQsetnonblocking(PGconn *connection, int isNonblocking);
void larder_PQfinish(PGconn *connection);

int larder_PQsendQuery(PGconn *connection, const char *sql);
int larder_PQsendPrepare(
    PGconn *connection, const char *name, const char *sql, int count, const unsigned int *types);
int larder_PQsendQueryPrepared(
    PGconn *connection, const char *name, int count, const char *const *values, const int *lengths,
    const int *formats, int resultFormat);
int larder_PQflush(PGconn *connection);
int larder_PQconsumeInput(PGconn *connection);
int larder_PQisBusy(PGconn *connection);
PGresult *larder_PQgetResult(PGconn *connection);
PGnotify *larder_PQnotifies(PGconn *connection);
void larder_PQfreemem(void *memory);

int larder_PQresultStatus(const PGresult *result);
char *larder_PQresultErrorField(const PGresult *result, int field);
char *larder_PQcmdStatus(PGresult *result);
char *larder_PQcmdTuples(PGresult *result);
int larder_PQntuples(const PGresult *result);
int larder_PQfnumber(const PGresult *result, const char *name);
unsigned int larder_PQftype(const PGresult *result, int column);
int larder_PQgetisnull(const PGresult *result, int row, int column);
int larder_PQgetlength(const PGresult *result, int row, int column);
char *larder_PQgetvalue(const PGresult *result, int row, int column);
void larder_PQclear(PGresult *result);

/// Counts what the server remarks beside its responses, instead of printing it.
///
/// @param remarks   the counter, which must outlive the connection
void larder_pq_count_remarks(PGconn *connection, long *remarks);

#endif
