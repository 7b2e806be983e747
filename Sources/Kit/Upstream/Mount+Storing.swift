import Foundation
import HTTPCaching
import HTTPTypes
import NIOCore
import Storage

extension Mount {
    /// All that is stored for the target of a request and that its credential may see.
    func candidates(for inquiry: ProxiedRequest) throws -> [CachedResponse] {
        // Answers from a time when the mount was shared are nobody's in particular: one that is not does not use them.
        try upstream.responses.responses(
            upstream: storeName,
            method: .get,
            url: inquiry.key,
            credential: inquiry.credential
        )
        .filter { $0.credential == inquiry.credential }
    }

    /// Opens the body of a stored response that is about to be served, and notes the use.
    func open(_ stored: CachedResponse) async throws -> ResponseStore.OpenBody? {
        upstream.accessRecorder.note(stored, at: upstream.clock.now())
        return try await upstream.responses.openBody(of: stored)
    }

    /// The largest body that is stored, in bytes.
    var largestStored: Int {
        min(upstream.configuration.mount.maximumStoredBytes, upstream.budget.lowWaterMark)
    }

    /// Removes what a response supersedes that is too large to be stored itself: it would count as the upstream's word.
    func removeSuperseded(for inquiry: ProxiedRequest) async throws {
        let superseded = try candidates(for: inquiry).filter { $0.head.matches(inquiry.cacheKeyRequest.headerFields) }
        if !superseded.isEmpty { try await remove(superseded.compactMap(\.id)) }
    }

    /// Stores a response in place of all that the same request would have selected.
    func save(_ head: CachedResponseHead, _ body: StoredBody, for inquiry: ProxiedRequest, by arrival: Arrival)
        async throws
    {
        let responses = upstream.responses
        let (name, credential, request) = (storeName, inquiry.credential, inquiry.cacheKeyRequest.headerFields)
        defer { changes[head.url].bump() }
        try await upstream.database.write { db in
            let needsRevalidation = !arrival.uninvalidated.holds(at: .distantPast)
            let response = CachedResponse(
                upstream: name,
                credential: credential,
                head: head,
                body: body,
                isInvalidated: needsRevalidation
            )
            let others = try responses.responses(
                upstream: name,
                method: .get,
                url: head.url,
                credential: credential,
                in: db
            )
            for other in others where other.credential == credential && other.head.matches(request) {
                if let id = other.id { try responses.remove(id, in: db) }
            }
            try responses.save(response, in: db)
        }
    }

    /// Takes over what a 304 or a HEAD says of stored responses; those that may not be kept any more go. RFC 9111 §4.3.4,
    /// §4.3.5. A 304 `confirms` what was doubtful; a HEAD may say nothing that tells one version from another.
    func keep(_ updates: [FreshenedResponse], of candidates: [CachedResponse], by arrival: Arrival, confirms: Bool)
        async throws
    {
        let responses = upstream.responses
        defer { for update in updates { changes[update.stored.url].bump() } }
        try await upstream.database.write { db in
            let isOvertaken = !arrival.uninvalidated.holds(at: .distantPast)
            for update in updates {
                let old = candidates[update.index]
                guard let id = old.id else { continue }
                let needsRevalidation = isOvertaken || (old.isInvalidated && !confirms)
                guard update.mayBeKept, update.stored.varyingFields == old.head.varyingFields else {
                    // Another `Vary` is another place in the store, and a file cannot be in two: it is fetched anew
                    // next time.
                    try responses.remove(id, in: db)
                    if update.mayBeKept, case .bytes = old.body {
                        let moved = CachedResponse(
                            upstream: old.upstream,
                            credential: old.credential,
                            head: update.stored,
                            body: old.body,
                            isInvalidated: needsRevalidation
                        )
                        try responses.save(moved, in: db)
                    }
                    continue
                }
                try responses.freshen(
                    id,
                    headerFields: update.stored.headerFields,
                    requestTime: update.stored.requestTime,
                    responseTime: update.stored.responseTime,
                    in: db
                )
                if needsRevalidation { try responses.invalidate(id, in: db) }
            }
        }
    }

    /// Makes everything stored under these URLs doubtful, and what is on its way there; not the write's own answer,
    /// which may be stored (RFC 9110 §9.3.3) and is given back as one that came after it.
    func invalidate(_ keys: [String], by arrival: Arrival, to inquiry: ProxiedRequest) async throws -> Arrival {
        let (responses, name) = (upstream.responses, storeName)
        defer { for key in keys { changes[key].bump() } }
        return try await upstream.database.write { [invalidations] db in
            let isOvertaken = !arrival.uninvalidated.holds(at: .distantPast)
            for key in keys {
                // Within the transaction: whoever stores after it sees the stamp, whoever stored before it is
                // invalidated.
                invalidations[key].bump()
                try responses.invalidate(upstream: name, url: key, in: db)
            }
            var own = arrival
            if !isOvertaken { own.uninvalidated = ChangeToken(of: invalidations[inquiry.key]) }
            return own
        }
    }

    /// Makes stored responses doubtful of which the upstream has shown another version. They are kept: it is the last
    /// good one.
    func doubt(_ ids: [CachedResponse.ID], under key: String) async throws {
        let responses = upstream.responses
        defer { changes[key].bump() }
        try await upstream.database.write { db in
            for id in ids { try responses.invalidate(id, in: db) }
        }
    }

    /// The same for those that the request could have been answered with.
    func doubt(_ candidates: [CachedResponse], for inquiry: ProxiedRequest) async throws {
        let ids = candidates.filter { $0.head.matches(inquiry.cacheKeyRequest.headerFields) }.compactMap(\.id)
        try await doubt(ids, under: inquiry.key)
    }

    func remove(_ ids: [CachedResponse.ID]) async throws {
        let responses = upstream.responses
        try await upstream.database.write { db in
            for id in ids { try responses.remove(id, in: db) }
        }
    }

    /// What a client gets from the store: its own preconditions and range are answered here.
    func served(
        _ inquiry: ProxiedRequest,
        _ reuse: Reuse,
        _ body: ResponseStore.OpenBody,
        account: CacheStatus,
        isOffline: Bool
    ) -> ProxyResponse {
        let length =
            switch body {
            case .bytes(let bytes): bytes.count
            case .blob(let reader): reader.blob.length
            }
        let response = ServedResponse(
            to: inquiry.cacheKeyRequest,
            from: reuse.stored,
            age: reuse.age,
            bodyLength: length
        )
        var head = response.head
        account.append(to: &head.headerFields, cacheName: policy.cacheName)
        if isOffline { head.headerFields[.larderOffline] = "?1" }
        return switch response.body {
        case .none: ProxyResponse(head: head, body: .none)
        case .whole: ProxyResponse(head: head, body: Self.part(0..<length, of: body))
        case .part(let range):
            ProxyResponse(head: head, body: Self.part(range.lowerBound..<(range.upperBound + 1), of: body))
        }
    }

    private static func part(_ range: Range<Int>, of body: ResponseStore.OpenBody) -> ProxyResponse.Body {
        switch body {
        case .bytes(let bytes):
            let start = bytes.startIndex + range.lowerBound
            return .bytes(ByteBuffer(bytes: bytes[start..<(start + range.count)]))
        case .blob(let reader):
            let parts = ByteStream {
                var rest = range
                return {
                    guard !rest.isEmpty else { return nil }
                    let next = rest.prefix(256 << 10)
                    rest = next.upperBound..<rest.upperBound
                    return ByteBuffer(bytes: try reader.read(next))
                }
            }
            return .stream(parts, length: range.count)
        }
    }
}
