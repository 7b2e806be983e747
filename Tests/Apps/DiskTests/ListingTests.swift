import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("Lists over HTTP")
struct ListingTests {
    @Test("DISK-10 a row has everything that the app shows, formatted as it does")
    func row() async throws {
        let disk = FakeYandexDisk()
        disk.put("disk:/big.bin", bytes: [1], mediaType: "data", mimeType: nil, size: 3_221_225_472)
        disk.makeFolder("disk:/docs")
        disk.put("disk:/photo.jpg", mediaType: "image", mimeType: "image/jpeg")
        try await DiskHarness.run(disk) { app, token in
            let response = try await app.get("/v1/disk/files?tz=Asia/Tokyo", as: token)
            response.expectScreen("disk.files")
            let names: Set<String> = [
                "id", "type", "name", "path", "size", "size_text", "created_at", "created_text", "modified_at",
                "modified_text",
                "media_type", "mime_type", "icon", "viewer", "preview_url",
                "published", "public_url", "available_until", "downloaded", "kept_offline", "href", "actions",
            ]
            for index in 0..<3 { #expect(response.names(in: "data.items.\(index)") == names) }
            #expect(DiskHarness.names(response) == ["big.bin", "docs", "photo.jpg"])
            #expect(response["data.items.0.size"] == 3_221_225_472)
            #expect(response["data.items.0.size_text"] == "3.00 GB")
            #expect(response["data.items.0.created_at"] == "2024-04-21T10:57:13Z")
            #expect(response["data.items.0.created_text"] == "21.04.2024 19:57")
            #expect(response["data.items.0.mime_type"] == .null)
            #expect(response["data.items.1.type"] == "dir")
            #expect(response["data.items.1.size_text"] == "Unknown size")
            #expect(response["data.items.1.icon"] == "folder")
            #expect(response["data.items.1.href"] == "/v1/disk/files?path=disk%3A%2Fdocs")
            #expect(
                response["data.items.2.preview_url"] == "/v1/disk/file/preview?path=disk%3A%2Fphoto.jpg&size=120x120"
            )
            #expect(!response.text.contains("downloader"))
        }
    }

    @Test("DISK-10 a row has fallbacks for members that the API did not send; a broken one is left out")
    func poorRow() async throws {
        let disk = FakeYandexDisk()
        try await DiskHarness.run(disk) { app, token in
            disk.intercept { (request) in
                request.url.contains("last-uploaded")
                    ? .json(
                        #"{"items":[{"path":"disk:/x","name":"x","type":"file"},{"broken":1},"#
                            + #"{"path":"no","type":"file"}]}"#
                    ) : nil
            }
            let poor = try await app.get("/v1/disk/recent", as: token)
            #expect(poor["data.items.0.created_text"] == "Unknown date")
            #expect(poor["data.items.0.size_text"] == "Unknown size")
            #expect(poor["meta.page.count"] == 1)
        }
    }

