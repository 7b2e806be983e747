import Database
import Foundation
import GRDB

/// A data directory as it was: a copy of its database and its key, and second names of its files, which are never
/// written again.
struct SavedStore: StoreContents {
    let hasKey = true
    /// The folder of the copies.
    let folder: String

    private static let database = "larder.sqlite"
    private static let key = "larder.key"
    private static let blobs = "blobs"

    /// Saves the data of a server while it serves.
    ///
    /// - Parameter folder: A new folder, on the file system of the data if possible.
    /// - Throws: file errors; GRDB's errors. There is no folder then.
    init(of database: LarderDatabase, in folder: String) throws {
        self.folder = folder
        try Self.make(folder)
        do {
            try Self.make("\(folder)/\(Self.blobs)")
            try Self.place(database.directory.blobsPath, in: "\(folder)/\(Self.blobs)")
            try Self.copyPages(of: database, to: "\(folder)/\(Self.database)")
            // What was finished since the first pass may have a row.
            try Self.place(database.directory.blobsPath, in: "\(folder)/\(Self.blobs)")
            try FileManager.default.copyItem(atPath: database.directory.keyPath, toPath: "\(folder)/\(Self.key)")
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

    /// Names a folder that has the copies already.
    init(in folder: String) { self.folder = folder }

    /// Path of the copy of the database.
    var databasePath: String { "\(folder)/\(Self.database)" }

    /// The key that seals the secrets.
    var key: Data { get throws { try Data(contentsOf: URL(filePath: "\(folder)/\(Self.key)")) } }

    /// The files of documents and bodies, by their names.
    var blobFiles: [String: Data] {
        get throws {
            let path = "\(folder)/\(Self.blobs)"
            return try FileManager.default.contentsOfDirectory(atPath: path).reduce(into: [:]) { files, name in
                files[name] = try Data(contentsOf: URL(filePath: "\(path)/\(name)"))
            }
        }
    }

    func write(to directory: DataDirectory) throws {
        for name in [Self.database, Self.key] {
            try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: "\(directory.path)/\(name)")
        }
        try Self.make(directory.blobsPath)
        try Self.place("\(folder)/\(Self.blobs)", in: directory.blobsPath)
    }

    /// Removes the copies.
    /// - Throws: file errors.
    func remove() throws { try FileManager.default.removeItem(atPath: folder) }

    private static func make(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    /// Copies the database as one transaction sees it. What was not yet on the disk at a loss of power is of no use to
    /// a later process, so nothing waits for the disk.
    private static func copyPages(of database: LarderDatabase, to path: String) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        // SQLite would create it readable by all users.
        try Data().write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let copy = try DatabaseQueue(path: path, configuration: configuration)
        try database.read { db in
            try copy.writeWithoutTransaction { try db.backup(to: $0) }
        }
        try copy.close()
    }

    /// Gives the files of a folder second names in another one, or copies them if that is on another file system.
    private static func place(_ source: String, in target: String) throws {
        let files = FileManager.default
        for name in try files.contentsOfDirectory(atPath: source) where !name.hasSuffix(".part") {
            let (from, to) = ("\(source)/\(name)", "\(target)/\(name)")
            if link(from, to) == 0 || errno == EEXIST { continue }
            // Removed meanwhile, with its row.
            if errno == ENOENT { continue }
            try files.copyItem(atPath: from, toPath: to)
        }
    }
}
