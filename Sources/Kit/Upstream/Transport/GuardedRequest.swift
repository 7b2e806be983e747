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
    /// Longest wait for the head of the response.
    let responseLimit: TimeAmount
    /// The number of its listener in ``InterimListeners``; 0 if it has none.
    var listener = 0

    /// Writes the field instead of any in the request.
    func add(to headers: inout HTTPHeaders) {
        headers.replaceOrAdd(
            name: Self.field,
            value: "\(stallLimit.nanoseconds) \(responseLimit.nanoseconds) \(listener) \(target)"
        )
    }

    /// Removes the field.
    ///
    /// - Returns: What it says; nil if there is none.
    static func remove(from headers: inout HTTPHeaders) -> GuardedRequest? {
        let value = headers[field].last
        headers.remove(name: field)
        guard let parts = value?.split(separator: " ", maxSplits: 3), parts.count == 4, let stall = Int64(parts[0]),
            let response = Int64(parts[1]), let listener = Int(parts[2])
        else { return nil }
        return GuardedRequest(
            target: String(parts[3]),
            stallLimit: .nanoseconds(stall),
            responseLimit: .nanoseconds(response),
            listener: listener
        )
    }
}
