import Foundation
import GRDB
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Operations that the API finishes later")
struct OperationTrackerTests {
    @Test("DISK-30 what the upstream does in its own time is followed to its end")
    func followed() async throws {
        let disk = WriteScenario.disk()
        disk.change { $0.pollsOfWrites = 0 }
        try await DiskHarness.run(disk) { app, token in
            _ = try await app.get("/v1/disk/files", as: token)
            #expect(
                try await app.ask(.patch, "/v1/disk/file?path=/a.txt", as: token, json: #"{"name":"z.txt"}"#)[
                    "data.name"
                ] == "z.txt"
            )
            #expect(try await app.ask(.delete, "/v1/disk/file?path=/folder", as: token).status == 200)
            #expect(disk.asked.count { $0.contains("/operations/") } == 2)
            disk.goAway()
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?refresh=1", as: token)) == ["z.txt"])
        }
    }

    @Test("DISK-30 what takes longer is 202 with a status URL; its end is stored when it is seen")
    func underWay() async throws {
        let disk = WriteScenario.disk()
        disk.change { $0.pollsOfWrites = 2 }
        try await DiskHarness.run(disk) { app, token in
            _ = try await app.get("/v1/disk/files", as: token)
            let answer = try await app.ask(.delete, "/v1/disk/file?path=/a.txt", as: token)
            answer.expectScreen("disk.operation", status: 202)
            #expect(
                answer["meta.state"] == "loading" && answer["data.status"] == "running"
                    && answer["data.action"] == "delete"
            )
            let location = try #require(answer.headerFields[.location])
            #expect(answer["data.href"] == .string(location))
            let running = try await app.get(location, as: token)
            #expect(running.status == 202 && running["data.status"] == "running")
            for _ in 0..<2 {
                let done = try await app.get(location, as: token)
                #expect(done.status == 200 && done["data.status"] == "done")
            }
            disk.goAway()
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?refresh=1", as: token)) == ["folder"])
            try await app.get("/v1/disk/operations/unknown", as: token).expectProblem("not-found", 404)
        }
    }

    @Test(
        "DISK-30 one that the upstream cannot finish changes nothing here, and is a problem or failed",
        arguments: [0, 1],
        ["failed", "failure"]
    )
    func failedOperation(polls: Int, word: String) async throws {
        let disk = WriteScenario.disk()
        disk.change {
            $0.pollsOfWrites = polls
            $0.failsOperations = true
        }
        disk.onResponse { request, response in
            guard request.url.contains("/operations/") else { return response }
            let body = String(decoding: response.body, as: UTF8.self).replacing("failed", with: word)
            return .json(body, status: response.status)
        }
        try await DiskHarness.run(disk) { app, token in
            _ = try await app.get("/v1/disk/files", as: token)
            let answer = try await app.ask(.delete, "/v1/disk/file?path=/a.txt", as: token)
            if polls == 0 {
                answer.expectProblem("upstream-bad-response", 502)
                // To send it again later would not help.
                let left = try await app.leave(.delete, "/v1/disk/file?path=/a.txt", as: token)
                left.expectProblem("upstream-bad-response", 502)
                #expect(answer["actions"] == nil && left["actions"] == nil)
            } else {
                #expect(
                    try await app.get(try #require(answer.headerFields[.location]), as: token)["data.status"]
                        == "failed"
                )
            }
            disk.goAway()
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?refresh=1", as: token)) == ["a.txt", "folder"])
        }
    }

    /// Writes that take long, with their requests.
    private static let writes: [(what: String, method: HTTPRequest.Method, target: String, json: String?)] = [
        ("deletion", .delete, "/v1/disk/file?path=/a.txt", nil),
        ("move", .post, "/v1/disk/files/move", #"{"from":"/a.txt","to":"/folder/b.txt"}"#),
        ("copy", .post, "/v1/disk/files/copy", #"{"from":"/a.txt","to":"/folder/b.txt"}"#),
    ]

    @Test(
        "DISK-30 the end of an operation that the service has forgotten is seen at its paths",
        arguments: [true, false]
    )
    func forgotten(isDone: Bool) async throws {
        for (what, method, target, json) in Self.writes {
            let disk = WriteScenario.disk()
            disk.change { $0.pollsOfWrites = 9 }
            try await DiskHarness.run(disk) { app, token in
                try await WriteScenario.seen(app, token)
                let answer = try await app.ask(method, target, as: token, json: json)
                #expect(answer.status == 202, "\(what): \(answer.text)")
                let href = try #require(answer.headerFields[.location])
                disk.change { state in
                    if isDone { state.endOperations() }
                    state.forgetOperations()
                }
                // If the paths cannot be read, nothing is decided.
                disk.intercept { $0.url.contains("/operations/") ? nil : .json("{}", status: .badGateway) }
                try await app.get(href, as: token).expectProblem("upstream-unavailable", 503)
                disk.intercept(nil)
                for _ in 0..<2 {
                    let end = try await app.get(href, as: token)
                    #expect(end.status == 200 && end["data.status"] == .string(isDone ? "done" : "failed"), "\(what)")
                }
                let names = DiskHarness.names(try await app.get("/v1/disk/files", as: token))
                #expect(names.contains("a.txt") == (!isDone || what == "copy"), "\(what): \(names)")
                let inner = DiskHarness.names(try await app.get("/v1/disk/files?path=/folder", as: token))
                #expect(inner.contains("b.txt") == (isDone && what != "deletion"), "\(what): \(inner)")
            }
        }
    }

    @Test("DISK-30 how an operation has ended follows from the items at its paths")
    func endings() {
        let (file, folder) = (DiskItem(path: .at("/a"), kind: .file), DiskItem(path: .at("/a"), kind: .dir))
        var shared = file
        shared.isPublished = true
        func isDone(_ action: DiskOperation.Action, _ subject: DiskItem?, _ place: DiskItem? = nil) -> Bool {
            let operation = DiskOperation(
                id: "",
                account: "",
                upstreamID: "",
                action: action,
                path: .at("/a"),
                target: .at("/b"),
                status: .running
            )
            return operation.ending(subject: subject, place: place) == .done
        }
        #expect(isDone(.delete, nil) && !isDone(.delete, file) && isDone(.restore, nil) && !isDone(.restore, file))
        #expect(isDone(.move, nil, file) && !isDone(.move, file, file) && !isDone(.move, nil))
        #expect(isDone(.copy, file, file) && !isDone(.copy, file))
        #expect(isDone(.upload, file) && !isDone(.upload, folder) && !isDone(.upload, nil))
        #expect(isDone(.makeFolder, folder) && !isDone(.makeFolder, nil))
        #expect(isDone(.publish, shared) && !isDone(.publish, file) && !isDone(.publish, nil))
        #expect(isDone(.unpublish, file) && !isDone(.unpublish, shared) && !isDone(.unpublish, nil))
    }
}
