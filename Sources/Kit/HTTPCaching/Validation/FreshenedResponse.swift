public import Foundation
import HTTPSemantics
public import HTTPTypes

/// A stored response with the header fields of a later response.
public struct FreshenedResponse: Sendable, Equatable {
    /// Its index among the candidates.
    public var index: Int
    /// Its new form.
    public var stored: CachedResponseHead
    /// Whether it may stay stored; if not, it may serve this request and must then be removed (for example because it
    /// is now `no-store`).
    public var mayBeKept: Bool
}

extension CachingRules {
    /// Fields that stay as stored, because they describe the stored bytes. RFC 9111 §3.2: `Content-Length` never
    /// changes, and neither do the coding and the range of bytes that are stored as received.
    static let describingBytes: Set<HTTPField.Name> = [.contentLength, .contentEncoding, .contentRange]

    /// Returns a stored response with the header fields of a later one. RFC 9111 §3.2.
    /// - Parameters:
    ///   - stored: the stored response.
    ///   - response: the later response.
    ///   - request: header fields of its request, which matched the stored response.
    ///   - requestTime: when that request was sent.
    ///   - responseTime: when the head of the later response was received.
    public func freshened(
        _ stored: CachedResponseHead,
        by response: HTTPResponse,
        request: HTTPFields,
        requestTime: Date,
        responseTime: Date
    ) -> CachedResponseHead {
        let directives = ResponseDirectives(response.headerFields, policy: self)
        var update = storableFields(of: response.headerFields, directives: directives, responseTime: responseTime)
        update.removeAll(named: Self.describingBytes)
        var result = stored
        let names = Set(update.map(\.name))
        // The stored Age was that of an earlier validation; a response without Age starts at 0 (§4.2.3).
        result.headerFields.removeAll(named: names.union([.age]))
        result.headerFields.append(contentsOf: update)
        // Fields that the merged response forbids to store are removed, also if a directive stored before names them.
        let merged = ResponseDirectives(result.headerFields, policy: self)
        result.headerFields.removeAll(named: Set(merged.restrictedFields(shared: shared)))
        result.varyingFields = Vary(result.headerFields).nominated(in: request)
        result.requestTime = requestTime
        result.responseTime = responseTime
        return result
    }

    /// Returns whether the directives of the freshened response permit it to stay stored.
    func mayBeKept(_ stored: CachedResponseHead, directives: ResponseDirectives) -> Bool {
        let isUnderstood = directives.mustUnderstand && Self.understood.contains(stored.status.code)
        if directives.noStore, !isUnderstood { return false }
        if shared, directives.isPrivate == .everything { return false }
        return Vary(stored.headerFields) != .everything
    }
}
