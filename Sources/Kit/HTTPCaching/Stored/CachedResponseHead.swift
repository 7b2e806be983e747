public import Foundation
public import HTTPTypes

/// A response as a cache stores it: everything that later decisions need, except the bytes of the body.
///
/// The store keeps the body; only its completeness matters to the rules of RFC 9111.
public struct CachedResponseHead: Sendable, Equatable {
    /// Method of the request. RFC 9111 §4: part of the cache key.
    public var method: HTTPRequest.Method
    /// Absolute target URI of that request, without a fragment. RFC 9111 §2: the other part of the cache key.
    public var url: String
    /// The request's values of the fields that the response's `Vary` nominates. RFC 9111 §4.1.
    public var varyingFields: HTTPFields
    /// Status of the response.
    public var status: HTTPResponse.Status
    /// Header fields of the response, hop-by-hop fields removed (RFC 9111 §3.1).
    public var headerFields: HTTPFields
    /// Which bytes of the representation are stored, if they were received in parts; the fields then are those of an
    /// incomplete 200, with the length of the whole. RFC 9111 §3.3.
    public var parts: StoredParts?
    /// When the request was sent that led to the response or to its last validation. RFC 9111 §4.2.3 `request_time`.
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
        responseTime: Date,
        parts: StoredParts? = nil
    ) {
        self.method = method
        self.url = url
        self.varyingFields = varyingFields
        self.status = status
        self.headerFields = headerFields
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.parts = parts
    }
}
