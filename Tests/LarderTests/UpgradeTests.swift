import Foundation
import GRDB
import Screens
import Storage
import TestKit
import Testing

@testable import Larder

/// Databases that this build has not left as they are.
@Suite(.timeLimit(.minutes(10))) struct UpgradeTests {
    /// A database as a build with the first migrations left it, with a session and a secret.
    private func made(by migrations: [SchemaMigration], in data: TemporaryFolder) throws {
        let database = try LarderDatabase(in: DataDirectory(at: data.url), migrations: migrations, logger: .quiet)
        let secrets = try SealedSecrets(database)
        try database.write { try secrets.store(Data("token".utf8), name: "a secret", in: $0) }
        try database.close()
    }

    private func schema(_ database: LarderDatabase) throws -> [String] {
        try database.read { db in
            try String.fetchAll(
                db,
                sql: "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1"
            )
        }
    }

    @Test("TRUST-15 a database of every older build is brought up to date by a start, and keeps what it has")
    func upgrade() throws {
        let migrations = AppList.standard.migrations
        let new = try TemporaryFolder()
        try made(by: migrations, in: new)
        let model = try LarderDatabase(in: DataDirectory(at: new.url), migrations: migrations, logger: .quiet)
        let expected = try schema(model)
        for count in stride(from: 0, to: migrations.count, by: 3) {
            let data = try TemporaryFolder()
            try made(by: Array(migrations.prefix(count)), in: data)
            let database = try LarderDatabase(in: DataDirectory(at: data.url), migrations: migrations, logger: .quiet)
            #expect(try schema(database) == expected, "\(count) of \(migrations.count) migrations")
            let secrets = try SealedSecrets(database)
            let secret = try database.read { try secrets.secret(name: "a secret", in: $0) }
            #expect(secret == Data("token".utf8), "\(count) of \(migrations.count) migrations")
            try database.close()
        }
    }

    @Test("TRUST-15 a database of a newer build is refused by name and not changed")
    func downgrade() throws {
        let migrations = AppList.standard.migrations
        let data = try TemporaryFolder()
        let future = SchemaMigration("ships/999 from the future", sql: "CREATE TABLE future (a)")
        try made(by: migrations + [future], in: data)
        let file = data.url.appending(path: "larder.sqlite")
        let before = try Data(contentsOf: file)
        let error = #expect(throws: StorageError.self) {
            try LarderDatabase(in: DataDirectory(at: data.url), migrations: migrations, logger: .quiet)
        }
        guard case .newerSchema(_, let unknown) = error else { return #expect(Bool(false), "\(error as Any)") }
        #expect(unknown == ["ships/999 from the future"])
        #expect(try Data(contentsOf: file) == before)
    }

    @Test("TRUST-24 doctor names the table of a value that SQLite accepts and no build has stored")
    func value() async throws {
        let data = try TemporaryFolder()
        let apps = AppList.standard
        try LarderDatabase(in: DataDirectory(at: data.url), migrations: apps.migrations, logger: .quiet).close()
        let queue = try DatabaseQueue(path: data.path + "/larder.sqlite")
        try await queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO ship (
                        id, name, sort_key, roles, active, listed, from_snapshot, added_revision, changed_revision
                    ) VALUES ('1', 'A', 'a', '[]', 1, 1, 0, 1, 1), ('2', 'B', 'b', '[', 1, 1, 0, 1, 1)
                    """
            )
        }
        try queue.close()
        let findings = DataCheck.findings(at: data.url, apps: apps, readsFiles: false, progress: { _ in })
        let detail = try #require(findings.first { $0.subject == "database" && $0.verdict == .broken }?.detail)
        #expect(detail.contains("ship: column roles has a value that was never stored in it"), "\(detail)")
    }
}
