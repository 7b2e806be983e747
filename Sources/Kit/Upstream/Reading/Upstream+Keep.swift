import Concurrency
import Crypto
import Database
import Foundation
import Freshness
import HTTPCaching
import HTTPSemantics
import ResponseStore

/// A response of an upstream, and when it was requested and received.
struct Received {
    let response: IncomingResponse
    let requestTime: Date
    let responseTime: Date
}

extension Upstream {
    /// A response that is ready to be stored.
    private struct Prepared {
        let persistRows: Resource.PersistRows
        let response: CachedResponse
        /// Whether the response itself is stored, not only its rows.
        let isKept: Bool
    }

    /// The largest body that is read at once, on the thread of the request: it takes some milliseconds.
    static let largestReadAtOnce = 64 << 10

    /// Stores a new response together with the rows that the app makes of it. One that the budget has no room for is
    /// only returned; the copy that it supersedes is removed, since the store would contradict the upstream.
    func keep(_ received: Received, as resource: Resource, inPlaceOf stored: CachedResponse?) async throws
        -> FetchOutcome
    {
        let prepare = { @Sendable in try self.prepare(received, as: resource, inPlaceOf: stored) }
        let isLarge = received.response.body.count > Self.largestReadAtOnce
        let prepared = try await isLarge ? reading.run(prepare) : prepare()
        var kept = prepared.response
        defer { noteResponse(at: resource.url) }
        do {
            kept.id = try await save(prepared, as: resource, inPlaceOf: stored)
        } catch {
            if case .blob(let blob) = prepared.response.body { store.database.blobs.discard(blob) }
            throw error
        }
        return FetchOutcome(response: kept, upstreamStatus: 200)
    }

    /// Validates a new response and writes the file of its body, so that the transaction only writes rows.
    private func prepare(_ received: Received, as resource: Resource, inPlaceOf stored: CachedResponse?) throws
        -> Prepared
    {
        let persistRows = try resource.validate(received.response)
        // The digest of a body that is not kept says whether the next one is the same.
        let bytes = received.response.body
        let body = resource.keepsBody ? Data(bytes) : Data(SHA256.hash(data: bytes))
        let isKept = resource.isSourceOfRows || store.budget.admits(body.count)
        let response = try cachedResponse(received, body, as: resource, inPlaceOf: stored, asFile: isKept)
        return Prepared(persistRows: persistRows, response: response, isKept: isKept)
    }

    /// Writes rows and response; rows that come in parts in several transactions, of which the last one has the
    /// response.
    ///
    /// - Returns: The id of the response; nil if it is not kept.
    private func save(_ prepared: Prepared, as resource: Resource, inPlaceOf stored: CachedResponse?) async throws
        -> CachedResponse.ID?
    {
        while true {
            let (isComplete, id) = try await store.database.write { db -> (Bool, CachedResponse.ID?) in
                var fresh = prepared.response
                fresh.isInvalidated = try resource.needsRevalidation(db)
                guard try prepared.persistRows.writeNext(in: db) else { return (false, nil) }
                if prepared.isKept { return (true, try self.store.responses.save(fresh, in: db)) }
                if let id = stored?.id { try self.store.responses.remove(id, in: db) }
                return (true, nil)
            }
            if isComplete { return id }
        }
    }

    private func cachedResponse(
        _ received: Received,
        _ body: Data,
        as resource: Resource,
        inPlaceOf stored: CachedResponse?,
        asFile mayBeFile: Bool
    ) throws -> CachedResponse {
        var headerFields = received.response.headerFields
        HopByHop.remove(from: &headerFields)
        return CachedResponse(
            upstream: configuration.name,
            credential: resource.credential,
            head: CachedResponseHead(
                url: resource.url,
                status: received.response.status,
                headerFields: headerFields,
                requestTime: received.requestTime,
                responseTime: received.responseTime
            ),
            body: mayBeFile && body.count > BlobStore.inlineLimit
                ? .blob(try store.database.blobs.write(body)) : .bytes(body),
            contentTime: stored.flatMap { holds($0.body, body) ? $0.contentTime : nil },
            isPinned: resource.isSourceOfRows
        )
    }

    /// Whether a stored body has these bytes: an upstream without validators confirms a copy by sending it again. A
    /// body that cannot be read counts as another.
    private func holds(_ stored: StoredBody, _ body: Data) -> Bool {
        guard stored.count == body.count else { return false }
        switch stored {
        case .bytes(let bytes): return bytes == body
        case .blob(let blob): return (try? store.database.blobs.reader(blob).readAll()) == body
        }
    }
}
