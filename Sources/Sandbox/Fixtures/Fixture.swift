import Crypto
import Foundation
import HTTPTypes

/// One recorded exchange: what a file says.
struct Fixture: Sendable, Equatable {
    /// The endings of the names of files with an exchange.
    static let ending = ".http.yaml"

    /// The statuses of final responses that HTTP clients take (RFC 9110 section 15): some APIs send 999.
    static let statuses = 200...999

    /// Where the body of the response is.
    enum Content: Sendable, Equatable {
        case none
        /// JSON without white space between its tokens.
        case json([UInt8])
        case text(String)
        /// The name of a file in the same folder.
        case file(String)
    }

    /// Name of its file.
    let name: String
    let match: FixtureMatch
    let status: Int
    var header: [Field]
    var content: Content
    /// The mode in which it was recorded; nil if a person wrote the file.
    var mode: FixtureMode?
    /// SHA-256 of the body that was recorded, hexadecimal; nil if it is a file beside.
    var digest: String?

    struct Field: Sendable, Equatable {
        let name: String
        let value: String
    }

    /// The number that its name begins with; 0 without one.
    var number: Int { Self.number(of: name) }

    static func number(of name: String) -> Int { Int(name.prefix { $0.isASCII && $0.isNumber }) ?? 0 }

    /// Whether the name of a file is that of an exchange.
    static func isName(_ name: String) -> Bool { name.hasSuffix(ending) && !name.hasPrefix(".") }

    var headerFields: HTTPFields {
        var fields = HTTPFields()
        for field in header {
            if let name = HTTPField.Name(field.name) { fields.append(HTTPField(name: name, value: field.value)) }
        }
        return fields
    }

    /// Returns the response that it is of.
    /// - Throws: ``YAMLDefect`` if the file with its body is not there.
    func response(in folder: URL) throws(YAMLDefect) -> FixtureResponse {
        let body: FixtureResponse.Content
        switch content {
        case .none: body = .bytes([])
        case .json(let bytes): body = .bytes(bytes)
        case .text(let text): body = .bytes(Array(text.utf8))
        case .file(let name):
            let url = folder.appending(path: name)
            guard let size = try? url.resourceValues(forKeys: [.fileSizeKey]).fileSize else {
                throw YAMLDefect(line: nil, reason: "there is no file \(name) with its body")
            }
            body = .file(url, size)
        }
        var fields = headerFields
        if case .bytes(let bytes) = body, let digest, digest != Self.digest(of: bytes) {
            // A copy of the body before the change is confirmed by no tag or date of it.
            for name in Self.validators { fields[name] = nil }
            fields[.eTag] = "\"edited-\(Self.digest(of: bytes).prefix(16))\""
        }
        let isBodiless = match.line.hasPrefix("HEAD ") || [204, 304].contains(status)
        if !isBodiless { fields[.contentLength] = String(body.count) }
        return FixtureResponse(status: .init(code: status), headerFields: fields, content: body)
    }

    private static let validators = [
        "ETag", "Last-Modified", "Content-MD5", "Digest", "Content-Digest", "Repr-Digest",
    ].compactMap { HTTPField.Name($0) }

    static func digest(of bytes: [UInt8]) -> String { Hexadecimal.text(SHA256.hash(data: bytes)) }

    /// Whether another one has the same response.
    func hasSameResponse(as other: Fixture) -> Bool {
        guard case .file = content else {
            return status == other.status && header == other.header && content == other.content
        }
        return false
    }
}

/// A file that cannot be used.
struct FixtureDefect: Sendable, Equatable {
    let file: String
    let defect: YAMLDefect

    var text: String { "\(file)\(defect.line.map { " line \($0)" } ?? ""): \(defect.reason)" }

    var json: JSONValue {
        ["file": .string(file), "line": .integerOrNull(defect.line), "reason": .string(defect.reason)]
    }
}
