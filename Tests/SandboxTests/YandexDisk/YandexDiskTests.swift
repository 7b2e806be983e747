import JSONValues
import NIOHTTP1
import TestKit
import Testing

@testable import Sandbox

private let token: HTTPHeaders = ["Authorization": "OAuth sandbox-token"]

@Suite struct YandexDiskTests {
    /// The target of a link, whatever its origin.
    private func link(_ sandbox: RunningSandbox, _ path: String, upload: Bool = false) async throws -> String {
        let response = try await sandbox.get(
            "/yandex_disk/resources/\(upload ? "upload" : "download")?path=\(FormEncoding.encoded(path))",
            headers: token
        )
        let href = try #require(try response.object()["href"]?.string)
        return href.replacing("http://127.0.0.1:\(sandbox.port)", with: "")
    }

    private func set(_ fault: String, _ upstream: String, _ sandbox: RunningSandbox) async throws {
        let response = try await sandbox.send(
            .PUT,
            "/_sandbox/upstreams/\(upstream)/fault",
            body: #"{"fault":"\#(fault)"}"#
        )
        try #require(response.status == 200)
    }

    private func raw(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n" }

    @Test("an upload longer than any other body comes back byte for byte, over links of this server")
    func roundTrip() async throws {
        try await withSandbox { sandbox in
            let text = String(repeating: "много байтов ", count: 200_000)
            let target = try await link(sandbox, "disk:/большой.txt", upload: true)
            #expect(try await sandbox.send(.PUT, target, body: text).status == 201)
            let download = try await link(sandbox, "disk:/большой.txt")
            let response = try await sandbox.get(download)
            #expect(
                response.status == 200 && response.bytes == Array(text.utf8)
                    && response.headers["content-length"] == "\(text.utf8.count)"
            )
            let part = try await sandbox.get(download, headers: ["Range": "bytes=1500000-1500009"])
            #expect(part.status == 206 && part.bytes == Array(Array(text.utf8)[1_500_000..<1_500_010]))
        }
    }

    @Test("HEAD of the large file has its length and no body; a range of it is quick")
    func large() async throws {
        try await withSandbox { sandbox in
            let target = try await link(sandbox, "disk:/Архив/Образ диска 2 ГБ.img")
            let exchange = try await RawExchange(
                port: sandbox.port,
                send: "HEAD \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            )
            #expect(
                exchange.text.hasPrefix("HTTP/1.1 200")
                    && exchange.text.lowercased().contains("content-length: 2254857830\r\n")
            )
            #expect(exchange.text.hasSuffix("\r\n\r\n"))
            let part = try await sandbox.get(target, headers: ["Range": "bytes=-300000"])
            #expect(part.status == 206 && part.body.count == 300_000)
        }
    }

    @Test("SRV-10 a truncated download announces its length and ends in the middle; the API behind it is well")
    func truncated() async throws {
        try await withSandbox { sandbox in
            let target = try await link(sandbox, "disk:/Скриншоты/Снимок экрана 1.png")
            let whole = try await sandbox.get(target).bytes
            try await set("truncated", "yandex_downloader", sandbox)
            let exchange = try await RawExchange(port: sandbox.port, send: raw(target))
            let head = try #require(exchange.text.firstRange(of: "\r\n\r\n")).lowerBound
            #expect(String(exchange.text[..<head]).lowercased().contains("content-length: \(whole.count)"))
            #expect(exchange.received.suffix(whole.count / 2) == whole.prefix(whole.count / 2))
            #expect(try await sandbox.get("/yandex_disk/", headers: token).status == 200)
        }
    }

    @Test("pause stops a download in its middle until it is released")
    func pause() async throws {
        try await withSandbox { sandbox in
            let target = try await link(sandbox, "disk:/Скриншоты/Снимок экрана 1.png")
            let whole = try await sandbox.get(target).bytes
            try await set("pause(1000)", "yandex_downloader", sandbox)
            async let response = sandbox.get(target)
            while try await sandbox.get("/_sandbox/upstreams/yandex_downloader/fault").object()["waiting"] != 1 {}
            _ = try await sandbox.send(.POST, "/_sandbox/upstreams/yandex_downloader/release")
            #expect(try await response.bytes == whole)
        }
    }

    @Test("a paused download that is released into offline is reset in its middle")
    func pauseIntoOffline() async throws {
        try await withSandbox { sandbox in
            let target = try await link(sandbox, "disk:/Скриншоты/Снимок экрана 1.png")
            try await set("pause(1000)", "yandex_downloader", sandbox)
            async let exchange = RawExchange(port: sandbox.port, send: raw(target))
            while try await sandbox.get("/_sandbox/upstreams/yandex_downloader/fault").object()["waiting"] != 1 {}
            try await set("offline", "yandex_downloader", sandbox)
            _ = try await sandbox.send(.POST, "/_sandbox/upstreams/yandex_downloader/release")
            let ended = try await exchange
            #expect(ended.wasReset && ended.received.count > 1_000 && ended.received.count < 10_000)
        }
    }

    @Test("an upload that meets a fault stores nothing")
    func failedUpload() async throws {
        try await withSandbox { sandbox in
            let target = try await link(sandbox, "disk:/a.txt", upload: true)
            for fault in ["error(503)", "offline"] {
                try await set(fault, "yandex_uploader", sandbox)
                _ = try? await sandbox.send(.PUT, target, body: "x")
            }
            try await set("online", "yandex_uploader", sandbox)
            #expect(try await sandbox.get("/yandex_disk/resources?path=disk:/a.txt", headers: token).status == 404)
            #expect(try await sandbox.send(.PUT, target, body: "x").status == 201)
        }
    }

    @Test("the journal has the links' requests under their own names, and no token in clear")
    func journal() async throws {
        try await withSandbox { sandbox in
            let target = try await link(sandbox, "disk:/Горы.jpg")
            _ = try await sandbox.get(target, headers: token)
            let response = try await sandbox.get("/_sandbox/journal")
            let entries = try #require(try response.object()["entries"]?.array).compactMap(\.object)
            #expect(entries.map { $0["upstream"] } == ["yandex_disk", "yandex_downloader"])
            #expect(!response.text.contains("sandbox-token"))
            for entry in entries {
                #expect(entry["headers"]?.object?["authorization"]?.string?.hasPrefix("sha256:") == true)
            }
        }
    }
}
