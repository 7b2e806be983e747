import Foundation
import Sandbox
import Synchronization

/// The snapshots of a server under test, by name. They live as long as its process.
final class Snapshots: HarnessSnapshots {
    /// The folder within the data directory that has their files.
    static let folderName = "larder.snapshots"

    private struct State {
        var byName: [String: Snapshot] = [:]
        /// How many calls read the files of a snapshot, by their folder.
        var readers: [String: Int] = [:]

        /// Returns a snapshot that is not kept any more, unless its files are being read.
        func unread(_ old: Snapshot?) -> Snapshot? { old.flatMap { readers[$0.store.folder] == nil ? $0 : nil } }
    }

    private let state = Mutex(State())

    var names: [String] { all.map(\.name) }

    /// All of them, by name.
    var all: [Snapshot] { state.withLock { $0.byName.values.sorted { $0.name < $1.name } } }

    /// Keeps a snapshot in place of an earlier one of its name.
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

    /// Calls the body with a snapshot, whose files stay until it has ended, even if the snapshot is replaced or
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

    func fill(_ harness: Harness, _ sandbox: Sandbox, from name: String) async throws {
        let filled: Void? = try await reading(name) { snapshot in
            try await harness.replace(by: snapshot) { sandbox.restore(snapshot.upstreams) }
        }
        guard filled != nil else { throw CocoaError(.fileNoSuchFile) }
    }
}
