import HTTPTypes

/// A request as rules see it.
struct MatchedRequest: Sendable {
    var method: String
    /// Segments below the upstream's prefix, percent-decoded.
    var path: [String]
    var query: [RequestTarget.QueryItem] = []
    var headers: HTTPFields = [:]
    /// Empty as long as it was not read.
    var body: [UInt8] = []
}
