import Foundation
import GRDB
import TestKit
import Testing

/// Uploads whose client leaves in the middle, or closes its output.
@Suite(.timeLimit(.minutes(10))) struct BrokenUploadTests {
    /// How the end of a body is known.
    enum Framing: CaseIterable {
        case length, chunks

        /// Returns the head of a request with this body, and the body in its sent form.
        fileprivate func message(_ form: MultipartForm) -> (head: String, body: Data) {
            let head = "POST /v1/pdf/documents HTTP/1.1\r\nHost: localhost\r\nContent-Type: \(form.contentType)\r\n"
            switch self {
            case .length:
                return (head + "Content-Length: \(form.body.count)\r\n\r\n", form.body)
            case .chunks:
                let size = String(form.body.count, radix: 16)
                let body = Data("\(size)\r\n".utf8) + form.body + Data("\r\n0\r\n\r\n".utf8)
                return (head + "Transfer-Encoding: chunked\r\n\r\n", body)
            }
        }
    }

    @Test(
        "TRUST-10 An upload that breaks off at any byte leaves nothing; what came whole before a half-close is served",
        arguments: Framing.allCases
    )
    func brokenOff(framing: Framing) async throws {
        let data = try TemporaryFolder()
        let larder = try await RunningLarder.start(data: data)
        let port = try #require(URL(string: larder.client.base)?.port)
        let (head, body) = framing.message(MultipartForm([Client.photo(number: 1, bytes: DocumentTests.photo)]))
        let last = body.count - 16
        for length in Array(stride(from: 0, to: last, by: last / 16)) + Array(last..<body.count) {
            for halfCloses in [true, false] {
                try await RawClient.connect(port: port) { client in
                    try await client.send(Data(head.utf8) + body.prefix(length))
                    guard halfCloses else { return }
                    client.finish()
                    let response = await client.receiveToEnd()
                    #expect(!response.contains(" 201 "), "after \(length) of \(body.count) bytes: \(response)")
                }
            }
        }
        try await RawClient.connect(port: port) { client in
            try await client.send(Data(head.utf8) + body)
            client.finish()
            let response = await client.receiveToEnd()
            #expect(response.contains(" 201 "), "\(response)")
        }
        // The server stops only when everything has ended that was under way.
        #expect(await larder.stop() == 0)
        #expect(try drafts(in: data) == 1)
        #expect(try files(in: data, "blobs") == 1)
        #expect(try files(in: data, "uploads") == 0)
    }

    private func drafts(in data: TemporaryFolder) throws -> Int? {
        let queue = try DatabaseQueue(path: data.url.appending(path: "larder.sqlite").path)
        return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM pdf_document") }
    }

    private func files(in data: TemporaryFolder, _ folder: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(
            at: data.url.appending(path: folder),
            includingPropertiesForKeys: nil,
            options: .skipsHiddenFiles
        ).count
    }
}
