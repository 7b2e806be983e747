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

    /// The whole body of a stored response; nil if its file is gone.
    private func body(of response: CachedResponse) async throws -> Data? {
        switch try await store.responses.openBody(of: response) {
        case .bytes(let data): data
        case .blob(let reader): try reader.readAll()
        case nil: nil
        }
    }
}
