#ifndef LARDER_SQLITE_SESSION_H
#define LARDER_SQLITE_SESSION_H

/// SQLite's session extension, and the switches of a connection that applying a changeset needs.
///
/// The declarations are Larder's own, because the module of GRDB does not have those of the extension, and
/// sqlite3_db_config is variadic. All functions return codes of SQLite if nothing else is said.

struct sqlite3;
struct sqlite3_session;

/// The first change of a changeset that does not fit the database.
typedef struct larder_conflict {
    /// SQLITE_CHANGESET_DATA and its like; 0 if there was none.
    int kind;
    /// SQLITE_INSERT, SQLITE_UPDATE or SQLITE_DELETE; 0 if the conflict is not one of a row.
    int operation;
    /// The name of the table, cut off if it is longer.
    char table[128];
} larder_conflict;

/// Records the changes of the main database from now on.
///
/// Statements that were prepared before are prepared again: a DELETE without WHERE would tell a session of no row.
///
/// @param filter is asked once for each table that is changed whether its rows are recorded
int larder_session_create(
    struct sqlite3 *db, int (*filter)(void *context, const char *table), void *context,
    struct sqlite3_session **session);
/// Returns the changes so far; *bytes are freed with larder_session_free.
int larder_session_changeset(struct sqlite3_session *session, int *count, void **bytes);
void larder_session_delete(struct sqlite3_session *session);
void larder_session_free(void *bytes);

/// Applies a changeset, without triggers and foreign keys; nothing of it if a change does not fit.
int larder_changeset_apply(struct sqlite3 *db, int count, const void *bytes, larder_conflict *conflict);

/// Whether a foreign key is broken that the current transaction may still mend.
int larder_has_unresolved_foreign_keys(struct sqlite3 *db);

#endif
