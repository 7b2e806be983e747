import Foundation
import TestKit
import Testing

/// The outbox of the Disk app in the real executable, with the simulated Yandex Disk behind it.
@Suite(.timeLimit(.minutes(30))) struct DiskOutboxTests {
    /// Number of kills; 200 by `script/check-outbox`.
    static let kills = ProcessInfo.processInfo.environment["OUTBOX_KILLS"].flatMap { Int($0) } ?? 4

    private func start(_ data: TemporaryFolder, _ sandbox: RunningSandbox) async throws -> RunningLarder {
        try await RunningLarder.start(
            data: data,
            [
                "--upstreams-yandex-disk-url", sandbox.base + "/yandex_disk", "--upstreams-yandex-oauth-url",
                sandbox.base + "/yandex_oauth", "--upstreams-yandex-disk-probe-interval-ms", "100",
            ]
        )
    }

    /// Returns how many requests of a method and path were answered with a status.
    private func count(_ sandbox: RunningSandbox, _ query: String) async throws -> Int {
        try await sandbox.control.get("/journal?upstream=yandex_disk&\(query)&count=true").json.count.int ?? -1
    }

    @Test("OUT-02 what was answered 202 survives kill -9 while queued and sent, and is carried out once, in order")
    func kills() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        var larder = try await start(data, sandbox)
        var member = larder.client
        member.token = try await member.post(
            "/v1/disk/session",
            #"{"mode":"oauth_token","access_token":"sandbox-token"}"#
        ).json.data.token.string
        #expect(try await member.get("/v1/disk/files").status == 200)
        var left: [String] = []
        for kill in 0..<Self.kills {
            try await sandbox.fault("offline", of: "yandex_disk")
            for number in 0..<3 {
                let path = "/kill \(kill) \(number)"
                let fields = ["Prefer": "respond-async"]
                let response = try await member.send("POST", "/v1/disk/folders", fields, body: #"{"path":"\#(path)"}"#)
                #expect(response.status == 202, "\(response.text)")
                left.append(path)
            }
            if kill % 2 == 1 {
                let before = try await count(sandbox, "method=PUT")
                try await sandbox.fault("online", of: "yandex_disk")
                try await BoundedWait.poll(for: "a write to be sent") {
                    try await count(sandbox, "method=PUT") > before
                }
            }
            await larder.kill9()
            larder = try await start(data, sandbox)
            let token = member.token
            member = larder.client
            member.token = token
        }
        try await sandbox.fault("online", of: "yandex_disk")
        try await BoundedWait.poll(for: "the outbox to drain") {
            try await member.get("/v1/disk/outbox").json.meta.state.string == "empty"
        }
        #expect(try await count(sandbox, "method=PUT&status=201") == left.count, "each once")
        let entries = try await sandbox.control.get("/journal?upstream=yandex_disk&method=PUT&status=201").json.entries
        let order = entries.elements.map { entry in
            let target = entry.path.string?.removingPercentEncoding ?? ""
            return target.split(separator: "path=").last.map(String.init) ?? ""
        }
        #expect(order == left.map { "disk:" + $0 })
    }
}
