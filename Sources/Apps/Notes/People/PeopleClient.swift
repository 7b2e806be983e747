public import Database
import Foundation
import HTTPTypes
import Screens
public import Upstream

/// A client of the service that invents the people (Mockaroo), and of the host of their avatars (RoboHash).
///
/// Every request invents new people and counts against a small quota, so that it is sent once and then only on demand.
/// The key is sent in the header field `X-API-Key` rather than in the query parameter `key`, because URLs are stored
/// and shown by `larder cache list`. Source: Mockaroo, API reference; github.com/e1ven/Robohash.
public struct PeopleClient: Sendable {
    /// The settings `people.*`.
    public struct Options: Sendable {
        /// Path of the schema below the base URL.
        public var path: String
        /// The key of the account; empty for none.
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

    /// Largest accepted picture, in bytes: it is never evicted.
    static let largestAvatar = 256 << 10

    let upstream: Upstream
    private let options: Options

    /// Creates a client of an upstream.
    public init(upstream: Upstream, options: Options) {
        self.upstream = upstream
        self.options = options
    }

    /// Returns the resource of new people.
    ///
    /// - Parameter replace: makes the rows, in the transaction that stores the response.
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

    /// The form of a refused key, `{"error": "…"}`; every other error is a failure.
    private static let errors = ErrorForm { response in
        struct Report: Decodable { let error: String }
        guard response.status == .unauthorized || response.status == .forbidden else { return false }
        return (try? JSONDecoder().decode(Report.self, from: Data(response.body))) != nil
    }

    /// Returns the resource of a picture at a URL that the service has named. Only pictures are stored; like the rows
    /// of people they are not evicted.
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
