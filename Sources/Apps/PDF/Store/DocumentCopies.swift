import Concurrency
import Database
import Synchronization

/// Copies of the files of shared documents, for programs of this server. A file is fetched once for all that read it at
/// a time, and removed with the last of them.
final class DocumentCopies: Sendable {
    private struct Copy {
        weak var place: TemporaryPath?
    }

    private let copies = Mutex<[BlobID: Copy]>([:])
    /// By the file.
    private let turns = KeyedMutex()

    /// Returns the copy of a file.
    ///
    /// - Parameter fetch: makes one.
    /// - Throws: what `fetch` throws; `CancellationError`.
    func copy(of blob: Blob, fetch: () async throws -> TemporaryPath) async throws -> TemporaryPath {
        try await turns.holding([blob.id.description]) {
            if let known = copies.withLock({ $0[blob.id]?.place }) { return known }
            let place = try await fetch()
            copies.withLock { copies in
                copies = copies.filter { $0.value.place != nil }
                copies[blob.id] = Copy(place: place)
            }
            return place
        }
    }
}
