import Concurrency
package import Crypto
package import Foundation
package import GRDB

/// Finds the key that sealed the secrets of a database.
///
/// A key rotation takes two files and one transaction. The new key is written to `.next`, the transaction seals all
/// secrets with it and records its fingerprint, and the new file replaces the old one. After a crash in between the
/// fingerprint decides which of the two files is valid.
package enum SealingKey {
    static func nextFile(of file: KeyFile) -> KeyFile {
        KeyFile(path: file.path + ".next")
    }

    /// Finds the key; creates it at the first start.
    static func open(_ database: LarderDatabase) throws -> SymmetricKey {
        let file = KeyFile(path: database.directory.keyPath)
        let noted = try database.read(notedFingerprint)
        let (key, isNext) = try find(fingerprint: noted, file)
        guard let noted else {
            // A key without a fingerprint is that of an interrupted first start.
            let newKey = key ?? SymmetricKey(data: Randomness.bytes(32, for: "sealing key"))
            if key == nil { try file.create(newKey, synchronizes: database.options.isDurable) }
            try database.write { try noteFingerprint(of: newKey, in: $0) }
            return newKey
        }
        guard let key else { throw StorageError.keyMissing(path: file.path) }
        let nextFile = nextFile(of: file)
        if isNext {
            try nextFile.move(to: file)
        } else if try nextFile.read().map({ fingerprint(of: $0) != noted }) == true {
            try nextFile.remove()
        }
        return key
    }

    /// Reads the keys that exist: first that of a rotation in progress, so that one that is renamed meanwhile is found.
    ///
    /// - Parameter path: The path of the key file.
    package static func present(path: String) throws -> [SymmetricKey] {
        let file = KeyFile(path: path)
        return try [nextFile(of: file), file].compactMap { try $0.read() }
    }

    /// Reads the key of a file that is kept outside of data directories.
    ///
    /// - Throws: ``StorageError/keyMissing(path:)``, ``StorageError/malformedKey(path:)``,
    ///   ``StorageError/exposedKey(path:)`` and others.
    package static func read(path: String) throws -> SymmetricKey {
        guard let key = try KeyFile(path: path).read() else { throw StorageError.keyMissing(path: path) }
        let file = URL(filePath: path).resolvingSymlinksInPath().path
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        guard (attributes[.posixPermissions] as? Int).map({ $0 & 0o004 == 0 }) ?? true else {
            throw StorageError.exposedKey(path: path)
        }
        return key
    }

    /// Checks that the key of a data directory is the one whose fingerprint the database has recorded. Changes nothing.
    ///
    /// - Throws: ``StorageError/keyMissing(path:)``, ``StorageError/wrongKey(path:)``,
    ///   ``StorageError/malformedKey(path:)`` and others.
    package static func check(fingerprint noted: Data?, path: String) throws {
        _ = try find(fingerprint: noted, KeyFile(path: path))
    }

    package static func notedFingerprint(in db: Database) throws -> Data? {
        let noted = try Data.fetchOne(db, sql: "SELECT fingerprint FROM sealing_key")
        // Otherwise it would be the file of the key that is said to be another one's.
        guard noted.map({ $0.count == SHA256.byteCount }) ?? true else { throw DatabaseError.damaged("fingerprint") }
        return noted
    }

    /// Returns the key that fits, and whether it is in the `.next` file. Without a fingerprint any key fits, or none.
    static func find(fingerprint noted: Data?, _ file: KeyFile) throws -> (key: SymmetricKey?, isNext: Bool) {
        guard let noted else { return (try file.read(), false) }
        if let next = try nextFile(of: file).read(), fingerprint(of: next) == noted { return (next, true) }
        guard let key = try file.read() else { throw StorageError.keyMissing(path: file.path) }
        guard fingerprint(of: key) == noted else { throw StorageError.wrongKey(path: file.path) }
        return (key, false)
    }

    static func noteFingerprint(of key: SymmetricKey, in db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO sealing_key (id, fingerprint) VALUES (1, ?)
                ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint
                """,
            arguments: [fingerprint(of: key)]
        )
    }

    /// Returns the HMAC of a fixed text, which discloses nothing of 32 random bytes.
    package static func fingerprint(of key: SymmetricKey) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: Data("larder sealing key".utf8), using: key))
    }
}

/// A file that holds one 256-bit key, readable by its owner only.
struct KeyFile: Sendable {
    let path: String

    /// Reads the key; nil if there is no file.
    ///
    /// - Throws: ``StorageError/malformedKey(path:)`` if the file holds something else; other ``StorageError``s.
    func read() throws -> SymmetricKey? {
        guard let file = try OpenFile.ifPresent(path) else { return nil }
        let bytes = try file.read(at: 0, count: 33)
        guard bytes.count == 32 else { throw StorageError.malformedKey(path: path) }
        return SymmetricKey(data: bytes)
    }

    /// Writes the key to a new file and synchronizes it to the disk. The file appears completely or not at all.
    func create(_ key: SymmetricKey, synchronizes: Bool = true) throws {
        try OpenFile.create(path, key, synchronizes: synchronizes)
    }

    /// Renames the file so that it replaces `other`.
    func move(to other: KeyFile) throws {
        try StorageError.check("rename", path) { rename(path, other.path) }
        try synchronizeFolder()
    }

    func remove() throws {
        try StorageError.check("unlink", path, except: ENOENT) { unlink(path) }
        try synchronizeFolder()
    }

    private func synchronizeFolder() throws {
        try OpenFile.synchronizeDirectory((path as NSString).deletingLastPathComponent)
    }
}

/// A text that must not appear in logs by accident: its description and mirror, which a library may log, do not contain
/// it.
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package let value: String

    package init(_ value: String) {
        self.value = value
    }

    package var isEmpty: Bool { value.isEmpty }

    /// A placeholder for the text.
    package var description: String { isEmpty ? "none" : "a secret" }

    /// A placeholder for the text.
    package var debugDescription: String { description }

    /// A mirror without the text.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
