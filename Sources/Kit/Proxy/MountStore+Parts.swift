import Database
import Foundation
import Freshness
import GRDB
import HTTPCaching
import HTTPTypes
import ResponseStore
import Upstream

extension MountStore {
    /// Opens the stored pieces of a range; nil if bytes of it are not stored.
    func openParts(of stored: CachedResponse, _ range: Range<Int>) async throws -> [PartReader]? {
        store.noteUse(of: stored.metadata)
        return try await store.responses.openParts(of: stored, range)
    }

    /// Stores a part of a representation where the rules place it. Does nothing if a write has overtaken it.
    ///
    /// - Parameter head: The head of the part, whose own range may be longer than what has arrived of it.
    func savePart(
        _ head: CachedResponseHead,
        _ range: Range<Int>,
        _ body: StoredBody,
        for request: ProxiedRequest,
        from forwarded: ForwardedResponse,
        by rules: CachingRules
    ) async throws {
        var part = head
        part.parts = head.parts.map { StoredParts(of: $0.completeLength, [range]) }
        let (name, responses, credential) = (name, store.responses, request.credential)
        let fields = request.cacheKeyRequest.headerFields
        defer { changes[head.url].bump() }
        try await store.database.write { [part] db in
            guard !forwarded.isOvertaken else { return }
            let stored = try responses.responses(
                upstream: name,
                method: .get,
                url: head.url,
                credential: credential,
                in: db
            ).filter { $0.credential == credential && $0.head.matches(fields) }
            switch rules.placement(of: part, among: stored.map(\.head)) {
            case .discarded: return
            case .beside(let index, let head):
                guard let id = stored[index].id else { return }
                try responses.freshen(
                    id,
                    headerFields: head.headerFields,
                    requestTime: head.requestTime,
                    responseTime: head.responseTime,
                    in: db
                )
                try responses.addPart(range, body, to: id, in: db)
            case .anew(let replaced):
                for index in replaced { if let id = stored[index].id { try responses.remove(id, in: db) } }
                let empty = CachedResponse(upstream: name, credential: credential, head: part, body: .bytes(.init()))
                try responses.addPart(range, body, to: responses.save(empty, in: db), in: db)
            }
        }
    }
}
