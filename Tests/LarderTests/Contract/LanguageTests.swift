import TestKit
import Testing

@testable import Larder

@Suite("Languages")
struct LanguageTests {
    @Test(
        "HARN-30 What the connection layer refuses is in the language that the client or, without one, its app has",
        arguments: [
            ("shop", "en-GB", "en"), ("shop", "de", "ru"), ("ships", "ru", "ru"), ("ships", "", "en"),
        ]
    )
    func refusals(app: String, accepted: String, language: String) async throws {
        let fields = "Host: localhost\r\nAccept-Language: \(accepted)\r\nConnection: close\r\n"
        let refused = [
            (414, "/launch?\(String(repeating: "a", count: 9000))", "", "The request target is too long"),
            (400, "?a", "Host: localhost\r\n", "The request is malformed"),
        ]
        try await withLarder { larder in
            for (status, target, more, title) in refused {
                let response = try await larder.raw("GET /v1/\(app)\(target) HTTP/1.1\r\n\(fields)\(more)\r\n")
                #expect(response.status == status && response["Content-Language"] == language)
                #expect(response["Vary"] == "Accept-Language")
                #expect((try response.json["title"]?.string == title) == (language == "en"), "\(response.text)")
            }
            // A head that is too large is not read to its end, so its language is not known.
            let many = (1...100).map { "A-\($0): b\r\n" }.joined()
            let response = try await larder.raw("GET /v1/\(app)/launch HTTP/1.1\r\n\(fields)\(many)\r\n")
            #expect(response.status == 431 && response["Content-Language"] == "en")
        }
    }
}
