import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

/// A client of the service that invents the people (Mockaroo), and of the host of their avatars (RoboHash).
///
/// Every request invents new people and counts against a small quota, so it is sent once and then only on demand.
/// The key is sent in the header field `X-API-Key` rather than in the query parameter `key`, because URLs are stored
/// and shown by `larder cache list`. Source: Mockaroo, API reference; github.com/e1ven/Robohash.
struct PeopleClient: Sendable {
    /// Largest accepted picture, in bytes: it is never evicted.
    static let largestAvatar = 256 << 10

    let upstream: Upstream
    private let path: String
    private let key: Secret
    private let count: Int

    init(upstream: Upstream, _ settings: SettingValues) {
        self.upstream = upstream
        path = settings[NotesApp.peoplePath]
        key = Secret(settings[NotesApp.peopleKey])
        count = settings[NotesApp.peopleCount]
    }

    /// Fetches new people.
    ///
    /// - Parameters:
    ///   - storedAt: when the stored people were fetched, which are served if the request fails; nil if there are none.
    ///   - replace: makes the rows, in the transaction that stores the response.
    /// - Returns: the result, and a closure that makes the rows of its response: the mount of the upstream may have
    ///   stored it without them. Nil if the response is not stored.
    /// - Throws: ``Problem``, 403 `upstream-forbidden` for a refused key; `UpstreamFailure`.
    func readPeople(
        _ cachePolicy: CachePolicy,
        storedAt: Date?,
        replace: @escaping @Sendable ([Person]) -> Resource.PersistRows
    ) async throws -> (result: ReadResult, persistRows: Resource.PersistRows?) {
        var resource = people(replace: replace)
        resource.bundledAt = storedAt
        resource.bundledSource = .upstream
        return try await upstream.reportingFailures {
            do {
                let (result, body) = try await upstream.readBody(of: resource, cachePolicy)
                guard let head = result.response?.head, let body else { return (result, nil) }
                let response = IncomingResponse(status: .ok, headerFields: head.headerFields, body: Array(body))
                return (result, try resource.validate(response))
            } catch UpstreamError.rejected(let status, _) {
                throw refusedKey(status)
            }
        }
    }

    /// Returns a picture at a URL that the service has named.
    ///
    /// - Parameter isKept: whether it is never evicted, like the rows of people.
    func avatar(at url: String, isKept: Bool) -> Resource {
        var resource = Resource.picture(at: url, maximumBytes: Self.largestAvatar)
        resource.isSourceOfRows = isKept
        return resource
    }

    private func refusedKey(_ status: HTTPResponse.Status) -> Problem {
        Problem(
            .upstreamForbidden,
            "The people API responded with \(status.code): "
                + "it does not accept Larder's key, which the setting people.key sets.",
            upstream: .init(name: upstream.configuration.name, status: status.code)
        )
    }

    private func people(replace: @escaping @Sendable ([Person]) -> Resource.PersistRows) -> Resource {
        var fields: HTTPFields = [.accept: "application/json"]
        if !key.isEmpty { fields[.apiKey] = key.value }
        var resource = Resource(
            url: upstream.configuration.url(of: "\(path)?count=\(count)"),
            headerFields: fields,
            freshness: nil,
            isSourceOfRows: true,
            validate: { [count] response throws(UpstreamError) in
                try response.usable { body throws(UnusableResponse) in
                    replace(try PeopleRecords(json: body, count: count).people)
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
}

/// The people of one response.
struct PeopleRecords: Sendable, Equatable {
    /// The usable rows, in the order of the response; of two with one id, the first. A row without an id or a name is
    /// left out.
    let people: [Person]

    /// Reads a list.
    ///
    /// - Parameter count: people that were requested; further ones are left out. One is sent without a list.
    init(json: Data, count: Int) throws(UnusableResponse) {
        let rows: [PersonRecord?]
        do {
            rows = try TolerantList(json: json, as: "a list of people").values
        } catch {
            // An object with an error in it is no person, and then no list either.
            guard count == 1, let row = try? JSONDecoder().decode(Tolerant<PersonRecord>.self, from: json),
                row.value?.person != nil
            else { throw error }
            rows = [row.value]
        }
        var seen = Set<Int64>()
        people = Array(rows.compactMap { $0?.person }.filter { seen.insert($0.id).inserted }.prefix(count))
        // Also an empty list, which would be stored permanently.
        if people.isEmpty { throw UnusableResponse("a list without a single person") }
    }
}

/// One row of the people API. A field that is missing, null or of another type is nil.
struct PersonRecord: Decodable, Sendable {
    /// The person; nil without a positive id or without a name.
    let person: Person?

    private enum Key: String, CodingKey {
        case id, email, gender, avatar
        case firstName = "first_name"
        case lastName = "last_name"
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        let person = Person(
            id: try fields.decode(Int64.self, forKey: .id),
            firstName: Self.text(.firstName, in: fields),
            lastName: Self.text(.lastName, in: fields),
            email: Self.text(.email, in: fields),
            gender: Self.text(.gender, in: fields),
            avatarURL: Self.text(.avatar, in: fields)
        )
        self.person = person.id > 0 && !person.fullName.isEmpty ? person : nil
    }

    private static func text(_ key: Key, in fields: KeyedDecodingContainer<Key>) -> String? {
        (try? fields.decode(String.self, forKey: key))?.rowText(longest: Person.longestText)
    }
}
