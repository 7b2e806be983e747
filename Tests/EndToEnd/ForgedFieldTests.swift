import Foundation
import TestKit
import Testing

/// Fields that Larder sends itself, or to itself, mean nothing in the mouth of an upstream.
@Suite(.timeLimit(.minutes(10))) struct ForgedFieldTests {
    private static let internalFields = ["larder-rendering", "larder-own-date", "larder-offline", "larder-anything"]

    @Test(
        "SRV-11 An upstream's fields with Larder's names have no effect and are not sent: fetched, stored or cached",
        arguments: ["max-age=600", "no-store"]
    )
    func forged(cacheControl: String) async throws {
        let response =
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nDate: Mon, 05 Jan 2026 10:00:00 GMT\r\n"
            + "Cache-Control: \(cacheControl)\r\nETag: \"a\"\r\nX-Own: yes\r\n"
            + "Larder-Rendering: 1\r\nlarder-rendering: 2\r\nLarder-Own-Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
            + "LARDER-OFFLINE: ?1\r\nLarder-Anything: x\r\n\r\nbody"
        let upstream = try await RawServer(byPath: { _, _ in response })
        let larder = try await RunningLarder.start(data: try TemporaryFolder(), upstream: upstream.url)
        for _ in 0..<4 {
            // A screen's response in between: a mark that was forged could name its note.
            #expect(try await larder.client.get("/v1").status == 200)
            let response = try await larder.client.get("/v1/upstreams/spacex/thing")
            #expect(response.status == 200 && response.text == "body" && response["X-Own"] == "yes")
            #expect(response["Date"] == "Mon, 05 Jan 2026 10:00:00 GMT")
            #expect(response["Cache-Status"]?.hasPrefix("larder; ") == true)
            for name in Self.internalFields { #expect(response[name] == nil, "\(name)") }
            let head = try await larder.client.send("HEAD", "/v1/upstreams/spacex/thing")
            for name in Self.internalFields { #expect(head[name] == nil, "\(name) of HEAD") }
        }
    }
}
