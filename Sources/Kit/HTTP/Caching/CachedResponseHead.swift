package import Foundation
package import HTTPTypes

/// A response as a cache stores it: everything that later decisions need, except the bytes of the body.
///
/// The store keeps the body; only its completeness matters to the rules of RFC 9111.
package struct CachedResponseHead: Sendable, Equatable {
    /// Method of the request. RFC 9111 §4: part of the cache key.
    package var method: HTTPRequest.Method
    /// Absolute target URI of that request, without a fragment. RFC 9111 §2: the other part of the cache key.
    package var url: String
    /// The request's values of the fields that the response's `Vary` nominates. RFC 9111 §4.1.
    package var varyingFields: HTTPFields
    package var status: HTTPResponse.Status
    /// Header fields of the response, hop-by-hop fields removed (RFC 9111 §3.1).
    package var headerFields: HTTPFields
    /// Which bytes of the representation are stored, if they were received in parts; the fields then are those of an
    /// incomplete 200, with the length of the whole. RFC 9111 §3.3.
    package var parts: StoredParts?
    /// When the request was sent that led to the response or to its last validation. RFC 9111 §4.2.3 `request_time`.
    package var requestTime: Date
    /// When the response, or its last validation, was received. RFC 9111 §4.2.3 `response_time`.
    package var responseTime: Date

    /// Creates the stored form of one response.
    package init(
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

extension CachedResponseHead {
    /// When the origin made the response; the time of reception if `Date` is absent or cannot be read. RFC 9110 §6.6.1.
    var date: Date {
        headerFields.value(of: .date).flatMap { HTTPDate.parse($0, now: responseTime) } ?? responseTime
    }

    /// Returns the age of the response in seconds. RFC 9111 §4.2.3.
    package func age(at now: Date) -> Double {
        // HTTP dates have whole seconds only, so a fraction of a second between them is not an age.
        let apparentAge = max(0, responseTime.timeIntervalSince(date)).rounded(.down)
        let responseDelay = max(0, responseTime.timeIntervalSince(requestTime))
        let correctedAge = Double(receivedAge) + responseDelay
        return max(apparentAge, correctedAge) + residentTime(at: now)
    }

    /// Returns how long the response has been stored, in seconds. RFC 9111 §4.2.3 `resident_time`.
    ///
    /// After a clock was set back, receptions are in the future, and the real time since then is unknown. The distance
    /// to the present is counted, so that a response does not stay fresh until the clock has caught up.
    package func residentTime(at now: Date) -> Double {
        abs(now.timeIntervalSince(responseTime))
    }

    /// The `Age` of the received response. RFC 9111 §5.1: of several members the first counts, an invalid one is
    /// ignored.
    private var receivedAge: Int {
        guard let line = headerFields[values: .age].first, let member = FieldList.members(of: line).first else {
            return 0
        }
        return DeltaSeconds.parse(member) ?? 0
    }

    /// The entity tag of the stored response.
    var entityTag: EntityTag? { headerFields.value(of: .eTag).flatMap { EntityTag($0) } }

    /// The modification date of the stored response; nil if it is absent or cannot be read.
    var lastModified: Date? {
        headerFields.value(of: .lastModified).flatMap { HTTPDate.parse($0, now: responseTime) }
    }

    /// Returns whether the client already holds the stored response, so that the response is a 304. RFC 9111 §4.3.2.
    func isNotModified(for request: HTTPFields) -> Bool {
        // RFC 9110 §13.2.1: preconditions are evaluated only if the response would be a success.
        guard status.kind == .successful, Preconditions.asksForNotModified(request) else { return false }
        // RFC 9111 §4.3.2: without Last-Modified, the date of the response is compared.
        return Preconditions.isNotModified(
            request,
            tag: entityTag,
            lastModified: lastModified ?? date,
            now: responseTime
        )
    }

    /// Returns whether `If-Range` permits a part to be sent; without the field, it does. RFC 9110 §13.1.5.
    func allowsRange(for request: HTTPFields) -> Bool {
        guard request.contains(.ifRange) else { return true }
        return Preconditions.allowsRange(
            request,
            tag: entityTag,
            lastModified: lastModified,
            date: date,
            now: responseTime
        )
    }
}

/// The part of the cache key that a response's `Vary` adds. RFC 9111 §4.1.
package enum Vary: Sendable, Equatable {
    /// The response depends on these request fields, possibly none, each named once and in lower case.
    case fields([HTTPField.Name])
    /// The list has `*`, a member that is not a field name, or more than `most` names: no request ever matches.
    case everything

    /// Most fields that a response may vary by; a response that names more matches no request.
    static let most = 64

    /// Reads the header fields of a response, all lines of `Vary`.
    package init(_ fields: HTTPFields) {
        var names: [HTTPField.Name] = []
        for member in fields[values: .vary].flatMap({ FieldList.members(of: $0) }) {
            guard member != "*", let name = HTTPField.Name(member.lowercased()) else {
                self = .everything
                return
            }
            if !names.contains(name) { names.append(name) }
            guard names.count <= Self.most else {
                self = .everything
                return
            }
        }
        self = .fields(names)
    }

    /// Returns the request's lines of the nominated fields, which are stored with the response.
    func nominated(in request: HTTPFields) -> HTTPFields {
        guard case .fields(let names) = self else { return [:] }
        var kept = HTTPFields()
        for name in names { kept.append(contentsOf: request[fields: name]) }
        return kept
    }
}

extension CachedResponseHead {
    /// Returns whether the request has the same nominated fields as the request of the stored response. RFC 9111 §4.1.
    package func matches(_ request: HTTPFields) -> Bool {
        guard case .fields(let names) = Vary(headerFields) else { return false }
        return names.allSatisfy {
            varyingFields[values: $0] == request[values: $0]
                || SelectingField.normalized($0, in: varyingFields) == SelectingField.normalized($0, in: request)
        }
    }
}

/// Normalizes the values of request fields, so that values with the same meaning are equal. RFC 9111 §4.1.
enum SelectingField {
    /// Preferences: their members have weights, not an order. RFC 9110 §12.5.
    private static let unordered: Set<HTTPField.Name> = [.accept, .acceptEncoding, .acceptLanguage, .acceptCharset]
    /// Of those, the fields whose members are case-insensitive: language ranges, codings, charsets. Media types may
    /// have case-sensitive parameters.
    private static let caseless: Set<HTTPField.Name> = [.acceptEncoding, .acceptLanguage, .acceptCharset]

    /// Returns the lines combined, without whitespace around commas; nil if the field is absent, which differs from
    /// empty.
    static func normalized(_ name: HTTPField.Name, in fields: HTTPFields) -> String? {
        guard fields.contains(name) else { return nil }
        var members = fields[values: name].flatMap { FieldList.members(of: $0).map(String.init) }
        if caseless.contains(name) { members = members.map { $0.lowercased() } }
        if unordered.contains(name) { members = members.map(withoutSpaces).sorted() }
        return members.joined(separator: ",")
    }

    /// Removes whitespace around `;`, which has no meaning either; members with quoted parameters stay unchanged.
    private static func withoutSpaces(_ member: String) -> String {
        member.contains("\"") ? member : member.filter { $0 != " " && $0 != "\t" }
    }
}
