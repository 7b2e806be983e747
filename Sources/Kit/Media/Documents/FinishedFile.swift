import Foundation

/// Moves a file to its place so that there is either nothing new or all of it, whenever the machine stops.
enum FinishedFile {
    /// Puts the file's bytes on the disk, renames it, and puts its new name on the disk. Across file systems it is
    /// copied beside its place first.
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
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
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
