import AppInterface
import Concurrency
import Database
import Freshness
import Journal
import Logging
import NIOCore
import SharedStore
import Synchronization
import Upstream

// The bytes of uploads that wait. The server that has received one, or has read one for any reason, has them as a file
// as long as the upload waits.
extension SharedOutbox {
    /// Stores the bytes of an upload, and makes the change that gives them to an operation. If none has them then, they
    /// are removed.
    func storing(
        _ upload: Blob,
        _ change: () async throws -> (shown: OutboxEntry<QueuedWrite>, usesUpload: Bool)?
    ) async throws -> OutboxEntry<QueuedWrite>? {
        let reader = try cache.database.blobs.reader(upload)
        do {
            try await Self.contents.store(upload, in: shared.database) { try reader.read($0) }
            guard let changed = try await change() else {
                await Self.contents.discard([upload], in: shared.database)
                return nil
            }
            if changed.usesUpload {
                state.uploads.withLock { $0[upload.id] = upload }
            } else {
                await Self.contents.discard([upload], in: shared.database)
            }
            return changed.shown
        } catch {
            await Self.contents.discard([upload], in: shared.database)
            throw error
        }
    }

    func upload(_ blob: Blob) async throws -> BlobReader {
        try await state.fetches.holding([blob.id.description]) {
            let blobs = cache.database.blobs
            if let known = state.uploads.withLock({ $0[blob.id] }) { return try blobs.reader(known) }
            let writer = try blobs.writer()
            for try await part in Self.contents.parts(of: blob, 0..<blob.length, in: shared.database) {
                try part.withUnsafeReadableBytes { try writer.append($0) }
            }
            let file = try writer.finish(expectedLength: blob.length)
            state.uploads.withLock { $0[blob.id] = file }
            return try blobs.reader(file)
        }
    }

    /// What removes bytes that no operation has.
    func expiry(by retention: RetentionClock, logger: Logger) -> ExpiryService {
        ExpiryService(of: "uploads that do not wait any more", by: retention, logger: logger) { _ in
            try await Self.contents.removeUnused(in: shared.database)
        }
    }

    /// Removes the files of uploads that do not wait any more.
    func forgetUploads() {
        guard !state.uploads.withLock(\.isEmpty) else { return }
        let waiting = Set(memory.accounts.flatMap { memory.queue(of: $0)?.entries.compactMap(\.blob?.id) ?? [] })
        state.uploads.withLock { uploads in
            let removed = uploads.keys.filter { !waiting.contains($0) }
            for id in removed { uploads[id] = nil }
        }
    }
}
