import Foundation
import TestKit

/// One response of the running server to a request for a documented operation.
struct Observation: Sendable {
    /// Key of the operation, such as `GET /v1/ships`.
    let operation: String
    /// What was asked, for people.
    let request: String
    let isHead: Bool
    let response: ReceivedResponse
}

/// A response as it came.
struct ReceivedResponse: Sendable {
    let status: Int
    /// Names in lower case; fields of one name joined.
    let headers: [String: String]
    /// Decoded where it came compressed.
    let body: Data

    init(status: Int, headers: [(name: String, value: String)], body: Data) {
        self.status = status
        self.headers = Dictionary(headers.map { ($0.name.lowercased(), $0.value) }) { $0 + ", " + $1 }
        self.body = self.headers["content-encoding"] == "gzip" ? (try? gunzipped(body)) ?? body : body
    }

    var text: String { String(decoding: body, as: UTF8.self) }

    func json() throws -> JSONValue { try JSONValue(json: body) }

    /// The code of a problem document; nil for everything else.
    var problemCode: String? {
        guard headers["content-type"]?.hasPrefix("application/problem+json") == true else { return nil }
        return try? json()["code"]?.string
    }
}
