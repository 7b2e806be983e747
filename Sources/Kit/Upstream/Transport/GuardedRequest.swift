import NIOCore
import NIOHTTP1

/// What the transport passes to the ``ResponseGuard`` about a request.
///
/// async-http-client takes the request target from Foundation, whose `URL` has no path if the percent-encoded bytes of
/// one are not UTF-8: the request would be for `/`. So the library gets the origin only. The target travels in a field
/// of the request, which the guard removes before the request is written.
struct GuardedRequest: Sendable, Equatable {
    private static let field = "Larder-Exchange"

    /// The request target (RFC 9112 §3.2.1).
    let target: String
    /// Longest time without progress.
    let stallLimit: TimeAmount

    /// Writes the field instead of any in the request.
    func add(to headers: inout HTTPHeaders) {
        headers.replaceOrAdd(name: Self.field, value: "\(stallLimit.nanoseconds) \(target)")
    }

    /// Removes the field.
    ///
    /// - Returns: What it says; nil if there is none.
    static func remove(from headers: inout HTTPHeaders) -> GuardedRequest? {
        let value = headers[field].last
        headers.remove(name: field)
        guard let parts = value?.split(separator: " ", maxSplits: 1), parts.count == 2, let limit = Int64(parts[0])
        else { return nil }
        return GuardedRequest(target: String(parts[1]), stallLimit: .nanoseconds(limit))
    }
}
