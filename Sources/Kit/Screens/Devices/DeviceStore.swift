package import Concurrency
package import Foundation
import GRDB
import HummingbirdCore
import NIOCore
package import Storage
import Synchronization

/// A device that was paired.
package struct Device: Sendable, Equatable {
    /// Its identity, which the token cannot be computed from.
    package let id: String
    package var name: String
    /// The only profile that it has in apps without a login.
    package let profile: String
    package let pairedAt: Date
    /// When it last sent a request, exact to some seconds; to the hour after a restart.
    package var lastSeenAt: Date

    /// Longest name, in characters.
    static let longestName = 64

    /// Returns a name without control characters and spaces around it; nil if that is empty or too long.
    static func name(_ text: String) -> String? {
        let visible = text.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }
        guard visible.allSatisfy({ $0.properties.generalCategory != .control }) else { return nil }
        let name = String(String.UnicodeScalarView(visible)).trimmingCharacters(in: .whitespacesAndNewlines)
        return name.isEmpty || name.count > longestName || name.utf8.count > 4 * longestName ? nil : name
    }
}

/// The paired devices: a table, and all of it in memory, so that a request costs a hash and a look-up. Only hashes of
/// tokens are stored.
package final class DeviceStore: Sendable {
    static let maximum = 100

    private let database: LarderDatabase
    private let clock: WallClock
    private let devices: Mutex<[Data: Device]>
    private let unstored = Mutex<Set<Data>>([])
    private let ends = VersionCounters()
    private let requests = RequestsUnderWay()

    /// Reads the devices of a database.
    ///
    /// - Throws: `StorageError`.
    package init(_ database: LarderDatabase, clock: WallClock = .system) throws {
        self.database = database
        self.clock = clock
        let stored = try database.read { db in try Row.fetchAll(db, sql: Self.selectAll).map(Self.device) }
        devices = Mutex(Dictionary(stored) { first, _ in first })
    }

    /// All devices, in the order of their pairing.
    package var all: [Device] {
        devices.withLock { Array($0.values) }.sorted { ($0.pairedAt, $0.id) < ($1.pairedAt, $1.id) }
    }

    func device(_ id: String) -> Device? { hash(of: id).flatMap { hash in devices.withLock { $0[hash] } } }

    var hasRoom: Bool { devices.withLock { $0.count < Self.maximum } }

    /// Stores a device and returns its token, which is known to the client only from here on.
    ///
    /// - Throws: 409 if there are too many; `StorageError`.
    func add(name: String, profile: String, _ carrier: SessionCarrier) async throws -> (device: Device, token: String) {
        let token = SessionToken.make()
        let hash = SessionToken.hash(token, carrier)
        let now = clock.now()
        let device = Device(id: Self.id(of: hash), name: name, profile: profile, pairedAt: now, lastSeenAt: now)
        let time = now.millisecondsSince1970
        try await database.write { db in
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM device") ?? 0
            guard count < Self.maximum else { throw Problem.tooManyDevices }
            try db.execute(sql: Self.insert, arguments: [hash, name, profile, time, time])
        }
        devices.withLock { $0[hash] = device }
        return (device, token)
    }

    /// Gives a device another name.
    ///
    /// - Returns: nil if there is no such device.
    /// - Throws: `StorageError`.
    func rename(_ id: String, to name: String) async throws -> Device? {
        guard let hash = hash(of: id) else { return nil }
        try await database.write { db in
            try db.execute(sql: "UPDATE device SET name = ? WHERE token_hash = ?", arguments: [name, hash])
        }
        return devices.withLock { devices in
            devices[hash]?.name = name
            return devices[hash]
        }
    }

    /// Removes a device. Its token is no longer valid, its pins end, and its running requests are cut off.
    ///
    /// - Throws: `StorageError`; then the device stays.
    package func remove(_ id: String) async throws { try await remove(id, sparing: nil) }

    /// Removes a device as ``remove(_:)`` does.
    ///
    /// - Parameter channel: That of the device's own request for it, which gets its response.
    func remove(_ id: String, sparing channel: (any Channel)?) async throws {
        guard let hash = hash(of: id) else { return }
        try await database.writeErasing { db in
            try db.execute(sql: "DELETE FROM device WHERE token_hash = ?", arguments: [hash])
        }
        devices.withLock { $0[hash] = nil }
        ends[hash].bump()
        requests.close(hash, sparing: channel)
    }

    /// Begins a request.
    ///
    /// - Returns: nil if the token is not valid.
    func begin(_ tokenHash: Data, on channel: any Channel) -> DeviceVisit? {
        guard devices.withLock({ $0[tokenHash] }) != nil else { return nil }
        // Added before the device is looked up: a removal in between finds the request, or the look-up finds the
        // removal.
        let entry = requests.add(channel, of: tokenHash)
        let unended = ChangeToken(of: ends[tokenHash])
        guard let device = devices.withLock({ $0[tokenHash] }) else { return nil }
        noteUse(tokenHash)
        let token = unended.noting(AccessReporter { [weak self] in self?.noteUse(tokenHash) })
        return DeviceVisit(device: device, changeToken: token, entry: entry)
    }

    /// Number of requests under way of all devices.
    var requestCount: Int { requests.count }

    private func noteUse(_ hash: Data) {
        let now = clock.now()
        devices.withLock { $0[hash]?.lastSeenAt = now }
        unstored.withLock { _ = $0.insert(hash) }
    }

    /// Writes when devices were last seen. After an error, the times stay in memory.
    ///
    /// - Throws: `StorageError`.
    package func storeUses() async throws {
        let hashes = unstored.withLock { unstored in
            defer { unstored = [] }
            return unstored
        }
        let times = devices.withLock { devices in
            hashes.compactMap { hash in devices[hash].map { (hash, $0.lastSeenAt.millisecondsSince1970) } }
        }
        guard !times.isEmpty else { return }
        do {
            try await database.write { db in
                for (hash, time) in times { try db.execute(sql: Self.updateUse, arguments: [time, hash]) }
            }
        } catch {
            unstored.withLock { $0.formUnion(hashes) }
            throw error
        }
    }

    private func hash(of id: String) -> Data? {
        devices.withLock { $0.first { $0.value.id == id }?.key }
    }

    private static func id(of tokenHash: Data) -> String {
        tokenHash.prefix(8).hexadecimal
    }
}

