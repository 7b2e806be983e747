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
