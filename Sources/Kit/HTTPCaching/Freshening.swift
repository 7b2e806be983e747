public import Foundation
public import HTTPTypes

/// A stored response as another answer changed it.
public struct FreshenedResponse: Sendable, Equatable {
    /// Its place among the candidates.
    public var index: Int
    /// Its new form.
    public var stored: CachedResponseHead
    /// Whether it may go on being stored; if not, it may answer this request and is then to be removed (it became
    /// `no-store`, for instance).
    public var mayBeKept: Bool
}

extension CachingRules {
    /// Fields that stay as stored, because they tell of the stored bytes. RFC 9111 §3.2: `Content-Length` never
    /// changes, and what describes the coding or the part of bytes that are kept as they came cannot.
    static let describingBytes: Set<HTTPField.Name> = [.contentLength, .contentEncoding, .contentRange]

    /// A stored response with the header fields of a later one. RFC 9111 §3.2.
    /// - Parameter request: header fields of the request that brought the later answer; it matched the stored one.
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
        // The stored Age counted towards a validation that is past; one without Age starts anew (§4.2.3).
        result.headerFields.removeAll(named: names.union([.age]))
        result.headerFields.append(contentsOf: update)
        // What the merged answer forbids to keep, be it by a word stored before, goes as well.
        let merged = ResponseDirectives(result.headerFields, policy: self)
        result.headerFields.removeAll(named: Set(merged.restrictedFields(shared: shared)))
        result.varyingFields = Vary(result.headerFields).nominated(in: request)
        result.requestTime = requestTime
        result.responseTime = responseTime
        return result
    }

    /// Whether the rules that the freshened answer now carries let it stay.
    func mayBeKept(_ stored: CachedResponseHead, directives: ResponseDirectives) -> Bool {
        let isUnderstood = directives.mustUnderstand && Self.understood.contains(stored.status.code)
        if directives.noStore, !isUnderstood { return false }
        if shared, directives.isPrivate == .everything { return false }
        return Vary(stored.headerFields) != .everything
    }
}
