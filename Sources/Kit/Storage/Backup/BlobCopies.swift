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
    func remove(except blobs: [Blob]) throws {
        for id in copied.subtracting(blobs.map(\.id)) {
            let path = "\(target)/\(id)"
            try StorageError.check("unlink", path) { unlink(path) }
        }
    }
}

extension Checksums {
    /// Reads all files of a directory. Those of blobs that the disk of the source cannot read are removed.
    ///
    /// - Returns: The digests, and the number of bytes.
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

/// The list of a backup's files with their SHA-256 digests, in the form that sha256sum(1) writes and checks. It is the
/// last file of a backup that is written, and its last line says so.
struct Checksums: Equatable {
    static let fileName = "SHA256SUMS"

    /// Hexadecimal digests by path in the backup.
    var digests: [String: String] = [:]
    /// Paths of files that rows name, and that the data directory had lost when the backup was made.
    var lost: Set<String> = []
    /// Who made the backup, and when.
    var origin = ""
}

extension Checksums {
    /// Parses the file.
    ///
    /// - Returns: Nil if it is incomplete, or names a file that is not one of a backup.
    init?(parsing text: String) {
        self.init()
        let lines = text.split(separator: "\n")
        for line in lines {
            if let comment = Self.rest(of: line, after: Self.lostMark) {
                lost.insert(String(comment))
            } else if let comment = Self.rest(of: line, after: Self.originMark) {
                origin = String(comment)
            } else if !line.hasPrefix("#") {
                let (digest, path) = (line.prefix(64), String(line.dropFirst(66)))
                guard digest.count == 64, digest.allSatisfy(\.isHexDigit), line.dropFirst(64).hasPrefix("  "),
                    BackupLayout.isFile(path)
                else { return nil }
                digests[path] = digest.lowercased()
            }
        }
        guard lines.last == Self.end(digests.count)[...] else { return nil }
    }

    /// Number of files of bodies and documents.
    var blobs: Int { digests.keys.count { BackupLayout.blob(at: $0) != nil } }

    var text: String {
        var lines = [Self.originMark + origin]
        lines += lost.sorted().map { Self.lostMark + $0 }
        lines += digests.sorted { $0.key < $1.key }.map { "\($0.value)  \($0.key)" }
        lines.append(Self.end(digests.count))
        return lines.joined(separator: "\n") + "\n"
    }

    private static let originMark = "# A backup by "
    private static let lostMark = "# Lost before: "

    private static func end(_ count: Int) -> String { "# \(count) files" }

    private static func rest(of line: Substring, after mark: String) -> Substring? {
        line.hasPrefix(mark) ? line.dropFirst(mark.count) : nil
    }
}

extension DirectoryCheck {
    /// Checks all of a copy but the contents of its files. Its errors name the source.
    init(ofCopy copy: DataDirectory, from source: String, migrations: [SchemaMigration]) throws {
        do {
            let options = DatabaseOptions(integrityCheck: .always)
            try self.init(of: copy, migrations: migrations, options: options, readsFiles: false)
        } catch let error as StorageError {
            throw BackupError.unusable(path: source, detail: "\(error)".replacing(copy.path, with: source))
        }
    }

    /// The paths of files that rows name and that are missing, or cut.
    var lostPaths: Set<String> { Set((files.missing + files.cut).map(BackupLayout.path)) }
}