    @Test("DISK-12 recent is paged although the upstream has no offset: pages follow without overlap and gap")
    func recentPages() async throws {
        let disk = FakeYandexDisk()
        for number in 1...7 { disk.put("disk:/\(number).txt") }
        try await DiskHarness.run(disk) { app, token in
            var names: [String] = []
            var target: String? = "/v1/disk/recent?limit=3"
            while let next = target {
                let response = try await app.get(next, as: token)
                names += DiskHarness.names(response)
                #expect(response["meta.page.total"] == .null)
                if case .string(let link) = response["links.next"] { target = link } else { target = nil }
            }
            #expect(names == (1...7).reversed().map { "\($0).txt" })
            #expect(
                disk.asked.filter { $0.contains("last-uploaded") }.map {
                    $0.firstMatch(of: /limit=(\d+)/).map { String($0.1) }
                } == ["4", "7", "10"]
            )
            #expect(
                disk.asked.filter { $0.contains("last-uploaded") }.allSatisfy {
                    !$0.contains("offset=") && $0.contains("media_type=document%2Cimage%2Cspreadsheet")
                }
            )
            let past = try await app.get("/v1/disk/recent?limit=100&offset=9223372036854775807", as: token)
            #expect(past.status == 200 && DiskHarness.names(past) == [] && past["meta.page.has_more"] == false)
            #expect(disk.asked.last?.contains("limit=1000") == true)
        }
    }

    @Test("DISK-15 pages fetched online are all there offline; a later one evicts none; DISK-14 with the notification")
    func pagesOffline() async throws {
        let disk = FakeYandexDisk()
        for number in 1...6 { disk.put("disk:/\(number).txt") }
        try await DiskHarness.run(disk) { app, token in
            for screen in ["recent", "files"] {
                for offset in [0, 2, 4] {
                    _ = try await app.get("/v1/disk/\(screen)?limit=2&offset=\(offset)", as: token)
                }
            }
            disk.goAway()
            app.clock.advance(by: .seconds(60))
            for screen in ["recent", "files"] {
                var names: [String] = []
                for offset in [0, 2, 4] {
                    let response = try await app.get("/v1/disk/\(screen)?limit=2&offset=\(offset)", as: token)
                    #expect(response.status == 200)
                    #expect(
                        response["meta.offline"] == true && response["meta.stale"] == true
                            && response["meta.source"] == "upstream"
                    )
                    #expect(
                        response["meta.banner"]
                            == .object([
                                "code": "offline", "text": "No internet. Loading cache data.", "dismiss": "after_s",
                                "after_s": 3,
                            ])
                    )
                    #expect(response.age == "60")
                    names += DiskHarness.names(response)
                }
                #expect(Set(names).count == 6)
            }
            try await app.get("/v1/disk/recent?media_type=image", as: token)
                .expectProblem("upstream-unavailable", 503)
        }
    }

    @Test("DISK-13 what was listed outlives the process")
    func restart() async throws {
        let temporary = TemporaryFolder.unmade()
        defer { withExtendedLifetime(temporary) {} }
        let folder = temporary.url
        let disk = FakeYandexDisk()
        disk.put("disk:/kept.txt")
        let box = TokenBox()
        try await DiskHarness.run(disk, DiskHarness.Settings(directory: try DataDirectory(at: folder))) { app in
            box.token = try await app.logIn()
            for screen in ["recent", "files", "profile"] { _ = try await app.get("/v1/disk/\(screen)", as: box.token) }
        }
        disk.goAway()
        try await DiskHarness.run(disk, DiskHarness.Settings(directory: try DataDirectory(at: folder))) { app in
            for screen in ["recent", "files"] {
                let response = try await app.get("/v1/disk/\(screen)?refresh=1", as: box.token)
                #expect(DiskHarness.names(response) == ["kept.txt"])
                #expect(response["meta.offline"] == true)
            }
            #expect(try await app.get("/v1/disk/profile", as: box.token)["data.total_text"] == "10 GB")
        }
    }

    @Test("DISK-16 5xx and 429: the stored rows, stale and not offline", arguments: [500, 502, 503, 429])
    func failing(status: Int) async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, disk, token in
            for screen in ["recent", "files", "published", "profile"] {
                _ = try await app.get("/v1/disk/\(screen)", as: token)
            }
            disk.respond(status)
            for screen in ["recent", "files", "published", "profile"] {
                let response = try await app.get("/v1/disk/\(screen)?refresh=1", as: token)
                #expect(
                    response.status == 200 && response["meta.stale"] == true && response["meta.offline"] == false
                        && response["meta.banner.code"] == "stale"
                )
            }
        }
    }

    @Test(
        "DISK-16 401, 403 and 404 are news that no stored copy hides",
        arguments: [(401, "upstream-session-expired"), (403, "upstream-forbidden"), (404, "not-found")]
    )
    func refusals(status: Int, code: String) async throws {
        let disk = FakeYandexDisk()
        disk.makeFolder("disk:/f")
        disk.put("disk:/f/a.txt")
        try await DiskHarness.run(disk) { app, token in
            for target in ["recent?limit=20", "files?path=/f", "file?path=/f/a.txt"] {
                _ = try await app.get("/v1/disk/\(target)", as: token)
            }
            disk.respond(status)
            for target in ["recent?limit=20", "files?path=/f", "file?path=/f/a.txt"] {
                try await app.get("/v1/disk/\(target)&refresh=1", as: token).expectProblem(code, status)
            }
        }
    }

    @Test("DISK-16 what was deleted upstream is no longer shown anywhere")
    func gone() async throws {
        let disk = FakeYandexDisk()
        disk.makeFolder("disk:/f")
        disk.put("disk:/f/a.txt")
        try await DiskHarness.run(disk) { app, token in
            for target in ["files", "files?path=/f", "recent"] {
                _ = try await app.get("/v1/disk/\(target)", as: token)
            }
            disk.change { $0.nodes = $0.nodes.filter { !$0.key.hasPrefix("disk:/f") } }
            try await app.get("/v1/disk/files?path=/f&refresh=1", as: token).expectProblem("not-found", 404)
            disk.goAway()
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?refresh=1", as: token)) == [])
            #expect(DiskHarness.names(try await app.get("/v1/disk/recent", as: token)) == [])
            try await app.get("/v1/disk/file?path=/f/a.txt", as: token).expectProblem("upstream-unavailable", 503)
        }
    }

    static let names = [
        "Загрузки", "a b", "a+b", "a#b", "50%", "a&b=c", "what?", "👩‍👩‍👧 emoji", "a:b", "e\u{301}", "\u{E9}", "%2F",
        "quote\"s'\\", "tab\there",
    ]

    @Test("DISK-17 a folder of any name opens, to any depth, and its content is byte-exact", arguments: names)
    func folders(name: String) async throws {
        let disk = FakeYandexDisk()
        let path = "disk:/\(name)/\(name)/\(name)"
        disk.makeFolder("disk:/\(name)")
        disk.makeFolder("disk:/\(name)/\(name)")
        disk.put(path, name)
        try await DiskHarness.run(disk) { app, token in
            let first = try await app.get("/v1/disk/files", as: token)
            let href = try first.string("data.items.0.href")
            let second = try await app.get(href, as: token)
            let deeper = try second.string("data.items.0.href")
            #expect(second["data.folder.parent"] == "disk:/")
            let third = try await app.get(deeper, as: token)
            #expect(third["data.items.0.path"] == .string(path))
            let file = try third.string("data.items.0.href")
            let view = try await app.get(file, as: token)
            let content = try view.string("data.content_url")
            #expect(try await app.get(content, as: token).body == Data(name.utf8))
            disk.goAway()
            #expect(try await app.get(deeper, as: token, [.cacheControl: "no-cache"]).status == 200)
            #expect(try await app.get(content, as: token).body == Data(name.utf8))
        }
    }

    @Test("HARN-30 The root has a name in both languages; a folder opens its own screen, too")
    func rootAndDetails() async throws {
        let disk = FakeYandexDisk()
        disk.makeFolder("disk:/docs")
        try await DiskHarness.run(disk) { app, token in
            #expect(try await app.get("/v1/disk/files", as: token)["data.folder.name"] == "Disk")
            let russian = try await app.ask(.get, "/v1/disk/files", as: token, [.acceptLanguage: "ru"])
            #expect(russian["data.folder.name"] == "Диск" && russian["data.actions.1.title"] == "Новая папка")
            #expect(russian["data.items.0.actions.1.id"] == "details", "the address of a folder is its content")
            let details = try await app.get(try russian.string("data.items.0.actions.1.href"), as: token)
            #expect(details["data.name"] == "docs" && details["meta.screen"] == "disk.file")
        }
    }

    @Test("DISK-18 a folder that was never requested is 503 offline; a requested one is served")
    func unseen() async throws {
        let disk = FakeYandexDisk()
        for folder in ["seen", "unseen"] { disk.makeFolder("disk:/\(folder)") }
        try await DiskHarness.run(disk) { app, token in
            for target in ["files", "files?path=/seen"] { _ = try await app.get("/v1/disk/\(target)", as: token) }
            disk.goAway()
            let problem = try await app.get("/v1/disk/files?path=/unseen", as: token)
            problem.expectProblem("upstream-unavailable", 503)
            #expect(problem["offline"] == true && problem["retryable"] == true)
            let seen = try await app.get("/v1/disk/files?path=/seen", as: token)
            #expect(seen.status == 200 && seen["meta.state"] == "empty")
        }
    }

    @Test(
        "illegal parameters are 400, and no request is sent",
        arguments: [
            "files?path=", "files?path=a", "files?path=trash:/", "files?path=/a//b", "files?path=/../b",
            "files?path=%00", "files?path=/a%00",
            "files?sort=color", "files?sort=--name", "files?limit=0", "files?limit=101", "files?offset=-1",
            "files?limit=x", "files?path=/a&path=/b",
            "files?tz=Mars/Base", "recent?tz=PST", "recent?tz=EDT",
            "recent?media_type=movies", "recent?media_type=image,", "published?type=both", "search?q=", "search",
            "file", "file/content",
            "file/preview?path=/a&size=x",
        ]
    )
    func illegal(target: String) async throws {
        try await DiskHarness.run { app, token in
            let asked = app.disk.requests.count
            try await app.get("/v1/disk/\(target)", as: token).expectProblem("invalid-parameter", 400)
            #expect(app.disk.requests.count == asked)
        }
    }

    @Test("a file is no folder: 409, also offline")
    func notAFolder() async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, disk, token in
            try await app.get("/v1/disk/files?path=/a.txt", as: token).expectProblem("not-a-folder", 409)
            disk.goAway()
            try await app.get("/v1/disk/files?path=/a.txt&refresh=1", as: token).expectProblem("not-a-folder", 409)
        }
    }

    @Test("DISK-19 published: paged, flagged, stored; nothing published is an empty state with text and refresh")
    func published() async throws {
        try await DiskHarness.run { app, disk, token in
            let none = try await app.get("/v1/disk/published", as: token)
            none.expectScreen("disk.published")
            #expect(none["meta.state"] == "empty")
            #expect(none["data.empty.text"] == "You do not have any published files yet")
            #expect(none["data.empty.button"] == "Refresh")
            #expect(none["data.actions.0.id"] == "refresh")
            for number in 1...3 { disk.put("disk:/\(number).txt") }
            disk.makeFolder("disk:/folder")
            disk.put("disk:/folder/in.txt")
            disk.change { state in
                // The last one that was published is the first of the list.
                for key in ["disk:/folder", "disk:/3.txt", "disk:/1.txt"] {
                    state.nodes[key]?.publicURL = "https://yadi.sk/d/\(key.count)"
                }
            }
            let first = try await app.get("/v1/disk/published?limit=2&refresh=1", as: token)
            #expect(DiskHarness.names(first) == ["1.txt", "3.txt"])
            #expect(first["data.items.0.published"] == true)
            #expect(first["data.items.0.public_url"] == "https://yadi.sk/d/11")
            #expect(first["meta.page.has_more"] == true && first["data.empty"] == nil)
            let second = try await app.get("/v1/disk/published?limit=2&offset=2", as: token)
            #expect(DiskHarness.names(second) == ["folder"] && second["meta.page.has_more"] == false)
            #expect(DiskHarness.names(try await app.get("/v1/disk/published?type=dir", as: token)) == ["folder"])
            #expect(
                DiskHarness.names(try await app.get("/v1/disk/published?type=file", as: token)) == ["1.txt", "3.txt"]
            )
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?path=/folder", as: token)) == ["in.txt"])
            disk.goAway()
            app.clock.advance(by: .seconds(9))
            #expect(
                DiskHarness.names(try await app.get("/v1/disk/published?limit=2&offset=2", as: token)) == ["folder"]
            )
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?path=/folder", as: token)) == ["in.txt"])
        }
    }

    @Test("a list that changes between two pages: each page is that of its request, and no row is stored twice")
    func changingList() async throws {
        let disk = FakeYandexDisk()
        for name in ["b", "c", "d", "e"] { disk.put("disk:/\(name)") }
        try await DiskHarness.run(disk) { app, token in
            #expect(DiskHarness.names(try await app.get("/v1/disk/files?sort=name&limit=2", as: token)) == ["b", "c"])
            disk.put("disk:/a")
            let second = try await app.get("/v1/disk/files?sort=name&limit=2&offset=2", as: token)
            #expect(DiskHarness.names(second) == ["c", "d"])
            #expect(second["meta.page.total"] == 5)
            let first = try await app.get("/v1/disk/files?sort=name&limit=2&refresh=1", as: token)
            #expect(DiskHarness.names(first) == ["a", "b"])
            let third = try await app.get("/v1/disk/files?sort=name&limit=2&offset=4", as: token)
            #expect(DiskHarness.names(third) == ["e"])
            #expect(try app.database.integer("SELECT count(*) FROM disk_item WHERE path >= 'disk:/a'") == 5)
            #expect(app.events.published.contains { $0.kind == "screen-changed" && $0.json.contains("disk.files") })
        }
    }

    @Test(
        "a response that is not what Yandex promises replaces no good copy",
        arguments: ["[]", "{}", "null", "<html>", #"{"items":{}}"#, #"{"type":"dir","path":"disk:/"}"#]
    )
    func nonsense(body: String) async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/a.txt")) { app, disk, token in
            for screen in ["recent", "files"] { _ = try await app.get("/v1/disk/\(screen)", as: token) }
            disk.intercept { (_) in .json(body) }
            for screen in ["recent", "files"] {
                let response = try await app.get("/v1/disk/\(screen)?refresh=1", as: token)
                #expect(DiskHarness.names(response) == ["a.txt"])
                #expect(response["meta.stale"] == true)
            }
            try await app.get("/v1/disk/published", as: token).expectProblem("upstream-bad-response", 502)
        }
    }

    @Test("only-if-cached sends no request: 504 if nothing is stored")
    func onlyIfCached() async throws {
        try await DiskHarness.run { app in
            app.disk.put("disk:/a.txt")
            let token = try await app.logIn()
            let asked = app.disk.requests.count
            let fields: HTTPFields = [.cacheControl: "only-if-cached"]
            for target in [
                "recent", "files", "published", "trash", "file?path=/a.txt", "file/content?path=/a.txt",
                "file/preview?path=/a.txt",
            ] {
                try await app.get("/v1/disk/\(target)", as: token, fields).expectProblem("not-in-cache", 504)
            }
            #expect(app.disk.requests.count == asked)
            _ = try await app.get("/v1/disk/files", as: token)
            #expect(try await app.get("/v1/disk/files", as: token, fields).status == 200)
        }
    }

    @Test("a list has an ETag that leads to 304, and that changes when the list does")
    func conditional() async throws {
        try await DiskHarness.run { app in
            app.disk.put("disk:/a.txt")
            let token = try await app.logIn()
            _ = try await app.get("/v1/disk/files", as: token)
            let first = try await app.get("/v1/disk/files", as: token)
            let tag = try #require(first.headerFields[.eTag])
            #expect(try await app.get("/v1/disk/files", as: token, [.ifNoneMatch: tag]).status == 304)
            app.disk.put("disk:/b.txt")
            #expect(try await app.get("/v1/disk/files?refresh=1", as: token, [.ifNoneMatch: tag]).status == 200)
        }
    }

    @Test("DISK-34 search finds any part of a name, in any case: of all files online, of the known ones offline")
    func search() async throws {
        let disk = FakeYandexDisk()
        disk.makeFolder("disk:/Отчёты")
        for path in ["disk:/Отчёты/Отчёт за МАЙ.pdf", "disk:/report.txt", "disk:/100%_sure.txt"] { disk.put(path) }
        try await DiskHarness.run(disk) { app, token in
            let found = try await app.get("/v1/disk/search?q=\("отчёт за май".q)", as: token)
            found.expectScreen("disk.search")
            #expect(DiskHarness.names(found) == ["Отчёт за МАЙ.pdf"])
            #expect(found["meta.partial"] == false)
            #expect(DiskHarness.names(try await app.get("/v1/disk/search?q=%25_", as: token)) == ["100%_sure.txt"])
            #expect(try await app.get("/v1/disk/search?q=zzz", as: token)["meta.state"] == "empty")
            _ = try await app.get("/v1/disk/files", as: token)
            disk.goAway()
            app.clock.advance(by: .seconds(3600))
            let offline = try await app.get("/v1/disk/search?q=\("ОТЧЁТ".q)&limit=1", as: token)
            #expect(offline["meta.page.total"] == 2 && offline["meta.page.has_more"] == true)
            #expect(offline["meta.partial"] == true && offline["meta.offline"] == true)
            let second = try await app.get(try offline.string("links.next"), as: token)
            let both = DiskHarness.names(offline) + DiskHarness.names(second)
            #expect(both.sorted() == ["Отчёт за МАЙ.pdf", "Отчёты"] && second["meta.page.has_more"] == false)
            let other = try offline.string("links.next").replacing("q=\("ОТЧЁТ".q)", with: "q=txt")
            try await app.get(other, as: token).expectProblem("invalid-parameter", 400)
        }
    }

    @Test("DISK-34 a search finds what others have made after a minute or with refresh=1, what was made here at once")
    func searchFreshness() async throws {
        try await DiskHarness.run(FakeYandexDisk("disk:/one.txt")) { app, disk, token in
            let search = "/v1/disk/search?q=txt"
            #expect(DiskHarness.names(try await app.get(search, as: token)) == ["one.txt"])
            disk.put("disk:/two.txt")
            app.clock.advance(by: .seconds(59))
            #expect(DiskHarness.names(try await app.get(search, as: token)) == ["one.txt"])
            #expect(DiskHarness.names(try await app.get(search + "&refresh=1", as: token)).count == 2)
            disk.put("disk:/three.txt")
            app.clock.advance(by: .seconds(61))
            #expect(DiskHarness.names(try await app.get(search, as: token)).count == 3)
            let made = try await app.ask(.put, "/v1/disk/file/content?path=/four.txt", as: token, bytes: [1])
            #expect(made.status == 201)
            #expect(DiskHarness.names(try await app.get(search, as: token)).count == 4)
        }
    }
}

