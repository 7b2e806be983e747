import Concurrency
import Foundation
import GRDB
import Sandbox
import Server
import Storage
import Synchronization

extension Harness {
    /// Replaces all state of the server by that of a snapshot.
    ///
    /// - Parameter upstreams: Restores the simulated upstreams. It is called when no request of the old state is left.
    /// - Throws: As ``replace(by:meanwhile:)``.
    func replace(by snapshot: Snapshot, _ upstreams: @escaping @Sendable () -> Void) async throws {
        try await replace(by: snapshot.store) { [clock, front, frontFaults] in
            upstreams()
            clock.restore(snapshot.clock)
            front.clear()
            frontFaults.reset()
        }
    }

    // MARK: The calls

    var snapshotList: [SnapshotDescription] { snapshots.all.map(\.description) }

    func save(_ name: String, _ upstreams: @escaping @Sendable () -> SavedUpstreams) async throws -> SnapshotDescription
    {
        try await resets.withPermit { [self] in
            guard let application else { throw HarnessError.notReady }
            let store = try SavedStore(of: application)
            let port = SandboxPort(in: URL(filePath: application.directory.path, directoryHint: .isDirectory)).noted
            let snapshot = Snapshot(
                name: name,
                at: now,
                store: store,
                upstreams: upstreams(),
                sandboxPort: port,
                clock: clock.reading
            )
            try snapshots.keep(snapshot)
            return snapshot.description
        }
    }

    func restore(_ name: String, _ upstreams: @escaping @Sendable (SavedUpstreams) -> Void) async throws -> Bool {
        let restored: Void? = try await snapshots.reading(name) { snapshot in
            try await replace(by: snapshot) { upstreams(snapshot.upstreams) }
        }
        return restored != nil
    }

    func archive(_ name: String, _ upstreams: @escaping @Sendable (SavedUpstreams) throws -> [String: Data])
        async throws -> [UInt8]?
    {
        try await resets.withPermit { [self] in
            guard let application else { return nil }
            return try await snapshots.reading(name) { snapshot in
                let files = try upstreams(snapshot.upstreams)
                return Array(try Archive(snapshot.store, snapshot.clock, upstreams: files, of: application).bytes)
            }
        }
    }

    /// Writes the archive of a server that ends, if one is to be written.
    ///
    /// - Parameter upstreams: Returns the data of the simulated upstreams as files.
    /// - Throws: ``Archive/Refusal``.
    func export(_ application: any ReplaceableServer, _ upstreams: () throws -> [String: Data]) throws {
        guard let exportPath else { return }
        do {
            let store = try SavedStore(of: application)
            defer { try? store.remove() }
            let archive = try Archive(store, clock.reading, upstreams: try upstreams(), of: application)
            try PrivateFile(at: URL(filePath: exportPath), archive.bytes).write(replaces: true)
        } catch {
            throw Archive.Refusal(description: "\(exportPath) was not written: \(error)")
        }
    }

    func forget(_ name: String) async throws -> Bool {
        try await resets.withPermit { [snapshots] in try snapshots.remove(name) }
    }
}

/// The snapshots of a server under test, by name. They exist as long as its process.
final class Snapshots: Sendable {
    /// The folder for their files within the data directory.
    static let folderName = "larder.snapshots"

    private struct State {
        var byName: [String: Snapshot] = [:]
        /// Number of calls that read the files of a snapshot, by its folder.
        var readers: [String: Int] = [:]

        /// Returns a replaced snapshot if its files may be removed; nil while they are being read.
        func unread(_ old: Snapshot?) -> Snapshot? { old.flatMap { readers[$0.store.folder] == nil ? $0 : nil } }
    }

    private let state = Mutex(State())

    var names: [String] { all.map(\.name) }

    /// All of them, by name.
    var all: [Snapshot] { state.withLock { $0.byName.values.sorted { $0.name < $1.name } } }

    /// Stores a snapshot in place of an earlier one with its name.
    /// - Throws: file errors.
    func keep(_ snapshot: Snapshot) throws {
        let old = state.withLock { $0.unread($0.byName.updateValue(snapshot, forKey: snapshot.name)) }
        try old?.store.remove()
    }

