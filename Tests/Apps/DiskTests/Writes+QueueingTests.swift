import HTTP
import HTTPTypes
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("What is left in the outbox, and what is not", .timeLimit(.minutes(2)))
struct WritesQueueingTests {
    /// Runs a test with lists that were seen but for the content of a folder in a folder, and a Disk that is away.
    private static func away(_ test: @Sendable (DiskHarness, String) async throws -> Void) async throws {
        let disk = WriteScenario.disk()
        disk.makeFolder("disk:/folder/unlisted")
        try await DiskHarness.run(disk) { app in
            let token = try await WriteScenario.away(app)
            try await test(app, token)
        }
    }

    @Test(
        "ONE-04 a write that the API fails to take is left with Prefer, and refused with the way to leave it without",
        arguments: [
            .init(status: .serviceUnavailable), .init(status: .internalServerError),
            .init(status: .tooManyRequests, headerFields: [.retryAfter: "30"]),
            .init(status: .ok, body: Array("<html>".utf8)),
            .init(status: .init(code: 423), body: Array(#"{"error":"DiskReadOnlyError"}"#.utf8)),
        ] as [IncomingResponse]
    )
    func failing(response: IncomingResponse) async throws {
        try await WriteScenario.run { app, disk, token in
            disk.intercept { _ in response }
            let writes: [(HTTPRequest.Method, String, String?)] = [
                (.delete, "/v1/disk/published?path=/a.txt", nil),
                (.post, "/v1/disk/folders", #"{"path":"/new"}"#),
                (.patch, "/v1/disk/file?path=/folder", #"{"name":"papers"}"#),
            ]
            for (method, target, body) in writes {
                let refused = try await app.ask(method, target, as: token, json: body)
                #expect(refused["actions.0.id"] == "leave" || refused["code"] == "outcome-unknown", "\(refused.text)")
                let left = try await app.leave(method, target, as: token, json: body)
                #expect(left.status == 202 && left.headerFields[.preferenceApplied] != nil, "\(left.text)")
            }
            let copy = #"{"from":"/a.txt","to":"/copy.txt"}"#
            let copied = try await app.leave(.post, "/v1/disk/files/copy", as: token, json: copy)
            #expect(copied.status >= 400 && copied["actions"] == nil, "\(copied.text)")
            let list = try await app.get("/v1/disk/files", as: token)
            #expect(Set(DiskHarness.names(list)) == ["a.txt", "papers", "new"] && list["meta.pending"] == 3)
            disk.intercept(nil)
            await app.drained()
            #expect(disk.change { $0.nodes["disk:/new"] != nil && $0.nodes["disk:/a.txt"]?.publicURL == nil })
        }
    }

    @Test("OUT-07 a write that was carried out despite a 503, and could not be looked at, is not sent again")
    func unobserved() async throws {
        try await WriteScenario.run { app, disk, token in
            disk.intercept { [disk] (request) in
                if request.method != .get { disk.carryOut(request) }
                return IncomingResponse(status: .serviceUnavailable)
            }
            let left = try await app.leave(.delete, "/v1/disk/file?path=/a.txt", as: token)
            #expect(left.status == 202 && disk.change { $0.nodes["disk:/a.txt"] == nil }, "\(left.text)")
            disk.intercept(nil)
            await app.drained()
            #expect(disk.asked.count { $0.hasPrefix("DELETE") } == 1, "\(disk.asked)")
        }
    }

    @Test("ONE-04 what the outbox does not take is disabled while the API fails, and beside what waits")
    func disabled() async throws {
        try await WriteScenario.run { app, disk, token in
            _ = try await app.leave(.delete, "/v1/disk/file?path=/folder/a%20inner.txt", as: token)
            disk.intercept { _ in IncomingResponse(status: .serviceUnavailable) }
            app.clock.advance(by: .seconds(10))
            let file = try await app.get("/v1/disk/file?path=/a.txt", as: token)
            let actions = zip(file.all("id", in: "data.actions"), file.all("enabled", in: "data.actions"))
            let disabled = actions.filter { $0.1 == false }.map(\.0)
            #expect(disabled == ["share", "copy"], "\(file.text)")
            #expect(file["data.actions.0.disabled_reason"] == "Yandex Disk does not work at the moment.")
            _ = try await app.leave(.patch, "/v1/disk/file?path=/a.txt", as: token, json: #"{"name":"b.txt"}"#)
            let moved = try await app.get("/v1/disk/file?path=/b.txt", as: token)
            #expect(moved["data.actions.6.id"] == "copy" && moved["data.actions.8.id"] == "keep_offline")
            for number in [1, 6, 8] {
                let reason = moved["data.actions.\(number).disabled_reason"]
                #expect(reason == "It was not sent to Yandex Disk yet.", "\(number) \(moved.text)")
            }
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
            let again = try await app.leave(.patch, "/v1/disk/file?path=/b.txt", as: token, json: #"{"name":"b.txt"}"#)
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
