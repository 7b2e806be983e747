import Crypto
import Foundation
import GRDB

/// Finds the key that sealed the secrets of a database.
///
/// Changing the key takes two files and one transaction: the new key is written beside (`.next`), the transaction seals all secrets anew and notes the new
/// key's fingerprint, the new file takes the old one's place. The fingerprint decides which of the two files is meant after a crash in between.
enum SealingKey {
    static func nextFile(of file: KeyFile) -> KeyFile {
        KeyFile(path: file.path + ".next")
    }

    static func open(_ database: LarderDatabase) throws -> SymmetricKey {
        let file = KeyFile(path: database.directory.keyPath)
        let nextFile = nextFile(of: file)
        let noted = try database.read { try Data.fetchOne($0, sql: "SELECT fingerprint FROM sealing_key") }
        if let noted, let next = try nextFile.read() {
            if fingerprint(of: next) == noted {
                try nextFile.move(to: file)
            } else {
                try nextFile.remove()
            }
        }
        let key = try file.read()
        switch (key, noted) {
        case (let key?, let noted?):
            guard fingerprint(of: key) == noted else { throw StorageError.wrongKey(path: file.path) }
            return key
        case (nil, _?):
            throw StorageError.keyMissing(path: file.path)
        case (_, nil):
            // A key without a fingerprint is that of a first start that was interrupted.
            let newKey = key ?? SymmetricKey(size: .bits256)
            if key == nil { try file.create(newKey) }
            try database.write { try noteFingerprint(of: newKey, in: $0) }
            return newKey
        }
    }

    static func noteFingerprint(of key: SymmetricKey, in db: Database) throws {
        try db.execute(
            sql: "INSERT INTO sealing_key (id, fingerprint) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint",
            arguments: [fingerprint(of: key)]
        )
    }

    /// HMAC of a fixed text: of 32 random bytes it gives nothing away.
    private static func fingerprint(of key: SymmetricKey) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: Data("larder sealing key".utf8), using: key))
    }
}
