import Foundation

/// Space on the disk that is reserved for deleting and for starting: SQLite needs some to record the changed pages, and
/// a full disk has none.
struct DiskReserve: Sendable {
    /// Size in bytes: a multiple of the pages that a deletion changes.
    static let bytes = 1 << 20

    let path: String

    /// The smallest reserve in bytes that is of use.
    static let least = 1 << 16

    /// Size in bytes that is allocated now.
    var allocated: Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Whether the reserve has its full size.
    var isWhole: Bool { allocated >= Self.bytes }

    /// Allocates the reserve, or as much of it as there is space for. Keeps the space that is already allocated.
    func take() {
        // Without it everything works except deletions and starts on a full disk, and `restoreReserve` tries again.
        guard let file = try? OpenFile(path, O_RDWR | O_CREAT) else { return }
        let before = allocated
        var bytes = Self.bytes
        while bytes > before, bytes >= Self.least, posix_fallocate(file.descriptor, 0, off_t(bytes)) != 0 {
            ftruncate(file.descriptor, off_t(before))
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

    /// Runs a step, and if the disk is full, a second time with the space of the reserve; without it if there is space
    /// again.
    ///
    /// - Throws: The error of the second run, or of the first one if it failed for another reason.
    func lending<Value>(_ step: () throws -> Value) throws -> Value {
        do {
            return try step()
        } catch let error as StorageError {
            if Self.mayLackSpace(error) { return try step() }
            guard case .diskFull = error, allocated > 0 else { throw error }
            try release()
            defer { take() }
            return try step()
        }
    }

    /// Whether SQLite may have found no space for a file beside the database, though there is some now: it does not say
    /// why it could not create the index of the write-ahead log (`SQLITE_IOERR_SHMOPEN`, `_SHMSIZE`), or a file. None
    /// of that is lasting, so the step can run again.
    private static func mayLackSpace(_ error: StorageError) -> Bool {
        switch error {
        case .inputOutput(_, "SQLite", 4618), .inputOutput(_, "SQLite", 4874), .notWritable: true
        default: false
        }
    }
}

/// A test of whether a file system has space, by a small file that is removed again.
package struct SpaceProbe: Sendable {
    private let path: String

    /// Creates a probe of the file system of a folder.
    package init(in folder: String) {
        path = folder + "/larder.probe"
    }

    /// Returns whether disk and quota have space for a few pages. Faults of another kind count as space: other errors
    /// describe them better.
    package func hasSpace() -> Bool {
        defer { unlink(path) }
        do {
            let file = try OpenFile(path, O_RDWR | O_CREAT)
            return ![ENOSPC, EDQUOT].contains(posix_fallocate(file.descriptor, 0, off_t(DiskReserve.least)))
        } catch StorageError.diskFull {
            return false
        } catch {
            return true
        }
    }

    /// Translates an error that SQLite reports as one of input and output, or as a file that cannot be opened, if its
    /// cause is a full disk or an exhausted quota. SQLite reports `SQLITE_FULL` only if it writes pages itself and the
    /// disk, not the quota, is full.
    package func explaining(_ error: any Error, path: String) -> any Error {
        switch StorageError.translating(error, path: path) as? StorageError {
        case .inputOutput, .notWritable: hasSpace() ? error : StorageError.diskFull(path: path)
        default: error
        }
    }
}
