import Foundation
import HTTP
import HTTPTypes
import NIOCore
import Screens
import Synchronization
import TestKit
import Testing

@testable import Concurrency
@testable import Disk
@testable import Upstream

/// A write of each kind: its request, and the calls that it sends to the upstream.
enum EachWrite: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case upload, overwrite, folder, rename, move, copy, delete, publish, unpublish, restore

    var testDescription: String { rawValue }

    /// A Disk on which each of them can be carried out.
    static func disk() -> FakeYandexDisk {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.txt", "text of a")
        disk.put("disk:/public.txt", "text for all")
        disk.makeFolder("disk:/folder")
        disk.change { state in
            state.nodes["disk:/public.txt"]?.publicURL = "https://yadi.sk/d/p"
            var gone = FakeYandexDisk.Node(isFolder: false, bytes: Array("gone".utf8))
            gone.origin = "disk:/gone.txt"
            state.nodes["trash:/gone.txt_1"] = gone
        }
        return disk
    }

    /// The item that it acts on, in the form of a query or body.
    var subject: String {
        switch self {
        case .unpublish: "/public.txt"
        case .restore: "trash:/gone.txt_1"
        case .upload, .folder: "/new"
        case .overwrite, .rename, .move, .copy, .delete, .publish: "/a.txt"
        }
    }

    private var request: (method: HTTPRequest.Method, target: String, body: String?) {
        switch self {
        case .upload: (.put, "file/content?path=/new", "new")
        case .overwrite: (.put, "file/content?path=/a.txt&overwrite=1", "other")
        case .folder: (.post, "folders", #"{"path":"/new"}"#)
        case .rename: (.patch, "file?path=/a.txt", #"{"name":"b.txt"}"#)
        case .move: (.post, "files/move", #"{"from":"/a.txt","to":"/folder/b.txt"}"#)
        case .copy: (.post, "files/copy", #"{"from":"/a.txt","to":"/folder/b.txt"}"#)
        case .delete: (.delete, "file?path=/a.txt", nil)
        case .publish: (.post, "links", #"{"path":"/a.txt"}"#)
        case .unpublish: (.delete, "published?path=/public.txt", nil)
        case .restore: (.post, "trash/restore", #"{"path":"trash:/gone.txt_1"}"#)
        }
    }

    func ask(_ app: DiskHarness, _ token: String, _ fields: HTTPFields = [:]) async throws -> Exchanged {
        let (method, path, body) = request
        let content: HTTPFields = method == .put ? [.contentType: "application/octet-stream"] : [:]
        return try await app.ask(method, "/v1/disk/\(path)", as: token, fields.merging(content), json: body)
    }

    var successStatus: Int {
        switch self {
        case .upload, .overwrite, .folder, .move, .copy, .publish: 201
        case .rename, .delete, .unpublish, .restore: 200
        }
    }

    /// Whether a request is the one that changes something.
    static func isWrite(_ request: OutgoingRequest) -> Bool { request.method != .get }

    /// Whether the Disk has the intended state.
    func isDone(on disk: FakeYandexDisk) -> Bool {
        disk.change { state in
            switch self {
            case .upload: state.nodes["disk:/new"]?.bytes == Array("new".utf8)
            case .overwrite: state.nodes["disk:/a.txt"]?.bytes == Array("other".utf8)
            case .folder: state.nodes["disk:/new"]?.isFolder == true
            case .rename: state.nodes["disk:/b.txt"] != nil && state.nodes["disk:/a.txt"] == nil
            case .move: state.nodes["disk:/folder/b.txt"] != nil && state.nodes["disk:/a.txt"] == nil
            case .copy: state.nodes["disk:/folder/b.txt"] != nil && state.nodes["disk:/a.txt"] != nil
            case .delete: state.nodes["disk:/a.txt"] == nil
            case .publish: state.nodes["disk:/a.txt"]?.publicURL != nil
            case .unpublish: state.nodes["disk:/public.txt"]?.publicURL == nil
            case .restore: state.nodes["disk:/gone.txt"] != nil && state.nodes["trash:/gone.txt_1"] == nil
            }
        }
    }
}

@Suite("Outcomes of writes")
struct WriteRunSettlingTests {
    /// Everything a write may need is known here before.
    private func know(_ app: DiskHarness, _ token: String) async throws {
        for screen in ["files", "files?path=/folder", "recent", "trash", "published"] {
            #expect(try await app.get("/v1/disk/\(screen)", as: token).status == 200)
        }
    }

    private func names(_ app: DiskHarness, _ token: String) async throws -> [String] {
        try await ["files", "files?path=/folder", "trash", "published"].asyncMap {
            DiskHarness.names(try await app.get("/v1/disk/\($0)", as: token))
        }.flatMap { $0 }
    }

    @Test(
        "TRUST-05 a write whose response is lost, though it was carried out, is a success, and is not sent again",
        arguments: EachWrite.allCases
    )
    func lostResponse(write: EachWrite) async throws {
        for error in [
            UpstreamError.unreachable(.reset), .unreachable(.totalTimeout),
            .badResponse(status: nil, reason: "not HTTP"),
        ] {
            try await DiskHarness.run(EachWrite.disk()) { app, disk, token in
                try await know(app, token)
                disk.intercept { [disk] (request) throws(UpstreamError) in
                    guard EachWrite.isWrite(request) else { return nil }
                    disk.carryOut(request)
                    throw error
                }
                let response = try await write.ask(app, token)
                #expect(response.status == write.successStatus, "\(error): \(response.text)")
                #expect(write.isDone(on: disk))
                #expect(disk.requests.count { EachWrite.isWrite($0) } == 1)
            }
        }
    }

    @Test(
        "TRUST-05 a write that the API says has failed, and whose result is not there, says that nothing was changed",
        arguments: EachWrite.allCases
    )
    func notCarriedOut(write: EachWrite) async throws {
        try await DiskHarness.run(EachWrite.disk()) { app, disk, token in
            try await know(app, token)
            let before = try await names(app, token)
            disk.intercept { (request) in
                EachWrite.isWrite(request) ? IncomingResponse(status: .internalServerError) : nil
            }
            let response = try await write.ask(app, token)
            response.expectProblem("upstream-unavailable", 503)
            #expect(
                response["detail"] == "Yandex Disk did not carry it out (status 500). Nothing was changed."
                    && response["retryable"] == true
            )
            #expect(disk.requests.count { EachWrite.isWrite($0) } == 1)
            disk.intercept(nil)
            #expect(try await names(app, token) == before)
            #expect(try await write.ask(app, token).status == write.successStatus)
        }
    }

    @Test(
        "TRUST-05 a write that may have been carried out is `outcome-unknown`, with the screen that shows it",
        arguments: EachWrite.allCases,
        [true, false]
    )
    func unknown(write: EachWrite, isCarriedOut: Bool) async throws {
        try await DiskHarness.run(EachWrite.disk()) { app, disk, token in
            try await know(app, token)
            let isGone = Counter(1)
            disk.intercept { [disk] (request) throws(UpstreamError) in
                if EachWrite.isWrite(request) {
                    _ = isGone.take()
                    if isCarriedOut { disk.carryOut(request) }
                    throw .unreachable(.reset)
                }
                // Requests after the write get no response.
                if isGone.isSpent { throw .unreachable(.refused) }
                return nil
            }
            let response = try await write.ask(app, token)
            response.expectProblem("outcome-unknown", 502)
            #expect(
                response["retryable"] == false && response["offline"] == true
                    && response["upstream.name"] == "yandex_disk"
            )
            let href = try response.string("href")
            #expect(disk.requests.count { EachWrite.isWrite($0) } == 1)
            // The upstream is known to be unreachable now: nothing is sent at all.
            let count = disk.requests.count
            try await write.ask(app, token).expectProblem("offline-write-refused", 503)
            #expect(disk.requests.count == count)
            disk.intercept(nil)
            #expect(try await app.get("/v1/disk/profile?refresh=1", as: token)["meta.offline"] == false)
            let shown = try await app.get(href, as: token)
            #expect(
                shown["meta.stale"] == false || shown.status == 404,
                "what is stored is in doubt, so the upstream is asked: \(shown.text)"
            )
            #expect(write.isDone(on: disk) == isCarriedOut)
        }
    }

    @Test(
        "TRUST-05 after a timeout, a broken connection or a gateway it may still be carried out: unknown",
        arguments: EachWrite.allCases
    )
    func late(write: EachWrite) async throws {
        let losses: [Result<IncomingResponse, UpstreamError>] = [
            .failure(.unreachable(.totalTimeout)), .failure(.unreachable(.reset)),
            .failure(.badResponse(status: nil, reason: "not HTTP")),
            .success(IncomingResponse(status: .badGateway)), .success(IncomingResponse(status: .gatewayTimeout)),
        ]
        for loss in losses {
            try await DiskHarness.run(EachWrite.disk()) { app, disk, token in
                try await know(app, token)
                let sent = HeldRequest()
                disk.intercept { (request) throws(UpstreamError) in
                    guard EachWrite.isWrite(request) else { return nil }
                    sent.request = request
                    return try loss.get()
                }
                let response = try await write.ask(app, token)
                response.expectProblem("outcome-unknown", 502)
                #expect(response["retryable"] == false)
                // The upstream continues, and the screen that the problem names shows it.
                disk.intercept(nil)
                disk.carryOut(try #require(sent.request))
                #expect(write.isDone(on: disk))
                let shown = try await app.get(try response.string("href"), as: token)
                #expect(shown["meta.stale"] == false || shown.status == 404, "\(loss): \(shown.text)")
            }
        }
    }

    @Test(
        "TRUST-05 a write that the upstream took is a success, also if the upstream is away when it is looked at",
        arguments: EachWrite.allCases
    )
    func readBack(write: EachWrite) async throws {
        for reason in [UnreachableReason.refused, .totalTimeout] {
            try await DiskHarness.run(EachWrite.disk()) { app, disk, token in
                try await know(app, token)
                let isGone = Counter(1)
                disk.intercept { [disk] (request) throws(UpstreamError) in
                    if isGone.isSpent { throw .unreachable(reason) }
                    guard EachWrite.isWrite(request) else { return nil }
                    _ = isGone.take()
                    return disk.carryOut(request)
                }
                let response = try await write.ask(app, token)
                #expect(response.status == write.successStatus, "\(response.text)")
                #expect(write.isDone(on: disk))
                guard [.upload, .overwrite, .folder, .rename, .move, .copy].contains(write) else { return }
                #expect(response["meta.stale"] == true && response.headerFields[.eTag] == nil)
                #expect(response["data.type"] == (write == .folder ? "dir" : "file"))
                if write == .upload { #expect(response["data.size"] == 3 && response["data.path"] == "disk:/new") }
            }
        }
    }

    @Test("TRUST-05 after 503, what is gone and was not known before is `outcome-unknown`, not a refusal")
    func unavailable() async throws {
        try await DiskHarness.run(EachWrite.disk()) { app, disk, token in
            disk.intercept { [disk] (request) in
                guard EachWrite.isWrite(request) else { return nil }
                disk.carryOut(request)
                return IncomingResponse(status: .serviceUnavailable)
            }
            let response = try await EachWrite.delete.ask(app, token)
            response.expectProblem("outcome-unknown", 502)
            #expect(response["retryable"] == false && EachWrite.delete.isDone(on: disk))
        }
    }

    @Test("TRUST-05 500, 502 and 504 say nothing of a write, and are looked into")
    func statuses() async throws {
        try await DiskHarness.run(EachWrite.disk()) { app, disk, token in
            for (status, write) in [(500, EachWrite.upload), (502, .delete), (504, .publish)] {
                disk.change { $0.nodes["disk:/new"] = nil }
                disk.put("disk:/a.txt", "text of a")
                disk.intercept(nil)
                try await know(app, token)
                for isCarriedOut in [false, true] {
                    disk.intercept { [disk] (request) in
                        guard EachWrite.isWrite(request) else { return nil }
                        if isCarriedOut { disk.carryOut(request) }
                        return IncomingResponse(status: .init(code: status))
                    }
                    let response = try await write.ask(app, token)
                    switch (isCarriedOut, status) {
                    case (true, _): #expect(response.status == write.successStatus)
                    case (false, 500): response.expectProblem("upstream-unavailable", 503)
                    case (false, _): response.expectProblem("outcome-unknown", 502)
                    }
                }
            }
            disk.intercept { (request) in
                EachWrite.isWrite(request) ? IncomingResponse(status: .serviceUnavailable) : nil
            }
            try await EachWrite.folder.ask(app, token).expectProblem("upstream-unavailable", 503)
        }
    }

    @Test(
        "TRUST-05 a 2xx that is none of the API's for this call is not believed: what is there decides",
        arguments: EachWrite.allCases,
        [true, false]
    )
    func portal(write: EachWrite, isCarriedOut: Bool) async throws {
        let page = Array("<html>Welcome to our network</html>".utf8)
        let responses: [Result<IncomingResponse, UpstreamError>] = [
            .success(IncomingResponse(status: .ok, headerFields: [.contentType: "text/html"], body: page)),
            .success(IncomingResponse(status: .created, headerFields: [.contentType: "text/html"], body: page)),
            .success(IncomingResponse(status: .ok)), .success(IncomingResponse(status: .ok, body: Array("{}".utf8))),
            .success(IncomingResponse(status: .partialContent)),
            .failure(.badResponse(status: .ok, reason: UpstreamError.cutShort)),
        ]
        for response in responses {
            try await DiskHarness.run(EachWrite.disk()) { app, disk, token in
                try await know(app, token)
                disk.intercept { [disk] (request) throws(UpstreamError) in
                    guard EachWrite.isWrite(request) else { return nil }
                    if isCarriedOut { disk.carryOut(request) }
                    return try response.get()
                }
                let response = try await write.ask(app, token)
                if isCarriedOut {
                    #expect(response.status == write.successStatus, "\(response): \(response.text)")
                } else {
                    response.expectProblem("outcome-unknown", 502)
                }
                #expect(disk.requests.count { EachWrite.isWrite($0) } == 1)
            }
        }
    }

    @Test(
        "TRUST-05 a failure that something else reports of a write that was carried out does not undo it",
        arguments: EachWrite.allCases,
        [400, 403, 404, 408, 499, 500, 502, 503, 504, 524]
    )
    func foreignFailure(write: EachWrite, status: Int) async throws {
        try await DiskHarness.run(EachWrite.disk()) { app, disk, token in
            try await know(app, token)
            disk.intercept { [disk] (request) in
                guard EachWrite.isWrite(request) else { return nil }
                disk.carryOut(request)
                let page = Array("<html>nginx</html>".utf8)
                return IncomingResponse(
                    status: .init(code: status),
                    headerFields: [.contentType: "text/html"],
                    body: page
                )
            }
            let response = try await write.ask(app, token)
            #expect(response.status == write.successStatus, "\(response.text)")
            #expect(disk.requests.count { EachWrite.isWrite($0) } == 1)
        }
    }

    @Test("TRUST-05 what may never have been there is not reported as removed, moved or restored")
    func neverThere() async throws {
        let disk = EachWrite.disk()
        disk.put("disk:/folder/taken.txt", "another")
        try await DiskHarness.run(disk) { app, token in
            #expect(try await app.get("/v1/disk/files", as: token).status == 200)
            // Another client deletes an item that is stored here.
            disk.change { $0.nodes["disk:/a.txt"] = nil }
            disk.intercept { (request) throws(UpstreamError) in
                guard EachWrite.isWrite(request) else { return nil }
                throw .unreachable(.reset)
            }
            let never = [
                try await app.ask(.delete, "/v1/disk/file?path=/never.txt", as: token),
                try await app.ask(.post, "/v1/disk/trash/restore", as: token, json: #"{"path":"trash:/never_1"}"#),
                try await app.ask(
                    .post,
                    "/v1/disk/files/move",
                    as: token,
                    json: #"{"from":"/a.txt","to":"/folder/taken.txt"}"#
                ),
            ]
            for response in never { response.expectProblem("outcome-unknown", 502) }
        }
    }

    @Test("TRUST-05 what was there unseen, as a file of the same content, is not reported as the result of a copy")
    func unseenEqual() async throws {
        let disk = EachWrite.disk()
        disk.put("disk:/folder/b.txt", "text of a")
        disk.makeFolder("disk:/new")
        try await DiskHarness.run(disk) { app, token in
            disk.intercept { (request) throws(UpstreamError) in
                guard EachWrite.isWrite(request) else { return nil }
                throw .unreachable(.reset)
            }
            for write in [EachWrite.copy, .folder] {
                let response = try await write.ask(app, token)
                response.expectProblem("outcome-unknown", 502)
            }
        }
    }

    @Test("TRUST-05 a write that was done is a success, also if its account was logged out meanwhile")
    func loggedOut() async throws {
        let disk = EachWrite.disk()
        try await DiskHarness.run(disk) { app in
            for write in [EachWrite.delete, .folder, .publish] {
                let token = try await app.logIn()
                if write == .publish { disk.put("disk:/a.txt", "text of a") }
                disk.onTheWay { request in
                    guard EachWrite.isWrite(request) else { return }
                    _ = try await app.ask(.delete, "/v1/disk/session?confirm=true", as: token)
                }
                let response = try await write.ask(app, token)
                #expect(response.status == write.successStatus, "\(write): \(response.text)")
                #expect(write.isDone(on: disk))
                disk.onTheWay { _ in }
            }
            #expect(try app.store.account("1130") == nil)
        }
    }

    @Test("PDF-14 TRUST-05 what another app saves to the Disk goes the same way")
    func otherApps() async throws {
        let disk = EachWrite.disk()
        try await DiskHarness.run(disk) { app in
            let credential = SessionCredentials([.authorization: "Bearer \(try await app.logIn())"])
            let session = try await app.sessions.session(of: credential, app: DiskApp.name)
            let files = DiskFiles(disk: app.app.disk)
            disk.intercept { [disk] (request) throws(UpstreamError) in
                guard EachWrite.isWrite(request) else { return nil }
                disk.carryOut(request)
                throw .unreachable(.reset)
            }
            let bytes = ByteStream(.init(string: "document"))
            #expect(try await files.upload(bytes, length: 8, to: "disk:/d.pdf", session))
            #expect(disk.change { $0.nodes["disk:/d.pdf"]?.bytes } == Array("document".utf8))
        }
    }
}

/// The request of a write, kept until it is carried out late.
private final class HeldRequest: Sendable {
    private let held = Mutex<OutgoingRequest?>(nil)

    var request: OutgoingRequest? {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }
}
