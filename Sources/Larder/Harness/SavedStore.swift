import Foundation
import GRDB
import Logging
import Storage
import Synchronization

/// The saved state of a data directory: copies of its database and its key, and hard links to its files, which are
/// never written again.
struct SavedStore: StoreContents {
    let hasKey = true
    let folder: String

    private static let database = "larder.sqlite"
    private static let key = "larder.key"
    private static let blobs = "blobs"

    /// Saves the data of a server while it serves.
    ///
    /// - Parameter folder: A new folder, on the file system of the data if possible.
    /// - Throws: File errors; GRDB's errors. The folder is removed then.
    init(of database: LarderDatabase, in folder: String) throws {
        self.folder = folder
        try Self.make(folder)
        do {
            try Self.make("\(folder)/\(Self.blobs)")
            try Self.place(database.directory.blobsPath, in: "\(folder)/\(Self.blobs)")
            try Self.copyPages(of: database, to: "\(folder)/\(Self.database)")
            // A file that was finished after the first pass may have a row in the copy.
            try Self.place(database.directory.blobsPath, in: "\(folder)/\(Self.blobs)")
            try FileManager.default.copyItem(atPath: database.directory.keyPath, toPath: "\(folder)/\(Self.key)")
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

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

    /// Copies the database in the state that one transaction reads. The copy is not flushed to disk, because no process
    /// uses it after a power failure.
    private static func copyPages(of database: LarderDatabase, to path: String) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        // SQLite would create the file readable by all users.
        try Data().write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let copy = try DatabaseQueue(path: path, configuration: configuration)
        try database.read { db in
            try copy.writeWithoutTransaction { try db.backup(to: $0) }
        }
        try copy.close()
    }

    /// Makes hard links to the files of a folder in another one, or copies them if that is on another file system.
    private static func place(_ source: String, in target: String) throws {
        let files = FileManager.default
        for name in try files.contentsOfDirectory(atPath: source) where !name.hasSuffix(".part") {
            let (from, to) = ("\(source)/\(name)", "\(target)/\(name)")
            if link(from, to) == 0 || errno == EEXIST { continue }
            // The file was removed meanwhile, with its row.
            if errno == ENOENT { continue }
            try files.copyItem(atPath: from, toPath: to)
        }
    }
}

/// The key that seals the secrets of a data directory, held in memory while the directory is emptied.
struct SavedKey: Sendable {
    private let bytes: Data
    private let path: String

    /// Reads the key; nil if there is none.
    ///
    /// - Throws: a file error if it cannot be read.
    init?(in directory: DataDirectory) throws {
        path = directory.keyPath
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        bytes = try Data(contentsOf: URL(filePath: path))
    }

    /// Writes the key again. A database without secrets accepts any key.
    /// - Throws: `StorageError` if it cannot be written.
    func restore() throws {
        let file = try OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC)
        try bytes.withUnsafeBytes { try file.write($0) }
    }
}

extension DataDirectory {
    /// Replaces everything in the folder, in which no database may be open.
    ///
    /// - Throws: the errors of the contents; file errors.
    func replaceAll(by contents: any StoreContents) throws {
        let key = contents.hasKey ? nil : try SavedKey(in: self)
        try removeContents(but: PristineDirectory.lasting)
        try contents.write(to: self)
        try key?.restore()
    }
}

/// The files of a data directory after a first start. Making the tables takes most of the time of a first start, so
/// from the second time on their file is written as a whole.
final class PristineDirectory: StoreContents {
    /// Files that a reset keeps in the folder: the port of the sandbox, the reserve of the disk, and the snapshots.
    static let lasting: Set = ["sandbox.port", "larder.reserve", Snapshots.folderName]

    let hasKey = false
    private let migrations: [SchemaMigration]
    private let logger: Logger
    private let files = Mutex<[String: Data]?>(nil)

    init(migrations: [SchemaMigration], logger: Logger) {
        self.migrations = migrations
        self.logger = logger
    }

    /// Makes the files.
    ///
    /// - Throws: `StorageError`; the errors of `FileManager`.
    func write(to directory: DataDirectory) throws {
        let folder = URL(filePath: directory.path, directoryHint: .isDirectory)
        if let known = files.withLock(\.self) { return try Self.write(known, to: folder) }
        var options = DatabaseOptions()
        options.isDurable = false
        try LarderDatabase(in: directory, migrations: migrations, options: options, logger: logger).close()
        let log = try LarderDatabase.firstLog(of: directory.databasePath)
        var made = try Self.read(folder)
        made[URL(filePath: LarderDatabase.logPath(of: directory.databasePath)).lastPathComponent] = log
        files.withLock { $0 = made }
    }

    private static func read(_ folder: URL) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let url = folder.appending(path: name)
            let isFolder = try url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory ?? false
            guard !isFolder, !lasting.contains(name.prefix { $0 != "/" }.description), name != DataDirectory.lockName
            else { continue }
            files[name] = try Data(contentsOf: url)
        }
        return files
    }

    private static func write(_ files: [String: Data], to folder: URL) throws {
        for (name, bytes) in files {
            let path = folder.appending(path: name).path
            let parent = (path as NSString).deletingLastPathComponent
            if !FileManager.default.fileExists(atPath: parent) {
                try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            }
            let file = try OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC)
            try bytes.withUnsafeBytes { try file.write($0) }
        }
    }
}
