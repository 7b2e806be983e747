import Foundation
import GRDB
import HTTPTypes
import Logging
import Sandbox
import Server
import Storage

/// A snapshot as one file that other processes read: rows as JSON, the bytes of documents and bodies, the data of the
/// simulated upstreams, the clock and the key.
struct Archive {
    /// Why an archive cannot be used, in one sentence.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    /// The maker of an archive. An archive of another version is refused.
    private struct Manifest: Codable, Equatable {
        var format = 1
        let larder: String
        let migrations: [String]
    }

    private static let (manifest, clock, key) = ("manifest.json", "clock.json", "larder.key")
    private static let (database, blobs, upstreams) = ("database/", "blobs/", "upstreams/")

    private let files: [String: Data]

    /// Makes the archive of a snapshot.
    ///
    /// - Parameters:
    ///   - upstreams: The data of the simulated upstreams.
    ///   - application: Knows the secrets of upstreams: responses that have one are not in the archive.
    /// - Throws: file errors; GRDB's errors.
    init(
        _ store: SavedStore,
        _ clock: VirtualClock.Reading,
        upstreams: [String: Data],
        of application: any ReplaceableServer
    ) throws {
        let made = Manifest(larder: LarderVersion.text, migrations: application.migrationNames)
        var files = [
            Self.manifest: try Self.json(made),
            Self.clock: try Self.json(clock), Self.key: try store.key,
        ]
        let bodies = try store.blobFiles
        var removed: Set<String> = []
        let tables = try TableDump.encode(store.databasePath) { db in
            removed = try ArchivedResponses.removeSecrets(db, application.fixtures) { bodies[$0] }
        }
        for (table, rows) in tables { files["\(Self.database)\(table).json"] = rows }
        for (name, bytes) in bodies where !removed.contains(name) { files[Self.blobs + name] = bytes }
        for (name, data) in upstreams { files["\(Self.upstreams)\(name).json"] = data }
        self.files = files
    }

    /// Reads an archive.
    ///
    /// - Throws: ``Refusal``.
    init(at path: String, migrations: [String]) throws {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw Refusal(description: "\(path) cannot be read.")
        }
        guard let files = try? TarFile.decode(bytes), let data = files[Self.manifest],
            let made = try? JSONDecoder().decode(Manifest.self, from: data)
        else { throw Refusal(description: "\(path) is no archive of a snapshot.") }
        guard made == Manifest(larder: LarderVersion.text, migrations: migrations) else {
            throw Refusal(
                description: "\(path) was made by another version of Larder (\(made.larder), "
                    + "\(made.migrations.count) steps of the schema); this is \(LarderVersion.text), "
                    + "\(migrations.count) steps."
            )
        }
        self.files = files
    }

    var bytes: Data { TarFile.encode(files) }

    /// The data of the simulated upstreams.
    var upstreamFiles: [String: Data] { contents(of: Self.upstreams, without: ".json") }

    /// - Throws: `DecodingError`.
    var reading: VirtualClock.Reading? {
        get throws { try files[Self.clock].map { try JSONDecoder().decode(VirtualClock.Reading.self, from: $0) } }
    }

    /// Fills a new data directory.
    ///
    /// - Throws: ``Refusal``; then the directory is unchanged.
    func unpack(into directory: DataDirectory, _ migrations: [SchemaMigration], _ logger: Logger) throws {
        guard !FileManager.default.fileExists(atPath: directory.databasePath) else {
            throw Refusal(description: "\(directory.path) has data already: an archive needs a new data directory.")
        }
        do {
            try fill(directory, migrations, logger)
        } catch {
            try directory.removeContents()
            throw Refusal(description: "The archive cannot be used: \(error)")
        }
    }

    private func fill(_ directory: DataDirectory, _ migrations: [SchemaMigration], _ logger: Logger) throws {
        let database = try LarderDatabase(in: directory, migrations: migrations, logger: logger)
        try database.write { [tables = contents(of: Self.database, without: ".json")] in
            try TableDump.replaceAll(by: tables, in: $0)
        }
        try database.close()
        // In place of the one that a new database gets.
        if let key = files[Self.key] {
            try PrivateFile(at: URL(filePath: directory.keyPath), key).write(replaces: true)
        }
        for (name, bytes) in contents(of: Self.blobs) {
            try bytes.write(to: URL(filePath: "\(directory.blobsPath)/\(name)"))
        }
    }

    /// Returns the files of a folder whose names have a suffix, by the names without it.
    private func contents(of folder: String, without suffix: String = "") -> [String: Data] {
        files.reduce(into: [:]) { found, file in
            let name = file.key.dropFirst(folder.count)
            guard file.key.hasPrefix(folder), name.hasSuffix(suffix), !name.contains("/") else { return }
            found[String(name.dropLast(suffix.count))] = file.value
        }
    }

    private static func json(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
}

