import Foundation
import TestKit
import Testing

extension RunningLarder {
    /// Sends bytes as they are over a connection of its own, and reads the one response until the server closes.
    func raw(_ text: String) async throws -> ReceivedResponse {
        let exchange = try await RawExchange(port: port, send: text)
        return try #require(ReceivedResponse(http: Data(exchange.received)), "no whole response: \(exchange.text)")
    }
}

extension ReceivedResponse {
    /// Reads one response with `Content-Length` (RFC 9112 §2); nil where it is not whole.
    init?(http bytes: Data) {
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
