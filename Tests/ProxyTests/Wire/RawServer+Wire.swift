import TestKit

extension RawServer {
    /// Returns an upstream that responds to `/case/N` with the bytes of case N, to `/healthy/X` with `healthy X`, and
    /// to all else with a short response.
    static func wire(seed: UInt64) async throws -> RawServer {
        try await RawServer { received in
            guard let head = received.text.firstRange(of: "\r\n\r\n") else { return nil }
            let number = received.path.hasPrefix("/case/") ? Int(received.path.dropFirst(6)) : nil
            let wireCase = number.map { WireCase(seed: seed, number: $0, port: received.port) }
            let response = wireCase.map { Response(pieces: $0.pieces, ending: $0.ending) } ?? short(received)
            if wireCase?.isEarly != true, received.words.first == "POST" {
                // The bodies of ``WireRun`` end with this line; in chunks, the last chunk follows it.
                let fields = received.text[..<head.lowerBound].lowercased()
                let end = fields.contains("transfer-encoding: chunked") ? "\r\n0\r\n\r\n" : "end\n"
                guard received.text.hasSuffix(end) else { return nil }
            }
            return response
        }
    }

    private static func short(_ received: Received) -> Response {
        let body = received.path.hasPrefix("/healthy/") ? "healthy \(received.path.dropFirst(9))" : "ok"
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        return .response(received.words.first == "HEAD" ? head : head + body)
    }
}
