import Foundation
import HTTPCaching
import HTTPSemantics
import HTTPTypes
import Logging
import Storage

/// How a flight ended well.
struct FetchOutcome: Sendable {
    let response: CachedResponse
    /// What the upstream said: 200 for a new response, 304 for a confirmed one. Nil: another client's request had brought
    /// it in the meantime.
    let upstreamStatus: Int?
}

extension Upstream {
    /// Asks the upstream, conditionally where a copy is stored, and stores what it says. Runs once for all who wait.
    ///
    /// `seen` is the copy on which the reader decided to ask. If there is a newer one by now, another request landed
    /// between that look and this flight, and its response is taken as if the reader had joined it.
    func fetch(_ resource: Resource, asOf seen: CachedResponse?) async throws(UpstreamError) -> FetchOutcome {
        do {
            let stored = try storedResponse(of: resource)
            if let stored, !stored.isInvalidated, stored.head != seen?.head {
                return FetchOutcome(response: stored, upstreamStatus: nil)
            }
            var request = OutgoingRequest(url: resource.url, headerFields: resource.headerFields)
            if let stored {
                ConditionalRequest(validating: stored.head, client: [:]).apply(to: &request.headerFields)
            }
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
                    throw UpstreamError.badResponse(
                        status: response.status,
                        reason: "304 to a request without conditions"
                    )
                }
                guard Self.confirms(response, stored) else {
                    throw UpstreamError.badResponse(status: response.status, reason: "304 for another version")
                }
                return try await confirm(stored, by: received, as: resource, request: request.headerFields)
            default:
                throw UpstreamError.badResponse(status: response.status, reason: "status \(response.status.code)")
            }
        } catch let error as UpstreamError {
            if exchange.targets.target(of: resource.url) == .ownOrigin {
                if case .badResponse(_, let reason) = error { health.failed(reason) }
                // A captive portal leads to its own page; the upstream itself stays where it is.
                if case .forbiddenTarget(let what) = error { health.failed("it leads to \(what)") }
            }
            throw error
        } catch is CancellationError {
            throw .unreachable(.totalTimeout)
        } catch {
            // The upstream did its part; the response could not be kept here. Nothing is half done: the transaction went
            // back.
            logger.error("an answer could not be stored", metadata: ["error": "\(error)"])
            throw .badResponse(status: .ok, reason: "it could not be stored")
        }
    }

    private struct Received {
        let response: IncomingResponse
        let requestTime: Date
        let responseTime: Date
    }

    /// Lets the app look at a new response, and stores it together with what the app makes of it. One that the budget has
    /// no room for is passed on only; the copy that it supersedes goes, since it would count as the upstream's word.
    private func keep(_ received: Received, as resource: Resource, inPlaceOf stored: CachedResponse?) async throws
        -> FetchOutcome
    {
        let persistRows = try resource.validate(received.response)
        defer { responseChanges[resource.url].bump() }
        var headerFields = received.response.headerFields
        HopByHop.remove(from: &headerFields)
        let body = resource.keepsBody ? Data(received.response.body) : Data()
        let isKept = resource.isSourceOfRows || budget.admits(body.count)
        let fresh = CachedResponse(
            upstream: configuration.name,
            credential: resource.credential,
            head: CachedResponseHead(
                url: resource.url,
                status: received.response.status,
                headerFields: headerFields,
                requestTime: received.requestTime,
                responseTime: received.responseTime
            ),
            body: isKept && body.count > BlobStore.inlineLimit ? .blob(try database.blobs.write(body)) : .bytes(body),
            contentTime: stored.flatMap { holds($0.body, body) ? $0.contentTime : nil },
            isPinned: resource.isSourceOfRows
        )
        var kept = fresh
        do {
            kept.id = try await database.write { db in
                var fresh = fresh
                fresh.isInvalidated = try resource.needsRevalidation(db)
                try persistRows(db)
                if isKept { return try self.responses.save(fresh, in: db) }
                if let id = stored?.id { try self.responses.remove(id, in: db) }
                return nil
            }
        } catch {
            if case .blob(let blob) = fresh.body { database.blobs.discard(blob) }
            throw error
        }
        return FetchOutcome(response: kept, upstreamStatus: 200)
    }

    /// Whether a stored body has these bytes: an upstream without validators says so by sending them again. One that
    /// cannot be read has others.
    private func holds(_ stored: StoredBody, _ body: Data) -> Bool {
        guard stored.count == body.count else { return false }
        switch stored {
        case .bytes(let bytes): return bytes == body
        case .blob(let blob): return (try? database.blobs.reader(blob).readAll()) == body
        }
    }

    /// A 304 may name its version; if it is not the stored one, it is not about the stored one (RFC 9111 §4.3.4).
    private static func confirms(_ response: IncomingResponse, _ stored: CachedResponse) -> Bool {
        guard let theirs = response.headerFields[.eTag].flatMap({ EntityTag($0) }),
            let ours = stored.head.headerFields[.eTag].flatMap({ EntityTag($0) })
        else { return true }
        return theirs.matchesWeakly(ours)
    }

    /// Takes over what a 304 says of the stored copy (RFC 9111 §4.3.4).
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
        defer { responseChanges[head.url].bump() }
        if let id = kept.id {
            try await database.write { db in
                try self.responses.freshen(
                    id,
                    headerFields: head.headerFields,
                    requestTime: head.requestTime,
                    responseTime: head.responseTime,
                    in: db
                )
                if try resource.needsRevalidation(db) { try self.responses.invalidate(id, in: db) }
            }
        }
        return FetchOutcome(response: kept, upstreamStatus: 304)
    }
}
