import Foundation

/// Space on the disk that is reserved for deleting: SQLite needs some to record what is deleted, and a full disk has
/// none.
struct DiskReserve: Sendable {
    /// Size in bytes: a multiple of the pages that a deletion changes.
    static let bytes = 1 << 20

    let path: String

    /// The smallest reserve in bytes that is of use.
    private static let least = 1 << 16

    /// Whether the reserve has its full size.
    var isWhole: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_size >= off_t(Self.bytes)
    }

    /// Allocates the reserve, or as much of it as there is space for.
    func take() {
        // Without it everything works except deletions on a full disk, and the next deletion tries again.
        guard let file = try? OpenFile(path, O_RDWR | O_CREAT) else { return }
        var bytes = Self.bytes
        while bytes >= Self.least, posix_fallocate(file.descriptor, 0, off_t(bytes)) != 0 {
            ftruncate(file.descriptor, 0)
            bytes /= 2
        }
    }

    /// Releases the space.
    ///
    /// - Throws: ``StorageError``.
    func release() throws {
        let file = try OpenFile(path, O_RDWR | O_CREAT)
        guard ftruncate(file.descriptor, 0) == 0 else {
            throw StorageError.system(errno, path: path, operation: "ftruncate")
        }
    }

    /// Returns whether disk and quota have space for a few pages, by a file that is removed again.
    func isRoom() -> Bool {
        defer { unlink(path) }
        do {
            let file = try OpenFile(path, O_RDWR | O_CREAT)
            return ![ENOSPC, EDQUOT].contains(posix_fallocate(file.descriptor, 0, 1 << 16))
        } catch StorageError.diskFull {
            return false
        } catch {
            return true  // Another fault, which the original error describes better.
        }
    }
}
