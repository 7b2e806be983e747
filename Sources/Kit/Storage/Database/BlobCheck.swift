import CZlib
import Foundation
import GRDB
import Synchronization

/// Compares the files of blobs with the rows that name them. Changes nothing.
package struct BlobCheck: Sendable, Equatable {
    /// Number of blobs that rows name.
    package internal(set) var count = 0
    /// Blobs that rows name and whose file is missing.
    package internal(set) var missing: [BlobID] = []
    /// Blobs whose file has another length than the row says.
    package internal(set) var cut: [BlobID] = []
    /// Blobs whose file has a changed byte.
    package internal(set) var changed: [BlobID] = []
    /// Blobs whose file cannot be read.
    package internal(set) var unreadable: [BlobID] = []
    /// Blobs that no row names and that the next start keeps: they may be the remains of lost rows.
    package internal(set) var unknown: [BlobID] = []

    /// Names the missing, truncated, changed and unreadable files; nil if there are none.
    ///
    /// - Parameter limit: The most names of each kind.
    package func faults(limit: Int = 5) -> String? {
        let faults = [("missing", missing), ("cut", cut), ("changed", changed), ("unreadable", unreadable)].compactMap {
            Self.text($0, $1, limit)
        }
        return faults.isEmpty ? nil : faults.joined(separator: "; ")
    }

    /// Names the files that no row names; nil if there are none.
    ///
    /// - Parameter limit: The most names.
    package func strangers(limit: Int = 5) -> String? { Self.text("unknown", unknown, limit) }

    private static func text(_ what: String, _ ids: [BlobID], _ limit: Int) -> String? {
        guard !ids.isEmpty else { return nil }
        let names = ids.prefix(limit).map(\.description).joined(separator: ", ")
        return "\(ids.count) \(what): \(names)\(ids.count > limit ? " and \(ids.count - limit) more" : "")"
    }

    /// Compares the rows with the files.
    ///
    /// - Parameters:
    ///   - hasLog: Whether the rows are those of the process that left the files; see
    ///     ``BlobStore/removeUnfinishedFiles(_:hasLog:)``.
    ///   - reading: Whether each file is read to its end and compared with its checksums.
    ///   - progress: Receives how much of them was read.
    mutating func compare(
        rowsOf db: Database,
        with files: BlobFiles,
        hasLog: Bool,
        reading: Bool,
        progress: @escaping ProgressReceiver
    ) throws {
        var counter = try reading ? Self.counter(db, progress) : nil
        var rest = files.finished
        let folder = files.folder
        let column = try db.columns(in: "blob").contains { $0.name == "checksums" } ? "checksums" : "NULL"
        let rows = try Row.fetchCursor(db, sql: "SELECT id, length, \(column) FROM blob")
        while let row = try rows.next() {
            let blob = try Blob(id: row.value(0), length: row.value(1))
            count += 1
            if rest.remove(blob.id) == nil {
                missing.append(blob.id)
            } else if fileStatus("\(folder)/\(blob.id)", follows: true)?.st_size != off_t(blob.length) {
                cut.append(blob.id)
            } else if reading {
                let stored = (try row.value(2) as Data?).flatMap { BlobChecksums($0, length: blob.length) }
                note(blob.id, try? OpenFile("\(folder)/\(blob.id)", O_RDONLY), stored) { counter?.add($0) }
            }
        }
        if try db.tableExists("removed_blob") {
            for id in try BlobID.fetchAll(db, sql: "SELECT blob FROM removed_blob") { rest.remove(id) }
        }
        unknown = rest.filter { !(hasLog && files.isUnsettled($0)) }.sorted { $0.number < $1.number }
    }

    private static func counter(_ db: Database, _ progress: @escaping ProgressReceiver) throws -> ProgressCounter {
        let total = try Int.fetchOne(db, sql: "SELECT sum(length) FROM blob") ?? 0
        return ProgressCounter(.contents, total: total, progress)
    }

    private mutating func note(_ id: BlobID, _ file: OpenFile?, _ stored: BlobChecksums?, _ count: (Int) -> Void) {
        guard let file, let found = try? BlobChecksums(of: file, progress: count) else { return unreadable.append(id) }
        if let stored, stored != found { changed.append(id) }
    }
}

/// The files of blobs in a folder, by their names.
struct BlobFiles {
    let folder: String
    /// The files that have their name.
    private(set) var finished: Set<BlobID> = []
    /// The files that have an unfinished name.
    private(set) var unfinished: Set<BlobID> = []

    /// Lists a folder, which may be missing.
    init(in folder: String) throws {
        self.folder = folder
        guard FileManager.default.fileExists(atPath: folder) else { return }
        for name in try OpenFile.names(in: folder) {
            if let id = BlobID(fileName: name) { finished.insert(id) }
            if let id = BlobID(unfinishedName: name) { unfinished.insert(id) }
        }
    }

