import Database
import Foundation
import Logging
import Synchronization

/// The files of a data directory as a first start makes them. Making the tables takes most of the time of a first
/// start; from the second time on, their file is written as a whole.
final class PristineDirectory: StoreContents {
    /// What a reset leaves in the folder: the port of the sandbox, the reserve of the disk, and the snapshots.
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
