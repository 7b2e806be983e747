import Crypto
import Foundation

/// A file that holds one 256-bit key, readable by its owner only.
struct KeyFile: Sendable {
    let path: String

    /// Reads the key; nil if there is no file.
    ///
    /// - Throws: ``StorageError/malformedKey(path:)`` if the file holds something else; other ``StorageError``s.
    func read() throws -> SymmetricKey? {
        let file: OpenFile
        do {
            file = try OpenFile(path, O_RDONLY)
        } catch StorageError.inputOutput(_, _, ENOENT) {
            return nil
        }
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
        guard rename(path, other.path) == 0 else { throw StorageError.system(errno, path: path, operation: "rename") }
        try synchronizeFolder()
    }

    func remove() throws {
        guard unlink(path) == 0 || errno == ENOENT else {
            throw StorageError.system(errno, path: path, operation: "unlink")
        }
        try synchronizeFolder()
    }

    private func synchronizeFolder() throws {
        try OpenFile.synchronizeDirectory((path as NSString).deletingLastPathComponent)
    }
}
