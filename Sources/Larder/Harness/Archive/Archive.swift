import Database
import Foundation
import Logging
import PrivateFiles
import Sandbox

/// A snapshot as one file that other processes read: rows as JSON, files of documents and bodies as they are, the data
/// of the simulated upstreams, the clock and the key.
struct Archive {
    /// Why an archive cannot be used, in one sentence.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    /// What has made an archive. One of another version is refused.
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
    ///   - fixtures: What knows the secrets of upstreams: responses that have one are not in the archive.
    /// - Throws: file errors; GRDB's errors.
    init(
        _ store: SavedStore,
        _ clock: VirtualClock.Reading,
        upstreams: [String: Data],
        migrations: [String],
        fixtures: FixtureLibrary
    ) throws {
        var files = [
            Self.manifest: try Self.json(Manifest(larder: LarderVersion.text, migrations: migrations)),
            Self.clock: try Self.json(clock), Self.key: try store.key,
        ]
        let bodies = try store.blobFiles
        var removed: Set<String> = []
        let tables = try TableDump.encode(store.databasePath) { db in
            removed = try ArchivedResponses.removeSecrets(db, fixtures) { bodies[$0] }
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

    /// The file.
    var bytes: Data { TarFile.encode(files) }

    /// The data of the simulated upstreams.
    var upstreamFiles: [String: Data] {
        names(below: Self.upstreams).reduce(into: [:]) { found, name in
            found[String(name.dropLast(".json".count))] = files[Self.upstreams + name]
        }
    }

    /// What the clock has shown.
    /// - Throws: `DecodingError`.
    var reading: VirtualClock.Reading? {
        get throws { try files[Self.clock].map { try JSONDecoder().decode(VirtualClock.Reading.self, from: $0) } }
    }

    /// Fills a new data directory.
    ///
    /// - Throws: ``Refusal``; then the directory is as it was.
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
        let tables = names(below: Self.database).reduce(into: [String: Data]()) { tables, name in
            tables[String(name.dropLast(".json".count))] = files[Self.database + name]
        }
        try database.write { try TableDump.replaceAll(by: tables, in: $0) }
        try database.close()
        // In place of the one that a new database gets.
        if let key = files[Self.key] {
            try PrivateFile(at: URL(filePath: directory.keyPath), key).write(replaces: true)
        }
        for name in names(below: Self.blobs) {
            try files[Self.blobs + name]?.write(to: URL(filePath: "\(directory.blobsPath)/\(name)"))
        }
    }

    private func names(below folder: String) -> [String] {
        files.keys.filter { $0.hasPrefix(folder) }.map { String($0.dropFirst(folder.count)) }.sorted()
            .filter { !$0.contains("/") }
    }

    private static func json(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
}
