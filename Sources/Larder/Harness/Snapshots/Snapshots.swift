import Concurrency
import Database
import Foundation
import PrivateFiles
import Sandbox
import Synchronization

/// The snapshots of a server under test, by name. They live as long as its process.
final class Snapshots: HarnessSnapshots {
    /// The folder within the data directory that has their files.
    static let folderName = "larder.snapshots"

    private let state = Mutex<[String: Snapshot]>([:])

    var names: [String] { all.map(\.name) }

    /// All of them, by name.
    var all: [Snapshot] { state.withLock { $0.values.sorted { $0.name < $1.name } } }

    subscript(name: String) -> Snapshot? { state.withLock { $0[name] } }

    /// Keeps a snapshot in place of an earlier one of its name.
    /// - Throws: file errors.
    func keep(_ snapshot: Snapshot) throws {
        let old = state.withLock { state in
            defer { state[snapshot.name] = snapshot }
            return state[snapshot.name]
        }
        try old?.store.remove()
    }

    /// Removes a snapshot.
    ///
    /// - Returns: Whether there was one of that name.
    /// - Throws: file errors.
    func remove(_ name: String) throws -> Bool {
        guard let old = state.withLock({ $0.removeValue(forKey: name) }) else { return false }
        try old.store.remove()
        return true
    }

    func fill(_ harness: Harness, _ sandbox: Sandbox, from name: String) async throws {
        guard let snapshot = self[name] else { throw CocoaError(.fileNoSuchFile) }
        try await harness.replace(by: snapshot) { sandbox.restore(snapshot.upstreams) }
    }
}

extension Harness {
    /// Replaces all state of the server by that of a snapshot.
    ///
    /// - Parameter upstreams: Restores the simulated upstreams; called when no request of the old state is left.
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
            let folder = "\(application.directory.path)/\(Snapshots.folderName)/\(UUID().uuidString)"
            let store = try SavedStore(of: application.database, in: folder)
            let snapshot = Snapshot(name: name, at: now, store: store, upstreams: upstreams(), clock: clock.reading)
            try snapshots.keep(snapshot)
            return snapshot.description
        }
    }

    func restore(_ name: String, _ upstreams: @escaping @Sendable (SavedUpstreams) -> Void) async throws -> Bool {
        guard let snapshot = snapshots[name] else { return false }
        try await replace(by: snapshot) { upstreams(snapshot.upstreams) }
        return true
    }

    func archive(_ name: String, _ upstreams: @escaping @Sendable (SavedUpstreams) throws -> [String: Data])
        async throws -> [UInt8]?
    {
        try await resets.withPermit { [self] in
            guard let snapshot = snapshots[name], let application else { return nil }
            let files = try upstreams(snapshot.upstreams)
            let migrations = application.migrationNames
            let archive = try Archive(snapshot.store, snapshot.clock, upstreams: files, migrations: migrations)
            return Array(archive.bytes)
        }
    }

    /// Writes the archive of a server that ends, if there is to be one.
    ///
    /// - Parameter upstreams: Returns the data of the simulated upstreams as files.
    /// - Throws: ``Archive/Refusal``.
    func export(_ application: any ReplaceableServer, _ upstreams: () throws -> [String: Data]) throws {
        guard let exportPath else { return }
        let folder = "\(application.directory.path)/\(Snapshots.folderName)/\(UUID().uuidString)"
        do {
            let store = try SavedStore(of: application.database, in: folder)
            defer { try? store.remove() }
            let migrations = application.migrationNames
            let archive = try Archive(store, clock.reading, upstreams: try upstreams(), migrations: migrations)
            try PrivateFile(at: URL(filePath: exportPath), archive.bytes).write(replaces: true)
        } catch {
            throw Archive.Refusal(description: "\(exportPath) was not written: \(error)")
        }
    }

    func forget(_ name: String) async throws -> Bool {
        try await resets.withPermit { [snapshots] in try snapshots.remove(name) }
    }
}
