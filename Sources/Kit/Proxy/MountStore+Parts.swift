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

    /// Stores a part of a representation at the place that the rules give it. Does nothing if a write has overtaken it.
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
        defer { changes[head.url].bump() }
        try await store.database.write { [part, responses = store.responses] db in
            guard !forwarded.isOvertaken else { return }
            let stored = try selectable(for: request, at: head.url, in: db)
            switch rules.placement(of: part, among: stored.map(\.head)) {
            case .discarded: break
            case .beside(let index, let head):
                guard let id = stored[index].id else { return }
                try freshen(id, head, in: db)
                try responses.addPart(range, body, to: id, in: db)
            case .anew(let replaced):
                for id in replaced.compactMap({ stored[$0].id }) { try responses.remove(id, in: db) }
                let empty = CachedResponse(
                    upstream: name,
                    credential: request.credential,
                    head: part,
                    body: .bytes(Data())
                )
                try responses.addPart(range, body, to: responses.save(empty, in: db), in: db)
            }
        }
    }

    /// The stored responses that a request selects from.
    private func selectable(for request: ProxiedRequest, at url: String, in db: Database) throws -> [CachedResponse] {
        try store.responses.responses(upstream: name, method: .get, url: url, credential: request.credential, in: db)
            .filter { $0.credential == request.credential && $0.head.matches(request.cacheKeyRequest.headerFields) }
    }

    private func freshen(_ id: CachedResponse.ID, _ head: CachedResponseHead, in db: Database) throws {
        try store.responses.freshen(
            id,
            headerFields: head.headerFields,
            requestTime: head.requestTime,
            responseTime: head.responseTime,
            in: db
        )
    }
}
