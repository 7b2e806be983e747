import Foundation
import TestKit
import Testing

/// Wrappers of the programs that work on documents: they wait while a file exists, kill themselves if another one does,
/// and then become the program.
struct HeldPrograms: Sendable {
    private let temporary: TemporaryFolder
    var folder: URL { temporary.url }
    private var hold: URL { folder.appending(path: "hold") }
    private var kill: URL { folder.appending(path: "kill") }

    init() throws {
        temporary = try TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.appending(path: "bin"), withIntermediateDirectories: true)
        let beside = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        let real = [
            "larder-pdf-worker": beside.appending(path: "larder-pdf-worker").path, "pdftoppm": "/usr/bin/pdftoppm",
        ]
        for (name, program) in real {
            let script = folder.appending(path: "bin/\(name)")
            let text = """
                #!/bin/sh
                while [ -e '\(hold.path)' ]; do /bin/sleep 0.05; done
                if [ -e '\(kill.path)' ]; then kill -9 $$; fi
                exec '\(program)' "$@"
                """
            try text.write(to: script, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script.path)
        }
    }

    /// Flags of a server that uses them, on a data directory of this name.
    func settings(data: String) -> [String] {
        [
            "--media-pdf-worker", folder.appending(path: "bin/larder-pdf-worker").path, "--data-directory",
            folder.appending(path: data).path,
        ]
    }

    /// Copies the data directory of a server that has ended, for another one.
    func copy(data: String, to other: String) throws {
        try FileManager.default.copyItem(at: folder.appending(path: data), to: folder.appending(path: other))
    }

    var environment: [String: String] { ["PATH": "\(folder.appending(path: "bin").path):/usr/bin:/bin"] }

    func wait() throws { try Data().write(to: hold) }
    func die() throws { try Data().write(to: kill) }
    func goOn() throws {
        for file in [hold, kill] where FileManager.default.fileExists(atPath: file.path) {
            try FileManager.default.removeItem(at: file)
        }
    }
}

extension ContractScenario {
    private static let create = "POST /v1/pdf/documents"
    private static let createOfDisk = "POST /v1/pdf/documents/from-disk"

    /// The documents that a server before has left.
    private func listedPair() async throws -> (Drawn, Drawn) {
        let ids = (try await larder.send("GET", "/v1/pdf/documents").json.at(pointer: "/data/items")?.array ?? [])
            .compactMap { $0["id"]?.string }
        let drawn = try await ids.asyncMap { id in
            let pages = try await larder.send("GET", "/v1/pdf/documents/\(id)").json.at(pointer: "/data/pages")?.array
            return Drawn(id: id, pages: (pages ?? []).compactMap { $0["id"]?.string })
        }
        try #require(drawn.count == 2)
        return drawn[0].pages.count > 1 ? (drawn[0], drawn[1]) : (drawn[1], drawn[0])
    }

    private func expectEverywhere(_ code: String) async throws {
        let (one, other) = try await listedPair()
        try await expectOfWork(code, on: one, with: other)
        let response = try await askPDF(Self.create, Self.form, body: Self.form([("a.pdf", MadeFile.pdf(pages: 1))]))
        #expect(response.problemCode == code, "\(response.text)")
        #expect(try await documentOfDisk("a.pdf", MadeFile.pdf(pages: 1)).problemCode == code)
    }

    /// Writes a file to the simulated Disk and makes a document of it.
    func documentOfDisk(_ name: String, _ content: String) async throws -> ReceivedResponse {
        let base64 = Data(content.utf8).base64EncodedString()
        try await larder.control("PUT", "/yandex_disk/files", #"{"path":"disk:/\#(name)","base64":"\#(base64)"}"#)
        return try await ask(Self.createOfDisk, try await diskSession(), body: #"{"path":"disk:/\#(name)"}"#)
    }

    /// One long job runs and one waits, as well as one short job each, and none ends: more are refused.
    func programsAreBusy(_ programs: HeldPrograms) async throws {
        let (one, _) = try await savedPair()
        // Changes of small files of its own are short work. Each holds the lock of its document: none is of the pair;
        // drafts are not listed.
        let drafts = try await (1...3).map { $0 }.asyncMap { _ in
            try await draft([("draft.pdf", MadeFile.pdf(pages: 1))])
        }
        try programs.wait()
        try await withThrowingTaskGroup(of: ReceivedResponse.self) { group in
            // Requests for one page wait for each other; none of these is the first, which is requested below.
            for page in one.pages[1...3] {
                group.addTask { try await larder.send("GET", "/v1/pdf/documents/\(one.id)/pages/\(page)/thumbnail") }
            }
            // Two of the three cannot end, so the first that does is the one that was refused.
            #expect(try await group.next()?.problemCode == "overloaded")
            for draft in drafts {
                let path = "/v1/pdf/documents/\(draft.id)/pages/\(draft.page)"
                group.addTask { try await larder.send("PATCH", path, body: #"{"rotate_by":90}"#) }
            }
            #expect(try await group.next()?.problemCode == "overloaded")
            try await expectEverywhere("overloaded")
            try programs.goOn()
            for try await response in group { #expect(response.status == 200) }
        }
    }

    /// No job ends within its time.
    func programsAreSlow(_ programs: HeldPrograms) async throws {
        try programs.wait()
        try await expectEverywhere("timed-out")
        try programs.goOn()
    }

    /// Each job is killed, as by a kernel that has no memory left.
    func programsAreKilled(_ programs: HeldPrograms) async throws {
        try programs.die()
        try await expectEverywhere("processing-unavailable")
        try programs.goOn()
    }

    /// Nothing is installed.
    func programsAreMissing() async throws {
        try await expectEverywhere("tool-missing")
        _ = try await larder.send("GET", "/v1/shop/products/1")
        _ = try await larder.send("POST", "/v1/shop/list/items", body: #"{"product_id":1}"#)
        _ = try await larder.send("GET", "/v1/shop/categories")
        let pictures = [
            "GET /v1/shop/images/{id}/{n}", "GET /v1/shop/list/items/{item_id}/image",
            "GET /v1/shop/categories/{id}/image",
        ]
        for operation in pictures {
            let response = try await ask(operation, query: "?width=100")
            #expect(response.problemCode == "tool-missing", "\(operation): \(response.text)")
        }
        let guest = try await session()
        try await ask("GET /v1/ships", guest)
        let picture = try await ask("GET /v1/ships/{id}/image", query: "?width=9", guest)
        #expect(picture.problemCode == "tool-missing", "\(picture.text)")
    }
}