/// Takes kept responses with secrets out of a database before it becomes an archive: they are asked for again.
///
/// Rows and files of people are theirs and stay, as do the sealed tokens that sessions need.
enum ArchivedResponses {
    /// Longest body that is looked at, in bytes: a longer one is a file, in which nothing has a name.
    private static let longest = 16 << 20

    /// Removes the responses.
    ///
    /// - Parameters:
    ///   - fixtures: Knows the secrets of each upstream.
    ///   - file: Returns the body that is a file.
    /// - Returns: The names of the files that belong to no row any more.
    static func removeSecrets(_ db: Database, _ fixtures: FixtureLibrary, file: (String) throws -> Data?) throws
        -> Set<String>
    {
        // The time of this machine, which the next one does not continue.
        try db.execute(sql: "DELETE FROM retention_time")
        let note = try Int64.fetchOne(db, sql: "SELECT coalesce(max(note), 0) FROM removed_blob") ?? 0
        let responses = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, upstream, url, header, blob_id, bytes
                FROM stored_response LEFT JOIN stored_body ON response_id = id
                """
        )
        var secret: [Int64] = []
        while let row = try responses.next() {
            let fields = FieldCoding.decode(try row.value("header")) ?? [:]
            var body: Data = try row.value("bytes") ?? Data()
            if let blob: Int64 = try row.value("blob_id") {
                body = try file(BlobID(number: blob).description) ?? Data()
            }
            let name: String = try row.value("upstream")
            // Responses of a mount are stored under a name of their own.
            let upstream = fixtures[name] ?? fixtures[name.replacing(/\.raw$/, with: "")]
            let isShort = body.count <= longest
            if upstream?.holdsSecret(try row.value("url"), fields, isShort ? Array(body) : []) ?? false {
                secret.append(try row.value("id"))
            }
        }
        for id in secret { try db.execute(sql: "DELETE FROM stored_response WHERE id = ?", arguments: [id]) }
        let files = try Int64.fetchSet(db, sql: "SELECT blob FROM removed_blob WHERE note > ?", arguments: [note])
        try db.execute(sql: "DELETE FROM removed_blob WHERE note > ?", arguments: [note])
        return Set(files.map { BlobID(number: $0).description })
    }
}

/// Files in one, as tar(1) reads and writes them (ustar, POSIX.1-2017). The same files make the same bytes.
enum TarFile {
    private static let block = 512
    private static let end = Data(repeating: 0, count: 1_024)

    /// Why bytes are no archive.
    struct Malformed: Error {}

    /// Returns the archive of files by their paths, which have at most 100 bytes.
    static func encode(_ files: [String: Data]) -> Data {
        files.sorted { $0.key < $1.key }.reduce(into: Data()) { archive, file in
            archive += header(file.key, file.value.count)
            archive += file.value
            archive += Data(repeating: 0, count: (block - file.value.count % block) % block)
        } + end
    }

    /// Returns the files of an archive.
    /// - Throws: ``Malformed``.
    static func decode(_ archive: Data) throws -> [String: Data] {
        var files: [String: Data] = [:]
        var rest = archive[...]
        while let header = rest.prefix(block).nonzero {
            guard header.count == block, let size = number(header, 124..<135), (0...rest.count - block).contains(size),
                checksum(header) == number(header, 148..<154)
            else { throw Malformed() }
            // tar(1) puts the name of the folder before its files.
            let path = text(header, 0..<100)
            let name = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
            rest = rest.dropFirst(block)
            // Folders have no bytes of their own.
            if !name.hasSuffix("/") { files[name] = Data(rest.prefix(size)) }
            rest = rest.dropFirst(size + (block - size % block) % block)
        }
        return files
    }

    private static func header(_ name: String, _ size: Int) -> Data {
        var header = Data(repeating: 0, count: block)
        let fields: [(Int, String)] = [
            (0, String(name.prefix(100))), (100, "0000600\0"), (108, "0000000\0"), (116, "0000000\0"),
            (124, octal(size, 11) + "\0"), (136, "00000000000\0"), (148, "        "), (156, "0"), (257, "ustar\0"),
            (263, "00"),
        ]
        for (offset, text) in fields { header.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8) }
        header.replaceSubrange(148..<156, with: (octal(checksum(header), 6) + "\0 ").utf8)
        return header
    }

    /// The sum of a header's bytes, with spaces in place of the sum.
    private static func checksum(_ header: Data) -> Int {
        header.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 32 : Int($1.element)) }
    }

    private static func octal(_ number: Int, _ digits: Int) -> String {
        let text = String(number, radix: 8)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private static func text(_ header: Data, _ range: Range<Int>) -> String {
        let start = header.startIndex
        let bytes = header[start + range.lowerBound..<start + range.upperBound].prefix { $0 != 0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func number(_ header: Data, _ range: Range<Int>) -> Int? {
        Int(text(header, range).trimmingCharacters(in: .whitespaces), radix: 8)
    }
}

extension Data.SubSequence {
    /// The bytes; nil if there are none but zeros.
    fileprivate var nonzero: Data? { contains { $0 != 0 } ? self : nil }
}
