import Concurrency
import Database
import Foundation
import Freshness
import HTTPCaching
import HTTPSemantics
import HTTPTypes
import Logging
import ResponseStore

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
    /// - Parameter seen: The copy on which the read decided to ask. If there is a newer one by now, another request
    ///   ended between that decision and this one, and its response is used as if the read had joined it.
    /// - Throws: ``UpstreamError``.
    func fetch(_ resource: Resource, asOf seen: CachedResponse?) async throws(UpstreamError) -> FetchOutcome {
        do {
            let stored = try storedResponse(of: resource)
            if let stored, !stored.isInvalidated, stored.head != seen?.head {
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
        guard let theirs = response.headerFields[.eTag].flatMap({ EntityTag($0) }),
            let ours = stored.head.headerFields[.eTag].flatMap({ EntityTag($0) })
        else { return true }
        return theirs.matchesWeakly(ours)
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
                try self.store.responses.freshen(
                    id,
                    headerFields: head.headerFields,
                    requestTime: head.requestTime,
                    responseTime: head.responseTime,
                    in: db
                )
                if try resource.needsRevalidation(db) { try self.store.responses.invalidate(id, in: db) }
            }
        }
        return FetchOutcome(response: kept, upstreamStatus: 304)
    }
}
