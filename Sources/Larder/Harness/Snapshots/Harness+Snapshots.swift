import Concurrency
import Database
import Foundation
import PrivateFiles
import Sandbox

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
                let migrations = application.migrationNames
                let archive = try Archive(
                    snapshot.store,
                    snapshot.clock,
                    upstreams: files,
                    migrations: migrations,
                    fixtures: application.fixtures
                )
                return Array(archive.bytes)
            }
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
            let archive = try Archive(
                store,
                clock.reading,
                upstreams: try upstreams(),
                migrations: migrations,
                fixtures: application.fixtures
            )
            try PrivateFile(at: URL(filePath: exportPath), archive.bytes).write(replaces: true)
        } catch {
            throw Archive.Refusal(description: "\(exportPath) was not written: \(error)")
        }
    }

    func forget(_ name: String) async throws -> Bool {
        try await resets.withPermit { [snapshots] in try snapshots.remove(name) }
    }
}
