import Crypto
import Foundation
import HTTPTypes
import JSONValues

/// A request to one upstream.
struct UpstreamRequest: Sendable {
    var method: HTTPRequest.Method
    /// Below the upstream's prefix.
    var path: [String]
    var query: [RequestTarget.QueryItem] = []
    /// The query read as a form.
    var form: [RequestTarget.QueryItem] = []
    var headers: HTTPFields = [:]
    var body: [UInt8] = []
    /// Used instead of `body` if the upstream accepts long bodies.
    var received: ReceivedBody?
    /// The sandbox's own origin, as `http://127.0.0.1:PORT`, for links to itself.
    var origin: String
}

/// A response as a value; `Content-Length` is left to the server.
struct UpstreamResponse: Sendable, Equatable {
    var status: HTTPResponse.Status
    var headers: HTTPFields = [:]
    var body: [UInt8] = []
    /// Sent instead of `body` if given.
    var stream: StreamedBody?

    /// Bytes of the body.
    var length: Int { stream?.range.count ?? body.count }

    static func text(_ status: HTTPResponse.Status, _ text: String) -> UpstreamResponse {
        UpstreamResponse(status: status, headers: [.contentType: "text/plain; charset=utf-8"], body: Array(text.utf8))
    }

    static func json(
        _ status: HTTPResponse.Status,
        _ value: JSONValue,
        type: String = "application/json; charset=utf-8"
    ) -> UpstreamResponse {
        UpstreamResponse(status: status, headers: [.contentType: type], body: value.serialized())
    }
}

/// A request target taken apart (RFC 9112 section 3.2.1).
struct RequestTarget: Sendable, Equatable {
    /// Percent-decoded; empty segments are left out.
    let segments: [String]
    /// Percent-decoded, in order; a name without `=` has an empty value.
    let query: [QueryItem]
    /// The query as HTML forms write it: a `+` is a space (WHATWG URL, application/x-www-form-urlencoded).
    let form: [QueryItem]

    struct QueryItem: Sendable, Equatable {
        let name: String
        let value: String
    }

    init(_ target: String) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        segments = (parts.first ?? "").split(separator: "/").map(Self.decoded)
        let text = parts.count > 1 ? parts[1] : ""
        query = Self.items(text)
        form = Self.form(text)
    }

    /// Reads `name=value&…` as HTML forms write it.
    static func form(_ text: some StringProtocol) -> [QueryItem] {
        items(Substring(String(text).replacing("+", with: "%20")))
    }

    private static func items(_ text: Substring) -> [QueryItem] {
        text.split(separator: "&").map { item in
            let sides = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return QueryItem(name: decoded(sides[0]), value: sides.count > 1 ? decoded(sides[1]) : "")
        }
    }

    private static func decoded(_ text: Substring) -> String { text.removingPercentEncoding ?? String(text) }
}

extension [RequestTarget.QueryItem] {
    /// The values by their names. Of a name that occurs twice, the first value is taken.
    var values: [String: String] { Dictionary(map { ($0.name, $0.value) }) { first, _ in first } }
}

/// A `Range` field of one range (RFC 9110 section 14.2). Several ranges, and other units, select the whole.
enum RequestedRange: Equatable {
    case whole
    case part(Range<Int>)
    case unsatisfiable

    init(_ field: String?, of size: Int) {
        self = .whole
        guard let field, field.hasPrefix("bytes="), !field.contains(",") else { return }
        let sides = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return }
        switch (Int(sides[0]), Int(sides[1])) {
        case (let first?, nil) where sides[1].isEmpty: self = first < size ? .part(first..<size) : .unsatisfiable
        case (let first?, let last?) where first <= last:
            self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
        case (nil, let count?) where sides[0].isEmpty:
            self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
        default: return
        }
    }
}

/// The strong entity tag that the SpaceX API was recorded with: hexadecimal length of the body, `-`, first 27
/// characters of base64(SHA-1(body)).
enum EntityTag {
    static func strong(for body: [UInt8]) -> String {
        let digest = Data(Insecure.SHA1.hash(data: body)).base64EncodedString().prefix(27)
        return "\"\(String(body.count, radix: 16))-\(digest)\""
    }

    /// Whether an `If-None-Match` field matches, by weak comparison (RFC 9110 sections 8.8.3.2 and 13.1.2).
    static func matches(_ ifNoneMatch: String, tag: String) -> Bool {
        if ifNoneMatch.trimmingCharacters(in: .whitespaces) == "*" { return true }
        // A tag contains no quote (section 8.8.3), so every second piece between quotes is one.
        let pieces = ifNoneMatch.split(separator: "\"", omittingEmptySubsequences: false)
        guard pieces.count % 2 == 1 else { return false }
        return stride(from: 1, to: pieces.count, by: 2).contains { "\"\(pieces[$0])\"" == tag }
    }
}

extension UpstreamResponse {
    /// Returns the response with its entity tag, or 304 without a body if the request names that tag. GET and HEAD
    /// only.
    ///
    /// - Parameter weak: Whether the tag is marked as weak, as Express does.
    func conditional(on request: UpstreamRequest, weak: Bool = false) -> UpstreamResponse {
        var response = self
        let tag = EntityTag.strong(for: body)
        response.headers[.eTag] = weak ? "W/\(tag)" : tag
        guard request.method == .get || request.method == .head, let condition = request.headers[.ifNoneMatch],
            EntityTag.matches(condition, tag: tag)
        else {
            return response
        }
        response.status = .notModified
        response.headers[.contentType] = nil
        response.body = []
        return response
    }
}

extension HTTPField.Name {
    /// Overrides the upstream's fault for one request.
    static let sandboxFault = name("Sandbox-Fault")

    /// A field name that is written in the source; `name` is a token of RFC 9110.
    static func name(_ name: StaticString) -> HTTPField.Name {
        guard let parsed = HTTPField.Name(name.description) else { preconditionFailure("\(name) is not a field name") }
        return parsed
    }
}

/// Writes `name=value&…` as the service writes the queries of its links: a space is `+`, everything but unreserved
/// characters is percent-encoded.
enum FormEncoding {
    static func query(_ items: KeyValuePairs<String, String>) -> String {
        items.map { "\(encoded($0.key))=\(encoded($0.value))" }.joined(separator: "&")
    }

    static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            case UInt8(ascii: " "): bytes.append(UInt8(ascii: "+"))
            default: bytes += "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Bytes as lower-case hexadecimal digits.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xF)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
