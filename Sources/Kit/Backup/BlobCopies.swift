import Database
import Foundation

/// The files of blobs in a backup that is being written.
struct BlobCopies {
    private let source: String
    private let target: String
    private let progress: ProgressReceiver
    private var copied: Set<BlobID> = []
    /// Blobs whose files were missing in the source.
    private var absent: Set<BlobID> = []

    init(from source: String, to target: String, _ progress: @escaping ProgressReceiver) {
        self.source = source
        self.target = target
        self.progress = progress
    }

    /// Adds the files of a state of the database that are not there yet.
    ///
    /// - Returns: Whether all files of the data directory exist. A file that is missing now may have been removed
    ///   with its row since the state began. If it was missing before the state began, its row would not be in it.
    /// - Throws: ``StorageError``.
    mutating func add(_ blobs: [Blob]) throws -> Bool {
        let new = blobs.filter { !copied.contains($0.id) }
        guard !new.isEmpty else { return true }
        var counter = ProgressCounter(.files, total: new.reduce(0) { $0 + $1.length }, progress)
        var isComplete = true
        for blob in new {
            if try PlacedFile.place("\(source)/\(blob.id)", at: "\(target)/\(blob.id)") {
                copied.insert(blob.id)
            } else if absent.insert(blob.id).inserted {
                isComplete = false
            }
            counter.add(blob.length)
        }
        return isComplete
    }

    /// Removes the files of other blobs than these.
    ///
    /// - Throws: ``StorageError``.
    func remove(except blobs: [Blob]) throws {
        for id in copied.subtracting(blobs.map(\.id)) {
            let path = "\(target)/\(id)"
            guard unlink(path) == 0 else { throw StorageError.system(errno, path: path, operation: "unlink") }
        }
    }
}

extension Checksums {
    /// Reads all files of a directory. Those of blobs that the disk of the source cannot read are removed.
    ///
    /// - Parameters:
    ///   - directory: The copy.
    ///   - source: The data directory.
    ///   - origin: Who makes the backup, and when.
    ///   - progress: Receives the number of bytes.
    /// - Returns: The digests, and the number of bytes.
    /// - Throws: ``StorageError``.
    static func of(
        _ directory: String,
        from source: String,
        origin: String,
        _ progress: @escaping ProgressReceiver
    ) throws -> (Self, Int) {
        let blobs = try OpenFile.names(in: "\(directory)/\(BackupLayout.blobs)").map { "\(BackupLayout.blobs)/\($0)" }
        let names = [BackupLayout.database, BackupLayout.key] + blobs
        let paths = names.filter { RealPath.kind(of: "\(directory)/\($0)") == S_IFREG }
        let lengths = paths.map { RealPath.length(of: "\(directory)/\($0)") }
        var counter = ProgressCounter(.digests, total: lengths.reduce(0, +), progress)
        var sums = Checksums(origin: origin)
        for path in paths {
            do {
                sums.digests[path] = try PlacedFile.digest(of: "\(directory)/\(path)") { counter.add($0) }
            } catch StorageError.inputOutput(let file, "read", EIO) where BackupLayout.blob(at: path) != nil {
                // Otherwise it is the disk of the copy that fails.
                guard (try? PlacedFile.digest(of: "\(source)/\(path)")) == nil else {
                    throw StorageError.inputOutput(path: file, operation: "read", code: EIO)
                }
                unlink("\(directory)/\(path)")
            }
        }
        return (sums, lengths.reduce(0, +))
    }
}
