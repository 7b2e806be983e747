package import AsyncHTTPClient
package import Foundation
import NIOHTTP1

/// A whole response, as a test looks at it.
package struct ReceivedResponse: Sendable {
    package let status: Int
    /// The fields by name in lower case; several lines joined.
    package let headers: [String: String]
    /// The bytes as they were received.
    package let body: Data

    package init(status: Int, headers: [(name: String, value: String)], body: Data) {
        self.status = status
        self.headers = Dictionary(headers.map { ($0.name.lowercased(), $0.value) }) { $0 + ", " + $1 }
        self.body = body
    }

    /// A header field by name; several lines joined.
    package subscript(_ name: String) -> String? { headers[name.lowercased()] }

    /// The body, decompressed if it was compressed.
    package var content: Data { headers["content-encoding"] == "gzip" ? (try? gunzipped(body)) ?? body : body }

    /// The content as text.
    package var text: String { String(decoding: content, as: UTF8.self) }

    /// The content as JSON.
    package var json: JSON { get throws { try JSON(content) } }

    /// The code of a problem document; nil for everything else.
    package var problemCode: String? {
        guard headers["content-type"]?.hasPrefix("application/problem+json") == true else { return nil }
        return try? json.code.string
    }
}

extension ReceivedResponse {
    /// Takes over a response whose body was read.
    package init(_ response: HTTPClientResponse, body: Data) {
        self.init(status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) }, body: body)
    }

    /// Reads one response with `Content-Length` (RFC 9112 §2); nil if it is incomplete.
    package init?(http bytes: Data) {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            let parts = line.split(separator: ":", maxSplits: 1)
            return parts.count == 2 ? (String(parts[0]), String(parts[1].drop { $0 == " " })) : nil
        }
        self.init(status: status, headers: headers, body: Data(bytes[end.upperBound...]))
        guard self.headers["content-length"] == String(body.count) else { return nil }
    }
}