    /// Returns whether both names of a blob are those of one file: the process that wrote it has ended before it knew
    /// that a committed row names it.
    func isUnsettled(_ id: BlobID) -> Bool {
        guard finished.contains(id), unfinished.contains(id), let one = fileStatus("\(folder)/\(id.fileName)"),
            let other = fileStatus("\(folder)/\(id.unfinishedName)")
        else { return false }
        return one.st_dev == other.st_dev && one.st_ino == other.st_ino
    }
}

/// The checksums of a blob: the CRC-32 of each block of 256 KiB. They find bytes that a disk has changed by itself, and
/// are no protection against a program that can write to the data directory.
struct BlobChecksums: Sendable, Equatable {
    /// The bytes of a block; the last one may be shorter.
    static let blockBytes = 256 << 10

    private var blocks: [UInt32] = []
    /// The bytes of the blob.
    private(set) var length = 0

    /// The stored form: four bytes a block, the most significant first.
    var data: Data {
        Data(blocks.flatMap { block in (0..<4).map { UInt8(truncatingIfNeeded: block >> (24 - 8 * $0)) } })
    }

    init() {}

    /// Reads the stored form; nil if it is not that of a blob of this length.
    init?(_ data: Data, length: Int) {
        let bytes = [UInt8](data)
        guard bytes.count == 4 * ((length + Self.blockBytes - 1) / Self.blockBytes) else { return nil }
        blocks = stride(from: 0, to: bytes.count, by: 4).map { start in
            bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
        self.length = length
    }

    /// Computes the checksums of a whole file.
    ///
    /// - Parameter progress: Receives the number of bytes of each part that was read.
    /// - Throws: ``StorageError`` if it cannot be read.
    init(of file: OpenFile, progress: (Int) -> Void = { _ in }) throws {
        while case let part = try file.read(at: length, count: Self.blockBytes), !part.isEmpty {
            append(part)
            progress(part.count)
        }
    }

    /// Adds the bytes that follow.
    mutating func append(_ bytes: some ContiguousBytes) {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let filled = length % Self.blockBytes
                if filled == 0 { blocks.append(0) }
                let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.blockBytes - filled))
                blocks[blocks.count - 1] = Self.sum(part, after: blocks[blocks.count - 1])
                length += part.count
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
            }
        }
    }

    /// Returns the smallest range of whole blocks that has a range in it.
    func blocks(around range: Range<Int>) -> Range<Int> {
        let start = range.lowerBound / Self.blockBytes * Self.blockBytes
        let end = (range.upperBound + Self.blockBytes - 1) / Self.blockBytes * Self.blockBytes
        return start..<min(end, length)
    }

    /// Returns whether the bytes from the beginning of a block on are those of the blob.
    func match(_ bytes: Data, at offset: Int) -> Bool {
        bytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: Self.blockBytes).allSatisfy { start in
                let block = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + Self.blockBytes, bytes.count)])
                return Self.sum(block, after: 0) == blocks[(offset + start) / Self.blockBytes]
            }
        }
    }

    private static func sum(_ bytes: UnsafeRawBufferPointer, after sum: UInt32) -> UInt32 {
        UInt32(truncatingIfNeeded: crc32_z(UInt(sum), bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count))
    }
}

/// The checksums of stored blobs, and the blobs of which a changed byte was met.
final class BlobChecks: Sendable {
    /// Reads the stored checksums of a blob.
    private struct LookUp: Sendable {
        let read: @Sendable (BlobID) throws -> Data?
    }

    private let lookUp = Mutex<LookUp?>(nil)
    private let changed = Mutex<Set<BlobID>>([])

    /// Reads the checksums of rows by a function from now on.
    func use(_ lookUp: @escaping @Sendable (BlobID) throws -> Data?) {
        self.lookUp.withLock { $0 = LookUp(read: lookUp) }
    }

    /// Returns the checksums of a blob; nil for one that was stored by a build without them.
    ///
    /// - Throws: ``StorageError/blobUnavailable(_:)`` if a changed byte was met in the blob; errors of the database.
    func checksums(of blob: Blob) throws -> BlobChecksums? {
        guard !changed.withLock({ $0.contains(blob.id) }) else { throw StorageError.blobUnavailable(blob.id) }
        if let claim = blob.claim { return claim.checksums }
        let lookUp = lookUp.withLock { $0 }
        return try lookUp?.read(blob.id).flatMap { BlobChecksums($0, length: blob.length) }
    }

    /// Records that a blob has a changed byte: it is not opened any more.
    func noteChange(of id: BlobID) {
        changed.withLock { _ = $0.insert(id) }
    }
}
