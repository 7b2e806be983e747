import Crypto
import Foundation

/// A file that holds one 256-bit key and nothing else, readable by its owner only.
struct KeyFile: Sendable {
    let path: String

    /// The key; nil when there is no file.
    ///
    /// - Throws: ``StorageError/malformedKey(path:)`` when the file holds something else.
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

    /// Writes a key that was not there before and brings it to the disk. The file appears in full or not at all.
    func create(_ key: SymmetricKey) throws {
        try OpenFile.create(path, key)
    }

    /// Takes the place of `other`.
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
