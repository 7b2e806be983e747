import HTTP
import HTTPTypes
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("What is left in the outbox, and what is not", .timeLimit(.minutes(2)))
struct WriteRouterTests {
    /// Runs a test with lists that were seen but for the content of a folder in a folder, and a Disk that is away.
    private static func away(_ test: @Sendable (DiskHarness, String) async throws -> Void) async throws {
        let disk = WriteScenario.disk()
        disk.makeFolder("disk:/folder/unlisted")
        try await DiskHarness.run(disk) { app in
            let token = try await WriteScenario.away(app)
            try await test(app, token)
        }
    }

    private static func makeFolder(_ path: String, _ app: DiskHarness, _ token: String) async throws -> Exchanged {
        try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"\#(path)"}"#)
    }

    @Test("OUT-01 a rename to the name that a file has is done at once, under the same conditions as any")
    func unneeded() async throws {
        try await Self.away { app, token in
            let target = "/v1/disk/file?path=/a.txt"
            let left = try await app.leave(.patch, target, as: token, json: #"{"name":"a.txt"}"#)
            #expect(left.status == 202 && left["data.status"] == "done", "\(left.text)")
            #expect(try await app.get(try left.string("data.href"), as: token)["data.state"] == "done")
            #expect(app.store.outbox.queue(of: "1130") == nil)
            try await app.leave(.patch, "/v1/disk/file?path=/no.txt", as: token, json: #"{"name":"no.txt"}"#)
                .expectProblem("not-found", 404)
            let fields: HTTPFields = [
                .prefer: "respond-async", .contentType: "application/json", .ifMatch: "\"other\"",
            ]
            try await app.ask(.patch, target, as: token, fields, json: #"{"name":"a.txt"}"#)
                .expectProblem("precondition-failed", 412)
            // Also of a file that has this name because of a write that waits.
            _ = try await app.leave(.patch, target, as: token, json: #"{"name":"b.txt"}"#)
            let again = try await app.leave(
                .patch,
                "/v1/disk/file?path=/b.txt",
                as: token,
                json: #"{"name":"b.txt"}"#
            )
            #expect(again["data.status"] == "done" && app.store.outbox.queue(of: "1130")?.entries.count == 1)
            app.disk.intercept(nil)
            await app.drained()
            #expect(app.disk.change { $0.nodes["disk:/b.txt"] != nil })
        }
    }

    @Test(
        "OUT-01 a write below a folder that is not there, as lists have shown, is refused at once",
        arguments: [
            ("/nowhere/new", 404), ("/nowhere/deep/new", 404), ("/folder/nowhere/new", 404), ("/a.txt/new", 409),
            ("/a.txt/deep/new", 404), ("/new", 202), ("/folder/new", 202), ("/folder/unlisted/new", 202),
            ("/folder/unlisted/unknown/new", 202), ("/folder/unlisted/unknown/deep/new", 202),
        ]
    )
    func below(path: String, status: Int) async throws {
        try await Self.away { app, token in
            let made = try await Self.makeFolder(path, app, token)
            #expect(made.status == status, "\(made.text)")
            let put: HTTPFields = [.prefer: "respond-async"]
            let upload = "/v1/disk/file/content?path=\(path).txt"
            #expect(try await app.ask(.put, upload, as: token, put, bytes: [1]).status == status)
            let move = #"{"from":"/folder/a inner.txt","to":"\#(path) moved"}"#
            let moved = try await app.leave(.post, "/v1/disk/files/move", as: token, json: move)
            #expect(moved.status == status, "\(moved.text)")
        }
    }

    @Test("OUT-01 what is not in a folder that was listed as a whole is not found; what may be there is refused")
    func subjects() async throws {
        try await Self.away { app, token in
            for path in ["/nowhere", "/folder/nowhere", "/nowhere/deep", "/a.txt/x"] {
                try await app.leave(.delete, "/v1/disk/file?path=\(path)", as: token).expectProblem("not-found", 404)
            }
            try await app.leave(.delete, "/v1/disk/file?path=/folder/unlisted/x", as: token)
                .expectProblem("offline-write-refused", 503)
        }
    }

    @Test("OUT-04 below a folder that waits under another name the lists of the API count under the old one")
    func renamed() async throws {
        try await Self.away { app, token in
            _ = try await app.leave(.patch, "/v1/disk/file?path=/folder", as: token, json: #"{"name":"papers"}"#)
            try await Self.makeFolder("/papers/nowhere/new", app, token).expectProblem("not-found", 404)
            try await Self.makeFolder("/folder/new", app, token).expectProblem("not-found", 404)
            #expect(try await Self.makeFolder("/papers/unlisted/new", app, token).status == 202)
            #expect(try await Self.makeFolder("/papers/unlisted/unknown/new", app, token).status == 202)
        }
    }
}
