import Crypto
import Foundation
import HTTP
package import HTTPTypes

/// The value of `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): a string of Structured Fields (RFC 9651
/// §3.3.3), or the same without quotes if it has no spaces, commas, semicolons and quotes.
struct IdempotencyKey: Sendable, Equatable {
    /// The most characters of a key.
    static let longest = 128

    let text: String

    /// Reads the field of a request; nil if it has none.
    ///
    /// - Throws: 400 `invalid-parameter`.
    init?(_ fields: HTTPFields) throws(Problem) {
        guard fields.contains(.idempotencyKey) else { return nil }
        let values = fields[values: .idempotencyKey]
        guard values.count == 1, let text = Self.text(values[0].trimmingCharacters(in: .whitespaces)),
            (1...Self.longest).contains(text.utf8.count)
        else {
            let form: Text = "must be one string of 1 to \(Self.longest) characters of ASCII, such as \"8e03978e-40d5\""
            throw Problem.invalidParameter("Idempotency-Key", accepted: form)
        }
        self.text = text
    }

    private static func text(_ value: String) -> String? {
        guard value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        guard value.hasPrefix("\"") else { return value.contains(where: { " \",;".contains($0) }) ? nil : value }
        var (text, isEscaped, isClosed) = ("", false, false)
        for character in value.dropFirst() {
            if isClosed { return nil }
            if isEscaped {
                guard character == "\"" || character == "\\" else { return nil }
                text.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isClosed = true
            } else {
                text.append(character)
            }
        }
        return isClosed ? text : nil
    }
}

extension HTTPField.Name {
    /// `Idempotency-Key`: a repeated request with it gets the first response.
    package static let idempotencyKey = HTTPField.Name(literal: "Idempotency-Key")
    /// `Idempotency-Replayed`: `true` in a response that was stored for an earlier request with the same key.
    package static let idempotencyReplayed = HTTPField.Name(literal: "Idempotency-Replayed")
}

/// The stored form of a response: not compressed, and encrypted under a key that is derived from the `Idempotency-Key`.
struct SealedResponse: Codable, Sendable {
    /// The most bytes of a stored response, of which each server and the journal have a copy. That to a note of 64 KiB
    /// contains its text twice.
    static let longest = 192 << 10

    private let status: Int
    private let fields: [[String]]
    private let body: Data?
    private let type: String?
    private let version: String?
    private let hasValidator: Bool

    /// Returns the stored form of a response; nil if that is too long or written in pieces.
    ///
    /// - Throws: `EncodingError`, `CryptoKitError`.
    static func seal(_ response: ScreenResponse, by key: SymmetricKey) throws -> Data? {
        guard let stored = SealedResponse(response) else { return nil }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try AES.GCM.seal(try encoder.encode(stored), using: key).combined
    }

    /// Returns the response, which says that it is one that was stored.
    ///
    /// - Throws: `DecodingError`, `CryptoKitError`.
    static func open(_ sealed: Data, by key: SymmetricKey) throws -> ScreenResponse {
        let stored = try PropertyListDecoder()
            .decode(SealedResponse.self, from: AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key))
        var fields = HTTPFields()
        for field in stored.fields where field.count == 2 {
            if let name = HTTPField.Name(field[0]) { fields.append(HTTPField(name: name, value: field[1])) }
        }
        fields[.idempotencyReplayed] = "true"
        let body = stored.body.flatMap { bytes in stored.type.map { ScreenResponse.Body.bytes(bytes, type: $0) } }
        var response = ScreenResponse(
            status: .init(code: stored.status),
            headerFields: fields,
            body: body ?? .none,
            hasValidator: stored.hasValidator
        )
        response.version = stored.version
        return response
    }

    private init?(_ response: ScreenResponse) {
        switch response.body {
        case .bytes(let bytes, let type): (body, self.type) = (bytes, type)
        case .prepared(let prepared): (body, type) = (prepared.bytes, prepared.type)
        case .none: (body, type) = (nil, nil)
        case .stream: return nil
        }
        guard body?.count ?? 0 <= Self.longest else { return nil }
        status = response.status.code
        fields = response.headerFields.map { [$0.name.rawName, $0.value] }
        (version, hasValidator) = (response.version, response.hasValidator)
    }
}