extension DeviceStore {
    package static let migrations: [SchemaMigration] = [
        SchemaMigration(
            "devices/001 device",
            sql: """
                CREATE TABLE device (
                    token_hash BLOB NOT NULL PRIMARY KEY,
                    name TEXT NOT NULL,
                    profile TEXT NOT NULL,
                    created_at INTEGER NOT NULL, -- milliseconds since 1970 UTC
                    used_at INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                """
        )
    ]

    /// Reads the devices of a data directory, also while a server uses it; nil if there is no database.
    ///
    /// - Throws: `StorageError`.
    package static func devices(in directory: URL) throws -> [Device]? {
        let path = directory.appending(path: DataDirectory.databaseName).path
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            let devices = try DirectoryCheck.openForReading(path).read { db in
                try db.tableExists("device") ? try Row.fetchAll(db, sql: selectAll).map { try device($0).1 } : []
            }
            return devices.sorted { ($0.pairedAt, $0.id) < ($1.pairedAt, $1.id) }
        } catch {
            throw StorageError.translating(error, path: path)
        }
    }

    private static let selectAll = "SELECT token_hash, name, profile, created_at, used_at FROM device"
    private static let insert = """
        INSERT INTO device (token_hash, name, profile, created_at, used_at) VALUES (?, ?, ?, ?, ?)
        """
    private static let updateUse = "UPDATE device SET used_at = ? WHERE token_hash = ?"

    private static func device(_ row: Row) throws -> (Data, Device) {
        let hash: Data = try row.value(0)
        let device = try Device(
            id: id(of: hash),
            name: row.value(1),
            profile: row.value(2),
            pairedAt: row.date(3),
            lastSeenAt: row.date(4)
        )
        return (hash, device)
    }
}

/// A request of a device, from its head to the end of its response.
struct DeviceVisit: Sendable {
    let device: Device
    /// How long a response to it may be kept: until the device is removed.
    let changeToken: ChangeToken
    let entry: RequestsUnderWay.Entry

    /// Returns a body whose end is the end of the request.
    func ending(with body: ResponseBody) -> ResponseBody {
        ResponseBody(contentLength: body.contentLength) { [entry] writer in
            defer { entry.end() }
            try await body.write(writer)
        }
    }
}

/// The requests under way of each device, by the channel of their responses: that of a connection, or of a stream of
/// HTTP/2.
final class RequestsUnderWay: Sendable {
    /// A request, from its head to the end of its response. It ends with this object at the latest.
    final class Entry: Sendable {
        private let number: Int
        private let device: Data
        private let requests: RequestsUnderWay

        fileprivate init(_ number: Int, _ device: Data, _ requests: RequestsUnderWay) {
            (self.number, self.device, self.requests) = (number, device, requests)
        }

        deinit { end() }

        /// The response has ended.
        func end() { requests.remove(number, of: device) }
    }

    private struct State {
        var channels: [Data: [Int: any Channel]] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.channels.values.reduce(0) { $0 + $1.count } } }

    func add(_ channel: any Channel, of device: Data) -> Entry {
        let number = state.withLock { state in
            state.last += 1
            state.channels[device, default: [:]][state.last] = channel
            return state.last
        }
        return Entry(number, device, self)
    }

    /// Cuts off the responses to a device, except on one channel: a client sees that they are not whole.
    func close(_ device: Data, sparing spared: (any Channel)?) {
        let channels = state.withLock { $0.channels.removeValue(forKey: device) ?? [:] }
        for channel in channels.values where channel !== spared { channel.close(mode: .all, promise: nil) }
    }

    private func remove(_ number: Int, of device: Data) {
        state.withLock { state in
            state.channels[device]?[number] = nil
            if state.channels[device]?.isEmpty == true { state.channels[device] = nil }
        }
    }
}
