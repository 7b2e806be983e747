/* The floor under what a screen can cost: an HTTP server without anything but what its responses need. One thread,
 * libmicrohttpd, one SQLite connection, statements that stay prepared, and JSON written by hand.
 *
 *     floor DATABASE PATH SQL [PATH SQL]...
 *
 * responds to each PATH with the rows of its SQL, read in a transaction: an array of objects whose members are the
 * columns, or, if the first column is a BLOB, those bytes. A column whose name begins with `=` holds JSON. Prints its
 * address when it listens. */
#include <microhttpd.h>
#include <netinet/in.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PAGES = 8, MOST_COLUMNS = 32 };

struct page {
    const char *path;
    sqlite3_stmt *select;
    int columns;
    const char *names[MOST_COLUMNS];
    size_t lengths[MOST_COLUMNS];
    int are_json[MOST_COLUMNS];
};

static struct page pages[MOST_PAGES];
static int page_count;
static sqlite3 *database;
static sqlite3_stmt *begin, *commit;
static char *body;
static size_t used, capacity;

static void fail(const char *what) {
    fprintf(stderr, "floor: %s: %s\n", what, database ? sqlite3_errmsg(database) : "");
    exit(1);
}

static char *room(size_t count) {
    if (used + count > capacity) {
        capacity = 2 * (used + count);
        body = realloc(body, capacity);
        if (!body) fail("no memory");
    }
    return body + used;
}

static void put(const char *bytes, size_t count) {
    memcpy(room(count), bytes, count);
    used += count;
}

static void put_text(const unsigned char *text, size_t count) {
    static const char digits[] = "0123456789abcdef";
    char *end = room(6 * count + 2), *start = end;
    *end++ = '"';
    for (size_t i = 0; i < count; i++) {
        unsigned char byte = text[i];
        if (byte == '"' || byte == '\\') *end++ = '\\';
        if (byte >= 0x20) {
            *end++ = (char)byte;
        } else {
            memcpy(end, "\\u00", 4);
            end[4] = digits[byte >> 4];
            end[5] = digits[byte & 15];
            end += 6;
        }
    }
    *end++ = '"';
    used += (size_t)(end - start);
}

static void put_value(sqlite3_stmt *row, int column, int is_json) {
    char number[32];
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
        put("null", 4);
        break;
    case SQLITE_INTEGER:
        put(number, (size_t)snprintf(number, sizeof number, "%lld", (long long)sqlite3_column_int64(row, column)));
        break;
    case SQLITE_FLOAT:
        put(number, (size_t)snprintf(number, sizeof number, "%.17g", sqlite3_column_double(row, column)));
        break;
    default: {
        const unsigned char *text = sqlite3_column_text(row, column);
        size_t count = (size_t)sqlite3_column_bytes(row, column);
        if (is_json) put((const char *)text, count); else put_text(text, count);
    }
    }
}

static void put_row(const struct page *page) {
    for (int i = 0; i < page->columns; i++) {
        put(i ? "," : "{", 1);
        put(page->names[i], page->lengths[i]);
        put_value(page->select, i, page->are_json[i]);
    }
    put("}", 1);
}

/* Fills `body`; says whether it is JSON. */
static int put_rows(const struct page *page) {
    int is_json = 1, count = 0;
    used = 0;
    sqlite3_step(begin);
    for (; sqlite3_step(page->select) == SQLITE_ROW; count++) {
        if (sqlite3_column_type(page->select, 0) == SQLITE_BLOB) {
            put(sqlite3_column_blob(page->select, 0), (size_t)sqlite3_column_bytes(page->select, 0));
            is_json = 0;
        } else {
            put(count ? "," : "[", 1);
            put_row(page);
        }
    }
    if (is_json) put(count ? "]" : "[]", count ? 1 : 2);
    sqlite3_reset(page->select);
    sqlite3_step(commit);
    sqlite3_reset(begin);
    sqlite3_reset(commit);
    return is_json;
}

static enum MHD_Result respond(
    void *closure, struct MHD_Connection *connection, const char *path, const char *method, const char *version,
    const char *upload, size_t *upload_size, void **request)
{
    (void)closure, (void)method, (void)version, (void)upload, (void)upload_size;
    static int has_head;
    if (*request != &has_head) {
        *request = &has_head;
        return MHD_YES;
    }
    for (int i = 0; i < page_count; i++) {
        if (strcmp(pages[i].path, path)) continue;
        int is_json = put_rows(&pages[i]);
        struct MHD_Response *response = MHD_create_response_from_buffer(used, body, MHD_RESPMEM_MUST_COPY);
        if (is_json) MHD_add_response_header(response, "Content-Type", "application/json");
        enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
        MHD_destroy_response(response);
        return result;
    }
    return MHD_NO;
}

static sqlite3_stmt *prepared(const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL)) fail(sql);
    return statement;
}

static void add_page(const char *path, const char *sql) {
    struct page *page = &pages[page_count++];
    page->path = path;
    page->select = prepared(sql);
    page->columns = sqlite3_column_count(page->select);
    if (page->columns > MOST_COLUMNS) fail("too many columns");
    for (int i = 0; i < page->columns; i++) {
        const char *column = sqlite3_column_name(page->select, i);
        page->are_json[i] = *column == '=';
        char *name = sqlite3_mprintf("\"%s\":", column + page->are_json[i]);
        page->names[i] = name;
        page->lengths[i] = strlen(name);
    }
}

int main(int count, char **arguments) {
    if (count < 4 || count % 2 || count > 2 + 2 * MOST_PAGES) {
        fprintf(stderr, "usage: floor DATABASE PATH SQL [PATH SQL]...\n");
        return 64;
    }
    if (sqlite3_open_v2(arguments[1], &database, SQLITE_OPEN_READONLY, NULL)) fail(arguments[1]);
    begin = prepared("BEGIN");
    commit = prepared("COMMIT");
    for (int i = 2; i < count; i += 2) add_page(arguments[i], arguments[i + 1]);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, respond, NULL,
        MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_LIMIT, 4096u, MHD_OPTION_END);
    if (!daemon) fail("cannot listen");
    printf("http://127.0.0.1:%d\n", MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    pause();
    return 0;
}
