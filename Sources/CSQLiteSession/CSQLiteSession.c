#define SQLITE_ENABLE_SESSION
#define SQLITE_ENABLE_PREUPDATE_HOOK
#include "CSQLiteSession.h"
#include <sqlite3.h>
#include <string.h>

// Sets a switch of a connection, and returns its state before. A change makes all statements be prepared again.
static int switchOver(sqlite3 *db, int name, int isOn) {
    int before = 0;
    sqlite3_db_config(db, name, -1, &before);
    sqlite3_db_config(db, name, isOn, NULL);
    return before;
}

int larder_session_create(
    sqlite3 *db, int (*filter)(void *context, const char *table), void *context, sqlite3_session **session) {
    int code = sqlite3session_create(db, "main", session);
    if (code != SQLITE_OK) return code;
    sqlite3session_table_filter(*session, filter, context);
    code = sqlite3session_attach(*session, NULL);
    if (code != SQLITE_OK) {
        sqlite3session_delete(*session);
        *session = NULL;
        return code;
    }
    int hasTriggers = switchOver(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0);
    switchOver(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, hasTriggers);
    return SQLITE_OK;
}

int larder_session_changeset(sqlite3_session *session, int *count, void **bytes) {
    return sqlite3session_changeset(session, count, bytes);
}

void larder_session_delete(sqlite3_session *session) { sqlite3session_delete(session); }

void larder_session_free(void *bytes) { sqlite3_free(bytes); }

static int note(void *context, int kind, sqlite3_changeset_iter *change) {
    larder_conflict *conflict = context;
    const char *table = NULL;
    int columns, isIndirect;
    conflict->kind = kind;
    if (kind != SQLITE_CHANGESET_FOREIGN_KEY &&
        sqlite3changeset_op(change, &table, &columns, &conflict->operation, &isIndirect) == SQLITE_OK && table) {
        strncpy(conflict->table, table, sizeof conflict->table - 1);
    }
    return SQLITE_CHANGESET_ABORT;
}

int larder_changeset_apply(sqlite3 *db, int count, const void *bytes, larder_conflict *conflict) {
    memset(conflict, 0, sizeof *conflict);
    int hasTriggers = switchOver(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0);
    int hasForeignKeys = switchOver(db, SQLITE_DBCONFIG_ENABLE_FKEY, 0);
    int code = sqlite3changeset_apply(db, count, (void *)bytes, NULL, note, conflict);
    switchOver(db, SQLITE_DBCONFIG_ENABLE_FKEY, hasForeignKeys);
    switchOver(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, hasTriggers);
    return code;
}

int larder_has_unresolved_foreign_keys(sqlite3 *db) {
    int unresolved = 0, highest = 0;
    sqlite3_db_status(db, SQLITE_DBSTATUS_DEFERRED_FKS, &unresolved, &highest, 0);
    return unresolved;
}
