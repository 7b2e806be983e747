import Foundation

/// Moves finished files atomically and durably: after a crash there is either the old file or the whole new one.
enum FinishedFile {
    /// Synchronizes the file, renames it, and synchronizes the directory. Across file systems it is copied beside its
    /// destination first. A link is not followed: a program could have left it in place of its result.
    ///
    /// - Throws: `CocoaError`.
    static func move(_ path: String, to destination: URL) throws {
        let target = destination.path
        let folder = destination.deletingLastPathComponent().path
        try synchronize(path)
        if rename(path, target) != 0 {
            guard errno == EXDEV else { throw failure(target) }
            let beside = "\(folder)/.\(UUID().uuidString).part"
            do {
                try FileManager.default.copyItem(atPath: path, toPath: beside)
                try synchronize(beside)
                guard rename(beside, target) == 0 else { throw failure(target) }
            } catch {
                unlink(beside)
                throw error
            }
        }
        try synchronize(folder)
    }

    private static func synchronize(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(path) }
    }

    private static func failure(_ path: String) -> CocoaError {
        let code: CocoaError.Code =
            errno == ENOSPC ? .fileWriteOutOfSpace : errno == ENOENT ? .fileNoSuchFile : .fileWriteUnknown
        return CocoaError(code, userInfo: [NSFilePathErrorKey: path])
    }
}
