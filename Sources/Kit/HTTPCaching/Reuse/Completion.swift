public import Foundation
import HTTPSemantics
public import HTTPTypes

/// A request for bytes of which some are stored: only those that are missing are requested. RFC 9111 §3.4.
public struct Completion: Sendable, Equatable {
    /// Index of the stored response among the candidates.
    public var index: Int
    /// The stored response.
    public var stored: CachedResponseHead
    /// The bytes to request.
    public var missing: Range<Int>

    /// Asks for the missing bytes in place of what the client has asked for, provided that the representation is still
    /// the stored one. RFC 9110 §13.1.5.
    public func apply(to fields: inout HTTPFields) {
        fields[.range] = "bytes=\(missing.lowerBound)-\(missing.upperBound - 1)"
        fields[.ifRange] = stored.entityTag?.text
    }
}

/// What became of a ``Completion``.
public enum CompletionOutcome: Sendable, Equatable {
    /// The missing bytes follow: the response is made of them and of what is stored, with this head.
    case combined(CachedResponseHead)
    /// What follows cannot be combined, and is not what the client has asked for: its own request is to be sent.
    case retry
    /// A response to the client's request as well: another representation, or an error.
    case pass
}

extension CachingRules {
    /// Returns the result of a completion. RFC 9110 §15.3.7.3.
    /// - Parameters:
    ///   - completion: the completion, from ``Decision``.
    ///   - response: the head of its response.
    ///   - request: the client's request with which the decision was made.
    ///   - requestTime: when the request was sent.
    ///   - responseTime: when the head of the response was received.
    public func outcome(
        of completion: Completion,
        response: HTTPResponse,
        request: HTTPRequest,
        requestTime: Date,
        responseTime: Date
    ) -> CompletionOutcome {
        switch response.status.code {
        case 206: break
        case 304, 412, 416: return .retry
        default: return .pass
        }
        let fields = response.headerFields
        guard let stored = completion.stored.parts, let part = StoredParts(of: response, to: request),
            part.completeLength == stored.completeLength, part.ranges == [completion.missing],
            fields.declaredContentLength == completion.missing.count, completion.stored.hasSameStrongTag(as: fields)
        else { return .retry }
        var head = freshened(
            completion.stored,
            by: response,
            request: request.headerFields,
            requestTime: requestTime,
            responseTime: responseTime
        )
        head.parts = stored.adding(part.ranges)
        return .combined(head)
    }

    /// Decides about a request that needs bytes which are not stored; nil if the stored ones are enough.
    func decision(for request: HTTPRequest, missingIn stored: CachedResponseHead, at index: Int) -> Decision? {
        guard let parts = stored.parts else { return nil }
        let fields = request.headerFields
        let missing: [Range<Int>]
        var wanted: Range<Int>?
        if request.method == .head {
            // RFC 9111 §3.3: without a range only what is complete may be used.
            missing = parts.isComplete ? [] : [0..<parts.completeLength]
        } else {
            wanted = stored.wanted(by: fields)
            missing = wanted.map { parts.missing(in: $0) } ?? [0..<parts.completeLength]
        }
        if missing.isEmpty { return nil }
        if RequestDirectives(fields).onlyIfCached { return .gatewayTimeout(nil) }
        let isConditional = fields.contains(.ifNoneMatch) || fields.contains(.ifModifiedSince)
        guard let wanted, missing.count == 1, missing[0] != wanted, !isConditional else { return .forward(.partial) }
        return .complete(Completion(index: index, stored: stored, missing: missing[0]))
    }
}

extension CachedResponseHead {
    /// Returns the bytes of the parts that a GET asks for; nil if that cannot be said: several ranges, a unit that is
    /// not known, no such bytes.
    fileprivate func wanted(by request: HTTPFields) -> Range<Int>? {
        guard let length = parts?.completeLength else { return nil }
        guard request.contains(.range), allowsRange(for: request) else { return 0..<length }
        guard case .part(let range) = ByteRange(request, length: length) else { return nil }
        return range.lowerBound..<(range.upperBound + 1)
    }
}
