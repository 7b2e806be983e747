import Foundation
import HTTPCaching
import HTTPTypes
import Storage

/// How a flight ended well.
struct Landing: Sendable {
    let answer: StoredAnswer
    /// What the upstream said: 200 for a new answer, 304 for a confirmed one.
    let upstreamStatus: Int
}

extension Upstream {
    /// Reads a resource for a screen: network first within the patience, else the stored copy, and truthful about which (design/screens.md 1.5).
    ///
    /// - Throws: ``UpstreamError`` when there is nothing to answer with, or news (4xx) that a stored copy must not hide.
    public func read(_ resource: Resource, _ demand: Demand = .usual) async throws -> Reading {
        let stored = try storedAnswer(of: resource)
        let reachability = self.reachability
        let plan = ReadPlan.plan(
            stored: stored.map { freshness(of: $0, as: resource) } ?? .nothing,
            demand: demand,
            isReachable: reachability.isReachable,
            paused: reachability.secondsPaused(at: clock.now()),
            patience: configuration.patience
        )
        switch plan {
        case .notStored:
            throw UpstreamError.notStored
        case .leaveAlone(let seconds):
            throw UpstreamError.failing(status: .tooManyRequests, retryAfter: seconds)
        case .serveStored(let cacheStatus, let offline, let stale):
            guard let stored else { throw UpstreamError.notStored }
            return Reading(answer: stored, provenance: .stored(stored, cacheStatus, offline: offline, stale: stale))
        case .ask(let reason, let patience):
            return try await ask(for: resource, because: reason, patience: patience, fallback: stored)
        }
    }

    /// The stored copy of a resource, however old.
    public func storedAnswer(of resource: Resource) throws -> StoredAnswer? {
        try responses.responses(upstream: configuration.name, method: .get, url: resource.url, credential: resource.credential)
            .first { $0.credential == resource.credential }
    }

    private func freshness(of answer: StoredAnswer, as resource: Resource) -> ReadPlan.Stored {
        let age = max(0, clock.now().timeIntervalSince(answer.response.responseTime))
        guard let lifetime = resource.freshness else { return .copy(timeToLive: Int(Int32.max), isFresh: !answer.isInvalidated) }
        let rest = lifetime.seconds - age
        return .copy(timeToLive: Int(rest.rounded(.down)), isFresh: rest > 0 && !answer.isInvalidated)
    }

    private func ask(
        for resource: Resource,
        because reason: CacheStatus.Forward,
        patience: Duration?,
        fallback: StoredAnswer?
    ) async throws -> Reading {
        let (arrival, collapsed) = await flights.run(resource.flightKey, patience: patience) { () async throws(UpstreamError) -> Landing in
            try await self.fetch(resource)
        }
        switch arrival {
        case .landed(.success(let landing)):
            let confirmed = landing.upstreamStatus == 304
            let status = CacheStatus(
                .forward(reason),
                forwardStatus: collapsed || reason == .uriMiss ? nil : landing.upstreamStatus,
                stored: !collapsed && !confirmed,
                collapsed: collapsed
            )
            return Reading(
                answer: landing.answer,
                provenance: Provenance(source: .upstream, fetchedAt: landing.answer.response.responseTime, cacheStatus: status)
            )
        case .leftWaiting:
            try Task.checkCancellation()
            guard let fallback else { throw UpstreamError.unreachable(.totalTimeout) }
            return Reading(
                answer: fallback,
                provenance: .stored(fallback, CacheStatus(.forward(reason), detail: "patience"), offline: false, stale: true)
            )
        case .landed(.failure(let error)):
            guard let fallback, let provenance = Provenance.standIn(for: error, stored: fallback, because: reason) else { throw error }
            return Reading(answer: fallback, provenance: provenance)
        }
    }

    /// Asks the upstream, conditionally where a copy is stored, and stores what it says. Runs once for all who wait.
    private func fetch(_ resource: Resource) async throws(UpstreamError) -> Landing {
        do {
            let stored = try storedAnswer(of: resource)
            var request = OutgoingRequest(url: resource.url, headerFields: resource.headerFields)
            if let stored { request.headerFields.addConditions(of: stored.response) }
            let requestTime = clock.now()
            let answer = try await send(request)
            let responseTime = clock.now()
            switch answer.status.code {
            case 304:
                guard let stored else { throw UpstreamError.badAnswer(status: answer.status, reason: "304 to a request without conditions") }
                return try await confirm(stored, by: answer, requestTime: requestTime, responseTime: responseTime)
            case 200:
                let admission = try resource.admit(answer)
                let fresh = try newAnswer(to: resource, answer, requestTime: requestTime, responseTime: responseTime)
                var kept = fresh
                kept.id = try await database.write { db in
                    try admission(db)
                    return try self.responses.save(fresh, in: db)
                }
                return Landing(answer: kept, upstreamStatus: 200)
            case 400..<500:
                throw UpstreamError.rejected(status: answer.status, body: Array(answer.body.prefix(4096)))
            default:
                throw UpstreamError.badAnswer(status: answer.status, reason: "status \(answer.status.code)")
            }
        } catch let error as UpstreamError {
            throw error
        } catch is CancellationError {
            throw .unreachable(.totalTimeout)
        } catch {
            // The upstream did its part; the answer could not be kept here. Nothing is half done: the transaction went back.
            logger.error("an answer could not be stored", metadata: ["error": "\(error)"])
            throw .badAnswer(status: .ok, reason: "it could not be stored")
        }
    }

    private func confirm(_ stored: StoredAnswer, by answer: IncomingAnswer, requestTime: Date, responseTime: Date) async throws -> Landing {
        var kept = stored
        kept.response.freshen(with: answer.headerFields, requestTime: requestTime, responseTime: responseTime)
        kept.isInvalidated = false
        let response = kept.response
        if let id = kept.id {
            try await database.write { db in
                try self.responses.freshen(id, headerFields: response.headerFields, requestTime: requestTime, responseTime: responseTime, in: db)
            }
        }
        return Landing(answer: kept, upstreamStatus: 304)
    }

    private func newAnswer(to resource: Resource, _ answer: IncomingAnswer, requestTime: Date, responseTime: Date) throws -> StoredAnswer {
        let body = Data(answer.body)
        return StoredAnswer(
            upstream: configuration.name,
            credential: resource.credential,
            response: StoredResponse(
                url: resource.url,
                status: answer.status,
                headerFields: answer.headerFields.removingHopByHop(),
                requestTime: requestTime,
                responseTime: responseTime
            ),
            body: body.count > BlobStore.inlineLimit ? .blob(try database.blobs.write(body)) : .bytes(body)
        )
    }
}