    /// Removes a snapshot.
    ///
    /// - Returns: Whether there was one of that name.
    /// - Throws: file errors.
    func remove(_ name: String) throws -> Bool {
        let (old, unread) = state.withLock { state in
            let old = state.byName.removeValue(forKey: name)
            return (old, state.unread(old))
        }
        try unread?.store.remove()
        return old != nil
    }

    /// Calls the body with a snapshot. Its files exist until the body returns, even if the snapshot is replaced or
    /// removed.
    ///
    /// - Returns: The result of the body; nil if there is no snapshot of that name.
    /// - Throws: The body's errors; file errors.
    func reading<Value: Sendable>(_ name: String, _ body: (Snapshot) async throws -> Value) async throws -> Value? {
        let found = state.withLock { state in
            let found = state.byName[name]
            if let found { state.readers[found.store.folder, default: 0] += 1 }
            return found
        }
        guard let found else { return nil }
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(found))
        } catch {
            result = .failure(error)
        }
        try endReading(found)
        return try result.get()
    }

    private func endReading(_ snapshot: Snapshot) throws {
        let folder = snapshot.store.folder
        let old = state.withLock { state -> Snapshot? in
            let left = (state.readers[folder] ?? 1) - 1
            state.readers[folder] = left == 0 ? nil : left
            return state.byName[snapshot.name]?.store.folder == folder ? nil : state.unread(snapshot)
        }
        try old?.store.remove()
    }

    /// Gives another running server the contents of a snapshot.
    ///
    /// - Throws: The errors of a reset of that server.
    func fill(_ harness: Harness, _ sandbox: Sandbox, from name: String) async throws {
        let filled = try await reading(name) { snapshot in
            try await harness.replace(by: snapshot) { sandbox.restore(snapshot.upstreams) }
            return snapshot
        }
        guard let filled, let database = harness.application?.database else { throw CocoaError(.fileNoSuchFile) }
        let port = try await sandbox.port
        guard let old = filled.sandboxPort, old != port else { return }
        try await database.write { try Self.moveResponses($0, from: old, to: port) }
    }

    /// Changes the keys of stored responses, which are URLs of a sandbox, to the URLs of another sandbox.
    static func moveResponses(_ db: Database, from old: Int, to new: Int) throws {
        let (old, new) = ("http://127.0.0.1:\(old)", "http://127.0.0.1:\(new)")
        // An earlier sandbox may have had the new port. "0" is the character after "/", so this range contains all URLs
        // below the address.
        try db.execute(
            sql: "DELETE FROM stored_response WHERE url >= ? AND url < ?",
            arguments: ["\(new)/", "\(new)0"]
        )
        try db.execute(
            sql: "UPDATE stored_response SET url = ? || substr(url, ?) WHERE url >= ? AND url < ?",
            arguments: [new, old.count + 1, "\(old)/", "\(old)0"]
        )
    }
}

/// The saved state of a server under test: its data, its simulated upstreams, and its clock.
struct Snapshot: Sendable {
    let name: String
    /// When it was taken, by the clock of the server.
    let at: Date
    let store: SavedStore
    let upstreams: SavedUpstreams
    /// The port of the sandbox from which its stored responses were received; nil if it is not known.
    let sandboxPort: Int?
    let clock: VirtualClock.Reading

    var description: SnapshotDescription { SnapshotDescription(name: name, at: at) }
}

extension Snapshots {
    /// Removes the files of all snapshots, which no later process can use.
    /// - Throws: file errors.
    static func removeAll(in directory: DataDirectory) throws {
        let path = "\(directory.path)/\(folderName)"
        guard FileManager.default.fileExists(atPath: path) else { return }
        try FileManager.default.removeItem(atPath: path)
    }
}

extension SavedStore {
    /// Saves the data of a server in a new folder among its snapshots.
    /// - Throws: as ``init(of:in:)``.
    init(of application: any ReplaceableServer) throws {
        let folder = "\(application.directory.path)/\(Snapshots.folderName)/\(UUID().uuidString)"
        try self.init(of: application.database, in: folder)
    }
}
