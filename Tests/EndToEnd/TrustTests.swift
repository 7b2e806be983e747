import Foundation
import TestKit
import Testing

/// A proxy's responses replace no stored screen, and a crash leaves no private bytes outside of the data directory.
@Suite(.timeLimit(.minutes(10))) struct TrustTests {
    private func start(_ data: TemporaryFolder, _ sandbox: RunningSandbox, environment: [String: String] = [:])
        async throws -> (RunningLarder, Client)
    {
        let larder = try await RunningLarder.start(
            data: data,
            upstream: sandbox.spacex,
            sandbox.settings("yandex_disk", "catalogue"),
            environment: environment
        )
        return (larder, try await larder.client.diskUser())
    }

    /// Returns the address of a screen that asks the upstream in any case.
    private static func refreshed(_ screen: String) -> String {
        screen + (screen.contains("?") ? "&" : "?") + "refresh=1"
    }

    /// Expects that a screen is the stored one because of a proxy's response.
    private static func expectStored(_ screen: String, as before: String?, after status: Int, _ client: Client)
        async throws
    {
        let response = try await client.get(refreshed(screen))
        #expect(
            response.status == 200
                && response["Cache-Status"]?.hasSuffix("; fwd-status=\(status); detail=bad-response") == true,
            "\(screen): \(response.text)"
        )
        let meta = try response.json.meta
        #expect(meta.stale.bool == true && meta.offline.bool == false, "\(screen)")
        #expect(response.text.data.withoutActions == before, "\(screen)")
    }

    @Test(
        "TRUST-06 pages of a proxy for everything: the stored screens, stale, and all of them offline afterwards",
        arguments: [200, 401, 403, 404, 410]
    )
    func pages(status: Int) async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let (larder, member) = try await start(data, sandbox)
        let guest = try await larder.guest()
        let recent = try await member.get("/v1/disk/recent?limit=3").json
        let file = try #require(recent.data.items[0].href.string)
        let content = try #require(try await member.get(file).json.data.content_url.string)
        let bytes = try await member.get(content).body
        // The content is stored after its last bytes were sent; then the screens say so.
        while try await member.get(file).json.data.downloaded.bool != true { await Task.yield() }
        let screens = [
            "/v1/disk/files", "/v1/disk/recent?limit=3", file, "/v1/shop/search?limit=3", "/v1/shop/categories",
            "/v1/shop/products/1",
        ]
        // Actions that a failing Yandex Disk would refuse are disabled.
        var before: [String: String] = [:]
        for screen in screens { before[screen] = try await member.get(screen).text.data.withoutActions }
        for upstream in ["yandex_disk", "catalogue", "spacex"] {
            try await sandbox.fault("html(\(status))", of: upstream)
        }
        for screen in screens { try await Self.expectStored(screen, as: before[screen], after: status, member) }
        let ships = try await guest.get("/v1/ships?refresh=1")
        let outcome = "; fwd-status=\(status); detail=bad-response"
        #expect(ships.status == 200 && ships["Cache-Status"]?.hasSuffix(outcome) == true)
        #expect(try ships.json.data.items.elements.count == 29)
        await sandbox.kill9()
        for screen in screens {
            let response = try await member.get(Self.refreshed(screen))
            // Offline, nothing can be changed.
            let expected = before[screen]?.withoutActions
            #expect(
                response.status == 200 && response.text.data.withoutActions == expected,
                "\(screen): \(response.text), before: \(before[screen] ?? "")"
            )
            #expect(try response.json.meta.offline.bool == true, "\(screen)")
        }
        #expect(try await member.get(content).body == bytes)
        #expect(try await member.get("/v1/disk/session").status == 200)
    }

    @Test("TRUST-14 private bytes are only in the data directory and the owner's: at work, after kill -9 or a restart")
    func scratch() async throws {
        let (data, tools, temporary) = (try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder())
        let sandbox = try await RunningSandbox.start()
        // In place of the program that sets the limits one that says its number, and never ends.
        let pipe = tools.path + "/working"
        #expect(mkfifo(pipe, 0o600) == 0)
        try Data("#!/bin/sh\necho $$ > '\(pipe)'\nexec sleep 600\n".utf8).write(
            to: URL(filePath: tools.path + "/prlimit")
        )
        #expect(chmod(tools.path + "/prlimit", 0o700) == 0)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let environment = ["PATH": "\(tools.path):\(path)", "TMPDIR": temporary.path]
        let (first, member) = try await start(data, sandbox, environment: environment)
        let files = try await member.get("/v1/disk/search?q=.pdf&limit=1").json
        let pdf = try #require(files.data.items[0].path.string)
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "/")
        let target =
            "/v1/disk/file/page?path=" + (pdf.dropFirst(5).addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
        let descriptor = open(pipe, O_RDWR)
        defer { close(descriptor) }
        let page = Task {
            _ = try? await member.get(target)
            // An end of the request before any program began is no number of one.
            _ = write(descriptor, "0\n", 2)
        }
        let child = try #require(try await Self.number(from: descriptor), "the program was not started")
        defer { kill(child, SIGKILL) }
        #expect(try Self.names(data.path + "/uploads").count == 1)
        try Self.expectPrivate(data)
        #expect(try Self.names(temporary.path) == [])
        await first.kill9()
        _ = await page.value
        #expect(try Self.names(temporary.path) == [])
        try Self.expectPrivate(data)

        let (second, _) = try await start(data, sandbox, environment: environment)
        #expect(
            try Self.names(data.path + "/uploads") == [] && Self.names(data.path + "/work") == []
                && Self.names(temporary.path) == []
        )
        #expect(await second.stop() == 0)
    }

    /// The number that a program writes into a pipe, above 0; waits for it.
    private static func number(from descriptor: Int32) async throws -> Int32? {
        let text = await Task.detached {
            var bytes = [UInt8](repeating: 0, count: 32)
            let count = read(descriptor, &bytes, bytes.count)
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }.value
        return Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)).flatMap { $0 > 0 ? $0 : nil }
    }

    private static func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder)
    }

    /// Expects that no other user may open anything in the data directory.
    private static func expectPrivate(_ data: TemporaryFolder) throws {
        for name in try FileManager.default.subpathsOfDirectory(atPath: data.path) {
            let mode = try FileManager.default.attributesOfItem(atPath: data.path + "/" + name)
            guard mode[.type] as? FileAttributeType != .typeSymbolicLink else { continue }
            #expect((mode[.posixPermissions] as? Int).map { $0 & 0o077 } == 0, "\(name)")
        }
    }
}

extension String {
    /// The text of a screen's data, which is all that does not tell where it is from.
    fileprivate var data: String { range(of: #","meta":"#).map { String(self[..<$0.lowerBound]) } ?? self }

    /// The same with all actions disabled: whether and how they can be done depends on whether the upstream is known to
    /// be away.
    fileprivate var withoutActions: String {
        replacing(#/"(disabled_reason|headers)":("[^"]*"|\{[^}]*\}),/#, with: "")
            .replacing(#/"fields":\[\{"name":"available_for_s"[^\]]*\],/#, with: "")
            .replacing(#""enabled":true"#, with: #""enabled":false"#)
    }
}
