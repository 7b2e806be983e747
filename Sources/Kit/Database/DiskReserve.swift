import Foundation

/// Room on the disk that is kept for deleting: SQLite needs some to note what is deleted, and a full disk has none.
struct DiskReserve: Sendable {
    /// Enough for the pages that a deletion changes, many times over.
    static let bytes = 1 << 20

    let path: String

    /// Least room that is worth keeping.
    private static let least = 1 << 16

    /// Whether all of the room is taken.
    var isWhole: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_size >= off_t(Self.bytes)
    }

    /// Takes the room, or as much of it as there is.
    func take() {
        // Without it everything works but for deletions on a full disk, and the next deletion tries again.
        guard let file = try? OpenFile(path, O_RDWR | O_CREAT) else { return }
        var bytes = Self.bytes
        while bytes >= Self.least, posix_fallocate(file.descriptor, 0, off_t(bytes)) != 0 {
            ftruncate(file.descriptor, 0)
            bytes /= 2
        }
    }

    /// Gives the room back to the disk.
    func release() throws {
        let file = try OpenFile(path, O_RDWR | O_CREAT)
        guard ftruncate(file.descriptor, 0) == 0 else {
            throw StorageError.system(errno, path: path, operation: "ftruncate")
        }
    }

    /// Whether the disk, and the quota, have room for a file with a few pages; it is removed again.
    func isRoom() -> Bool {
        defer { unlink(path) }
        do {
            let file = try OpenFile(path, O_RDWR | O_CREAT)
            return ![ENOSPC, EDQUOT].contains(posix_fallocate(file.descriptor, 0, 1 << 16))
        } catch StorageError.diskFull {
            return false
        } catch {
            return true  // Another fault, which the error in question tells better.
        }
    }
}
