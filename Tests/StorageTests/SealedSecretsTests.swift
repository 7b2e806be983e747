import Foundation
import GRDB
import Logging
import TestKit
import Testing

@testable import Storage

@Suite struct SealedSecretsTests {
    private let temporary = TemporaryFolder.unmade()
    var folder: URL { temporary.url }
    let token = Data("y0_rutabaga-and-parsnips".utf8)

    /// Opens the folder, does something, and lets go of it again.
    private func withSecrets<Value>(_ body: (LarderDatabase, SealedSecrets) throws -> Value) throws -> Value {
        let database = try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: Logger(label: "test"))
        defer { try? database.close() }
        return try body(database, SealedSecrets(database))
    }

    private func storeToken() throws {
        try withSecrets { database, secrets in
            try database.write { try secrets.store(token, name: "disk/token", in: $0) }
        }
    }

    private var keyPath: String { folder.path + "/larder.key" }

    @Test("SRV-11 A secret survives a restart, and neither it nor the key is in the database's files")
    func restart() throws {
        try storeToken()
        let key = try Data(contentsOf: URL(fileURLWithPath: keyPath))
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.hasPrefix("larder.sqlite")
        }
        #expect(files.contains("larder.sqlite"))
        for name in files {
            let bytes = try Data(contentsOf: folder.appendingPathComponent(name))
            #expect(bytes.range(of: token) == nil && bytes.range(of: key) == nil)
        }
        #expect(try FileManager.default.attributesOfItem(atPath: keyPath)[.posixPermissions] as? Int == 0o600)
        #expect(
            try withSecrets { database, secrets in try database.read { try secrets.secret(name: "disk/token", in: $0) }
            } == token
        )
    }

    @Test("A secret is replaced; an unknown name holds none")
    func replace() throws {
        let database = try LarderDatabase.temporary()
        let secrets = try SealedSecrets(database)
        try database.write { db in
            try secrets.store(token, name: "a", in: db)
            try secrets.store(Data(), name: "a", in: db)
            #expect(try secrets.secret(name: "a", in: db) == Data())
            #expect(try secrets.secret(name: "b", in: db) == nil)
        }
    }

    @Test("A sealed secret that was moved to another name or changed does not open")
    func authentic() throws {
        let database = try LarderDatabase.temporary()
        let secrets = try SealedSecrets(database)
        try database.write { db in
            try secrets.store(token, name: "a", in: db)
            try db.execute(sql: "INSERT INTO sealed_secret SELECT 'b', sealed FROM sealed_secret")
            #expect(throws: StorageError.secretNotAuthentic(name: "b")) { try secrets.secret(name: "b", in: db) }
            for damage in ["substr(sealed, 1, length(sealed) - 1) || x'00'", "x''", "x'00'"] {
                try secrets.store(token, name: "a", in: db)
                try db.execute(sql: "UPDATE sealed_secret SET sealed = CAST(\(damage) AS BLOB) WHERE name = 'a'")
                #expect(throws: StorageError.secretNotAuthentic(name: "a")) { try secrets.secret(name: "a", in: db) }
            }
        }
    }

    @Test("Equal secrets are sealed differently each time")
    func nonces() throws {
        let database = try LarderDatabase.temporary()
        let secrets = try SealedSecrets(database)
        let sealed = try database.write { db in
            for number in 0..<50 { try secrets.store(token, name: "\(number)", in: db) }
            return try Data.fetchAll(db, sql: "SELECT substr(sealed, 1, 12) FROM sealed_secret")
        }
        #expect(Set(sealed).count == 50)
    }

    @Test("A missing, a foreign and a malformed key are refused, and the foreign one stays")
    func wrongKeys() throws {
        try storeToken()
        try FileManager.default.removeItem(atPath: keyPath)
        #expect(throws: StorageError.keyMissing(path: keyPath)) { try withSecrets { _, _ in } }
        #expect(!FileManager.default.fileExists(atPath: keyPath))
        let foreign = Data(repeating: 1, count: 32)
        try foreign.write(to: URL(fileURLWithPath: keyPath))
        #expect(throws: StorageError.wrongKey(path: keyPath)) { try withSecrets { _, _ in } }
        #expect(try Data(contentsOf: URL(fileURLWithPath: keyPath)) == foreign)
        for count in [0, 31, 33] {
            try Data(repeating: 1, count: count).write(to: URL(fileURLWithPath: keyPath))
            #expect(throws: StorageError.malformedKey(path: keyPath)) { try withSecrets { _, _ in } }
        }
    }

    @Test("A rotated key seals everything; the old one opens nothing any more")
    func rotation() throws {
        try storeToken()
        let oldKey = try Data(contentsOf: URL(fileURLWithPath: keyPath))
        let hashKey = try withSecrets { database, secrets in
            let hashKey = try secrets.credentialHashKey()
            try secrets.rotateKey()
            #expect(try database.read { try secrets.secret(name: "disk/token", in: $0) } == token)
            return hashKey
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: keyPath)) != oldKey)
        let (found, foundHashKey) = try withSecrets { database, secrets in
            (try database.read { try secrets.secret(name: "disk/token", in: $0) }, try secrets.credentialHashKey())
        }
        #expect(found == token && foundHashKey == hashKey)
        try oldKey.write(to: URL(fileURLWithPath: keyPath))
        #expect(throws: StorageError.wrongKey(path: keyPath)) { try withSecrets { _, _ in } }
    }

    @Test("Secrets of users are sealed with a new key as well, unless they are of several servers with a key of theirs")
    func usersSecrets() throws {
        try withSecrets { database, secrets in
            let users = UserSecrets(secrets)
            func sealed() throws -> Data? {
                try database.read { try Data.fetchOne($0, sql: "SELECT sealed FROM user_secret") }
            }
            try database.write { try users.store(token, name: "disk/token", in: $0) }
            let before = try sealed()
            try secrets.rotateKey()
            #expect(try sealed() != before)
            #expect(try database.read { try users.secret(name: "disk/token", in: $0) } == token)
            #expect(throws: StorageError.self) { try secrets.open(try sealed() ?? Data(), name: "disk/other") }

            try database.write { db in
                try db.execute(
                    sql: "CREATE TABLE journal_position (one INTEGER); INSERT INTO journal_position VALUES (1)"
                )
                try db.execute(sql: "UPDATE user_secret SET sealed = x'00'")
            }
            try secrets.rotateKey()
            #expect(try sealed() == Data([0]))
        }
    }

    @Test("A crash before or after the transaction that changes the key leaves the secrets readable")
    func interruptedRotation() throws {
        try storeToken()
        let oldKey = try Data(contentsOf: URL(fileURLWithPath: keyPath))
        // Before: the next key was written, nothing was sealed with it.
        try Data(repeating: 9, count: 32).write(to: URL(fileURLWithPath: keyPath + ".next"))
        #expect(
            try withSecrets { database, secrets in try database.read { try secrets.secret(name: "disk/token", in: $0) }
            } == token
        )
        #expect(!FileManager.default.fileExists(atPath: keyPath + ".next"))
        // After: everything is sealed with the next key, whose file was not moved yet.
        try withSecrets { _, secrets in try secrets.rotateKey() }
        try FileManager.default.moveItem(atPath: keyPath, toPath: keyPath + ".next")
        try oldKey.write(to: URL(fileURLWithPath: keyPath))
        #expect(
            try withSecrets { database, secrets in try database.read { try secrets.secret(name: "disk/token", in: $0) }
            } == token
        )
        #expect(!FileManager.default.fileExists(atPath: keyPath + ".next"))
    }
}

@Suite("Secrets") struct SecretTests {
    private struct Options { let key: Secret }

    @Test("SRV-11 No description, no mirror and no dump of what holds a secret shows it")
    func hidden() {
        let options = Options(key: Secret("hush"))
        var dumped = ""
        dump(options, to: &dumped)
        for text in [
            "\(options)", String(reflecting: options), String(describing: [options.key]), dumped,
            "\(Mirror(reflecting: options.key).children.count)",
        ] {
            #expect(!text.contains("hush"), "\(text)")
        }
        #expect(options.key.value == "hush" && Secret("").isEmpty && "\(Secret(""))" == "none")
    }
}
