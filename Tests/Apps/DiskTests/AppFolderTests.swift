import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("The folder of an application", .timeLimit(.minutes(2)))
struct AppFolderTests {
    private static let home = "disk:/Приложения/Larder"

    private static func disk() -> FakeYandexDisk {
        let disk = FakeYandexDisk()
        disk.put("\(home)/a.txt", "text of a")
        disk.put("disk:/secret.txt")
        return disk
    }

    @Test(
        "DISK-46 an application's folder: its account names it, its paths are app:/ in requests, absolute in responses",
        arguments: [
            ("disk:/", "app:/", "disk:/Apps/My app"), ("disk:/a b.txt", "app:/a b.txt", "disk:/Apps/My app/a b.txt"),
            ("disk:/a/b", "app:/a/b", "disk:/Apps/My app/a/b"),
        ]
    )
    func paths(shown: String, sent: String, received: String) throws {
        let folder = AppFolder(.at("/Apps/My app"))
        let account = folder.account(of: "1130")
        #expect(AppFolder(ofAccount: account) == folder && AppFolder.uid(ofAccount: account) == "1130")
        #expect(AppFolder(ofAccount: "1130") == nil && AppFolder.uid(ofAccount: "1130") == "1130")
        let path = try #require(DiskPath(shown))
        #expect(folder.text(of: path) == sent && DiskAccess(token: "", folder: folder).text(of: path) == sent)
        #expect(DiskAccess(token: "").text(of: path) == shown)
        #expect(DiskPath(received).flatMap(folder.shown) == path)
        for other in ["disk:/", "disk:/Apps", "disk:/Apps/My apps", "disk:/a"] {
            #expect(DiskPath(other).flatMap(folder.shown) == nil)
        }
    }

    @Test("DISK-46 a token of an application's folder opens it as a Disk", arguments: [true, false])
    func screens(hasInfo: Bool) async throws {
        let disk = Self.disk()
        disk.change { $0.rights = hasInfo ? ["app_folder", "info"] : ["app_folder"] }
        try await DiskHarness.run(disk) { app in
            let login = #"{"mode":"oauth_token","access_token":"good"}"#
            let opened = try await app.ask(.post, "/v1/disk/session", json: login)
            #expect(opened.status == 201 && opened["data.route.href"] == "/v1/disk/files", "\(opened.text)")
            #expect(opened["data.name"] == (hasInfo ? "login-1130" : .null))
            let token = try opened.string("data.token")
            let list = try await app.get("/v1/disk/files", as: token)
            #expect(list.all("path", in: "data.items") == ["disk:/a.txt"], "\(list.text)")
            #expect(try await app.get("/v1/disk/file?path=/a.txt", as: token)["data.path"] == "disk:/a.txt")
            #expect(try await app.get("/v1/disk/file/content?path=/a.txt", as: token).text == "text of a")
            try await app.get("/v1/disk/file?path=/secret.txt", as: token).expectProblem("not-found", 404)
            let profile = try await app.get("/v1/disk/profile?refresh=1", as: token)
            #expect(profile.status == (hasInfo ? 200 : 403))
            for screen in ["recent", "published", "search?q=a"] {
                let refused = try await app.get("/v1/disk/\(screen)", as: token)
                refused.expectProblem("upstream-forbidden", 403)
                #expect(try refused.string("detail").contains("cloud_api:disk.read"))
            }
        }
    }

    @Test(
        "DISK-46 a login whose question about the token's rights fails is refused, and opens no other account",
        arguments: ["path=disk", "path=app"]
    )
    func failedProbe(query: String) async throws {
        let disk = Self.disk()
        disk.change { $0.rights = ["app_folder", "info"] }
        try await DiskHarness.run(disk) { app in
            disk.intercept { request in
                request.url.contains(query) ? FakeYandexDisk.refusal(503, "ServiceUnavailable") : nil
            }
            let login = #"{"mode":"oauth_token","access_token":"good"}"#
            let refused = try await app.ask(.post, "/v1/disk/session", json: login)
            refused.expectProblem("upstream-unavailable", 503)
            let accounts = try app.database.integer("SELECT count(*) FROM disk_account")
            #expect(accounts == 0)
        }
    }

