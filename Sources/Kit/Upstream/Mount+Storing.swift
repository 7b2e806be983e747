import Foundation
import HTTPCaching
import HTTPTypes
import NIOCore
import Storage

extension Mount {
    /// All that is stored for the target of a request and that its credential may see.
    func candidates(for inquiry: MountInquiry) throws -> [StoredAnswer] {
        // Answers from a time when the mount was shared are nobody's in particular: one that is not does not use them.
        try upstream.responses.responses(
            upstream: storeName,
            method: .get,
            url: inquiry.key,
            credential: inquiry.credential
        )
        .filter { $0.credential == inquiry.credential }
    }

    /// Opens the body of a stored answer that is about to be served, and notes the use.
    func open(_ stored: StoredAnswer) async throws -> ResponseStore.OpenBody? {
        upstream.lastUses.note(stored, at: upstream.clock.now())
        return try await upstream.responses.openBody(of: stored)
    }

    /// The largest body that is stored, in bytes.
    var largestStored: Int {
        min(upstream.configuration.mount.maximumStoredBytes, upstream.budget.lowWaterMark)
    }

    /// Removes what an answer supersedes that is too large to be stored itself: it would count as the upstream's word.
    func removeSuperseded(for inquiry: MountInquiry) async throws {
        let superseded = try candidates(for: inquiry).filter { $0.response.matches(inquiry.judged.headerFields) }
        if !superseded.isEmpty { try await remove(superseded.compactMap(\.id)) }
    }

    /// Stores an answer in place of all that the same request would have selected.
    func save(_ response: StoredResponse, _ body: StoredBody, for inquiry: MountInquiry, by arrival: Arrival)
        async throws
    {
        let responses = upstream.responses
        let (name, credential, request) = (storeName, inquiry.credential, inquiry.judged.headerFields)
        defer { changes[response.url].bump() }
        try await upstream.database.write { db in
            let isDoubtful = !arrival.uninvalidated.holds(at: .distantPast)
            let answer = StoredAnswer(
                upstream: name,
                credential: credential,
                response: response,
                body: body,
                isInvalidated: isDoubtful
            )
            let others = try responses.responses(
                upstream: name,
                method: .get,
                url: response.url,
                credential: credential,
                in: db
            )
            for other in others where other.credential == credential && other.response.matches(request) {
                if let id = other.id { try responses.remove(id, in: db) }
            }
            try responses.save(answer, in: db)
        }
    }

    /// Takes over what a 304 or a HEAD says of stored answers; those that may not be kept any more go. RFC 9111 §4.3.4,
    /// §4.3.5. A 304 `confirms` what was doubtful; a HEAD may say nothing that tells one version from another.
    func keep(_ updates: [FreshenedResponse], of candidates: [StoredAnswer], by arrival: Arrival, confirms: Bool)
        async throws
    {
        let responses = upstream.responses
        defer { for update in updates { changes[update.stored.url].bump() } }
        try await upstream.database.write { db in
            let isOvertaken = !arrival.uninvalidated.holds(at: .distantPast)
            for update in updates {
                let old = candidates[update.index]
                guard let id = old.id else { continue }
                let isDoubtful = isOvertaken || (old.isInvalidated && !confirms)
                guard update.mayBeKept, update.stored.varyingFields == old.response.varyingFields else {
                    // Another `Vary` is another place in the store, and a file cannot be in two: it is fetched anew
                    // next time.
                    try responses.remove(id, in: db)
                    if update.mayBeKept, case .bytes = old.body {
                        let moved = StoredAnswer(
                            upstream: old.upstream,
                            credential: old.credential,
                            response: update.stored,
                            body: old.body,
                            isInvalidated: isDoubtful
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
                if isDoubtful { try responses.invalidate(id, in: db) }
            }
        }
    }

    /// Makes everything stored under these URLs doubtful, and what is on its way there; not the write's own answer,
    /// which may be stored (RFC 9110 §9.3.3) and is given back as one that came after it.
    func invalidate(_ keys: [String], by arrival: Arrival, to inquiry: MountInquiry) async throws -> Arrival {
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
            if !isOvertaken { own.uninvalidated = Validity(of: invalidations[inquiry.key]) }
            return own
        }
    }

    /// Makes stored answers doubtful of which the upstream has shown another version. They are kept: it is the last
    /// good one.
    func doubt(_ ids: [StoredAnswer.ID], under key: String) async throws {
        let responses = upstream.responses
        defer { changes[key].bump() }
        try await upstream.database.write { db in
            for id in ids { try responses.invalidate(id, in: db) }
        }
    }

    /// The same for those that the request could have been answered with.
    func doubt(_ candidates: [StoredAnswer], for inquiry: MountInquiry) async throws {
        let ids = candidates.filter { $0.response.matches(inquiry.judged.headerFields) }.compactMap(\.id)
        try await doubt(ids, under: inquiry.key)
    }

    func remove(_ ids: [StoredAnswer.ID]) async throws {
        let responses = upstream.responses
        try await upstream.database.write { db in
            for id in ids { try responses.remove(id, in: db) }
        }
    }

    /// What a client gets from the store: its own preconditions and range are answered here.
    func served(
        _ inquiry: MountInquiry,
        _ reuse: Reuse,
        _ body: ResponseStore.OpenBody,
        account: CacheStatus,
        isOffline: Bool
    ) -> MountAnswer {
        let length =
            switch body {
            case .bytes(let bytes): bytes.count
            case .blob(let reader): reader.blob.length
            }
        let answer = AnswerFromStore(to: inquiry.judged, from: reuse.stored, age: reuse.age, bodyLength: length)
        var head = answer.head
        account.append(to: &head.headerFields, cacheName: policy.cacheName)
        if isOffline { head.headerFields[.larderOffline] = "?1" }
        return switch answer.body {
        case .none: MountAnswer(head: head, body: .none)
        case .whole: MountAnswer(head: head, body: Self.part(0..<length, of: body))
        case .part(let range):
            MountAnswer(head: head, body: Self.part(range.lowerBound..<(range.upperBound + 1), of: body))
        }
    }

    private static func part(_ range: Range<Int>, of body: ResponseStore.OpenBody) -> MountAnswer.Body {
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
