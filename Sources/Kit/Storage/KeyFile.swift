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
        let unfinished = path + ".part"
        try remove(unfinished)
        let file = try OpenFile(unfinished, O_WRONLY | O_CREAT | O_EXCL)
        try key.withUnsafeBytes { try file.write($0) }
        try file.synchronize()
        // link(2) fails where rename(2) would replace a key that somebody's secrets depend on.
        guard link(unfinished, path) == 0 else { throw StorageError.system(errno, path: path, operation: "link") }
        try remove(unfinished)
        try synchronizeFolder()
    }

    /// Takes the place of `other`.
    func move(to other: KeyFile) throws {
        guard rename(path, other.path) == 0 else { throw StorageError.system(errno, path: path, operation: "rename") }
        try synchronizeFolder()
    }

    func remove() throws {
        try remove(path)
        try synchronizeFolder()
    }

    private func remove(_ path: String) throws {
        guard unlink(path) == 0 || errno == ENOENT else { throw StorageError.system(errno, path: path, operation: "unlink") }
    }

    private func synchronizeFolder() throws {
        try OpenFile.synchronizeDirectory((path as NSString).deletingLastPathComponent)
    }
}
