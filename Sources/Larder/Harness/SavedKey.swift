import Database
import Foundation

/// The key that seals the secrets of a data directory, kept while the directory is emptied.
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

    /// Writes the key again. A database without secrets takes it for its own.
    /// - Throws: a file error if it cannot be written.
    func restore() throws {
        guard FileManager.default.createFile(atPath: path, contents: bytes, attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path]) }
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