extension ListingTests {
    @Test("ONE-07 a file keeps its id in each list when it is renamed here, by others or in the outbox, or deleted")
    func identities() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, disk, token in
            _ = try await app.ask(.put, "/v1/disk/offline", as: token, json: #"{"path":"/a.txt"}"#)
            func id(of name: String, in lists: [String], refresh: String = "refresh=1") async throws -> String {
                var ids: Set<String> = []
                for list in lists {
                    let query = list == "offline" || refresh.isEmpty ? "" : (list.contains("?") ? "&" : "?") + refresh
                    let response = try await app.get("/v1/disk/\(list)\(query)", as: token)
                    let rows = zip(response.all("name", in: "data.items"), response.all("id", in: "data.items"))
                    ids.insert(try #require(rows.first { $0.0 == .string(name) }?.1.string))
                }
                #expect(ids.count == 1, "\(name) \(ids)")
                return try #require(ids.first)
            }
            let lists = ["files", "recent", "published", "search?q=txt"]
            let before = try await id(of: "a.txt", in: lists + ["offline"])
            #expect(before != "disk:/a.txt")
            _ = try await app.ask(.patch, "/v1/disk/file?path=/a.txt", as: token, json: #"{"name":"b.txt"}"#)
            #expect(try await id(of: "b.txt", in: lists + ["offline"]) == before)
            disk.move("disk:/b.txt", to: "disk:/c.txt")
            #expect(try await id(of: "c.txt", in: lists) == before)
            disk.goAway()
            _ = try await app.get("/v1/disk/files?refresh=1", as: token)
            _ = try await app.leave(.patch, "/v1/disk/file?path=/c.txt", as: token, json: #"{"name":"d.txt"}"#)
            #expect(try await id(of: "d.txt", in: lists, refresh: "") == before)
            disk.intercept(nil)
            await app.drained()
            _ = try await app.ask(.delete, "/v1/disk/file?path=/d.txt", as: token)
            #expect(try await id(of: "d.txt", in: ["trash"]) == before)
        }
    }
}