    @Test(
        "DISK-46 a folder whose owner has no identity opens no account",
        arguments: ["", "1130", ":abc", "a b:c", "\\n:c"]
    )
    func unknownOwner(resourceID: String) async throws {
        let disk = Self.disk()
        disk.change { $0.rights = ["app_folder"] }
        try await DiskHarness.run(disk) { app in
            disk.intercept { request in
                guard request.url.contains("path=app") else { return nil }
                return .json(#"{"path":"disk:/Apps/A","type":"dir","name":"A","resource_id":"\#(resourceID)"}"#)
            }
            let login = #"{"mode":"oauth_token","access_token":"good"}"#
            try await app.ask(.post, "/v1/disk/session", json: login).expectProblem("upstream-bad-response", 502)
        }
    }

    @Test("DISK-46 a token that opens neither the Disk nor a folder is refused, and the refusal says which right")
    func noFolder() async throws {
        let disk = Self.disk()
        disk.change { $0.rights = ["info"] }
        try await DiskHarness.run(disk) { app in
            let login = #"{"mode":"oauth_token","access_token":"good"}"#
            let refused = try await app.ask(.post, "/v1/disk/session", json: login)
            refused.expectProblem("upstream-forbidden", 403)
            #expect(try refused.string("detail").contains("cloud_api:disk.read"), "\(refused.text)")
        }
    }

    @Test("DISK-46 writes of an application's folder act in it, also those of the outbox")
    func writes() async throws {
        let disk = Self.disk()
        disk.change { $0.rights = ["app_folder"] }
        try await DiskHarness.run(disk) { app, token in
            func done(_ method: HTTPRequest.Method, _ target: String, _ json: String? = nil) async throws {
                let made = try await app.ask(method, "/v1/disk/\(target)", as: token, json: json)
                #expect(made.status < 300, "\(target): \(made.text)")
            }
            try await done(.post, "folders", #"{"path":"/new"}"#)
            let upload = try await app.ask(.put, "/v1/disk/file/content?path=/new/b.txt", as: token, bytes: [1, 2])
            #expect(upload.status == 201)
            try await done(.patch, "file?path=/new/b.txt", #"{"name":"c.txt"}"#)
            try await done(.post, "files/copy", #"{"from":"/new/c.txt","to":"/d.txt"}"#)
            try await done(.post, "files/move", #"{"from":"/a.txt","to":"/new/a.txt"}"#)
            try await done(.post, "links", #"{"path":"/d.txt"}"#)
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            #expect(try await app.leave(.delete, "/v1/disk/file?path=/d.txt", as: token).status == 202)
            #expect(
                try await app.leave(.post, "/v1/disk/folders", as: token, json: #"{"path":"/later"}"#).status == 202
            )
            disk.intercept(nil)
            await app.drained()
            let nodes = disk.change { $0.nodes.keys.filter { $0.hasPrefix("disk:") } }
            let own = ["", "/later", "/new", "/new/a.txt", "/new/c.txt"].map { Self.home + $0 }
            #expect(Set(nodes) == Set(own + ["disk:/Приложения", "disk:/secret.txt"]))
            #expect(!disk.asked.contains { $0.contains("disk%3A%2F") && !$0.contains("limit=0") })
        }
    }

    @Test("DISK-46 the folder of an application and the whole Disk of its user are two accounts")
    func accounts() async throws {
        let disk = Self.disk()
        try await DiskHarness.run(disk) { app in
            let whole = try await app.logIn()
            disk.change { $0.rights = ["app_folder"] }
            let own = try await app.logIn()
            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: own)) == ["a.txt"])
            disk.change { $0.rights = nil }
            let all = Set(DiskHarness.names(try await app.get("/v1/disk/files", as: whole)))
            #expect(all == ["secret.txt", "Приложения"])
            #expect(DiskHarness.names(try await app.get("/v1/disk/files", as: own)) == ["a.txt"])
        }
    }
}

@Suite("The API of the Disk over its mount", .timeLimit(.minutes(2)))
struct MountedDiskTests {
    private static let mount = "/v1/upstreams/yandex_disk"

    @Test("DISK-48 links lead back to the mount; what was read stays readable offline, and goes with the logout")
    func links() async throws {
        try await DiskHarness.run(FakeYandexDisk(["disk:/a.txt": "text of a"])) { app, disk, token in
            func href(_ target: String, _ member: String) async throws -> String {
                let link = try await app.get(Self.mount + target, as: token).string(member)
                let start = try #require(link.firstRange(of: Self.mount)?.lowerBound, "\(link)")
                return String(link[start...])
            }
            let asked = "/resources/download?path=disk:/a.txt"
            let listed = try await href("/resources?path=disk:/a.txt", "file")
            #expect(listed.hasPrefix("\(Self.mount)/~downloader.test/disk/"))
            #expect(try await app.get(try await href(asked, "href"), as: token).text == "text of a")
            #expect(disk.requests.last?.url.hasPrefix("https://downloader.test/disk/") == true)
            disk.goAway()
            for link in [listed, try await href(asked, "href"), listed] {
                let content = try await app.get(link, as: token)
                #expect(content.text == "text of a" && content.headerFields[.init("Larder-Offline")!] == "?1")
                #expect(try await app.get(link).status == 503)
            }
            #expect(try app.everythingStored().range(of: Data("downloader.test".utf8)) == nil)
            let responses = ResponseStore(app.database)
            #expect(try responses.totals().contains { $0.upstream == "yandex_disk.raw" && $0.responses == 3 })
            #expect(try await app.ask(.delete, "/v1/disk/session?confirm=true", as: token).status == 200)
            #expect(try !responses.totals().contains { $0.upstream == "yandex_disk.raw" && $0.responses > 0 })
        }
    }

    @Test("DISK-48 a mount of the Disk that is shared stores nothing, and passes links on as they are")
    func shared() {
        #expect(DiskApp.disk.leadsBack && DiskApp.disk.storesBodies(isShared: false))
        #expect(!DiskApp.disk.storesBodies(isShared: true))
    }
}
