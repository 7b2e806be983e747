import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Tokens of several sessions of one account", .timeLimit(.minutes(10)))
struct DiskStoreTokensTests {
    private static func authorizations(_ disk: FakeYandexDisk) -> Set<String> {
        Set(disk.requests.compactMap { $0.headerFields[.authorization] })
    }

    @Test("DISK-37 each session has its own token; one that the upstream refuses ends that session only")
    func own() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.txt", "text")
        disk.change { $0.tokens = ["first": "1130", "second": "1130"] }
        try await DiskHarness.run(disk) { app in
            let first = try await app.logIn("first")
            let second = try await app.logIn("second")
            for (session, token) in [(first, "first"), (second, "second")] {
                disk.change { $0.requests = [] }
                #expect(try await app.get("/v1/disk/files?refresh=1", as: session).status == 200)
                #expect(Self.authorizations(disk) == ["OAuth \(token)"])
            }
            disk.change { $0.tokens["second"] = nil }
            try await app.get("/v1/disk/files?refresh=1", as: second).expectProblem("upstream-session-expired", 401)
            try await app.get("/v1/disk/files", as: second).expectProblem("upstream-session-expired", 401)
            for _ in 0..<3 {
                app.clock.advance(by: .seconds(6))
                #expect(try await app.get("/v1/disk/files?refresh=1", as: first).status == 200)
                try await app.get("/v1/disk/recent", as: second).expectProblem("upstream-session-expired", 401)
            }
            disk.goAway()
            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: first)) == ["a.txt"])
            try await app.get("/v1/disk/files", as: second).expectProblem("upstream-session-expired", 401)
            disk.intercept(nil)
            disk.change { $0.tokens["second"] = "1130" }
            #expect(try await app.get("/v1/disk/files?refresh=1", as: second).status == 200, "it is accepted again")
        }
    }

    @Test("DISK-37 a logout is the account's: it ends all its sessions and removes all their tokens")
    func logout() async throws {
        let disk = FakeYandexDisk()
        disk.change { $0.tokens = ["first": "1130", "second": "1130", "other": "7"] }
        try await DiskHarness.run(disk) { app in
            let sessions = [try await app.logIn("first"), try await app.logIn("second")]
            let other = try await app.logIn("other")
            #expect(try await app.ask(.delete, "/v1/disk/session?confirm=true", as: sessions[0]).status == 200)
            for session in sessions {
                try await app.get("/v1/disk/files", as: session).expectProblem("session-expired", 401)
            }
            #expect(try await app.get("/v1/disk/files", as: other).status == 200)
            let names = try app.database.read {
                try String.fetchAll($0, sql: "SELECT name FROM user_secret")
            }
            #expect(names.count == 1 && names[0].hasPrefix("disk/token/7/"))
        }
    }

    @Test("DISK-37 work that belongs to no session takes a token that the upstream accepts")
    func download() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.txt", "text")
        disk.change { $0.tokens = ["first": "1130", "second": "1130"] }
        try await DiskHarness.run(disk) { app in
            let first = try await app.logIn("first")
            app.clock.advance(by: .seconds(1))
            _ = try await app.logIn("second")
            _ = try await app.get("/v1/disk/files", as: first)
            disk.change { $0.tokens["second"] = nil }
            let job = try await app.ask(.post, "/v1/disk/downloads", as: first, json: #"{"path":"/a.txt"}"#)
            #expect(job.status == 202)
            await app.events.published("job", containing: #""status":"done""#)
            #expect(try await app.get("/v1/disk/files?refresh=1", as: first).status == 200)
        }
    }

    @Test("DISK-37 sessions of an earlier version keep the token that they shared")
    func earlierVersion() async throws {
        let disk = FakeYandexDisk()
        let box = TokenBox()
        let temporary = TemporaryFolder.unmade()
        defer { withExtendedLifetime(temporary) {} }
        let folder = temporary.url
        try await DiskHarness.run(disk, DiskHarness.Settings(directory: try DataDirectory(at: folder))) { app in
            box.token = try await app.logIn()
            // As it was before: one token of the account, and a table of logins without a place for each.
            let token = try app.store.database.read { db in
                try DiskStore.tokenNames(of: "1130", db).compactMap { try app.store.token(named: $0, db) }.first
            }
            let sealed = try JSONEncoder().encode(try #require(token))
            let secrets = try SealedSecrets(app.database)
            try await app.database.write { db in
                try db.execute(sql: Self.earlierTables)
                try secrets.store(sealed, name: "disk/token/1130", in: db)
            }
        }
        try await DiskHarness.run(disk, DiskHarness.Settings(directory: try DataDirectory(at: folder))) { app in
            let files = try await app.get("/v1/disk/files", as: box.token)
            #expect(files.status == 200)
            #expect(Self.authorizations(disk) == ["OAuth good"])
            let mark = try #require(try app.store.mark(DiskPath.root.child("kept"), account: "1130"))
            #expect(mark.number == 7)
            let item = DiskItem(path: DiskPath.root.child("next"), kind: .file)
            let next = try await app.store.mark(item, account: "1130", at: app.clock.now, maximum: 9)
            #expect(next?.0.number == 8)
            #expect(try await app.ask(.delete, "/v1/disk/session?confirm=true", as: box.token).status == 200)
            #expect(try app.database.integer("SELECT count(*) FROM user_secret") == 0)
        }
    }

    /// Takes back the separation of users' rows, and puts the token of an account in the place of those of its logins.
    private static let earlierTables = """
        CREATE TABLE earlier AS SELECT disk_account.account, name, disk_cache.linked_at, total, used, trash,
            disk_cache.epoch, revision, changed_at FROM disk_account JOIN disk_cache USING (account);
        DROP TABLE disk_account;
        DROP TABLE disk_cache;
        CREATE TABLE disk_account (account TEXT NOT NULL PRIMARY KEY, name TEXT, linked_at INTEGER NOT NULL,
            total INTEGER NOT NULL, used INTEGER NOT NULL, trash INTEGER NOT NULL, epoch INTEGER NOT NULL,
            revision INTEGER NOT NULL, changed_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO disk_account SELECT * FROM earlier;
        DROP TABLE earlier;
        CREATE TABLE earlier AS SELECT session, account, 'disk/token/' || account AS token, rejected, created_at
            FROM disk_login;
        DROP TABLE disk_login;
        CREATE TABLE disk_login (session TEXT NOT NULL PRIMARY KEY, account TEXT NOT NULL, token TEXT NOT NULL,
            rejected INTEGER NOT NULL, created_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO disk_login SELECT * FROM earlier;
        DROP TABLE earlier;
        DROP TABLE disk_offline;
        DROP TABLE disk_offline_check;
        CREATE TABLE disk_offline (number INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, path TEXT NOT NULL,
            kind TEXT NOT NULL, marked_at INTEGER NOT NULL, admitted INTEGER NOT NULL DEFAULT 0, checked_at INTEGER,
            due_at INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, failure TEXT, UNIQUE (account, path)) STRICT;
        INSERT INTO disk_offline (number, account, path, kind, marked_at, due_at)
            VALUES (7, '1130', 'disk:/kept', 'dir', 1, 0);
        CREATE INDEX disk_login_by_account ON disk_login (account, rejected, created_at);
        CREATE INDEX disk_login_by_token ON disk_login (token);
        CREATE INDEX disk_offline_by_due ON disk_offline (due_at);
        DELETE FROM user_secret;
        DELETE FROM grdb_migrations WHERE identifier = 'disk/011 rows of users';
        """
}

@Suite("The token of a session over HTTP")
struct DiskTokenTests {
    /// Opens a session with a token on a Disk with a file.
    private static func withToken(
        _ test: @escaping @Sendable (DiskHarness, FakeYandexDisk, _ opened: Exchanged) async throws -> Void
    ) async throws {
        let disk = FakeYandexDisk()
        disk.change { $0.tokens["y0_VerySecretToken"] = "77" }
        disk.put("disk:/a.txt")
        try await DiskHarness.run(disk) { app in
            let token = #"{"mode":"oauth_token","access_token":" y0_VerySecretToken "}"#
            try await test(app, disk, try await app.ask(.post, "/v1/disk/session", json: token))
        }
    }

    private static let screens = [
        "session", "profile", "recent", "files", "published", "file?path=/a.txt", "file/content?path=/a.txt",
        "trash", "search?q=a",
    ]

    @Test("DISK-04 a token opens a session; it is sent to the API as OAuth, and to no other server")
    func token() async throws {
        try await Self.withToken { app, disk, opened in
            opened.expectScreen("disk.session", status: 201)
            #expect(opened.headerFields[.location] == "/v1/disk/session")
            #expect(opened.names(in: "data") == ["kind", "name", "linked_at", "created_at", "token", "route"])
            #expect(opened["data.name"] == "login-77")
            #expect(opened["data.route.screen"] == "disk.recent")
            let bearer = try opened.string("data.token")
            for target in Self.screens {
                #expect(try await app.get("/v1/disk/\(target)", as: bearer).status == 200, "\(target)")
            }
            let own = disk.requests.filter { $0.url.hasPrefix("https://disk.test") }
            #expect(own.allSatisfy { $0.headerFields[.authorization] == "OAuth y0_VerySecretToken" })
            #expect(
                disk.requests.contains {
                    $0.url.hasPrefix("https://downloader.test") && $0.headerFields[.authorization] == nil
                }
            )
        }
    }

    @Test("DISK-04 a token is in no response, no log line, no file in clear; nor is the address of a download")
    func secrecy() async throws {
        try await Self.withToken { app, disk, opened in
            let bearer = try opened.string("data.token")
            var responses = [opened]
            for target in Self.screens { responses.append(try await app.get("/v1/disk/\(target)", as: bearer)) }
            #expect(responses.dropFirst().allSatisfy { $0.status == 200 })
            disk.goAway()
            responses.append(try await app.get("/v1/disk/files?refresh=1", as: bearer))
            for response in responses {
                #expect(
                    !response.text.contains("VerySecret")
                        && !response.headerFields.contains { $0.value.contains("VerySecret") }
                )
                #expect(!response.text.contains("downloader.test/") && !response.text.contains("tknv="))
            }
            #expect(!app.log.lines.contains { $0.contains("VerySecret") || $0.contains("tknv=") })
            let stored = try app.everythingStored()
            for secret in ["VerySecret", "downloader.test/", "tknv=", bearer] {
                #expect(stored.firstRange(of: Data(secret.utf8)) == nil, "\(secret)")
            }
            #expect(stored.firstRange(of: Data("disk:/a.txt".utf8)) != nil, "the search does find what is there")
        }
    }
}
