package import Concurrency
import Crypto
package import Foundation
package import GRDB
import HTTP
import HTTPTypes
import Logging
package import Storage

/// The outcome of a successful request for a resource.
struct FetchOutcome: Sendable {
    let response: CachedResponse
    /// The upstream's status: 200 for a new response, 304 for a validated one; nil if another client's request has
    /// stored it meanwhile.
    let upstreamStatus: Int?
}

extension Upstream {
    /// Requests a resource, with preconditions if a copy is stored, and stores the response. Runs once for all reads
    /// that wait for it.
    ///
    /// - Parameter seen: The state on which the read decided to ask. If there is a newer copy by now, another request
    ///   ended between that decision and this one, and its response is used as if the read had joined it.
    func fetch(_ resource: Resource, asOf seen: ReadSnapshot) async throws(UpstreamError) -> FetchOutcome {
        do {
            let stored = try seen.readToken.holds ? seen.copy.response : storedResponse(of: resource)
            if let stored, !stored.isInvalidated, stored.head != seen.copy.response?.head {
                return FetchOutcome(response: stored, upstreamStatus: nil)
            }
            let outcome = try await request(resource, validating: stored)
            missingPictures.forget(resource.flightKey)
            return outcome
        } catch let error as UpstreamError where resource.isPicture {
            if error.saysMissing { missingPictures.record(error, of: resource.flightKey, at: clock.now()) }
            throw error
        } catch let error as UpstreamError {
            if case .badResponse(_, let reason) = error { client.recordUnusable(resource.url, reason) }
            // A captive portal redirects to its own page; the upstream itself does not move.
            if case .forbiddenTarget(let what) = error { client.recordUnusable(resource.url, "it leads to \(what)") }
            throw error
        } catch is CancellationError {
            throw .unreachable(.totalTimeout)
        } catch {
            // The upstream responded; the response could not be stored here. The transaction was rolled back, so
            // nothing is half done.
            logger.error("a response could not be stored", metadata: ["error": "\(error)"])
            let isFull = if case .diskFull = error as? StorageError { true } else { false }
            throw .storageFailed(isFull: isFull)
        }
    }

    private func request(_ resource: Resource, validating stored: CachedResponse?) async throws -> FetchOutcome {
        var request = OutgoingRequest(
            url: resource.url,
            headerFields: resource.headerFields,
            credential: resource.credential,
            isPicture: resource.isPicture
        )
        if let stored { ConditionalRequest(validating: stored.head, client: [:]).apply(to: &request.headerFields) }
        let requestTime = clock.now()
        let response = try await send(request)
        try resource.errors.check(response)
        let received = Received(response: response, requestTime: requestTime, responseTime: clock.now())
        switch response.status.code {
        case 200:
            return try await keep(received, as: resource, inPlaceOf: stored)
        case 304:
            let isConditional = [.ifNoneMatch, .ifModifiedSince].contains { request.headerFields[$0] != nil }
            guard let stored, isConditional else {
                throw UpstreamError.badResponse(status: response.status, reason: "304 to a request without conditions")
            }
            guard Self.confirms(response, stored) else {
                throw UpstreamError.badResponse(status: response.status, reason: "304 for another version")
            }
            return try await confirm(stored, by: received, as: resource, request: request.headerFields)
        default:
            throw UpstreamError.badResponse(status: response.status, reason: "status \(response.status.code)")
        }
    }

    /// Whether a 304 is about the stored response: it may name a version, and then it is about that one (RFC 9111
    /// §4.3.4).
    private static func confirms(_ response: IncomingResponse, _ stored: CachedResponse) -> Bool {
        guard let received = response.headerFields[.eTag].flatMap({ EntityTag($0) }),
            let known = stored.head.headerFields[.eTag].flatMap({ EntityTag($0) })
        else { return true }
        return received.matchesWeakly(known)
    }

    /// Updates the stored copy from a 304 (RFC 9111 §4.3.4).
    private func confirm(_ stored: CachedResponse, by received: Received, as resource: Resource, request: HTTPFields)
        async throws -> FetchOutcome
    {
        var kept = stored
        kept.isInvalidated = false
        kept.head = CachingRules(cacheName: "larder", shared: false).freshened(
            stored.head,
            by: HTTPResponse(status: .notModified, headerFields: received.response.headerFields),
            request: request,
            requestTime: received.requestTime,
            responseTime: received.responseTime
        )
        let head = kept.head
        defer { noteResponse(at: head.url) }
        if let id = kept.id {
            try await store.database.write { db in
                try self.store.responses.freshen(id, by: head, in: db)
                if try resource.needsRevalidation(db) { try self.store.responses.invalidate(id, in: db) }
            }
        }
        return FetchOutcome(response: kept, upstreamStatus: 304)
    }

    /// Reads a resource together with its whole body (see `read(_:_:)`).
    ///
    /// A stored response may be evicted after it was read and before its file is opened; the second read then fetches
    /// it.
    /// - Returns: The result and the body. The body is nil if the result has no response (``Resource/bundledAt``), or
    ///   if the response was evicted twice.
    /// - Throws: `UpstreamError`, `StorageError`, `CancellationError`.
    package func readBody(of resource: Resource, _ cachePolicy: CachePolicy) async throws -> (
        result: ReadResult, body: Data?
    ) {
        let first = try await read(resource, cachePolicy)
        guard let response = first.response else { return (first, nil) }
        if let body = try await body(of: response) { return (first, body) }
        let second = try await read(resource, cachePolicy)
        guard let response = second.response else { return (second, nil) }
        return (second, try await body(of: response))
    }

    /// Finds a resource in the store and reads it together with its whole body, in one transaction if no request is
    /// needed.
    ///
    /// - Parameter find: Reads the resource from the store; nil if there is nothing to read.
    /// - Returns: As ``readBody(of:_:)``; nil if there is nothing to read.
    /// - Throws: As ``readBody(of:_:)``; errors of `find`.
    package func readBody(_ cachePolicy: CachePolicy, found find: () throws -> Resource?) async throws -> (
        result: ReadResult, body: Data?
    )? {
        let before = readToken()
        let found: (resource: Resource, stored: ReadResult?)? = try store.database.read { _ in
            try find().map { resource in
                let stored = try readToken(of: resource.url, since: before).flatMap {
                    try storedRead(of: resource, cachePolicy, since: $0)
                }
                return (resource, stored)
            }
        }
        guard let found else { return nil }
        if let stored = found.stored {
            guard let response = stored.response else { return (stored, nil) }
            if let body = try await body(of: response) { return (stored, body) }
        }
        return try await readBody(of: found.resource, cachePolicy)
    }

    /// The whole body of a stored response; nil if its file is missing.
    package func body(of response: CachedResponse) async throws -> Data? {
        switch try await store.responses.openBody(of: response) {
        case .bytes(let data): data
        case .blob(let reader): try reader.readAll()
        case nil: nil
        }
    }
}

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

    /// Writes rows and response. Rows that are stored in parts need several transactions, of which the last one has the
    /// response.
    ///
    /// - Returns: The id of the response; nil if it is not kept.
    private func save(_ prepared: Prepared, as resource: Resource, inPlaceOf stored: CachedResponse?) async throws
        -> CachedResponse.ID?
    {
        try await prepared.persistRows.writeBefore()
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

extension VersionCounter {
    /// Bumps the counter when the current transaction has been committed; not at all if it is rolled back.
    ///
    /// The bump happens before the write returns, so no response that was made before the change is replayed after the
    /// change was acknowledged.
    package func bump(afterCommitOf db: Database) {
        db.afterNextTransaction { _ in self.bump() }
    }
}
