public import Foundation
public import HTTPTypes

/// One response as a cache keeps it: everything that later decisions need, except the body's bytes.
///
/// The body lives with whoever stores it; only its completeness matters to the rules of RFC 9111.
public struct CachedResponseHead: Sendable, Equatable {
    /// Method of the request that this answered. RFC 9111 §4: part of the cache key.
    public var method: HTTPRequest.Method
    /// Absolute target URI of that request, without a fragment. RFC 9111 §2: the other part of the cache key.
    public var url: String
    /// The request's values of the fields that the response's `Vary` nominates. RFC 9111 §4.1.
    public var varyingFields: HTTPFields
    /// Status of the response.
    public var status: HTTPResponse.Status
    /// Header fields of the response, hop-by-hop fields removed (RFC 9111 §3.1).
    public var headerFields: HTTPFields
    /// When the request was sent that this answered, or the last one that validated it. RFC 9111 §4.2.3 `request_time`.
    public var requestTime: Date
    /// When the response, or its last validation, was received. RFC 9111 §4.2.3 `response_time`.
    public var responseTime: Date

    /// Creates the stored form of one response.
    public init(
        method: HTTPRequest.Method = .get,
        url: String,
        varyingFields: HTTPFields = [:],
        status: HTTPResponse.Status,
        headerFields: HTTPFields,
        requestTime: Date,
        responseTime: Date
    ) {
        self.method = method
        self.url = url
        self.varyingFields = varyingFields
        self.status = status
        self.headerFields = headerFields
        self.requestTime = requestTime
        self.responseTime = responseTime
    }
}
