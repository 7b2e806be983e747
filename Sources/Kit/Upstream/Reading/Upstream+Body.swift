import Database
public import Foundation
import ResponseStore

extension Upstream {
    /// Reads a resource together with its whole body (see `read(_:_:)`).
    ///
    /// A stored response may be evicted after it was read and before its file is opened; the second read then fetches
    /// it.
    /// - Returns: The result and the body. The body is nil if the result has no response (``Resource/bundledAt``), or
    ///   if the response was evicted twice.
    /// - Throws: `UpstreamError`, `StorageError`, `CancellationError`.
    public func readBody(of resource: Resource, _ cachePolicy: CachePolicy) async throws -> (
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
    /// - Parameter find: Reads what the store says of the resource; nil if there is nothing to read.
    /// - Returns: As ``readBody(of:_:)``; nil if there is nothing to read.
    /// - Throws: As ``readBody(of:_:)``; what `find` throws.
    public func readBody(_ cachePolicy: CachePolicy, found find: () throws -> Resource?) async throws -> (
        result: ReadResult, body: Data?
    )? {
        let before = witness()
        let found: (resource: Resource, stored: ReadResult?)? = try store.database.read { _ in
            try find().map { resource in
                let stored = try witness(of: resource.url, since: before).flatMap {
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
    private func body(of response: CachedResponse) async throws -> Data? {
        switch try await store.responses.openBody(of: response) {
        case .bytes(let data): data
        case .blob(let reader): try reader.readAll()
        case nil: nil
        }
    }
}
