import Foundation
import HTTPTypes
import Screens
public import Upstream

/// The web service that the app's people come from (Mockaroo), as far as the app uses it, and the host of their avatars
/// (RoboHash).
///
/// Every call invents new people and counts against a small quota, so it is called once and then only when somebody
/// asks for it. The key goes in the header field `X-API-Key`, which the service takes like the query parameter `key`:
/// URLs are stored, and shown by `larder cache list`. Source: Mockaroo, API reference; github.com/e1ven/Robohash.
public struct PeopleAPI: Sendable {
    /// What the service is asked for.
    public struct Options: Sendable {
        /// Path of the schema below the base URL.
        public var path: String
        /// The account's key; empty for none.
        public var key: Secret
        /// People to fetch, 1…5000.
        public var count: Int

        /// Creates options; the defaults are those of the app, without its key.
        public init(path: String = "/api/729a5c80", key: Secret = Secret(""), count: Int = 120) {
            self.path = path
            self.key = key
            self.count = count
        }
    }

    /// Largest picture that is taken, in bytes: it is kept for ever.
    static let largestAvatar = 256 << 10

    let upstream: Upstream
    private let options: Options

    /// The service behind an upstream.
    public init(upstream: Upstream, options: Options) {
        self.upstream = upstream
        self.options = options
    }

    /// New people. `replace` is called with them in the transaction that stores the response.
    func people(replace: @escaping @Sendable ([Person]) -> Resource.PersistRows) -> Resource {
        var fields: HTTPFields = [.accept: "application/json"]
        if !options.key.isEmpty { fields[.apiKey] = options.key.value }
        let isSingle = options.count == 1
        var resource = Resource(
            url: upstream.configuration.url(of: "\(options.path)?count=\(options.count)"),
            headerFields: fields,
            freshness: nil,
            isSourceOfRows: true,
            validate: { response throws(UpstreamError) in
                do throws(PeopleRecords.ShapeError) {
                    return replace(try PeopleRecords(json: Data(response.body), isSingle: isSingle).people)
                } catch {
                    throw .badResponse(status: response.status, reason: error.rawValue)
                }
            }
        )
        resource.errors = Self.errors
        return resource
    }

    /// The form in which it refuses a key, `{"error": "…"}`; what else it may refuse is a failure.
    private static let errors = ErrorForm { response in
        struct Report: Decodable { let error: String }
        guard response.status == .unauthorized || response.status == .forbidden else { return false }
        return (try? JSONDecoder().decode(Report.self, from: Data(response.body))) != nil
    }

    /// A picture, wherever the service says it is; only what looks like one is admitted, and then kept: like the rows
    /// of people, it is not evicted.
    func avatar(at url: String) -> Resource {
        Resource(
            url: url,
            headerFields: [.accept: "image/*"],
            freshness: nil,
            isSourceOfRows: true,
            validate: { response throws(UpstreamError) in
                guard PictureType(of: response.body) != nil else {
                    throw .badResponse(status: response.status, reason: "not a picture")
                }
                guard response.body.count <= Self.largestAvatar else {
                    throw .badResponse(status: response.status, reason: "a picture of over 256 KiB")
                }
                return { _ in }
            }
        )
    }
}
